import assert from "node:assert/strict";
import fc from "fast-check";
import { BenchError, CODE } from "../../src/core/errors.ts";
import { compilePattern, LiteralFinder, placesIn } from "../../src/core/search.ts";
import { renderText } from "../../src/core/text.ts";
import { contentFlags } from "../../src/core/utf8.ts";
import { wildBytes } from "./lines_rig.ts";

const encoder = new TextEncoder();
const literal = (pattern: string, caseSensitive: boolean) => compilePattern({ pattern, regex: false, caseSensitive });

const needle = fc.array(
  fc.constantFrom("a", "A", "b", "k", "\u212a", "s", "ſ", "+", "(", "\\", ".", " ", "中", "é", "É", "x", "0"),
  {
    minLength: 1,
    maxLength: 4,
    size: "max",
  },
).map((parts) => parts.join(""));
const haystack = fc.array(
  fc.constantFrom(
    "a",
    "A",
    "b",
    "B",
    "k",
    "K",
    "s",
    "S",
    "+",
    "(",
    "\\",
    ".",
    " ",
    "\t",
    "中",
    "é",
    "É",
    "\u212a",
    "\x1b[0m",
  ),
  { maxLength: 60, size: "max" },
).map((parts) => encoder.encode(parts.join("")));

Deno.test("the byte search finds what the same search on the text finds, case or not", () => {
  fc.assert(
    fc.property(needle, fc.oneof(haystack, wildBytes), fc.boolean(), (pattern, bytes, caseSensitive) => {
      const flags = contentFlags(bytes, 0, bytes.length);
      const places = placesIn(renderText(bytes, flags), literal(pattern, caseSensitive));
      const finder = new LiteralFinder(pattern, caseSensitive);
      // Inside other bytes, as in a ring.
      const around = Uint8Array.from([...encoder.encode(pattern), ...bytes, ...encoder.encode(pattern)]);
      const from = encoder.encode(pattern).length;
      assert.equal(finder.count(around, from, from + bytes.length, flags), places.length);
      assert.equal(finder.has(around, from, from + bytes.length, flags), places.length > 0);
      assert.deepEqual(finder.places(bytes, flags), places);
      if (!caseSensitive) return;
      // The plainest count there is.
      assert.equal(renderText(bytes, flags).split(pattern).length - 1, places.length);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("a literal is literal: every sign of a regular expression means itself [C360]", () => {
  for (const pattern of ["AT+CSQ", "a.b", "(x)", "[1]", "a|b", "^$", "\\d", "{2}", "?*", "/", "-", "A B"]) {
    assert.deepEqual(placesIn(`<${pattern}> ${pattern}`, literal(pattern, true)), [pattern, pattern]);
    assert.deepEqual(placesIn("aXb AAT CSQ", literal(pattern, true)), []);
  }
});

Deno.test("matches of length zero are none, also between surrogate halves [C370]", () => {
  const regex = (pattern: string) => compilePattern({ pattern, regex: true, caseSensitive: false });
  assert.deepEqual(placesIn("aab", regex("a*")), ["aa"]);
  assert.deepEqual(placesIn("😀x😀", regex("x*")), ["x"]);
  assert.deepEqual(placesIn("abc", regex("$|^|\\b|(?=b)")), []);
  assert.deepEqual(placesIn("ab ab ab", regex("AB"), 2), ["ab", "ab"]);
});

Deno.test("a bad or empty pattern is refused with the reason [C366] [C096]", () => {
  for (const pattern of ["[a", "(", "a{2,1}", "\\", "(?<n>a)(?<n>b)", "\\p{Nope}"]) {
    assert.throws(
      () => compilePattern({ pattern, regex: true, caseSensitive: false }),
      (error) =>
        error instanceof BenchError && error.code === CODE.invalidParams &&
        /regular expression: .{5}/.test(error.message),
      pattern,
    );
  }
  assert.throws(() => literal("", false), BenchError);
});
