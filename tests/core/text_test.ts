import assert from "node:assert/strict";
import fc from "fast-check";
import { stripSequences } from "../../src/core/ansi.ts";
import { FLAG } from "../../src/core/line.ts";
import { escapeRow, hexOf, hexPairs, needsHex, renderText, ROW_GROWTH, writeRow } from "../../src/core/text.ts";
import { charLength, contentFlags, openChar, validUntil } from "../../src/core/utf8.ts";
import { wildBytes } from "./lines_rig.ts";

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text);
const flagsOf = (bytes: Uint8Array) => contentFlags(bytes, 0, bytes.length);
const rowOf = (bytes: Uint8Array) => escapeRow(bytes, flagsOf(bytes));

/** Undoes {@link escapeRow}, knowing only what its documentation says. */
function unescape(row: string): number[] {
  const out: number[] = [];
  for (let i = 0; i < row.length;) {
    const escape = /^\\(?:x([0-9A-F]{2})|([\\rn]))/.exec(row.slice(i, i + 4));
    if (escape) {
      const [all, hex, char] = escape;
      out.push(hex ? Number.parseInt(hex, 16) : char === "r" ? 13 : char === "n" ? 10 : 92);
      i += all.length;
      continue;
    }
    const char = String.fromCodePoint(row.codePointAt(i) ?? 0);
    assert.notEqual(char, "\\", `a lone backslash in ${row}`);
    out.push(...bytesOf(char));
    i += char.length;
  }
  return out;
}

Deno.test("a row of text can be undone to the bytes, colours apart, and is one line [C190]", () => {
  fc.assert(
    fc.property(wildBytes, (bytes) => {
      const row = rowOf(bytes);
      assert.deepEqual(unescape(row), [...stripSequences(bytes)]);
      // deno-lint-ignore no-control-regex
      assert.doesNotMatch(row, /[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/);
      assert.ok(row.isWellFormed());
    }),
    { numRuns: 500 },
  );
});

Deno.test("a row written as bytes is the row of text, wherever the line lies, and stays in its room", () => {
  const around = fc.tuple(fc.uint8Array({ maxLength: 4 }), wildBytes, fc.uint8Array({ maxLength: 4 }));
  fc.assert(
    fc.property(around, fc.boolean(), fc.nat(9), ([before, bytes, after], frame, at) => {
      const all = Uint8Array.of(...before, ...bytes, ...after);
      const flags = flagsOf(bytes) | (frame ? FLAG.frame : 0);
      const out = new Uint8Array(at + ROW_GROWTH * bytes.length).fill(0xee);
      const end = writeRow(all, before.length, before.length + bytes.length, flags, out, at);
      assert.equal(
        new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(out.slice(at, end)),
        escapeRow(bytes, flags),
      );
      assert.ok(end <= out.length && out.subarray(0, at).every((b) => b === 0xee));
      if (frame) assert.equal(escapeRow(bytes, flags), hexPairs(bytes));
    }),
    { numRuns: 500 },
  );
  // A colour inside a character: without it the character is whole.
  assert.equal(rowOf(Uint8Array.of(0xc3, ...bytesOf("\x1b[0m"), 0xa9)), "é");
});

Deno.test("controls, backslash and line separators are escaped in rows; a tab and every script stay", () => {
  assert.equal(rowOf(bytesOf("a\tb")), "a\tb");
  assert.equal(rowOf(bytesOf("a\\b\r\n\0\x7f\u0085\u2028")), "a\\\\b\\r\\n\\x00\\x7F\\xC2\\x85\\xE2\\x80\\xA8");
  assert.equal(rowOf(bytesOf("中文 Привет 😀 é\ufeff")), "中文 Привет 😀 é\ufeff");
  assert.equal(rowOf(Uint8Array.of(0x41, 0xff, 0xc0, 0xaf, 0xed, 0xa0, 0x80)), "A\\xFF\\xC0\\xAF\\xED\\xA0\\x80");
});

Deno.test("text for JSON is decoded, without colours, a lone ESC and bad bytes visible", () => {
  const render = (bytes: Uint8Array) => renderText(bytes, flagsOf(bytes));
  assert.equal(render(bytesOf("\x1b[1;31mE (1) a\x1b[0m \x1b]0;t\x07中\x1b]8;;u\x1b\\x")), "E (1) a 中x");
  assert.equal(render(bytesOf("\x1b\x1b[0mq\x1b[")), "\\x1Bq\\x1B[");
  assert.equal(render(Uint8Array.of(0xe4, 0xb8, 0x41)), "\\xE4\\xB8A");
  assert.equal(render(bytesOf("back\\slash\0")), "back\\slash\0");
  assert.equal(renderText(Uint8Array.of(1, 3, 0xaf), FLAG.frame | FLAG.high), "01 03 AF");
});

Deno.test("valid UTF-8 is exactly what the platform's decoder takes", () => {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const near = fc.array(
    fc.constantFrom(
      0x41,
      0x7f,
      0x80,
      0x8f,
      0x90,
      0x9f,
      0xa0,
      0xbf,
      0xc1,
      0xc2,
      0xdf,
      0xe0,
      0xed,
      0xef,
      0xf0,
      0xf4,
      0xf5,
    ),
    { maxLength: 8, size: "max" },
  ).map((list) => Uint8Array.from(list));
  fc.assert(
    fc.property(near, (bytes) => {
      let good = true;
      try {
        strict.decode(bytes);
      } catch {
        good = false;
      }
      assert.equal(validUntil(bytes, 0, bytes.length) === bytes.length, good);
      assert.equal(needsHex(bytes, flagsOf(bytes)), !good);
    }),
    { numRuns: 3000 },
  );
});

Deno.test("the begun character at the end of a part is found, so that it is not shown broken", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => {
    const bytes = bytesOf(text);
    for (let to = 0; to <= bytes.length; to++) {
      const from = openChar(bytes, 0, to);
      assert.equal(validUntil(bytes, 0, from), from);
      if (from < to) assert.equal(charLength(bytes, from, to), -1);
    }
  }));
});

Deno.test("streaming UTF-8: any text in any cuts decodes to itself", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 100 }), fc.array(fc.nat(200)), (given, places) => {
    const text = given.toWellFormed();
    const bytes = bytesOf(text);
    // Shown so far, at each cut: a beginning of the text, never a broken character.
    for (const at of places) {
      const part = bytes.subarray(0, at);
      const shown = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
        part.subarray(0, openChar(part, 0, part.length)),
      );
      assert.ok(text.startsWith(shown));
      assert.ok(bytesOf(shown).length >= Math.min(at, bytes.length) - 3);
    }
  }));
});

Deno.test("hex is upper case, with blanks only for frames", () => {
  assert.equal(hexOf(Uint8Array.of(0, 10, 255)), "000AFF");
  assert.equal(hexPairs(Uint8Array.of(0, 10, 255)), "00 0A FF");
  assert.equal(hexPairs(new Uint8Array()), "");
});
