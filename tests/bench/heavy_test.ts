import assert from "node:assert/strict";
import { type Bytes, ptyRig, until } from "../rigs/bench.ts";
import { randomBytes } from "../rigs/pty.ts";

const MB = 1024 * 1024;

const sameBytes = (a: Bytes, b: Bytes, what: string) => {
  assert.equal(a.length, b.length, `${what}: length`);
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i]) assert.fail(`${what}: differs at byte ${i}: ${a[i]} for ${b[i]}`);
  }
};

/** Writes all of it to the device's end, in pieces, as fast as it goes. */
const pour = async (device: { write(data: Bytes): Promise<void> }, data: Bytes, piece = 65_536) => {
  for (let at = 0; at < data.length; at += piece) await device.write(data.subarray(at, at + piece));
};

const chunksOf = async function* (data: Bytes, size: number) {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size);
};

Deno.test("10 MB of random bytes each way at once: byte for byte in the raw session log", async () => {
  await using rig = await ptyRig({ session: true });
  await rig.call("serial_open", { port: rig.device.path });
  const pane = rig.bench.panes.need();
  const [into, out] = [randomBytes(10 * MB), randomBytes(10 * MB)];
  const begun = performance.now();
  await Promise.all([
    pour(rig.device, into),
    pane.output.sendStream(chunksOf(out, 65_536), out.length, { src: "ui" }),
  ]);
  await until(() => pane.log.counters.rxBytes >= into.length && rig.device.count >= out.length, "all of it", 120_000);
  const seconds = (performance.now() - begun) / 1000;
  console.log(`  10 MB each way at once in ${seconds.toFixed(2)} s: ${(20 / seconds).toFixed(1)} MB/s in all`);
  sameBytes(await rig.session("main", "rx.bin"), into, "received, in the session log");
  sameBytes(await rig.session("main", "tx.bin"), out, "sent, in the session log");
  sameBytes(rig.device.received, out, "sent, at the device");
});

/** Random numbers that are the same in each run. */
const dice = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};

/** Text of many scripts in lines of 0 to 120 characters: characters of one to four bytes, no control characters. */
const mixedText = (atLeast: number): string => {
  const random = dice(42);
  const ranges: [number, number][] = [
    [0x20, 0x7e],
    [0xa1, 0x17f],
    [0x400, 0x45f],
    [0x5d0, 0x5ea],
    [0x627, 0x64a],
    [0x905, 0x939],
    [0x3041, 0x30ff],
    [0x4e00, 0x9fa5],
    [0xac00, 0xd7a3],
    [0x1f300, 0x1f64f],
  ];
  const lines: string[] = [];
  for (let size = 0; size < atLeast;) {
    const [from, to] = ranges[Math.floor(random() * ranges.length)] ?? [0x20, 0x7e];
    let line = "";
    for (let n = Math.floor(random() * 121); n > 0; n--) {
      line += String.fromCodePoint(from + Math.floor(random() * (to - from + 1)));
    }
    // A backslash is written as two in the readable log: told apart below, here it would only blur the comparison.
    line = line.replaceAll("\\", "/");
    lines.push(line);
    size += line.length * 2;
  }
  return lines.join("\n") + "\n";
};

Deno.test("10 MB of text in many scripts, in chunks of 1 to 4,096 bytes: no replacement character, the same in file and over the tools", async () => {
  await using rig = await ptyRig({ session: true });
  await rig.call("serial_open", { port: rig.device.path });
  const text = mixedText(9.2 * MB);
  const data = new TextEncoder().encode(text);
  assert.ok(data.length >= 10 * MB, `${data.length}`);
  const wanted = text.slice(0, -1).split("\n");
  const random = dice(7);
  // The reader is an agent that follows nextSinceSeq. The ring holds 512 KiB, so the peer waits for it when it is far
  // behind: a loss of lines in the ring is no part of this test, but a missed one would fail it.
  let read = 0;
  const reading = (async () => {
    const lines: string[] = [];
    let sinceSeq = 0;
    while (lines.length < wanted.length) {
      const { output } = await rig.call("log_tail", { channel: "serial:main:rx", sinceSeq, lines: 2000 });
      let got = 0;
      for (const line of output.lines ?? []) {
        if (line.partial) continue;
        assert.equal(line.seq, sinceSeq + 1, "every line once, none missed");
        sinceSeq = line.seq;
        lines.push(line.text);
        got += line.bytes;
      }
      read += got;
      if (got === 0) await new Promise((r) => setTimeout(r, 1));
    }
    return lines;
  })();
  let stopped = false;
  reading.catch(() => stopped = true);
  for (let at = 0; at < data.length && !stopped;) {
    const size = 1 + Math.floor(random() ** 2 * 4096);
    await rig.device.write(data.subarray(at, at + size));
    at += size;
    while (at - read > 300_000 && !stopped) await new Promise((r) => setTimeout(r, 1));
  }
  const lines = await reading;
  assert.equal(lines.length, wanted.length);
  for (const [i, line] of lines.entries()) if (line !== wanted[i]) assert.equal(line, wanted[i], `line ${i + 1}`);
  assert.equal(lines.some((l) => l.includes("\ufffd")), false);
  sameBytes(await rig.session("main", "rx.bin"), data, "raw session log");
  const log = new TextDecoder("utf-8", { fatal: true }).decode(await rig.session("main", "log"));
  assert.equal(log.includes("\ufffd"), false);
  const rows = log.slice(0, -1).split("\n").map((row) => row.replace(/^\d\d:\d\d:\d\d\.\d{3} \[rx\] ?/, ""));
  assert.equal(rows.length, wanted.length);
  for (const [i, row] of rows.entries()) {
    if (row !== wanted[i]) assert.equal(row, wanted[i], `row ${i + 1} of the log file`);
  }
});

Deno.test("8 ports at once at full speed: nothing is lost, and nothing is mixed up", async () => {
  await using rig = await ptyRig({ ports: 8, session: true });
  const size = 4 * MB;
  const panes = ["main", ...Array.from({ length: 7 }, (_, i) => `extra-${i + 1}`)];
  for (const [i, pane] of panes.entries()) await rig.call("serial_open", { pane, port: rig.devices[i]?.path });
  // Lines with a counter and the port's number, so that a byte in the wrong pane shows.
  const dataOf = (port: number): Bytes => {
    const lines: string[] = [];
    for (let n = 0, bytes = 0; bytes < size; n++) {
      const line = `port ${port} line ${n} ${"#".repeat(n % 60)}\r\n`;
      lines.push(line);
      bytes += line.length;
    }
    return new TextEncoder().encode(lines.join(""));
  };
  const data = panes.map((_, i) => dataOf(i + 1));
  const begun = performance.now();
  await Promise.all(rig.devices.map((device, i) => pour(device, data[i] ?? new Uint8Array(0))));
  const total = data.reduce((n, d) => n + d.length, 0);
  const pane = (name: string) => rig.bench.panes.need(name);
  await until(() => panes.every((p, i) => pane(p).log.counters.rxBytes === data[i]?.length), "all of it", 120_000);
  const seconds = (performance.now() - begun) / 1000;
  console.log(
    `  8 ports, ${(total / MB).toFixed(0)} MB in ${seconds.toFixed(2)} s: ${(total / MB / seconds).toFixed(1)} MB/s`,
  );
  for (const [i, name] of panes.entries()) {
    const sent = data[i] ?? new Uint8Array(0);
    sameBytes(await rig.session(name, "rx.bin"), sent, name);
    const lines = new TextDecoder().decode(sent).split("\r\n").slice(0, -1);
    assert.equal(pane(name).log.counters.rxLines, lines.length, name);
    const log = new TextDecoder().decode(await rig.session(name, "log"));
    const rows = log.trimEnd().split("\n").map((row) => row.slice(row.indexOf("[rx] ") + 5));
    assert.equal(rows.length, lines.length);
    for (const [n, row] of rows.entries()) if (row !== lines[n]) assert.equal(row, lines[n], `${name} row ${n + 1}`);
    // What the ring still holds is the end of it, in order, and what it let go is counted.
    const ring = rig.hub.find(`serial:${name}:rx`)?.ring;
    assert.ok(ring);
    assert.equal(ring.lastSeq, lines.length);
    assert.equal(ring.dropped + ring.lines, lines.length);
    const held = rig.lines(`serial:${name}:rx`);
    assert.deepEqual(held, lines.slice(-held.length));
  }
});

Deno.test("the read loop keeps up: received through to the session log at more than 20 MB/s is printed, loss is not allowed", async () => {
  await using rig = await ptyRig({ session: true });
  await rig.call("serial_open", { port: rig.device.path });
  const pane = rig.bench.panes.need();
  const line = new TextEncoder().encode(`${"0123456789".repeat(8)}\r\n`);
  const data = new Uint8Array(40 * MB - (40 * MB) % line.length);
  for (let at = 0; at < data.length; at += line.length) data.set(line, at);
  const begun = performance.now();
  await pour(rig.device, data);
  await until(() => pane.log.counters.rxBytes === data.length, "all of it", 120_000);
  const seconds = (performance.now() - begun) / 1000;
  console.log(
    `  received ${(data.length / MB / seconds).toFixed(1)} MB/s, ${
      (data.length / line.length / seconds / 1000).toFixed(0)
    } k lines/s`,
  );
  assert.equal(pane.log.counters.rxLines, data.length / line.length);
  sameBytes(await rig.session("main", "rx.bin"), data, "raw session log");
});
