import assert from "node:assert/strict";
import { MemoryDriver } from "../../src/drivers/serial/memory.ts";
import { LIMITS } from "../../tools/limits.ts";
import { type BenchRig, memoryRig, type PtyDevice, ptyRig, until } from "../rigs/bench.ts";
import { fails, refused } from "../rigs/refusals.ts";

/** Pane main open on a virtual port, with the device at its other end. */
const openRig = async (options: Parameters<typeof ptyRig>[0] = {}) => {
  const rig = await ptyRig(options);
  await rig.call("serial_open", { port: rig.device.path });
  return rig;
};

/** Waits until the device has as many bytes as were sent, and gives them as hex. */
const gets = async (device: PtyDevice, count: number): Promise<string> => {
  await until(() => device.count >= count, `${count} bytes at the device`);
  const hex = [...device.received].map((b) => b.toString(16).padStart(2, "0").toUpperCase()).join(" ");
  device.forget();
  return hex;
};

Deno.test("text goes out with the line ending asked for, which stays set [C173]", async () => {
  await using rig = await openRig();
  await rig.call("serial_set_display", { lineEnding: "none" });
  const { output, text } = await rig.call("serial_send", { data: "AT", lineEnding: "crlf" });
  assert.deepEqual(output, { pane: "main", sent: true, mode: "text", bytes: 4, data: "AT" });
  assert.equal(await gets(rig.device, 4), "41 54 0D 0A");
  assert.equal((await rig.call("serial_get_state")).output.lineEnding, "crlf");
  assert.match(text, /4 bytes.*serial_get_output/);
  await rig.call("serial_send", { data: "AT" });
  assert.equal(await gets(rig.device, 4), "41 54 0D 0A");
  await rig.call("serial_send", { data: "é€😀", lineEnding: "lf" });
  assert.equal(await gets(rig.device, 10), "C3 A9 E2 82 AC F0 9F 98 80 0A");
  await rig.call("serial_send", { data: "", lineEnding: "cr" });
  assert.equal(await gets(rig.device, 1), "0D");
});

Deno.test("hex goes out as those bytes, no line ending added [C174]", async () => {
  await using rig = await openRig();
  const { output } = await rig.call("serial_send", { data: "01 03 00 00 00 02", mode: "hex", lineEnding: "crlf" });
  assert.deepEqual([output.mode, output.bytes, output.data], ["hex", 6, "01 03 00 00 00 02"]);
  assert.equal(await gets(rig.device, 6), "01 03 00 00 00 02");
  // A row of bytes in the log, not a line of text.
  await until(() => rig.hub.find("serial:main:tx")?.ring.lines === 1, "the row");
  const { items } = (await rig.call("serial_get_output", { direction: "tx" })).output;
  assert.deepEqual([items?.[0]?.text, items?.[0]?.bytes], ["01 03 00 00 00 02", 6]);
});

Deno.test("without a mode the pane's own is used, and a mode stays [C175]", async () => {
  await using rig = await openRig();
  assert.equal((await rig.call("serial_get_state")).output.sendAs, "text");
  await rig.call("serial_send", { data: "31 32", lineEnding: "none" });
  assert.equal(await gets(rig.device, 5), "33 31 20 33 32");
  await rig.call("serial_send", { data: "31 32", mode: "hex" });
  assert.equal(await gets(rig.device, 2), "31 32");
  assert.equal((await rig.call("serial_get_state")).output.sendAs, "hex");
  await rig.call("serial_send", { data: "33" });
  assert.equal(await gets(rig.device, 1), "33");
});

Deno.test("hex input as technicians type it [SO14]", async () => {
  await using rig = await openRig();
  const inputs: [string, string][] = [
    ["0x01,02", "01 02"],
    ["0 1 2", "00 01 02"],
    ["0xA", "0A"],
    ["48656C", "48 65 6C"],
    ["0x48 0x65,0x6c", "48 65 6C"],
    ["  ff\tFF \n", "FF FF"],
  ];
  for (const [typed, sent] of inputs) {
    const { output } = await rig.call("serial_send", { data: typed, mode: "hex" });
    // What was sent is told back as it went.
    assert.equal(output.data, sent);
    assert.equal(await gets(rig.device, output.bytes), sent, typed);
  }
});

Deno.test("bad hex is refused whole with the column, nothing is sent and nothing stays [C176]", async () => {
  await using rig = await openRig();
  for (const [data, column] of [["0G", 2], ["123", 1], ["01 02 0x", 7], ["01 zz", 4], ["", 0], [" , ", 0]] as const) {
    const error = await refused(rig.call("serial_send", { data, mode: "hex" }));
    if (column > 0) {
      assert.equal(error.data?.["column"], column, data);
      assert.match(error.message, new RegExp(`column ${column}`));
    }
  }
  assert.equal((await rig.call("serial_get_state")).output.sendAs, "text");
  await rig.call("serial_send", { data: "!", lineEnding: "none" });
  assert.equal(await gets(rig.device, 1), "21");
  assert.equal((await rig.call("serial_get_history")).output.total, 1);
});

Deno.test("empty text without a line ending, and half a character, are refused", async () => {
  await using rig = await openRig();
  await refused(rig.call("serial_send", { data: "", lineEnding: "none" }));
  await refused(rig.call("serial_send", { data: "a\ud800b" }));
  await new Promise((r) => setTimeout(r, 50));
  assert.equal(rig.device.count, 0);
});

Deno.test("sending on a closed pane fails and names serial_open [C177]", async () => {
  await using rig = await memoryRig();
  const error = await fails(rig.call("serial_send", { data: "x" }), "not_open");
  assert.match(`${error.message} ${error.hint}`, /serial_open/);
  assert.match(error.message, /nothing was sent/);
  assert.equal((await rig.call("serial_get_history")).output.total, 0);
});

Deno.test("64 K characters go whole, one more is refused [C178]", async () => {
  await using rig = await openRig();
  const data = Array.from({ length: LIMITS.maxSendChars }, (_, i) => String.fromCharCode(97 + i % 26)).join("");
  const { output, text } = await rig.call("serial_send", { data, lineEnding: "none" });
  assert.equal(output.bytes, 65_536);
  assert.ok(output.data.length <= 2000 && text.length <= 600, "the answer does not repeat it all");
  await until(() => rig.device.count >= 65_536, "all of it");
  assert.equal(rig.device.text, data);
  await refused(rig.call("serial_send", { data: data + "x", lineEnding: "none" }));
  assert.equal(rig.device.count, 65_536);
});

Deno.test("two agents send 10 kB at once: neither is cut by the other [C179]", async () => {
  await using rig = await openRig();
  const texts = ["a".repeat(10_000), "b".repeat(10_000)];
  await Promise.all(texts.map((data) => rig.call("serial_send", { data, lineEnding: "lf" })));
  // Also where no lock of the gate is: two parts of the program itself.
  const pane = rig.bench.panes.need();
  await Promise.all(texts.map((data) => pane.send({ data }, { src: "ui" })));
  await until(() => rig.device.count >= 40_004, "all of it");
  assert.deepEqual(rig.device.text.split("\n").sort(), ["", texts[0], texts[0], texts[1], texts[1]]);
});

Deno.test("what an agent sends and what a person sends are marked in the log [C180] [C375]", async () => {
  await using rig = await openRig();
  await rig.call("serial_send", { data: "by an agent" });
  await rig.call("serial_send", { data: "by a person" }, { src: "ui" });
  await rig.device.write("by the device\n");
  await until(() => rig.lines("serial:main:rx").length === 1, "the device");
  const { items } = (await rig.call("serial_get_output", {})).output;
  assert.deepEqual(items?.map((i) => [i.dir, i.src, i.text]), [
    ["tx", "ai", "by an agent"],
    ["tx", "ui", "by a person"],
    ["rx", "none", "by the device"],
  ]);
  assert.equal((await rig.call("serial_get_output", { direction: "tx" })).output.count, 2);
  const src = async (channel: string) =>
    (await rig.call("log_tail", { channel })).output.lines?.map((l) => `${l.dir} ${l.src}`);
  assert.deepEqual(await src("serial:main:tx"), ["tx ai", "tx ui"]);
  assert.deepEqual(await src("serial:main:rx"), ["rx none"]);
});

const sizes = async (rig: BenchRig, pane: string) => {
  const kinds = ["rx.bin", "tx.bin", "log"] as const;
  return await Promise.all(kinds.map(async (kind) => (await rig.session(pane, kind)).length));
};

Deno.test("a clear empties the view and the files of this pane only [C181]", async () => {
  await using rig = await openRig({ ports: 2, session: true });
  const [a, b] = rig.devices;
  await rig.call("serial_open", { port: b?.path, pane: "extra-1" });
  for (const [device, pane] of [[a, "main"], [b, "extra-1"]] as const) {
    await device?.write("one\ntwo\n");
    await until(() => rig.lines(`serial:${pane}:rx`).length === 2, "two lines");
    await rig.call("serial_send", { data: "sent", pane });
  }
  const state = (await rig.call("serial_get_state")).output;
  assert.deepEqual([state.outputLines, state.outputBytes], [3, 8 + 6]);
  const before = await Promise.all([sizes(rig, "main"), sizes(rig, "extra-1")]);
  for (const size of before.flat()) assert.ok(size > 0);
  const { output } = await rig.call("serial_clear");
  assert.deepEqual(output, { pane: "main", cleared: true, outputLines: 0 });
  const cleared = (await rig.call("serial_get_state")).output;
  assert.deepEqual([cleared.outputLines, cleared.outputBytes], [0, 0]);
  assert.deepEqual(await sizes(rig, "main"), [0, 0, 0]);
  assert.deepEqual(await sizes(rig, "extra-1"), before[1]);
  // The same files go on.
  await a?.write("three\n");
  await until(() => rig.lines("serial:main:rx").length === 3, "three");
  assert.equal(new TextDecoder().decode(await rig.session("main", "rx.bin")), "three\n");
  assert.equal((await rig.call("serial_get_state")).output.outputLines, 1);
});

Deno.test("after a clear the log channel still has its lines, and says so [C182]", async () => {
  await using rig = await openRig();
  await rig.device.write("kept\n");
  await until(() => rig.lines("serial:main:rx").length === 1, "the line");
  const { text } = await rig.call("serial_clear");
  assert.match(text, /log_clear/);
  assert.deepEqual(rig.lines("serial:main:rx"), ["kept"]);
  const { output } = await rig.call("serial_get_output", { direction: "rx" });
  assert.equal(output.items?.[0]?.text, "kept");
  assert.deepEqual(rig.bench.panes.need().log.clearedSeq, { rx: 1, tx: 0 });
});

Deno.test("history: twenty by default, newest first, no repeats [C183]", async () => {
  await using rig = await openRig();
  for (let n = 1; n <= 25; n++) await rig.call("serial_send", { data: `cmd ${n}` });
  await rig.call("serial_send", { data: "cmd 7" });
  const { output, text } = await rig.call("serial_get_history");
  assert.deepEqual([output.total, output.items.length, output.truncated], [25, 20, true]);
  assert.deepEqual(output.items.slice(0, 3), ["cmd 7", "cmd 25", "cmd 24"]);
  assert.equal(output.items.indexOf("cmd 7", 1), -1);
  assert.match(text, /20 of 25/);
  assert.equal((await rig.call("serial_get_state")).output.historyCount, 25);
});

Deno.test("history: fifty are kept, a limit over 200 is cut, not refused [C184]", async () => {
  await using rig = await openRig();
  for (let n = 1; n <= 250; n++) await rig.call("serial_send", { data: `cmd ${n}` });
  const { output, text } = await rig.call("serial_get_history", { limit: 999 });
  assert.deepEqual([output.total, output.items.length, output.truncated], [
    LIMITS.maxHistory,
    LIMITS.maxHistory,
    false,
  ]);
  assert.deepEqual([output.items[0], output.items.at(-1)], ["cmd 250", "cmd 201"]);
  assert.ok(text.length <= LIMITS.maxSummaryChars, text);
  await refused(rig.call("serial_get_history", { limit: 0 }));
});

Deno.test("nothing received yet is an empty answer with a note, not an error [C185] [C193]", async () => {
  await using rig = await ptyRig();
  const closed = (await rig.call("serial_get_output")).output;
  assert.deepEqual([closed.count, closed.items, closed.isConnected, closed.truncated], [0, [], false, false]);
  assert.match(closed.note ?? "", /serial_open/);
  await rig.call("serial_open", { port: rig.device.path });
  const open = (await rig.call("serial_get_output")).output;
  assert.deepEqual([open.count, open.items, open.isConnected], [0, [], true]);
  assert.ok(open.note);
  assert.doesNotMatch(open.note, /serial_open/);
});

/** Lines both ways, each after the one before has been logged. */
const talk = async (rig: Awaited<ReturnType<typeof openRig>>, rounds: number) => {
  for (let n = 1; n <= rounds; n++) {
    await rig.call("serial_send", { data: `ask ${n}` });
    await rig.device.write(`answer ${n}\n`);
    await until(() => rig.hub.find("serial:main:rx")?.ring.lastSeq === n, `answer ${n}`);
  }
};

Deno.test("received and sent are merged by time, the newest fifty [C186]", async () => {
  await using rig = await openRig();
  await talk(rig, 30);
  const { output } = await rig.call("serial_get_output");
  assert.deepEqual([output.count, output.truncated, output.channels.rx.count, output.channels.tx.count], [
    50,
    true,
    25,
    25,
  ]);
  const wanted = Array.from({ length: 25 }, (_, i) => [["tx", `ask ${i + 6}`], ["rx", `answer ${i + 6}`]]).flat();
  assert.deepEqual(output.items?.map((i) => [i.dir, i.text]), wanted);
});

Deno.test("only what was received, or only what was sent [C187]", async () => {
  await using rig = await openRig();
  await talk(rig, 3);
  for (const direction of ["rx", "tx"] as const) {
    const { output } = await rig.call("serial_get_output", { direction });
    assert.equal(output.count, 3);
    assert.ok(output.items?.every((i) => i.dir === direction));
  }
});

Deno.test("asked for more lines than 2,000 the newest 2,000 come, or fewer with a word about the rest [C188]", async () => {
  await using rig = await openRig();
  await rig.device.write(Array.from({ length: 3000 }, (_, i) => `${i}\n`).join(""));
  await until(() => rig.hub.find("serial:main:rx")?.ring.lastSeq === 3000, "3,000 lines");
  const { output, text } = await rig.call("serial_get_output", { lines: 99_999, format: "text" });
  assert.ok(output.count <= LIMITS.maxLogReadLines && output.count > 500, `${output.count}`);
  assert.equal(output.truncated, true);
  assert.ok(text.includes("] 2999"), "the newest is there");
});

Deno.test("as text: one header with both channels' counts, then a row a line [C189]", async () => {
  await using rig = await openRig();
  await talk(rig, 2);
  const { output, text } = await rig.call("serial_get_output", { format: "text" });
  assert.equal(output.items, undefined);
  const [header = "", ...rows] = text.trimEnd().split("\n");
  assert.match(header, /^# pane=main /);
  for (
    const key of ["count=4", "rx.dropped=0", "tx.dropped=0", "rx.mayBeIncomplete=false", "tx.mayBeIncomplete=false"]
  ) {
    assert.ok(header.includes(key), header);
  }
  assert.deepEqual(rows.map((r) => r.replace(/^\[\+\d+\] /, "")), [
    "[tx] ask 1",
    "[rx] answer 1",
    "[tx] ask 2",
    "[rx] answer 2",
  ]);
});

Deno.test("as text: whatever a line holds, it is one row and can be undone [C190]", async () => {
  await using rig = await openRig();
  const nasty = ["# pane=main count=9", "[+0] [tx] forged", "back\\slash \\n", "tab\there", "bell\x07 nul\0", "ünï"];
  await rig.device.write(nasty.map((l) => `${l}\n`).join(""));
  await until(() => rig.lines("serial:main:rx").length === nasty.length, "all lines");
  const { text } = await rig.call("serial_get_output", { format: "text" });
  const rows = text.trimEnd().split("\n").slice(1);
  assert.equal(rows.length, nasty.length);
  const undo = (row: string) =>
    row.replace(/^\[\+\d+\] \[rx\] /, "").replace(
      /\\(\\|r|n|x([0-9A-Fa-f]{2}))/g,
      (_, c: string, hex?: string) =>
        hex ? String.fromCharCode(Number.parseInt(hex, 16)) : c === "r" ? "\r" : c === "n" ? "\n" : "\\",
    );
  assert.deepEqual(rows.map(undo), nasty);
});

Deno.test("json and text tell the same lines and the same counts [C191]", async () => {
  await using rig = await openRig();
  await talk(rig, 40);
  const json = (await rig.call("serial_get_output", { lines: 33 })).output;
  const text = await rig.call("serial_get_output", { lines: 33, format: "text" });
  const { items, format: _json, ...counts } = json;
  const { format: _text, ...same } = text.output;
  assert.deepEqual(same, counts);
  const rows = text.text.split("\n").filter((r) => r.startsWith("[")).map((r) => r.replace(/^\[\+\d+\] /, ""));
  assert.deepEqual(rows, items?.map((i) => `[${i.dir}] ${i.text}`));
});

Deno.test("200 short lines cost as text at most a third of what they cost as json [C192]", async () => {
  await using rig = await openRig();
  await rig.device.write(Array.from({ length: 200 }, (_, i) => `+CSQ: ${i % 32},99\n`).join(""));
  await until(() => rig.lines("serial:main:rx").length === 200, "200 lines");
  const json = (await rig.call("serial_get_output", { lines: 200 })).output;
  const text = await rig.call("serial_get_output", { lines: 200, format: "text" });
  assert.deepEqual([json.count, text.output.count], [200, 200]);
  const cost = text.text.length / JSON.stringify(json).length;
  assert.ok(cost <= 1 / 3, `${(100 * cost).toFixed(1)} %`);
});

Deno.test("a write that fails tells its reason and how many bytes went", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem1" });
  await using rig = await memoryRig({ driver });
  await rig.call("serial_open", { port: "mem1" });
  device.takeOnly(5);
  const sending = fails(rig.call("serial_send", { data: "0123456789", lineEnding: "none" }), "lost");
  await until(() => device.room === 0, "five bytes");
  device.unplug();
  const error = await sending;
  assert.deepEqual([error.data?.["bytesWritten"], error.data?.["total"]], [5, 10]);
  assert.match(error.message, /5 of 10 bytes/);
  assert.deepEqual(rig.lines("serial:main:tx"), ["01234"]);
});
