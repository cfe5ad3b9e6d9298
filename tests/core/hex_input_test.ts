import assert from "node:assert/strict";
import fc from "fast-check";
import { parseHex } from "../../src/core/hex_input.ts";

const parsed = (text: string) => {
  const result = parseHex(text);
  return "bytes" in result ? [...result.bytes] : `${result.column}: ${result.error}`;
};

Deno.test("hex input as technicians type it [SO14]", () => {
  const table: Record<string, number[]> = {
    "0x01,02": [1, 2],
    "0 1 2": [0, 1, 2],
    "0xA": [10],
    "48656C": [0x48, 0x65, 0x6c],
    "0x48656C": [0x48, 0x65, 0x6c],
    "01 03 00 00 00 02": [1, 3, 0, 0, 0, 2],
    "0X1f,0xFF\t0\n": [0x1f, 0xff, 0],
    "0x010x02": [1, 2],
    " , ": [],
    "": [],
    "a": [10],
    "0": [0],
  };
  for (const [text, bytes] of Object.entries(table)) assert.deepEqual(parsed(text), bytes, JSON.stringify(text));
});

Deno.test("bad hex is refused whole, with the column", () => {
  const table: Record<string, string> = {
    "01 zz": '4: "z" is not a hex digit',
    "1g": '2: "g" is not a hex digit',
    "123": "1: 3 hex digits in a row: give pairs, or separate the bytes",
    "01 12345": "4: 5 hex digits in a row: give pairs, or separate the bytes",
    "0x": "1: 0x without a digit",
    "1 0x 2": "3: 0x without a digit",
    "01-02": '3: "-" is not a hex digit',
    "1 😀": '3: "😀" is not a hex digit',
    "x41": '1: "x" is not a hex digit',
  };
  for (const [text, error] of Object.entries(table)) assert.equal(parsed(text), error, JSON.stringify(text));
});

Deno.test("bytes written in any of the accepted ways are read back", () => {
  const byte = fc.nat(255).chain((value) => {
    const pair = value.toString(16).padStart(2, "0");
    const written = fc.constantFrom(
      pair,
      pair.toUpperCase(),
      `0x${pair}`,
      `0x${value.toString(16)}`,
      value.toString(16),
    );
    return fc.tuple(fc.constant(value), written, fc.constantFrom(" ", ",", ", ", "\t", "\r\n", "  "));
  });
  fc.assert(fc.property(fc.array(byte, { maxLength: 100, size: "max" }), (bytes) => {
    assert.deepEqual(parsed(bytes.map(([, text, gap]) => text + gap).join("")), bytes.map(([value]) => value));
    const packed = bytes.map(([value]) => value.toString(16).padStart(2, "0")).join("");
    assert.deepEqual(parsed(packed), bytes.map(([value]) => value));
  }));
});

Deno.test("any text gives bytes or a column inside it, never a throw", () => {
  const text = fc.array(fc.constantFrom("0", "x", "f", "9", "A", " ", ",", "g", "😀", "\n", "X"), {
    maxLength: 12,
    size: "max",
  });
  fc.assert(
    fc.property(text, (parts) => {
      const given = parts.join("");
      const result = parseHex(given);
      if ("bytes" in result) assert.match(given, /^(?:\s|,|(?:0[xX])?[0-9a-fA-F])*$/);
      else assert.ok(result.column >= 1 && result.column <= given.length);
    }),
    { numRuns: 3000 },
  );
});
