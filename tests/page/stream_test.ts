import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../rigs/bench.ts";
import { pageRig } from "../rigs/page.ts";
import { AnswerError, type PageClient } from "../rigs/page_client.ts";

const RX = "serial:main:rx";
const bytes = (text: string) => new TextEncoder().encode(text);

const pane = (page: PageClient, name = "main") => {
  const view = page.state.panes?.find((p) => p.pane === name);
  assert.ok(view, `pane ${name}`);
  return view;
};

async function refusal(
  call: Promise<unknown>,
): Promise<{ code: number; message: string; reason?: string | undefined }> {
  const error = await call.then(() => undefined, (e) => e);
  assert.ok(error instanceof AnswerError, `expected a refusal, got ${error}`);
  return error.error;
}

Deno.test("a page is greeted with the whole state", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  const { hello } = page;
  assert.ok(hello);
  assert.deepEqual(Object.keys(hello.state).sort(), [
    "asks",
    "calls",
    "channels",
    "panes",
    "ports",
    "server",
    "settings",
  ]);
  assert.ok(Math.abs(hello.epochMs + hello.now - Date.now()) < 60_000);
  assert.deepEqual(hello.state.ports.map((p) => p.value), ["mem1", "mem2"]);
  assert.equal(hello.state.ports[0]?.serialNumber, "T1");
  assert.ok(hello.state.channels.some((c) => c.name === RX));
  assert.equal(JSON.stringify(hello).includes("test-token"), false);
});

Deno.test("the page follows what an agent does: port, rate, open, view [C140] [C159]", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  const agent = await rig.agent();
  await agent.ok("serial_select_port", { port: "mem1" });
  await until(() => pane(page).port === "mem1", "the port is shown");
  await agent.ok("serial_open", { baud: 57600 });
  await until(() => pane(page).status === "open" && pane(page).baud === 57600, "open is shown");
  assert.ok(pane(page).openSince !== null);
  await until(() => page.state.ports?.find((p) => p.value === "mem1")?.inUse === true, "in use is shown");
  await agent.ok("serial_set_display", { viewMode: "hex" });
  await until(() => pane(page).viewMode === "hex", "hex is shown");
  rig.device.unplug();
  await until(() => pane(page).status === "lost", "the loss is shown");
  assert.match(pane(page).lostDevice ?? "", /T1|Test adapter|mem1/);
});

Deno.test("who asks for the state has it when the answer comes, whatever the pace of states is [C330]", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  await page.call("serial_open", { port: "mem1" });
  // More often than states come by themselves; each of them is seen.
  for (let baud = 9600; baud < 9640; baud++) {
    await page.call("serial_set_baud", { baud });
    await page.request((id) => ({ type: "sync", id })).answer;
    assert.equal(pane(page).baud, baud);
  }
});

Deno.test("nothing is sent while nothing changes, and at most ten states a second while all does", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  await page.call("serial_open", { port: "mem1" });
  await until(() => pane(page).status === "open", "open is shown");
  await delay(2600); // rates come to rest
  const before = page.stateMessages.length;
  await delay(500);
  assert.equal(page.stateMessages.length, before);
  const stop = performance.now() + 1500;
  let n = 0;
  while (performance.now() < stop) {
    await rig.device.peer.write(bytes(`line ${n++}\n`));
    await delay(5);
  }
  const states = page.stateMessages.slice(before);
  const times = states.map((m) => m.at);
  assert.ok(times.length >= 2, "states came");
  const span = (times.at(-1) ?? 0) - (times[0] ?? 0);
  // A late timer may bring one early; over the whole it is ten a second.
  assert.ok(times.length - 1 <= span / 100 + 1, `${times.length} states in ${span} ms`);
  assert.ok(states.every((m) => !m.parts.includes("settings") && !m.parts.includes("ports")));
  await until(() => pane(page).counters.rxLines === n, "all lines are counted");
});

Deno.test("lines of a device reach the page as they come, each once, with who sent what", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  const agent = await rig.agent();
  page.want(RX);
  page.want("serial:main:tx");
  await page.call("serial_open", { port: "mem1" });
  await rig.device.peer.write(bytes("hello\r\nlog"));
  await until(() => page.channel(RX).partial === "log", "the open line is shown");
  assert.deepEqual(page.texts(RX), ["hello"]);
  await rig.device.peer.write(bytes("in:\n"));
  await until(() => page.texts(RX).length === 2, "the whole line is shown");
  assert.deepEqual([page.texts(RX), page.channel(RX).partial], [["hello", "login:"], undefined]);
  await agent.ok("serial_send", { data: "root", lineEnding: "lf" });
  await page.call("serial_send", { data: "secret", lineEnding: "lf" });
  await until(() => page.texts("serial:main:tx").length === 2, "what was sent is shown");
  assert.deepEqual([...page.channel("serial:main:tx").lines.values()].map((l) => [l.text, l.flags & 3]), [
    ["root", 1],
    ["secret", 2],
  ]);
});

Deno.test("5,000 lines reach two pages whole and in order, while one of them also pages back", async () => {
  await using rig = await pageRig();
  const pages = [await rig.page(), await rig.page()];
  const [first] = pages;
  assert.ok(first);
  for (const page of pages) page.want(RX);
  await first.call("serial_open", { port: "mem1" });
  let next = 0;
  while (next < 5000) {
    let text = "";
    for (let i = 0; i < 100; i++) text += `count ${next++}\n`;
    await rig.device.peer.write(bytes(text));
    if (next % 1000 === 0) {
      const frame = await first.fetch(RX, 1, 10);
      assert.equal(frame.records.length, 10);
    }
  }
  for (const page of pages) {
    await until(() => page.channel(RX).lines.size === 5000, "all lines came");
    const channel = page.channel(RX);
    assert.deepEqual([channel.twice, channel.gaps, page.skipped(RX)], [0, 0, 0]);
    assert.ok(page.texts(RX).every((text, i) => text === `count ${i}`));
  }
});

Deno.test("a page that deals with nothing holds neither the device nor the other page up [C124]", async () => {
  await using rig = await pageRig();
  const slow = await rig.page();
  slow.takenOnly = 0;
  const page = await rig.page();
  slow.want(RX);
  page.want(RX);
  await page.call("serial_open", { port: "mem1" });
  const total = 60_000;
  for (let n = 0; n < total;) {
    let text = "";
    for (let i = 0; i < 500; i++) text += `${String(n++).padStart(8, "0")} ${"x".repeat(50)}\n`;
    await rig.device.peer.write(bytes(text));
  }
  await until(() => pane(page).counters.rxLines === total, "the driver took all");
  await until(() => page.channel(RX).nextSeq === total + 1, "the quick page has the end");
  assert.ok(
    slow.channel(RX).lines.size < total / 2,
    `${slow.channel(RX).lines.size} lines were pushed at the slow page`,
  );
  const got = page.channel(RX).lines.size;
  assert.equal(got + page.skipped(RX), total, "what did not come is told");
  // Once it has dealt with what it got, it goes on at what is held.
  slow.takenOnly = undefined;
  slow.send({ type: "taken", bytes: 1e12 });
  await until(() => slow.channel(RX).nextSeq === total + 1, "the slow page has the end too");
  assert.equal(slow.channel(RX).lines.size + slow.skipped(RX), total);
});

Deno.test("finding gives the seqs of the lines, literal and by expression, per channel", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  for (let i = 1; i <= 500; i++) rig.log.log("app", "info", i % 100 ? `line ${i}` : `Temp+ ${i}`);
  const find = async (query: { pattern: string; regex?: boolean; caseSensitive?: boolean }, channels = ["app"]) =>
    (await page.request((id) => ({ type: "find", id, channels, ...query })).answer).output;
  const offset = (rig.log.find("app")?.ring.lastSeq ?? 0) - 500;
  const seqs = [100, 200, 300, 400, 500].map((n) => n + offset);
  assert.deepEqual(await find({ pattern: "temp+" }), {
    channels: [{ channel: "app", total: 5, seqs }],
    total: 5,
    truncated: false,
  });
  assert.deepEqual(await find({ pattern: "^Temp\\+ [12]", regex: true, caseSensitive: true }, ["app", "error"]), {
    channels: [{ channel: "app", total: 2, seqs: seqs.slice(0, 2) }, { channel: "error", total: 0, seqs: [] }],
    total: 2,
    truncated: false,
  });
  assert.equal((await refusal(find({ pattern: "(", regex: true }))).code, -32602);
  assert.equal((await refusal(find({ pattern: "x" }, ["nope"]))).code, -32602);
});

Deno.test("paging back goes from the ring into the session on disk without a gap", async () => {
  await using rig = await pageRig({ session: true });
  const page = await rig.page();
  page.want(RX, 1);
  await page.call("serial_open", { port: "mem1" });
  const total = 20_000; // more than the ring holds
  for (let n = 0; n < total;) {
    let text = "";
    for (let i = 0; i < 500; i++) text += `${String(n++).padStart(8, "0")} ${"y".repeat(40)}\n`;
    await rig.device.peer.write(bytes(text));
  }
  const ring = rig.log.find(RX)?.ring;
  assert.ok(ring);
  await until(() => ring.lastSeq === total, "all lines are in");
  assert.ok(ring.firstSeq > 1);
  const frame = await page.fetch(RX, 1, 2000);
  assert.equal(frame.firstSeq, ring.firstSeq);
  const oldest = frame.records[0];
  assert.ok(oldest && page.hello);
  const { epochMs } = page.hello;
  const ms = (t: number) => Math.floor(epochMs + t);
  const held = frame.records.filter((r) => ms(r.t) === ms(oldest.t)).length;
  const numbers: number[] = [];
  let before: number | string = oldest.t;
  for (;;) {
    const { output } = await page.request((id) => ({ type: "older", id, pane: "main", before, held, count: 3000 }))
      .answer;
    assert.ok(typeof output === "object" && output !== null && "lines" in output && "cursor" in output);
    assert.ok(Array.isArray(output.lines));
    numbers.unshift(...output.lines.filter((l) => l.dir === "rx").map((l) => Number(l.text.slice(0, 8))));
    if (typeof output.cursor !== "string") break;
    before = output.cursor;
  }
  assert.deepEqual(numbers, Array.from({ length: ring.firstSeq - 1 }, (_, i) => i));
});

Deno.test("a click is the same gated call that an agent makes: arguments are checked, failures carry their reason", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  assert.equal((await refusal(page.call("serial_set_baud", { baud: 1 }))).code, -32602);
  assert.equal((await refusal(page.call("nope"))).code, -32602);
  const closed = await refusal(page.call("serial_send", { data: "x" }));
  assert.deepEqual([closed.code, closed.reason], [-32006, "not_open"]);
  assert.equal((await refusal(page.call("test_throw"))).code, -32603);
  const { output } = await page.call("serial_set_baud", { baud: 300 });
  assert.deepEqual(output, { pane: "main", applied: [{ name: "baud", ok: true, from: 115200, to: 300 }] });
});

Deno.test("progress of a long call is told, and cancel ends it", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  await page.call("serial_open", { port: "mem1" });
  await page.act("pane.setPacing", { pane: "main", charMs: 0, lineMs: 20 });
  const data = Array.from({ length: 200 }, (_, i) => `line ${i}`).join("\n");
  const { id, answer } = page.request((id) => ({
    type: "call",
    id,
    tool: "serial_send",
    args: { data, lineEnding: "lf" },
  }));
  await until(() => page.progressOf(id).length >= 2, "progress is told");
  await until(() => pane(page).sending !== null, "the pane shows it");
  page.cancel(id);
  const error = await refusal(answer);
  assert.equal(error.reason, "canceled");
  const sent = new TextDecoder().decode(rig.device.peer.take());
  assert.ok(sent.length < data.length / 2 && data.startsWith(sent), "a beginning went, in order, and the rest did not");
  const total = page.progressOf(id).at(-1)?.total;
  assert.equal(total, data.length + 1);
});

Deno.test("a file goes out as it is, with progress; a page that leaves ends it", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  await page.call("serial_open", { port: "mem1", baud: 4_000_000 });
  const file = crypto.getRandomValues(new Uint8Array(50_000));
  const sendFile = (p: PageClient, size: number) =>
    p.request((id) => ({ type: "do", id, action: "pane.sendFile", args: { pane: "main", name: "fw.bin", size } }));
  const { id, answer } = sendFile(page, file.length);
  for (let at = 0; at < file.length; at += 8192) page.chunk(id, file.subarray(at, at + 8192));
  page.chunk(id, new Uint8Array(0));
  assert.deepEqual((await answer).output, { bytes: file.length });
  assert.deepEqual(rig.device.peer.take(), file);
  assert.ok(page.progressOf(id).some((p) => p.done === file.length && p.total === file.length));

  const other = await rig.page();
  const begun = sendFile(other, 1000);
  begun.answer.catch(() => {});
  other.chunk(begun.id, new Uint8Array(100));
  await until(() => pane(page).sending !== null, "it is on its way");
  await other.close();
  await until(() => pane(page).sending === null, "it has ended");
  await page.call("serial_send", { data: "next", mode: "text", lineEnding: "none" });
});

Deno.test("what only a person does: frame with 1.5 and mark, levels at open, break, label, panes, keys", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  await page.act("pane.setFrame", { pane: "main", stopBits: "1.5", parity: "mark", dataBits: "7" });
  await page.act("pane.setLinesAtOpen", { pane: "main", dtr: "low", rts: "leave" });
  await page.act("pane.setLabel", { pane: "main", label: "<b>Board</b>" });
  await until(() => pane(page).label === "<b>Board</b>", "the label is shown");
  const view = pane(page);
  assert.deepEqual([view.stopBits, view.parity, view.dataBits, view.linesAtOpen], [
    "1.5",
    "mark",
    "7",
    { dtr: "low", rts: "leave" },
  ]);
  await page.call("serial_open", { port: "mem1" });
  assert.equal((await refusal(page.act("pane.setFrame", { pane: "main", parity: "none" }))).reason, "disabled");
  await page.act("pane.sendBreak", { pane: "main", ms: 20 });
  assert.deepEqual(rig.device.record.filter((r) => r.call === "break").map((r) => r.call === "break" && r.on), [
    true,
    false,
  ]);
  await page.act("pane.keys", { pane: "main", data: "\x03" });
  await until(() => rig.device.peer.take().includes(3), "the key arrived");
  assert.equal(pane(page).historyCount, 0);
  const { pane: added } = await page.act("pane.add", {});
  assert.equal(added, "extra-1");
  await until(() => page.state.panes?.length === 2, "the new pane is shown");
  await page.act("pane.close", { pane: "extra-1" });
  await until(() => page.state.panes?.length === 1, "it is gone again");
  assert.equal((await refusal(page.act("pane.close", { pane: "main" }))).code, -32602);
  assert.equal((await refusal(page.act("pane.setLabel", { pane: "nope", label: "x" }))).code, -32602);
});

Deno.test("page settings are kept and the same for every page", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  const second = await rig.page();
  await page.act("ui.save", { key: "accent", value: "teal" });
  await until(() => second.state.settings?.["accent"] === "teal", "the other page has it");
  const kept = JSON.parse(await Deno.readTextFile(`${rig.rig.folder}/page-config.json`));
  assert.deepEqual(kept.ui, { accent: "teal" });
  await page.act("ui.save", { key: "accent", value: null });
  await until(() => second.state.settings?.["accent"] === undefined, "it is gone");
});

Deno.test("rescan finds a port that is plugged in, and unplugged ports leave by themselves", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  rig.device.unplug();
  await until(() => page.state.ports?.length === 1, "the port is gone");
  rig.device.replug("mem9");
  await page.act("ports.rescan", {});
  await until(() => page.state.ports?.some((p) => p.value === "mem9"), "the port is there");
});

Deno.test("nonsense from a page is refused and the page lives; a page that floods is cut off", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  for (const text of ["{", "[]", "null", '{"type":"nope"}', '{"type":"want"}']) page.sendText(text);
  page.sendText('{"type":"call","id":9000001,"tool":"app_info","args":5}');
  await page.call("app_info");
  assert.equal(page.messages.filter((m) => m.type === "refused").length, 5);
  assert.ok(page.messages.some((m) => m.type === "answer" && m.id === 9_000_001 && !m.ok));
  page.send({ type: "cancel", id: 424_242 });
  page.chunk(424_242, new Uint8Array(10));
  page.send({ type: "ack", id: 424_242, ok: true, result: null });
  assert.equal(
    (await refusal(page.request((id) => ({ type: "fetch", id, channel: "nope", fromSeq: 1, count: 1 })).answer)).code,
    -32602,
  );
  assert.equal(
    (await refusal(page.request((id) => ({ type: "do", id, action: "nope", args: {} })).answer)).code,
    -32602,
  );
  assert.equal((await refusal(page.act("pane.setPacing", { pane: "main", charMs: -1, lineMs: 0 }))).code, -32602);
  await page.call("app_info");
});

Deno.test("closing the server closes its pages and ends what they wait for", async () => {
  const rig = await pageRig();
  const page = await rig.page();
  const { answer } = page.request((id) => ({ type: "call", id, tool: "test_slow", args: { ms: 100_000 } }));
  answer.catch(() => {});
  await page.call("app_info");
  await rig[Symbol.asyncDispose]();
  await page.closed;
});
