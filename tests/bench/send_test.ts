import assert from "node:assert/strict";
import fc from "fast-check";
import { pieces } from "../../src/bench/pieces.ts";
import { MemoryDriver, NEVER } from "../../src/drivers/serial/memory.ts";
import { LIMITS } from "../../tools/limits.ts";
import { DEFAULT_TIMING } from "../../src/bench/pane.ts";
import { BenchRig, driverLike, memoryRig, ptyRig, until } from "../rigs/bench.ts";
import { fails, refused } from "../rigs/refusals.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Pane main open on a device that takes only so many bytes. */
const blockedRig = async (room: number, stallMs = 60_000) => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem1" });
  const rig = await memoryRig({ driver, timing: { stallMs } });
  await rig.call("serial_open", { port: "mem1" });
  device.takeOnly(room);
  return Object.assign(rig, { device });
};

Deno.test("pieces: nothing is lost, nothing reordered, and each pause is where it belongs", () => {
  const pacing = fc.record({ charMs: fc.constantFrom(0, 2), lineMs: fc.constantFrom(0, 50) });
  const text = fc.array(fc.constantFrom("a", "é", "€", "😀", "\r", "\n", "\r\n"), { maxLength: 60 }).map((t) =>
    t.join("")
  );
  fc.assert(
    fc.property(text, pacing, fc.constantFrom("text", "hex"), fc.integer({ min: 4, max: 50 }), (t, p, mode, max) => {
      const all = bytes(t);
      const list = [...pieces(all, p, mode, max)];
      assert.deepEqual(list.flatMap(({ from, to }) => [...all.subarray(from, to)]), [...all]);
      for (const [i, { from, to, pauseMs }] of list.entries()) {
        assert.ok(to > from && to - from <= max);
        const last = i === list.length - 1;
        const lineEnd = mode === "text" && (all[to - 1] === 10 || (all[to - 1] === 13 && all[to] !== 10));
        const wanted = last ? 0 : Math.max(p.charMs, lineEnd ? p.lineMs : 0);
        assert.equal(pauseMs, wanted);
        // Paced by character, a piece is one character; by line, no piece reaches over a line end.
        if (p.charMs > 0) assert.equal(new TextDecoder().decode(all.subarray(from, to)).length <= 2, true);
      }
    }),
  );
});

Deno.test("the waiting times in force are the ones that are reported", () => {
  assert.equal(DEFAULT_TIMING.openMs, LIMITS.serialOpenWaitMs);
  assert.equal(DEFAULT_TIMING.closeMs, LIMITS.serialCloseWaitMs);
  assert.equal(DEFAULT_TIMING.stallMs, LIMITS.deviceTimeoutMs);
});

Deno.test("pacing: 200 lines at 2 ms a character and 50 ms a line keep their gaps and their order [SO08]", async () => {
  await using rig = await ptyRig();
  await rig.call("serial_open", { port: rig.device.path });
  rig.bench.panes.need().setPacing({ charMs: 2, lineMs: 50 });
  const lines = Array.from({ length: 200 }, (_, i) => `G1 X${i}\n`);
  const data = lines.join("");
  const told: [number, number | undefined][] = [];
  const begun = performance.now();
  const sending = rig.call("serial_send", { data, lineEnding: "none" }, {
    progress: (done, total) => told.push([done, total]),
  });
  await sending;
  const took = performance.now() - begun;
  await until(() => rig.device.count >= data.length, "all of it");
  assert.equal(rig.device.text, data);
  const least = 199 * 50 + (data.length - 200) * 2;
  assert.ok(took >= least, `${took} ms, at least ${least}`);
  // Progress: from the first lines to the end, never backwards, of the same whole.
  assert.ok(told.length > 20);
  assert.deepEqual(told.at(-1), [data.length, data.length]);
  for (const [i, [done, total]] of told.entries()) {
    assert.ok(total === data.length && done >= (told[i - 1]?.[0] ?? 0));
  }
  // Each line began no sooner after the one before than its characters and the pause take.
  const ring = rig.hub.find("serial:main:tx")?.ring;
  for (let seq = 2; seq <= 200; seq++) {
    const gap = (ring?.get(seq)?.t ?? 0) - (ring?.get(seq - 1)?.t ?? 0);
    const chars = (lines[seq - 2]?.length ?? 0) - 1;
    assert.ok(gap >= 50 + 2 * chars - 2, `line ${seq} began ${gap} ms after the one before`);
  }
});

Deno.test("pacing: a cancel stops within one line and tells how much went [SO08]", async () => {
  await using rig = await ptyRig();
  await rig.call("serial_open", { port: rig.device.path });
  rig.bench.panes.need().setPacing({ lineMs: 40 });
  const data = Array.from({ length: 100 }, (_, i) => `line ${i}\n`).join("");
  const stop = new AbortController();
  const sending = fails(rig.call("serial_send", { data, lineEnding: "none" }, { signal: stop.signal }), "canceled");
  await until(() => rig.device.text.includes("line 3\n"), "four lines");
  const before = rig.device.text.split("\n").length;
  stop.abort();
  const error = await sending;
  const after = rig.device.text.split("\n").length;
  assert.ok(after - before <= 1, `${after - before} more lines after the cancel`);
  assert.equal(error.data?.["bytesWritten"], rig.bench.panes.need().log.counters.txBytes);
  await until(() => rig.device.count === error.data?.["bytesWritten"], "what went is there");
  // The next one begins at once, and whole.
  rig.device.forget();
  await rig.call("serial_send", { data: "next", lineEnding: "lf" });
  await until(() => rig.device.text === "next\n", "next");
});

Deno.test("pacing out of range is refused", async () => {
  await using rig = await memoryRig();
  const pane = rig.bench.panes.need();
  for (const bad of [{ charMs: -1 }, { charMs: 10_001 }, { lineMs: 60_001 }, { lineMs: Number.NaN }]) {
    await refused(Promise.resolve().then(() => pane.setPacing(bad)));
  }
});

Deno.test("a write of which no byte is taken any more ends with how many went [SO10]", async () => {
  await using rig = await blockedRig(4096, 150);
  const error = await fails(rig.call("serial_send", { data: "x".repeat(10_000), lineEnding: "none" }), "timed_out");
  assert.deepEqual([error.data?.["bytesWritten"], error.data?.["total"]], [4096, 10_000]);
  assert.match(error.message, /4096 of 10000 bytes/);
  // What did not go never goes; the next one does as soon as the device takes bytes again.
  const next = await fails(rig.call("serial_send", { data: "y", lineEnding: "none" }), "timed_out");
  assert.equal(next.data?.["bytesWritten"], 0);
  rig.device.takeOnly(Infinity);
  await rig.call("serial_send", { data: "y", lineEnding: "none" });
  const sent = new TextDecoder().decode(rig.device.peer.take());
  assert.equal(sent, "x".repeat(4096) + "y");
  assert.equal(rig.bench.panes.need().log.counters.txBytes, 4097);
});

Deno.test("a device that takes little at a time is not blocked, however long a piece of the send takes it [SO10]", async () => {
  await using rig = await blockedRig(0, 100);
  const data = "0123456789".repeat(300);
  const sending = rig.call("serial_send", { data, lineEnding: "none" });
  for (let taken = 0; taken < data.length; taken += 300) {
    rig.device.takeOnly(300);
    await new Promise((r) => setTimeout(r, 40));
  }
  assert.equal((await sending).output.bytes, data.length);
  assert.equal(new TextDecoder().decode(rig.device.peer.take()), data);
  assert.equal(rig.bench.panes.need().log.counters.txBytes, data.length);
});

Deno.test("a driver that does not even end a write when told to holds the send up for a second, no longer", async () => {
  const driver = new MemoryDriver();
  driver.plug({ path: "mem1" });
  const deaf = driverLike(driver, {
    open: async (options) => {
      const port = await driver.open(options);
      port.write = () => NEVER;
      return port;
    },
  });
  await using rig = await BenchRig.open({ driver: deaf });
  await rig.call("serial_open", { port: "mem1" });
  const stop = new AbortController();
  const sending = fails(rig.call("serial_send", { data: "abc" }, { signal: stop.signal }), "canceled");
  await until(() => rig.bench.panes.need().output.sending, "sending");
  stop.abort();
  assert.equal((await sending).data?.["bytesWritten"], 0);
});

Deno.test("a slow line is not a blocked one: as long as bytes go the send goes on", async () => {
  await using rig = await blockedRig(0, 400);
  await rig.call("serial_set_baud", { baud: 110 });
  const data = "z".repeat(200);
  const sending = rig.call("serial_send", { data, lineEnding: "none" });
  for (let taken = 0; taken < data.length; taken += 10) {
    rig.device.takeOnly(10);
    await new Promise((r) => setTimeout(r, 40));
  }
  assert.equal((await sending).output.bytes, data.length);
});

Deno.test("a send that is blocked is canceled at once, and other panes go on [SO10]", async () => {
  await using rig = await blockedRig(10);
  const free = rig.driver.plug({ path: "mem2" });
  await rig.call("serial_open", { port: "mem2", pane: "extra-1" });
  const stop = new AbortController();
  const blocked = rig.call("serial_send", { data: "x".repeat(100), lineEnding: "none" }, { signal: stop.signal });
  const sending = fails(blocked, "canceled");
  await until(() => rig.device.room === 0, "ten bytes");
  await rig.call("serial_send", { data: "other", pane: "extra-1", lineEnding: "none" });
  assert.equal(new TextDecoder().decode(free.peer.take()), "other");
  stop.abort();
  const error = await sending;
  assert.match(error.message, /canceled/);
  assert.equal(error.data?.["bytesWritten"], 10);
  rig.device.takeOnly(Infinity);
  await rig.call("serial_send", { data: "after", lineEnding: "none" });
  assert.equal(new TextDecoder().decode(rig.device.peer.take()), "x".repeat(10) + "after");
});

Deno.test("a send that waits for the one before can be canceled; nothing of it goes", async () => {
  await using rig = await blockedRig(10);
  const pane = rig.bench.panes.need();
  const first = pane.send({ data: "1".repeat(20), lineEnding: "none" }, { src: "ui" });
  await until(() => rig.device.room === 0, "ten bytes");
  const stop = new AbortController();
  const second = fails(pane.send({ data: "2" }, { src: "ui", signal: stop.signal }), "canceled");
  const third = pane.send({ data: "3" }, { src: "ui" });
  stop.abort();
  await second;
  rig.device.takeOnly(Infinity);
  await Promise.all([first, third]);
  assert.equal(new TextDecoder().decode(rig.device.peer.take()), "1".repeat(20) + "3");
});

Deno.test("closing the program works while a write is blocked on a real port [SO10]", async () => {
  const rig = await ptyRig();
  await rig.call("serial_open", { port: rig.device.path });
  rig.device.pause();
  const pane = rig.bench.panes.need();
  const text = "0123456789abcdef".repeat(65_536);
  const million = async function* () {
    for (let at = 0; at < text.length; at += 65_536) yield bytes(text.slice(at, at + 65_536));
  };
  const sending = fails(pane.output.sendStream(million(), text.length, { src: "ui" }), "canceled");
  await until(() => pane.log.counters.txBytes > 8192, "the buffer fills");
  const begun = performance.now();
  await rig[Symbol.asyncDispose]();
  assert.ok(performance.now() - begun < 5000);
  const error = await sending;
  const went = Number(error.data?.["bytesWritten"]);
  assert.ok(went > 8192 && went < text.length);
  assert.equal(went, pane.log.counters.txBytes);
});

Deno.test("a reconnect works while a write was blocked at the loss [SO10]", async () => {
  await using rig = await ptyRig();
  await rig.call("serial_open", { port: rig.device.path });
  rig.device.pause();
  const sending = fails(rig.call("serial_send", { data: "x".repeat(65_536) }), "lost");
  await until(() => rig.bench.panes.need().log.counters.txBytes > 4096, "the buffer fills");
  await rig.device.unplug();
  const error = await sending;
  assert.ok(Number(error.data?.["bytesWritten"]) > 4096);
  await until(() => rig.bench.panes.need().link.status === "lost", "lost");
  await rig.device.replug();
  await until(() => rig.bench.panes.need().link.status === "open", "open again");
  rig.device.forget();
  await rig.call("serial_send", { data: "fresh", lineEnding: "lf" });
  await until(() => rig.device.text === "fresh\n", "only the new text");
});

Deno.test("a break lasts as long as asked, is logged, and other panes go on meanwhile [SO07]", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem1" });
  const other = driver.plug({ path: "mem2" });
  await using rig = await memoryRig({ driver });
  await rig.call("serial_open", { port: "mem1" });
  await rig.call("serial_open", { port: "mem2", pane: "extra-1" });
  const pane = rig.bench.panes.need();
  for (const ms of [100, 250, 1000]) {
    device.record.length = 0;
    const heard = rig.hub.find("serial:extra-1:rx")?.ring.lastSeq ?? 0;
    const breaking = pane.output.sendBreak(ms, { src: "ui" });
    for (let n = 0; n < 10; n++) {
      await other.peer.write(bytes("tick\n"));
      await new Promise((r) => setTimeout(r, ms / 20));
    }
    assert.ok((rig.hub.find("serial:extra-1:rx")?.ring.lastSeq ?? 0) >= heard + 8, "the other pane received meanwhile");
    await breaking;
    const [on, off] = device.record;
    assert.deepEqual(device.record.map((c) => [c.call, "on" in c && c.on]), [["break", true], ["break", false]]);
    const lasted = (off?.t ?? 0) - (on?.t ?? 0);
    // Never shorter. How much longer depends on the load of this machine.
    assert.ok(lasted >= ms - 2 && lasted < ms + 500, `${lasted} ms for ${ms}`);
    assert.match(rig.lines("app").at(-1) ?? "", new RegExp(`break of ${ms} ms`));
  }
  await refused(pane.output.sendBreak(0, { src: "ui" }));
  await refused(pane.output.sendBreak(5001, { src: "ui" }));
});

Deno.test("a break that is ended early releases the line", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem1" });
  await using rig = await memoryRig({ driver });
  await rig.call("serial_open", { port: "mem1" });
  const stop = new AbortController();
  const breaking = fails(rig.bench.panes.need().output.sendBreak(5000, { src: "ui", signal: stop.signal }), "canceled");
  await until(() => device.outputs.break, "the break");
  stop.abort();
  await breaking;
  assert.equal(device.outputs.break, false);
  await rig.call("serial_send", { data: "after" });
});

Deno.test("key strokes go as they are: no line ending, no pacing, not in the history", async () => {
  await using rig = await ptyRig();
  await rig.call("serial_open", { port: rig.device.path });
  const pane = rig.bench.panes.need();
  pane.setPacing({ charMs: 1000 });
  await pane.output.sendRaw(bytes("\x1b[Aq"), { src: "ui" });
  await until(() => rig.device.text === "\x1b[Aq", "the keys");
  assert.equal(pane.output.history.count, 0);
});

Deno.test("a file goes whole, with its length told, whatever pieces it is read in", async () => {
  await using rig = await ptyRig({ session: true });
  await rig.call("serial_open", { port: rig.device.path });
  const file = new Uint8Array(200_000).map((_, i) => (i * 7919) & 0xff);
  const parts = async function* () {
    for (let at = 0, step = 1; at < file.length; at += step, step = step * 2 % 30_011 + 1) {
      yield file.subarray(at, at + step);
    }
  };
  const told: number[] = [];
  const sent = await rig.bench.panes.need().output.sendStream(parts(), file.length, {
    src: "ui",
    progress: (d) => told.push(d),
  });
  assert.equal(sent, file.length);
  await until(() => rig.device.count === file.length, "all of it");
  assert.deepEqual(rig.device.received, file);
  assert.deepEqual(await rig.session("main", "tx.bin"), file);
  assert.equal(told.at(-1), file.length);
});
