import assert from "node:assert/strict";
import fc from "fast-check";
import { stripSequences } from "../../src/core/ansi.ts";
import { FLAG } from "../../src/core/line.ts";
import { LineAssembler } from "../../src/core/line_assembler.ts";
import { renderText } from "../../src/core/text.ts";
import { contentFlags, validUntil } from "../../src/core/utf8.ts";
import { assemble, bytesBack, collector, cutAt, cuts, wildBytes } from "./lines_rig.ts";

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text);
const textOf = (bytes: readonly number[]) => new TextDecoder().decode(Uint8Array.from(bytes));

Deno.test("any bytes, any cuts: lines and line ends give the bytes back, the same lines for every cutting", () => {
  fc.assert(
    fc.property(wildBytes, cuts, fc.constantFrom(8, 16, 64, 8192), (bytes, places, max) => {
      const whole = assemble([bytes], max);
      assert.deepEqual(bytesBack(whole), [...bytes]);
      assert.deepEqual(assemble(cutAt(bytes, places), max), whole);
      assert.deepEqual(assemble([...bytes].map((b) => Uint8Array.of(b)), max), whole);
      for (const line of whole) {
        assert.ok(line.bytes.length <= max);
        const content = contentFlags(Uint8Array.from(line.bytes), 0, line.bytes.length);
        assert.equal(line.flags & (FLAG.high | FLAG.control), content);
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("CR, LF and CRLF end a line at once and once, also a CRLF cut between two reads [SR03]", () => {
  const { lines, assembler } = collector();
  assembler.push(bytesOf("a\rb\nc\r"), 1);
  assert.deepEqual(lines.map((line) => textOf(line.bytes)), ["a", "b", "c"], "the CR line waits for nothing");
  assembler.push(bytesOf("\nd"), 51);
  assert.deepEqual(lines.map((line) => line.flags & FLAG.eolMask), [FLAG.eolCr, FLAG.eolLf, FLAG.eolCrLf]);
  assert.equal(lines.length, 3, "no empty line");
  assert.equal(textOf([...assembler.open?.bytes ?? []]), "d");
  assembler.push(bytesOf("\r\r\n\n"), 52);
  assert.deepEqual(lines.slice(3).map((line) => textOf(line.bytes)), ["d", "", ""]);
  assert.equal(assembler.open, undefined);
});

Deno.test("a line carries the time of its own first byte, not of the line before [SR14]", () => {
  const { lines, assembler } = collector();
  assembler.push(bytesOf("A\n"), 0);
  assembler.push(bytesOf("B\n"), 10_000);
  assembler.push(bytesOf("par"), 20_000);
  assert.equal(assembler.open?.t, 20_000);
  assembler.push(bytesOf("tial\nnext"), 22_000);
  assert.deepEqual(lines.map(({ t }) => t), [0, 10_000, 20_000]);
  assert.equal(assembler.open?.t, 22_000);
});

Deno.test("a character cut anywhere over any reads is whole, and holds nothing up [SR01] [C376]", () => {
  for (const char of ["°", "中", "😀"]) {
    const bytes = bytesOf(`${"x".repeat(120)}${char}0123456789`);
    for (let at = 0; at <= bytes.length; at++) {
      const { lines, assembler } = collector();
      assembler.push(bytes.subarray(0, at), 0);
      assert.equal(assembler.open?.bytes.length ?? 0, at, "everything that came is there");
      assembler.push(bytes.subarray(at), 1);
      assembler.push(bytesOf("\n"), 2);
      assert.deepEqual(lines.map((line) => textOf(line.bytes)), [new TextDecoder().decode(bytes)]);
    }
  }
});

Deno.test("a long line is never cut inside a character, for any text and any cuts", () => {
  const text = fc.array(fc.constantFrom("a", "é", "中", "😀", "\u0000"), { maxLength: 200, size: "max" }).map((chars) =>
    chars.join("")
  );
  fc.assert(fc.property(text, cuts, fc.integer({ min: 4, max: 40 }), (given, places, max) => {
    const lines = assemble(cutAt(bytesOf(given), places), max);
    for (const { bytes } of lines) assert.equal(validUntil(Uint8Array.from(bytes), 0, bytes.length), bytes.length);
    assert.equal(lines.map((line) => textOf(line.bytes)).join(""), given);
  }));
});

Deno.test("a long line is never cut inside an ANSI sequence: no ESC is ever shown [SR08]", () => {
  const part = fc.constantFrom(
    "\x1b[0;32m",
    "\x1b[38;5;208m",
    "\x1b[0m",
    "\x1b]0;t\x07",
    "\x1b]8;;x\x1b\\",
    "text",
    "中",
    " ",
  );
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 100, size: "max" }),
      cuts,
      fc.integer({ min: 16, max: 60 }),
      (parts, places, max) => {
        const bytes = bytesOf(parts.join(""));
        const shown = assemble(cutAt(bytes, places), max).map((line) =>
          renderText(Uint8Array.from(line.bytes), line.flags)
        );
        const plain = stripSequences(bytes);
        assert.equal(shown.join(""), new TextDecoder().decode(plain));
        assert.ok(!shown.join("").includes("\x1b") && !shown.join("").includes("x1B"));
      },
    ),
  );
});

Deno.test("an ESP-IDF line with colours cut mid-sequence and left open shows its text only [SR08]", () => {
  const given = "\x1b[0;32mI (12) a: b\x1b[0m\n\x1b[38;5;208morange\nnext\x1b[0\n";
  for (let at = 0; at <= given.length; at++) {
    const lines = assemble([bytesOf(given.slice(0, at)), bytesOf(given.slice(at))]);
    const shown = lines.map((line) => renderText(Uint8Array.from(line.bytes), line.flags));
    assert.deepEqual(shown, ["I (12) a: b", "orange", "next\\x1B[0"]);
  }
});

Deno.test("endless data without a line break is given in marked parts of at most 8 KiB [SR10] [C355]", () => {
  const bytes = bytesOf("hello".repeat(10_000));
  const { lines, assembler } = collector();
  for (let at = 0; at < bytes.length; at += 777) assembler.push(bytes.subarray(at, at + 777), at);
  assembler.end();
  assert.equal(lines.length, Math.ceil(bytes.length / 8192));
  assert.ok(lines.every((line) => line.bytes.length <= 8192));
  assert.deepEqual(lines.map((line) => (line.flags & FLAG.continues) !== 0), lines.map((_, i) => i < lines.length - 1));
  assert.deepEqual(lines.map((line) => (line.flags & FLAG.continued) !== 0), lines.map((_, i) => i > 0));
  assert.deepEqual(bytesBack(lines), [...bytes]);
});

Deno.test("a line of exactly the cap is one line", () => {
  const lines = assemble([bytesOf(`${"x".repeat(64)}\r\ny`)], 64);
  assert.deepEqual(lines.map((line) => [line.bytes.length, line.flags & FLAG.continues]), [[64, 0], [1, 0]]);
});

Deno.test("in frames mode a silence or a full row ends a row, and the time is its start [SR05]", () => {
  const { lines, assembler } = collector();
  assembler.mode = "frames";
  let t = 0;
  for (let i = 0; i < 10; i++, t += 300) {
    assembler.push(new Uint8Array(3).fill(i), t);
    assembler.push(Uint8Array.of(13, 10, i, 0xff, 0x1b), t + 50);
    assembler.tick(t + 249);
    assert.equal(assembler.open?.bytes.length, 8, "a pause under 200 ms is none");
    assembler.tick(t + 250);
    assert.equal(assembler.open, undefined);
  }
  assert.deepEqual(lines.map((line) => line.t), Array.from({ length: 10 }, (_, i) => i * 300));
  assert.ok(lines.every((line) => line.bytes.length === 8 && (line.flags & FLAG.frame) !== 0));
  lines.length = 0;
  assembler.push(new Uint8Array(100).fill(7), t);
  assembler.tick(t + 1000);
  assert.deepEqual(lines.map((line) => line.bytes.length), [64, 36]);
  // Also without a clock that ticks, bytes after a silence begin a row.
  assembler.push(Uint8Array.of(1), t + 2000);
  assembler.push(Uint8Array.of(2), t + 2200);
  assembler.end();
  assert.deepEqual(lines.slice(2).map((line) => [line.t - t, ...line.bytes]), [[2000, 1], [2200, 2]]);
});

Deno.test("frames give every byte back for any cuts", () => {
  fc.assert(fc.property(wildBytes, cuts, (bytes, places) => {
    const { lines, assembler } = collector();
    assembler.mode = "frames";
    for (const piece of cutAt(bytes, places)) assembler.push(piece, 0);
    assembler.end();
    assert.deepEqual(lines.flatMap((line) => line.bytes), [...bytes]);
    assert.ok(lines.slice(0, -1).every((line) => line.bytes.length === 64));
  }));
});

Deno.test("a change of mode closes the open line", () => {
  const { lines, assembler } = collector();
  assembler.push(bytesOf("prompt> "), 1);
  assembler.mode = "frames";
  assembler.push(bytesOf("x"), 2);
  assembler.mode = "lines";
  assembler.push(bytesOf("y\n"), 3);
  assert.deepEqual(lines.map((line) => textOf(line.bytes)), ["prompt> ", "x", "y"]);
  assert.deepEqual(lines.map((line) => (line.flags & FLAG.frame) !== 0), [false, true, false]);
});

Deno.test("source and direction go to the lines that begin in the bytes; a level is asked once a line", () => {
  const seen: [string, number][] = [];
  const asked: string[] = [];
  const assembler = new LineAssembler(
    (_t, flags, bytes, from, to) => seen.push([textOf([...bytes.subarray(from, to)]), flags & ~FLAG.eolMask]),
    {
      flags: FLAG.dirTx,
      maxLineBytes: 4,
      level: (bytes, from, to) => {
        asked.push(textOf([...bytes.subarray(from, to)]));
        return FLAG.levelWarn;
      },
    },
  );
  assembler.push(bytesOf("ab"), 0, FLAG.srcAi);
  assembler.push(bytesOf("c\nd\nlonger\n"), 0, FLAG.srcUi);
  const warn = FLAG.dirTx | FLAG.levelWarn;
  assert.deepEqual(seen, [
    ["abc", warn | FLAG.srcAi],
    ["d", warn | FLAG.srcUi],
    ["long", warn | FLAG.srcUi | FLAG.continues],
    ["er", FLAG.dirTx | FLAG.srcUi | FLAG.continued],
  ]);
  assert.deepEqual(asked, ["abc", "d", "long"]);
});
