import assert from "node:assert/strict";
import { LogHub } from "../../src/bench/log_hub.ts";
import { BenchRig, ptyRig, until } from "../rigs/bench.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const pause = (ms: number) => new Promise((r) => setTimeout(r, ms));

/** Pane main open on a virtual port. */
const openRig = async (options: Parameters<typeof ptyRig>[0] = {}) => {
  const rig = await ptyRig(options);
  await rig.call("serial_open", { port: rig.device.path });
  return rig;
};

/** What serial_get_output tells of the received side: text of each line, and of the open one. */
const received = async (rig: BenchRig) => {
  const { items = [] } = (await rig.call("serial_get_output", { direction: "rx", lines: 2000 })).output;
  return {
    lines: items.filter((i) => !i.partial).map((i) => i.text),
    open: items.find((i) => i.partial)?.text,
  };
};

Deno.test("all bytes show at once, also with a multi-byte character in the burst and no line end [SR01]", async () => {
  await using rig = await openRig();
  const burst = "x".repeat(120) + "°" + "0123456789";
  await rig.device.write(burst);
  // Nothing follows: what is shown must not wait for a next byte.
  await until(() => rig.bench.panes.need().log.counters.rxBytes === bytes(burst).length, "the burst");
  assert.deepEqual(await received(rig), { lines: [], open: burst });
});

Deno.test("a character of 2, 3 or 4 bytes cut at every byte over two writes is whole, and hides nothing after it [SR01]", async () => {
  await using rig = await openRig();
  const wanted: string[] = [];
  for (const char of ["°", "€", "😀"]) {
    const line = bytes(`ab${char}0123456789\n`);
    for (let cut = 2; cut <= 2 + bytes(char).length; cut++) {
      const before = rig.bench.panes.need().log.counters.rxBytes;
      await rig.device.write(line.slice(0, cut));
      await until(() => rig.bench.panes.need().log.counters.rxBytes === before + cut, "the first part");
      await rig.device.write(line.slice(cut));
      wanted.push(`ab${char}0123456789`);
      await until(() => rig.hub.find("serial:main:rx")?.ring.lastSeq === wanted.length, "the line");
    }
  }
  assert.deepEqual((await received(rig)).lines, wanted);
});

Deno.test("CR, LF and CRLF each end one line at once, also a CRLF that is cut [SR03]", async () => {
  await using rig = await openRig();
  await rig.device.write("a\rb\nc\r");
  await until(() => rig.hub.find("serial:main:rx")?.ring.lastSeq === 3, "three lines, the CR one not delayed");
  assert.deepEqual(await received(rig), { lines: ["a", "b", "c"], open: undefined });
  await pause(50);
  await rig.device.write("\nd");
  await until(async () => (await received(rig)).open === "d", "the open line");
  assert.deepEqual((await received(rig)).lines, ["a", "b", "c"]);
});

Deno.test("in hex view each frame is a row of its own and a long burst is wrapped [SR05]", async () => {
  await using rig = await openRig();
  await rig.call("serial_set_display", { viewMode: "hex" });
  const frames = Array.from({ length: 10 }, () => crypto.getRandomValues(new Uint8Array(8)));
  const begun: number[] = [];
  for (const frame of frames) {
    begun.push(rig.hub.now());
    await rig.device.write(frame);
    await pause(300);
  }
  const burst = crypto.getRandomValues(new Uint8Array(100));
  await rig.device.write(burst);
  await until(() => rig.hub.find("serial:main:rx")?.ring.lastSeq === 12, "twelve rows");
  const { items = [] } = (await rig.call("serial_get_output", { direction: "rx" })).output;
  const hex = (part: Uint8Array) => [...part].map((b) => b.toString(16).padStart(2, "0").toUpperCase()).join(" ");
  assert.deepEqual(items.map((i) => i.text), [...frames.map(hex), hex(burst.subarray(0, 64)), hex(burst.subarray(64))]);
  // The time of a row is that of its first byte: never before it was written, in order, a gap between frames.
  const times = Array.from({ length: 12 }, (_, i) => rig.hub.find("serial:main:rx")?.ring.get(i + 1)?.t ?? 0);
  for (const [i, at] of begun.entries()) {
    assert.ok((times[i] ?? 0) >= at, "not before it was written");
    assert.ok((times[i] ?? 0) < (begun[i + 1] ?? Infinity), "before the next one was written");
  }
  // Back to text: lines again, and the frame rows stay as they are.
  await rig.call("serial_set_display", { viewMode: "text" });
  await rig.device.write("text\n");
  await until(async () => (await received(rig)).lines.at(-1) === "text", "a line");
});

Deno.test("a line carries the time of its own first byte, and a quiet time makes no empty line [SR14]", async () => {
  let clock = 0;
  const hub = new LogHub({ clock: () => clock, epochMs: Date.UTC(2026, 0, 1) });
  await using rig = await openRig({ hub });
  const lastSeq = () => rig.hub.find("serial:main:rx")?.ring.lastSeq;
  await rig.device.write("A\n");
  await until(() => lastSeq() === 1, "A");
  clock = 10_000;
  await rig.device.write("B\n");
  await until(() => lastSeq() === 2, "B");
  clock = 20_000;
  await rig.device.write("par");
  await until(async () => (await received(rig)).open === "par", "the open line");
  clock = 22_000;
  await rig.device.write("tial\n");
  await until(() => lastSeq() === 3, "partial");
  const { items = [] } = (await rig.call("serial_get_output", { direction: "rx" })).output;
  assert.deepEqual(items.map((i) => [i.text, i.ts]), [
    ["A", "2026-01-01T00:00:00.000Z"],
    ["B", "2026-01-01T00:00:10.000Z"],
    ["partial", "2026-01-01T00:00:20.000Z"],
  ]);
});

Deno.test("3,000 short lines a second for a while: every counter value once, in the log file and over the tools [SR12]", async () => {
  await using rig = await openRig({ session: true });
  await rig.call("serial_set_baud", { baud: 1_000_000 });
  const seconds = Number(Deno.env.get("FIELDBENCH_SOAK_SECONDS") ?? 5);
  const total = 3000 * seconds;
  const line = (n: number) => `t${String(n).padStart(8, "0")}8${(n * 2654435761 % 2 ** 32).toString(16)}`;
  const seen: string[] = [];
  let at = 0;
  const readNew = () => {
    const ring = rig.hub.find("serial:main:rx")?.ring;
    for (; ring && at < ring.lastSeq; at++) seen.push(new TextDecoder().decode(ring.get(at + 1)?.bytes));
  };
  const begun = performance.now();
  for (let n = 0; n < total;) {
    const due = Math.min(total, Math.floor((performance.now() - begun) * 3));
    let batch = "";
    for (; n < due; n++) batch += `${line(n)}\r`;
    if (batch !== "") await rig.device.write(batch);
    readNew();
    await pause(4);
  }
  await until(() => (rig.hub.find("serial:main:rx")?.ring.lastSeq ?? 0) === total, "the last line");
  readNew();
  const wanted = Array.from({ length: total }, (_, n) => line(n));
  assert.deepEqual(seen, wanted);
  const log = new TextDecoder().decode(await rig.session("main", "log")).trimEnd().split("\n");
  const rows = log.filter((r) => r.includes("[rx] ")).map((r) => r.slice(r.indexOf("[rx] ") + 5));
  assert.deepEqual(rows, wanted);
});

Deno.test("bytes that are no text can be got back exactly", async () => {
  await using rig = await openRig();
  const odd = Uint8Array.of(0x41, 0xff, 0xfe, 0x00, 0x1b, 0x80, 0x42, 0x0a);
  await rig.device.write(odd);
  await until(() => rig.hub.find("serial:main:rx")?.ring.lastSeq === 1, "the line");
  const { items = [] } = (await rig.call("serial_get_output", { direction: "rx" })).output;
  assert.equal(items[0]?.bytes, 7);
  const hex = items[0]?.hex?.replace(/\s/g, "").toUpperCase();
  assert.equal(hex, "41FFFE001B8042");
});
