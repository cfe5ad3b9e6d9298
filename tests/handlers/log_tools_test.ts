import assert from "node:assert/strict";
import { bytesOf, header, rows } from "../bench/log_rig.ts";
import { toolRig } from "./log_tool_rig.ts";

Deno.test("log_channels on a fresh start: all channels, sorted, with their counters [C346]", async () => {
  const { hub, call } = toolRig();
  const { output, text } = await call("log_channels");
  assert.equal(output.enabled, true);
  assert.equal(output.channelCount, output.channels.length);
  const names = output.channels.map((c) => c.channel);
  assert.deepEqual(names, [...names].sort());
  assert.deepEqual(output.channels.find((c) => c.channel === "serial:main:rx"), {
    channel: "serial:main:rx",
    lines: 0,
    bytes: 0,
    capBytes: 524_288,
    seqFrom: null,
    seqTo: null,
    dropped: 0,
    lastTs: null,
  });
  assert.deepEqual([output.totalBytes, output.totalCapBytes, output.maxChannels], [0, 16_777_216, 64]);
  assert.match(text, /serial:main:rx/);
  hub.close();
});

Deno.test("log_channels after traffic: lines, bytes, range, losses and time of the last line", async () => {
  const { hub, call, rx, clock } = toolRig({ capOf: () => 1000 });
  for (let i = 0; i < 100; i++) rx.push(bytesOf(`line ${i}\n`), clock.t = i * 10, "none");
  const { output, text } = await call("log_channels");
  const channel = output.channels.find((c) => c.channel === "serial:main:rx");
  assert.ok(channel && channel.bytes <= 1000);
  assert.equal(channel.dropped + channel.lines, 100);
  assert.deepEqual([channel.seqFrom, channel.seqTo], [channel.dropped + 1, 100]);
  assert.equal(channel.lastTs, hub.iso(990));
  assert.match(text, /serial:main:rx: \d+ lines, seq \d+-100, \d+ dropped/);
  hub.close();
});

Deno.test("app, error and mcp can be read from the start: empty, no error [C347]", async () => {
  const { hub, call } = toolRig();
  for (const channel of ["app", "error", "mcp"]) {
    const { output } = await call("log_tail", { channel });
    assert.deepEqual([output.returned, output.lines, output.nextSinceSeq], [0, [], 0]);
  }
  hub.close();
});

Deno.test("an unknown channel is refused with the way to the real ones [C348] [C095]", async () => {
  const { hub, refused } = toolRig();
  await refused("log_tail", { channel: "serial:main" }, /"serial:main".*log_channels.*serial:main:rx/);
  await refused("log_search", { pattern: "x", channel: "App" }, /log_channels/);
  await refused("log_clear", { channel: "app " }, /log_channels/);
  hub.close();
});

Deno.test("log_tail: 3,000 lines, the newest 100 of them, and all when followed [C349] [C350]", async () => {
  const { hub, call, lines } = toolRig();
  lines(3000, (i) => `line ${i + 1}`);
  const { output } = await call("log_tail", { channel: "serial:main:rx", lines: 100 });
  assert.deepEqual([output.returned, output.seqFrom, output.seqTo, output.truncated], [100, 2901, 3000, true]);
  const seen: number[] = [];
  let since = 1000;
  for (let missed = 1; missed > 0;) {
    const { output } = await call("log_tail", { channel: "serial:main:rx", since_seq: since, lines: 100 });
    seen.push(...output.lines?.map((line) => line.seq) ?? []);
    ({ missed, nextSinceSeq: since } = output);
  }
  assert.deepEqual(seen, Array.from({ length: 2000 }, (_, i) => 1001 + i));
  hub.close();
});

Deno.test("log_tail: an overrun ring says what was missed and lost [C351]", async () => {
  const { hub, call, lines } = toolRig({ capOf: () => 5000 });
  lines(1000, (i) => `line ${i + 1}`);
  const { output } = await call("log_tail", { channel: "serial:main:rx", sinceSeq: 10, lines: 2000 });
  assert.equal(output.missed, 990 - output.returned);
  assert.equal(output.dropped, 1000 - output.returned);
  assert.equal(output.mayBeIncomplete, true);
  hub.close();
});

Deno.test("log_tail: lines over the maximum are cut to it, zero and negative are refused [A07] [MC08]", async () => {
  const { hub, call, refused, lines } = toolRig();
  lines(3000, () => ".");
  const { output, text } = await call("log_tail", { channel: "serial:main:rx", lines: 99_999, format: "text" });
  assert.ok(output.returned <= 2000 && output.truncated);
  assert.equal(rows(text).length, output.returned);
  assert.equal(header(text)["returned"], String(output.returned));
  await refused("log_tail", { channel: "app", lines: 0 }, /lines/);
  await refused("log_tail", { channel: "app", lines: -1 }, /lines/);
  await refused("log_tail", { channel: "app", sinceSeq: -1 }, /sinceSeq/);
  await refused("log_tail", { channel: "app", format: "xml" }, /format/);
  hub.close();
});

Deno.test("log_stats tells a flood of errors: counts exact, lines a second right [C371]", async () => {
  const { hub, call, rx, clock } = toolRig();
  for (let i = 0; i <= 2000; i++) {
    const line = i % 4 === 0 ? `E (${i}) net: failed` : i % 4 === 1 ? `W (${i}) net: slow` : `I (${i}) net: fine`;
    rx.push(bytesOf(`${line}\n`), clock.t = i * 2, "none");
  }
  hub.log("app", "error", "one");
  const { output, text } = await call("log_stats");
  const stats = output.channels.find((c) => c.channel === "serial:main:rx");
  assert.deepEqual([stats?.lines, stats?.warnOrError, stats?.spanSecs, stats?.linesPerSec], [2001, 1001, 4, 500]);
  assert.equal(output.channels.find((c) => c.channel === "app")?.warnOrError, 1);
  assert.equal(output.channels.find((c) => c.channel === "app")?.linesPerSec, 0);
  assert.match(text, /serial:main:rx: 2001 lines in 4 s \(500\/s\), 1001 warn or error/);
  hub.close();
});

Deno.test("log_clear of one channel: the channel stays, 0 lines, seq goes on [C372]", async () => {
  const { hub, call, rx, lines } = toolRig();
  lines(5, () => "x");
  hub.log("app", "info", "stays");
  const { output } = await call("log_clear", { channel: "serial:main:rx" });
  assert.deepEqual(output, { clearedChannels: 1, channel: "serial:main:rx" });
  const empty = (await call("log_tail", { channel: "serial:main:rx" })).output;
  assert.deepEqual([empty.returned, empty.dropped, empty.mayBeIncomplete], [0, 0, false]);
  rx.push(bytesOf("next\n"), 9, "none");
  assert.equal((await call("log_tail", { channel: "serial:main:rx" })).output.seqFrom, 6);
  assert.equal((await call("log_tail", { channel: "app" })).output.returned, 1);
  hub.close();
});

Deno.test("log_clear without a channel empties all [C373]", async () => {
  const { hub, call, lines } = toolRig();
  lines(5, () => "x");
  hub.log("app", "info", "goes");
  const { output } = await call("log_clear");
  assert.deepEqual(output, { clearedChannels: hub.names().length, channel: null });
  for (const name of hub.names()) assert.equal((await call("log_tail", { channel: name })).output.returned, 0);
  hub.close();
});

Deno.test("log_clear with a name off by a blank erases nothing [C374]", async () => {
  const { hub, call, refused, lines } = toolRig();
  lines(5, () => "x");
  for (const channel of [" serial:main:rx", "serial:main:rx ", "", "Serial:main:rx"]) {
    await refused("log_clear", { channel }, /log_channels/);
  }
  assert.equal((await call("log_tail", { channel: "serial:main:rx" })).output.returned, 5);
  hub.close();
});
