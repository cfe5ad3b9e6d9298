import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { FLAG } from "../../src/core/line.ts";
import { LineAssembler } from "../../src/core/line_assembler.ts";
import { escapeRow } from "../../src/core/text.ts";
import { parseFileName, safePane, safePort } from "../../src/store/session_files.ts";
import { SessionLog } from "../../src/store/session_log.ts";
import { counterLines, feed, gapFree, inFolder, joined, names, rows, until } from "./log_rig.ts";
import { skipped } from "../rigs/skip.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

Deno.test("the session log holds the bytes as they were and the lines as rows with time and direction", () =>
  inFolder(async (folder) => {
    const at = new Date(2026, 4, 6, 7, 8, 9, 10).getTime();
    const log = new SessionLog({ folder, pane: "main", now: () => at, wallMs: (t) => at + t });
    log.port("/dev/ttyUSB0");
    log.raw("rx", bytesOf("hello\r\n"));
    log.line(0, FLAG.dirRx | FLAG.eolCrLf, bytesOf("..hello.."), 2, 7);
    log.raw("tx", bytesOf("AT\r"));
    log.line(1990.4, FLAG.dirTx, bytesOf("AT"), 0, 2);
    log.line(2000, FLAG.dirRx | FLAG.continues, bytesOf("long"), 0, 4);
    log.line(2000, FLAG.dirRx | FLAG.continued, bytesOf("tail\\"), 0, 5);
    log.line(2000, FLAG.dirRx | FLAG.frame | FLAG.control, new Uint8Array([1, 3, 0xaf]), 0, 3);
    assert.equal(await log.flush(), true);
    const base = "session-main-ttyUSB0-2026-05-06-001";
    assert.equal(await Deno.readTextFile(join(folder, `${base}.rx.bin`)), "hello\r\n");
    assert.equal(await Deno.readTextFile(join(folder, `${base}.tx.bin`)), "AT\r");
    assert.equal(
      await Deno.readTextFile(join(folder, `${base}.log`)),
      "07:08:09.010 [rx] hello\n07:08:11.000 [tx] AT\n07:08:11.010 [rx] long\n07:08:11.010 [rx+] tail\\\\\n" +
        "07:08:11.010 [rx] 01 03 AF\n",
    );
    await log.close();
    assert.deepEqual(log.dropped, { rx: 0, tx: 0, log: 0 });
    assert.equal(log.written.rx, 7);
  }));

Deno.test("bytes and lines of any kind are in the log exactly, however they are cut [SR07]", () =>
  inFolder(async (root) => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(
          fc.uint8Array({ maxLength: 40 }),
          fc.constantFrom("\x1b[0;32mgreen\x1b[0m\n", "ab\b \bc\n", "back\\slash\n", "жук\r\n", "\x1b", "\r\n", "\t")
            .map(
              bytesOf,
            ),
        )),
        fc.integer({ min: 1, max: 64 }),
        async (pieces, cut) => {
          const folder = join(root, String(++run));
          const all = Uint8Array.from(pieces.flatMap((p) => [...p]));
          const expected: string[] = [];
          const { log, rx } = feed({ folder, pane: "main" });
          for (let i = 0; i < all.length; i += cut) rx(all.subarray(i, i + cut));
          await log.close();
          assert.deepEqual(all.length ? await joined(folder, "rx.bin") : all, all);
          // The lines, by the plain way: through escapeRow one by one.
          const lines = new LineAssembler((_t, flags, bytes, from, to) => {
            expected.push(escapeRow(bytes.subarray(from, to), flags));
          }, { maxLineBytes: 8192, flags: FLAG.dirRx });
          for (let i = 0; i < all.length; i += cut) lines.push(all.subarray(i, i + cut), 0);
          const found = all.length ? rows(await joined(folder, "log").catch(() => new Uint8Array())) : [];
          assert.deepEqual(found.map((r) => r.text), expected);
        },
      ),
      { numRuns: 60 },
    );
  }));

Deno.test("a log rotated by size keeps the last parts, and no line is lost or doubled [SO17]", () =>
  inFolder(async (folder) => {
    const { log, rx } = feed({ folder, pane: "extra-1", maxBytes: 1_000_000, keep: 5 });
    log.port("/dev/ttyACM3");
    const sent: Uint8Array[] = [];
    let next = 0;
    for (let total = 0; total < 20_000_000;) {
      const { text, next: n } = counterLines(next, 3000 + next % 977);
      next = n;
      total += text.length;
      sent.push(bytesOf(text));
      // Pieces that cut lines anywhere, so that a rotation meets an unfinished one.
      const bytes = bytesOf(text);
      for (let i = 0; i < bytes.length; i += 701) rx(bytes.subarray(i, i + 701));
      // A flood that gives the disk no turn at all would be dropped and counted.
      if (sent.length % 400 === 0) await log.flush();
    }
    await log.close();
    assert.deepEqual(log.dropped, { rx: 0, tx: 0, log: 0 });
    const files = await names(folder, "log");
    assert.equal(files.length, 5);
    for (const name of files) {
      assert.match(name, /^session-extra-1-ttyACM3-\d{4}-\d\d-\d\d-\d{3}\.log$/);
      const bytes = await Deno.readFile(join(folder, name));
      assert.ok(bytes.length <= 1_000_000, `${name} has ${bytes.length} bytes`);
      assert.equal(bytes[bytes.length - 1], 10, `${name} ends at a whole line`);
      gapFree(rows(bytes));
    }
    assert.equal(gapFree(rows(await joined(folder, "log"))).last, next - 1);
    const raw = await joined(folder, "rx.bin");
    const whole = new Uint8Array(await new Blob(sent.map((s) => Uint8Array.from(s))).arrayBuffer());
    assert.ok(raw.length > 2_000_000);
    assert.deepEqual(raw, whole.subarray(whole.length - raw.length));
  }));

Deno.test("a chunk larger than a part is spread over parts without loss [SO17]", () =>
  inFolder(async (folder) => {
    const log = new SessionLog({ folder, pane: "main", maxBytes: 1000, keep: 100 });
    const bytes = crypto.getRandomValues(new Uint8Array(5500));
    log.raw("rx", bytes.subarray(0, 300));
    log.raw("rx", bytes.subarray(300));
    await log.close();
    assert.deepEqual(await joined(folder, "rx.bin"), bytes);
    for (const name of await names(folder, "rx.bin")) assert.ok((await Deno.stat(join(folder, name))).size <= 1000);
  }));

Deno.test("what was written more than a second ago is on disk after kill -9 [SO17]", () =>
  inFolder(async (folder) => {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", new URL("./kill_me.ts", import.meta.url).pathname, folder],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    // It prints each counter a second after it has logged it.
    let acknowledged = -1;
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (acknowledged < 300) {
      const { value, done } = await reader.read();
      assert.ok(!done, "the writer ended by itself");
      text += value;
      const whole = text.slice(0, text.lastIndexOf("\n") + 1);
      acknowledged = Number(whole.trimEnd().split("\n").at(-1) || -1);
    }
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    const log = new TextDecoder().decode(await joined(folder, "log"));
    const whole = log.slice(0, log.lastIndexOf("\n") + 1);
    const { first, last } = gapFree(rows(bytesOf(whole)));
    assert.equal(first, 0);
    assert.ok(last >= acknowledged, `${acknowledged} was logged a second before the kill, on disk is ${last}`);
    assert.ok((await joined(folder, "rx.bin")).length >= (acknowledged + 1) * 46);
  }));

Deno.test("a new day begins a new part, and a line is never cut by it [SO17]", () =>
  inFolder(async (folder) => {
    let now = new Date(2026, 11, 31, 23, 59, 59, 990).getTime();
    const { log, rx } = feed({ folder, pane: "main", now: () => now });
    rx(bytesOf("counter 000000000 abcdefghijklmnopqrstuvwxyz\ncounter 0000"));
    now += 20;
    rx(bytesOf("00001 abcdefghijklmnopqrstuvwxyz\n"));
    await log.close();
    assert.deepEqual(await names(folder, "log"), [
      "session-main-none-2026-12-31-001.log",
      "session-main-none-2027-01-01-001.log",
    ]);
    assert.deepEqual(gapFree(rows(await joined(folder, "log"))), { first: 0, last: 1 });
  }));

Deno.test("a restart goes on in the last part while it has room", () =>
  inFolder(async (folder) => {
    for (let i = 0; i < 30; i++) {
      const { log, rx } = feed({ folder, pane: "main", maxBytes: 1500, keep: 50 });
      rx(bytesOf(counterLines(i * 2, 60).text));
      await log.close();
    }
    assert.deepEqual(gapFree(rows(await joined(folder, "log"))), { first: 0, last: 59 });
    const files = await names(folder, "log");
    assert.ok(files.length >= 3 && files.length <= 5, String(files.length));
  }));

Deno.test("another port has parts of its own, and the kept-files limit counts all of a pane and no other's", () =>
  inFolder(async (folder) => {
    const other = new SessionLog({ folder, pane: "main-1" });
    other.raw("rx", bytesOf("other"));
    await other.close();
    const log = new SessionLog({ folder, pane: "main", keep: 3 });
    for (const port of ["COM1", "COM2", "COM3", "COM4"]) {
      log.port(port);
      log.raw("rx", bytesOf(port));
      await log.flush();
      await new Promise((go) => setTimeout(go, 5)); // so that the times of writing differ
    }
    await log.close();
    const left = (await names(folder, "rx.bin")).map((n) => parseFileName(n)?.part);
    assert.deepEqual(left.filter((p) => p?.pane === "main").map((p) => p?.port), ["COM2", "COM3", "COM4"]);
    assert.equal(left.filter((p) => p?.pane === "main-1").length, 1);
  }));

Deno.test("clear empties all files of its pane only, and writing goes on in the current one [C181]", () =>
  inFolder(async (folder) => {
    const now = new Date(2026, 0, 2).getTime();
    const old = new SessionLog({ folder, pane: "extra-1", now: () => now - 86_400_000 });
    old.raw("tx", bytesOf("yesterday"));
    await old.close();
    const neighbour = new SessionLog({ folder, pane: "extra-11", now: () => now });
    neighbour.raw("rx", bytesOf("neighbour"));
    await neighbour.flush();
    const { log, rx } = feed({ folder, pane: "extra-1", now: () => now });
    rx(bytesOf("one\n"));
    await log.flush();
    rx(bytesOf("two\n")); // still in memory: it must not appear after the clear
    await log.clear();
    for await (const entry of Deno.readDir(folder)) {
      const size = (await Deno.stat(join(folder, entry.name))).size;
      assert.equal(size, entry.name.includes("extra-11") ? 9 : 0, entry.name);
    }
    rx(bytesOf("three\n"));
    await log.close();
    await neighbour.close();
    const current = "session-extra-1-none-2026-01-02-001";
    assert.equal(await Deno.readTextFile(join(folder, `${current}.rx.bin`)), "three\n");
    assert.match(await Deno.readTextFile(join(folder, `${current}.log`)), /^\S+ \[rx\] three\n$/);
  }));

Deno.test("clear in the middle of a flood leaves exactly what came after it [C181]", () =>
  inFolder(async (folder) => {
    const { log, rx } = feed({ folder, pane: "main", maxBytes: 300_000, keep: 100 });
    let next = 0;
    for (let round = 0; round < 20; round++) {
      const before = counterLines(next, 200_000);
      next = before.next;
      rx(bytesOf(before.text));
      if (round % 3 === 0) await new Promise((go) => setTimeout(go, round));
      const cleared = log.clear();
      const first = next;
      const after = counterLines(next, 100_000);
      next = after.next;
      rx(bytesOf(after.text));
      await cleared;
      await log.flush();
      assert.deepEqual(gapFree(rows(await joined(folder, "log"))), { first, last: next - 1 });
      assert.deepEqual(new TextDecoder().decode(await joined(folder, "rx.bin")), after.text);
    }
    await log.close();
  }));

Deno.test({
  name: "session log files are for their owner only" + skipped(Deno.build.os === "windows", "needs PTYs"),
  ignore: Deno.build.os === "windows",
  fn: () =>
    inFolder(async (root) => {
      const folder = join(root, "deep", "log-cache");
      const { log, rx } = feed({ folder, pane: "main" });
      rx(bytesOf("secret\n"));
      await log.close();
      assert.equal(((await Deno.stat(folder)).mode ?? 0) & 0o777, 0o700);
      for (const suffix of ["log", "rx.bin"] as const) {
        for (const name of await names(folder, suffix)) {
          assert.equal(((await Deno.stat(join(folder, name))).mode ?? 0) & 0o777, 0o600);
        }
      }
    }),
});

Deno.test("names of files are safe everywhere and can be taken apart again", () => {
  assert.equal(safePort("/dev/ttyUSB0"), "ttyUSB0");
  assert.equal(safePort("COM3"), "COM3");
  assert.equal(safePort("\\\\.\\COM12"), "COM12");
  assert.equal(safePort("/dev/pts/7"), "pts_7");
  assert.equal(safePort(""), "none");
  assert.notEqual(
    safePort("/dev/serial/by-id/usb-" + "x".repeat(80) + "1"),
    safePort("/dev/serial/by-id/usb-" + "x".repeat(80) + "2"),
  );
  fc.assert(fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (pane, port) => {
    const name = `session-${safePane(pane)}-${safePort(port)}-2026-01-02-001.rx.bin`;
    assert.match(name, /^[A-Za-z0-9._-]{1,140}$/);
    assert.deepEqual(parseFileName(name), {
      part: { pane: safePane(pane), port: safePort(port), date: "2026-01-02", number: 1 },
      kind: "rx",
    });
  }));
});

Deno.test("a quiet pane brings its bytes to disk by itself and then holds no timer", () =>
  inFolder(async (folder) => {
    const { log, rx } = feed({ folder, pane: "main" });
    rx(bytesOf("a\n"));
    await until(async () => (await joined(folder, "log")).length > 0, "the line is on disk");
    await log.close();
    await log.close();
    rx(bytesOf("b\n"));
    assert.equal(rows(await joined(folder, "log")).length, 1);
  }));
