import assert from "node:assert/strict";
import { LIMITS } from "../../tools/limits.ts";
import { FIRST_CHANNELS, LogHub } from "../../src/bench/log_hub.ts";
import { FLAG, levelOf, sourceOf } from "../../src/core/line.ts";
import { renderText } from "../../src/core/text.ts";
import { until } from "../rigs/until.ts";

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text);

/** A hub whose clock stands still until it is moved. */
function rig(options: { totalCapBytes?: number; maxChannels?: number } = {}) {
  const clock = { t: 0 };
  const hub = new LogHub({ clock: () => clock.t, epochMs: Date.UTC(2026, 0, 2, 3, 4, 5), ...options });
  const texts = (name: string) => {
    const found: string[] = [];
    hub.find(name)?.ring.scan(0, Infinity, (_seq, _t, flags, _raw, bytes, from, to) => {
      found.push(renderText(bytes.subarray(from, to), flags));
    });
    return found;
  };
  return { clock, hub, texts };
}

Deno.test("the channels that agents are told of are there from the start, with the caps of the limits [C347]", () => {
  const { hub } = rig();
  assert.deepEqual(hub.names(), [...FIRST_CHANNELS].sort());
  assert.equal(hub.find("serial:main:rx")?.capBytes, LIMITS.logCapSerialBytes);
  assert.equal(hub.find("app")?.capBytes, LIMITS.logCapOtherBytes);
  assert.equal(hub.find("ble:rx")?.capBytes, LIMITS.logCapBleBytes);
  assert.equal(hub.find("adb:rx")?.capBytes, LIMITS.logCapAdbBytes);
  assert.equal(hub.find("nope"), undefined);
  hub.close();
});

Deno.test("a message keeps level, source, direction and time; over 8 KiB it is cut at a character with its real size [C355]", () => {
  const { hub, clock } = rig();
  clock.t = 1500.25;
  hub.log("app", "warn", "a 中 message", { src: "ai" });
  hub.log("app", "info", "é".repeat(4608));
  const ring = hub.find("app")?.ring;
  const first = ring?.get(1);
  assert.equal(levelOf(first?.flags ?? 0), "warn");
  assert.equal(sourceOf(first?.flags ?? 0), "ai");
  assert.equal(first?.t, 1500.25);
  assert.equal(hub.iso(first?.t ?? 0), "2026-01-02T03:04:06.500Z");
  const second = ring?.get(2);
  assert.equal(second?.raw, 9216);
  assert.ok((second?.bytes.length ?? 0) <= 8192 && (second?.bytes.length ?? 0) > 8188);
  assert.ok((second?.flags ?? 0) & FLAG.cut);
  assert.equal(renderText(second?.bytes ?? bytesOf(""), second?.flags ?? 0), "é".repeat(4096));
  hub.close();
});

Deno.test("a serial channel past its cap drops the oldest lines and counts them [C356] [SR13]", () => {
  const { hub } = rig();
  const stream = hub.stream("serial:main:rx", "rx");
  for (let i = 1; i <= 20_000; i++) stream.push(bytesOf(`line ${i} ${"x".repeat(40)}\n`), i, "none");
  const channel = hub.find("serial:main:rx");
  assert.ok(channel);
  assert.ok(channel.ring.bytes <= LIMITS.logCapSerialBytes);
  assert.equal(channel.ring.dropped + channel.ring.lines, 20_000);
  assert.ok(channel.ring.dropped > 0);
  assert.match(
    renderText(channel.ring.get(channel.ring.firstSeq)?.bytes ?? bytesOf(""), 0),
    new RegExp(`^line ${channel.ring.dropped + 1} `),
  );
  hub.close();
});

Deno.test("over 16 MiB in all the largest channel is cut and the cut is counted [C357]", () => {
  const { hub } = rig();
  const streams = Array.from({ length: 40 }, (_, i) => hub.stream(`serial:extra-${i}:rx`, "rx"));
  const line = bytesOf(`${"y".repeat(200)}\n`);
  let written = 0;
  for (let i = 0; written < 20 * 1024 * 1024; i++) {
    streams[i % streams.length]?.push(line, i, "none");
    written += line.length + 15;
    if (i % 1000 === 0) assert.ok(hub.totals().totalBytes <= LIMITS.logTotalCapBytes);
  }
  const totals = hub.totals();
  assert.ok(totals.totalBytes <= LIMITS.logTotalCapBytes);
  assert.ok(totals.reclaims > 0);
  const sum = hub.names().reduce((bytes, name) => bytes + (hub.find(name)?.ring.bytes ?? 0), 0);
  assert.equal(totals.totalBytes, sum);
  const lost = hub.names().reduce((lines, name) => lines + (hub.find(name)?.ring.dropped ?? 0), 0);
  assert.ok(lost > 0 && totals.reclaimedBytes > 0);
  hub.close();
});

Deno.test("the largest channel gives way, a small one keeps its lines", () => {
  const { hub, texts } = rig({ totalCapBytes: 20_000 });
  hub.log("app", "info", "keep me");
  const stream = hub.stream("serial:main:rx", "rx");
  for (let i = 0; i < 1000; i++) stream.push(bytesOf(`${"z".repeat(60)}\n`), i, "none");
  assert.deepEqual(texts("app"), ["keep me"]);
  assert.ok(hub.totals().totalBytes <= 20_000);
  assert.equal(hub.totals().reclaimedBytes, 1000 * 76 + 23 - hub.totals().totalBytes);
  hub.close();
});

Deno.test("the 65th channel is not made, and each write to it is counted [C358]", () => {
  const { hub } = rig();
  for (let i = hub.names().length; i < LIMITS.logMaxChannels; i++) hub.log(`more-${i}`, "info", "x");
  assert.equal(hub.names().length, 64);
  hub.log("one-too-many", "info", "x");
  const stream = hub.stream("serial:extra-1:rx", "rx");
  stream.push(bytesOf("a\nb\n"), 0, "none");
  assert.equal(hub.names().length, 64);
  assert.equal(hub.find("one-too-many"), undefined);
  assert.equal(hub.totals().channelSkips, 4);
  hub.log("app", "info", "the others go on");
  assert.equal(hub.find("app")?.ring.lines, 1);
  hub.close();
});

Deno.test("a reader that is slow, or throws, never holds up or fails the writer [C359]", () => {
  const { hub, texts } = rig();
  let calls = 0;
  const stream = hub.stream("serial:main:rx", "rx", {
    onLine: () => {
      calls++;
      throw new Error("the disk is full");
    },
  });
  const slow = hub.find("serial:main:rx")?.ring.get(1);
  for (let i = 0; i < 50_000; i++) stream.push(bytesOf("a line\n"), i, "none");
  assert.equal(slow, undefined);
  assert.equal(calls, 50_000);
  assert.equal(hub.find("serial:main:rx")?.ring.lastSeq, 50_000, "every line is stored though nobody reads");
  assert.deepEqual(texts("error"), ["log serial:main:rx: the disk is full"], "told once");
  hub.close();
  stream.push(bytesOf("after the end\n"), 1, "none");
  hub.log("app", "info", "after the end");
  assert.equal(hub.find("app")?.ring.lines, 0);
});

Deno.test("a cut character is whole in the log, its bytes right [C376]", () => {
  const { hub, texts } = rig();
  const stream = hub.stream("serial:main:rx", "rx");
  const bytes = bytesOf("温度 21 °C 😀\r\n");
  for (const byte of bytes) stream.push(Uint8Array.of(byte), 0, "none");
  assert.deepEqual(texts("serial:main:rx"), ["温度 21 °C 😀"]);
  assert.equal(hub.find("serial:main:rx")?.ring.get(1)?.raw, bytes.length - 2);
  assert.equal((hub.find("serial:main:rx")?.ring.get(1)?.flags ?? 0) & FLAG.eolMask, FLAG.eolCrLf);
  assert.equal(stream.bytes, bytes.length);
  hub.close();
});

Deno.test("the open line has the seq that it will get, and the time of its first byte [SR14]", () => {
  const { hub } = rig();
  const stream = hub.stream("serial:main:tx", "tx");
  const channel = hub.find("serial:main:tx");
  assert.equal(channel?.open(), undefined);
  stream.push(bytesOf("one\nAT"), 10, "ai");
  stream.push(bytesOf("+CSQ"), 2010, "ui");
  const open = channel?.open();
  assert.deepEqual([open?.seq, open?.t, open?.raw], [2, 10, 6]);
  assert.equal(sourceOf(open?.flags ?? 0), "ai");
  stream.end();
  assert.equal(channel?.open(), undefined);
  assert.equal(channel?.ring.get(2)?.t, 10);
  assert.equal(channel?.lastT, 10);
  hub.close();
});

Deno.test("a frame ends after a silence by itself, and no clock runs between frames [SR05]", async () => {
  const hub = new LogHub();
  const stream = hub.stream("serial:main:rx", "rx");
  stream.mode = "frames";
  stream.push(Uint8Array.of(1, 3, 0xaf), hub.now(), "none");
  await until(() => hub.find("serial:main:rx")?.ring.lines === 1);
  const record = hub.find("serial:main:rx")?.ring.get(1);
  assert.equal(renderText(record?.bytes ?? bytesOf(""), record?.flags ?? 0), "01 03 AF");
  stream.push(Uint8Array.of(2), hub.now(), "none");
  // The sanitizer sees it if a timer outlives this.
  hub.close();
});

Deno.test("warnings and errors that a device prints are counted as long as they are held, what we send is not", () => {
  const { hub } = rig();
  const rx = hub.stream("serial:main:rx", "rx");
  const tx = hub.stream("serial:main:tx", "tx");
  rx.push(bytesOf("E (1) a: b\nW (2) a: b\nI (3) a: b\nERROR\n"), 0, "none");
  tx.push(bytesOf("ERROR\n"), 0, "ai");
  assert.equal(hub.find("serial:main:rx")?.warnOrError, 3);
  assert.equal(hub.find("serial:main:tx")?.warnOrError, 0);
  for (let i = 0; i < 30_000; i++) rx.push(bytesOf(`I (${i}) fine: nothing to see\n`), 1, "none");
  assert.equal(hub.find("serial:main:rx")?.warnOrError, 0);
  hub.close();
});

Deno.test("clearing keeps the channel, its seq and its count of losses [A35] [C372]", () => {
  const { hub } = rig({ totalCapBytes: 10_000 });
  const stream = hub.stream("serial:main:rx", "rx");
  for (let i = 0; i < 500; i++) stream.push(bytesOf("some line\n"), i, "none");
  const ring = hub.find("serial:main:rx")?.ring;
  const dropped = ring?.dropped;
  assert.ok((dropped ?? 0) > 0);
  assert.equal(hub.clear("serial:main:rx"), 1);
  assert.equal(ring?.lines, 0);
  assert.equal(ring?.dropped, dropped);
  assert.equal(hub.totals().totalBytes, 0);
  stream.push(bytesOf("next\n"), 1, "none");
  assert.equal(ring?.lastSeq, 501);
  assert.equal(hub.clear(), FIRST_CHANNELS.length);
  assert.equal(hub.clear("nope"), 0);
  hub.close();
});
