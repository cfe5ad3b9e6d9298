import assert from "node:assert/strict";
import fc from "fast-check";
import { isBefore, Selection, wordAt } from "../../ui/log/selection.ts";
import {
  type Extent,
  MAX_HEIGHT,
  maxTop,
  scrollHeight,
  scrollOf,
  topAfterScroll,
  visible,
} from "../../ui/log/windowing.ts";
import { numbersOf } from "../../ui/plot/numbers.ts";
import { MAX_POINTS, MAX_RATE, PlotData } from "../../ui/plot/series.ts";
import { LineEditor } from "../../ui/terminal/line_editor.ts";
import { RawFeed } from "../../ui/terminal/raw_feed.ts";
import { FLAG } from "../../src/core/line.ts";

const extent = (rows: number): Extent => ({ rows, rowHeight: 19, view: 500, pad: 6 });

Deno.test("no element is higher than browsers allow, and every row of ten million can be reached", () => {
  const e = extent(10_000_000);
  assert.equal(scrollHeight(e), MAX_HEIGHT);
  const bottom = scrollHeight(e) - e.view;
  assert.equal(visible(e, topAfterScroll(e, 0, 0, bottom)).to, 10_000_000);
  assert.equal(visible(e, topAfterScroll(e, 5e7, 1e6, 0)).from, 0);
  const half = topAfterScroll(e, 0, 0, bottom / 2);
  assert.ok(Math.abs(visible(e, half).from - 5_000_000) < 50);
});

Deno.test("small moves are as large as they were made, also above the bound; the way back is the same", () => {
  for (const rows of [100, 100_000, 3_000_000]) {
    const e = extent(rows);
    const top = maxTop(e) / 2;
    const scroll = scrollOf(e, top);
    assert.ok(Math.abs(topAfterScroll(e, top, scroll, scroll + 100) - top - 100) < 1e-3);
    assert.ok(Math.abs(topAfterScroll(e, top, scroll, scroll - 40) - top + 40) < 1e-3);
  }
});

Deno.test("what is visible covers the view and nothing else", () => {
  fc.assert(fc.property(fc.nat(2000), fc.double({ min: 0, max: 1, noNaN: true }), (rows, part) => {
    const e = extent(rows);
    const top = maxTop(e) * part;
    const { from, to, offset } = visible(e, top);
    assert.ok(from >= 0 && to <= rows && from <= to);
    if (rows > 0) assert.ok(to - from <= 500 / 19 + 2);
    // The first row starts at or above the edge, unless the space before it is in view.
    if (top > e.pad) assert.ok(offset >= 0 && offset < 19);
  }));
});

Deno.test("a selection is in order, goes over rows, and outlives what is put in and taken away", () => {
  const s = new Selection();
  const range = () => s.range;
  assert.equal(range(), undefined);
  s.start({ row: 5, col: 3 });
  assert.equal(range(), undefined);
  s.extend({ row: 2, col: 7 });
  assert.deepEqual(range(), { from: { row: 2, col: 7 }, to: { row: 5, col: 3 } });
  assert.deepEqual(s.columns(2, 10), [7, 10]);
  assert.deepEqual(s.columns(3, 4), [0, 4]);
  assert.deepEqual(s.columns(4, 0), [0, 0]);
  assert.deepEqual(s.columns(5, 10), [0, 3]);
  assert.equal(s.columns(6, 10), undefined);
  s.inserted(3);
  assert.deepEqual(range()?.to, { row: 6, col: 3 });
  s.cleared(4);
  assert.deepEqual(range()?.from, { row: 4, col: 0 });
  s.cleared(7);
  assert.equal(range(), undefined);
  assert.ok(isBefore({ row: 1, col: 9 }, { row: 2, col: 0 }));
  assert.deepEqual(wordAt("I (12) wifi: auth", 9), [7, 11]);
  assert.deepEqual(wordAt("a  b", 1), [1, 2]);
});

Deno.test("numbers are found by name, in columns, or as the last one", () => {
  assert.deepEqual(numbersOf("temp:21.5 rssi=-58 dBm"), { kind: "named", values: [["temp", 21.5], ["rssi", -58]] });
  assert.deepEqual(numbersOf("1, 2.5,-3e2"), { kind: "csv", values: [["#1", 1], ["#2", 2.5], ["#3", -300]] });
  assert.deepEqual(numbersOf("batt is at 3.91 V"), { kind: "last", values: [["last", 3.91]] });
  assert.equal(numbersOf("no number here"), undefined);
  assert.equal(numbersOf("AT+CWMODE?"), undefined);
  assert.equal(numbersOf("at 14:02:11 it began", "named"), undefined);
  assert.equal(numbersOf("temp:1", "csv"), undefined);
  assert.ok(numbersOf(`${"x ".repeat(50_000)}7`) === undefined, "a long line is looked at only so far");
});

Deno.test("a plot is bounded in points and in lines a second, and a word with a number is no series", () => {
  const data = new PlotData();
  data.add(0, "error:1");
  for (let i = 0; i < MAX_POINTS * 3; i++) data.add(i, `temp:${i}`);
  assert.deepEqual([...data.series.keys()], ["temp"]);
  assert.ok(data.time.length <= MAX_POINTS);
  assert.equal(data.series.get("temp")?.length, data.time.length);
  assert.equal(data.series.get("temp")?.at(-1), MAX_POINTS * 3 - 1);
  let looked = 0;
  for (let i = 0; i < 50_000; i++) if (data.wants(5000 + i / 50)) looked++;
  assert.ok(looked < MAX_RATE * 8, String(looked));
  data.choose("a:1 b:2");
  data.add(1, "c:3 a:5");
  assert.deepEqual([...data.series.keys()], ["a"]);
});

Deno.test("a line that is typed is shown here and sent whole [C160]", () => {
  const editor = new LineEditor();
  assert.deepEqual(editor.input("AT+"), { echo: "AT+", lines: [], keys: "" });
  assert.deepEqual(editor.input("X\x7fGMR"), { echo: "X\b \bGMR", lines: [], keys: "" });
  assert.deepEqual(editor.input("\r"), { echo: "\r\n", lines: ["AT+GMR"], keys: "" });
  assert.deepEqual(editor.input("one\r\ntwo\rth"), { echo: "one\r\ntwo\r\nth", lines: ["one", "two"], keys: "" });
  assert.deepEqual(editor.input("\x03"), { echo: "\b \b\b \b", lines: [], keys: "\x03" });
  assert.deepEqual(editor.input("\x1b[A").echo, "two");
  assert.deepEqual(editor.input("\x1b[A").echo, "\b \b\b \b\b \bone");
  assert.deepEqual(editor.input("\x1b[B").echo, "\b \b\b \b\b \btwo");
  assert.deepEqual(editor.input("\x7f\x7f\x7f\x7f").echo, "\b \b\b \b\b \b");
});

Deno.test("lines give back the stream that they were: every end, and an open line once", async () => {
  const out: number[] = [];
  const ends = new Map([[5, FLAG.eolCrLf]]);
  const feed = new RawFeed({
    write: (bytes) => out.push(...bytes),
    flagsOf: (seq) => Promise.resolve(ends.get(seq)),
    settleMs: 1,
  });
  const piece = (seq: number, text: string, flags: number) => ({ seq, flags, bytes: new TextEncoder().encode(text) });
  feed.push([piece(1, "a", FLAG.eolCrLf), piece(2, "b", FLAG.eolLf), piece(3, "c", FLAG.eolCr)], piece(4, "$ ", 0));
  feed.push([], piece(4, "$ l", 0));
  // The CR of the fifth became a CRLF after it was told.
  feed.push([piece(4, "$ ls", FLAG.eolLf), piece(5, "x", FLAG.eolCr)], undefined);
  feed.push([piece(6, "y", FLAG.eolCr)], undefined);
  await feed.settled;
  feed.close();
  assert.equal(new TextDecoder().decode(Uint8Array.from(out)), "a\r\nb\nc\r$ ls\nx\r\ny\r");
});
