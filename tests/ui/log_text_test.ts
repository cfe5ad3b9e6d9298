import assert from "node:assert/strict";
import fc from "fast-check";
import { escapeRow } from "../../src/core/text.ts";
import { FLAG } from "../../src/core/line.ts";
import { contentFlags } from "../../src/core/utf8.ts";
import { CHAN, type Line } from "../../ui/log/line_store.ts";
import { filterTest, NO_FILTER, rangesOf, textTest } from "../../ui/log/match.ts";
import { pieces, span } from "../../ui/log/paint.ts";
import { bothRow, hexRow, rowText, textRow, unescapeRow } from "../../ui/log/row_text.ts";
import { applySgr, contrast, luminance, paletteRgb, readable, RGB, styleOf } from "../../ui/log/style.ts";

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const shown = (bytes: Uint8Array) => textRow(bytes, contentFlags(bytes, 0, bytes.length));
const text = (s: string) => shown(encode(s));
const PLAIN = { fg: 0, bg: 0, attrs: 0 };

Deno.test("ANSI colours become runs and never text [SR08]", () => {
  const row = text("\x1b[0;32mI (12) a: b\x1b[0m tail \x1b[38;5;208morange\x1b[38;2;1;2;3mtrue");
  assert.equal(row.text, "I (12) a: b tail orangetrue");
  const fgs = row.runs.map((r) => [row.text.slice(r.from, r.to), styleOf(r.style).fg]);
  assert.deepEqual(fgs, [["I (12) a: b", 3], [" tail ", 0], ["orange", 209], ["true", RGB + 0x010203]]);
});

Deno.test("SGR: attributes, resets, bright and default colours, colon forms, noise", () => {
  assert.deepEqual(applySgr(PLAIN, "1;4;31;42"), { fg: 2, bg: 3, attrs: 1 | 8 });
  assert.deepEqual(applySgr({ fg: 2, bg: 3, attrs: 63 }, ""), PLAIN);
  assert.deepEqual(applySgr({ fg: 2, bg: 3, attrs: 1 | 2 }, "22;39;49"), PLAIN);
  assert.deepEqual(applySgr(PLAIN, "97;100"), { fg: 16, bg: 9, attrs: 0 });
  assert.deepEqual(applySgr(PLAIN, "38:2::10:20:30"), { fg: RGB + 0x0a141e, bg: 0, attrs: 0 });
  assert.deepEqual(applySgr(PLAIN, "48;5;9"), { fg: 0, bg: 10, attrs: 0 });
  assert.deepEqual(applySgr(PLAIN, "38;5;300"), { fg: 256, bg: 0, attrs: 0 });
  assert.deepEqual(applySgr(PLAIN, "?25"), PLAIN);
  assert.deepEqual(applySgr(PLAIN, "38;9;31"), { fg: 2, bg: 0, attrs: 0 });
});

Deno.test("the palette is xterm's, and any colour can be read on any ground", () => {
  assert.deepEqual(paletteRgb(16), [0, 0, 0]);
  assert.deepEqual(paletteRgb(208), [255, 135, 0]);
  assert.deepEqual(paletteRgb(231), [255, 255, 255]);
  assert.deepEqual(paletteRgb(255), [238, 238, 238]);
  fc.assert(fc.property(
    fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255)),
    fc.constantFrom(luminance([14, 17, 19]), luminance([244, 246, 246]), 1, 0),
    (rgb, ground) => assert.ok(contrast(luminance(readable(rgb, ground)), ground) >= 4.5),
  ));
});

Deno.test("NUL, controls, noise and marks that turn text round are visible [SR10] [SR18]", () => {
  assert.equal(text("a\0b\x07\x7f").text, "a\u2400b\u2407\u2421");
  assert.equal(shown(Uint8Array.of(0x61, 0xff, 0xfe, 0x62)).text, "a\\xFF\\xFEb");
  assert.equal(text("x\u202ey\u2028z").text, "x\\u{202E}y\\u{2028}z");
  assert.equal(text("tab\tstays").text, "tab\tstays");
  assert.equal(text("\x1b lone").text, "\u241b lone");
  assert.equal(text("<img src=x onerror=1>").text, "<img src=x onerror=1>");
});

Deno.test("a row holds nothing that could move the layout, for any bytes [SR10] [SR18]", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom("text", "hex", "both"), (bytes, view) => {
    const row = rowText(view, bytes, contentFlags(bytes, 0, bytes.length));
    // deno-lint-ignore no-control-regex
    assert.ok(!/[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/.test(row.text));
    // Runs cover it from end to end.
    let at = 0;
    for (const run of row.runs) {
      assert.equal(run.from, at);
      at = run.to;
    }
    assert.equal(at, row.text.length);
  }));
});

Deno.test("a frame is hex with the ASCII beside, rows of like length in the same column [SR05]", () => {
  const a = hexRow(Uint8Array.of(0x01, 0x41, 0xff));
  assert.equal(a.text.trimEnd(), `01 41 FF${" ".repeat(16 * 3 + 1 - 8)}\u00b7A\u00b7`);
  assert.equal(hexRow(new Uint8Array(16)).text.indexOf("\u00b7"), 49);
  assert.equal(hexRow(new Uint8Array(17)).text.indexOf("\u00b7"), 73);
  const frame = encode("AT");
  assert.ok(rowText("text", frame, FLAG.frame).text.startsWith("41 54"));
  assert.equal(bothRow(encode("OK"), 0).text, `OK${" ".repeat(30)}4F 4B`);
});

Deno.test("the session log's rows are undone to the bytes they were", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
    // Sequences are left out there; without ESC all bytes are kept.
    const kept = bytes.filter((b) => b !== 0x1b);
    const row = escapeRow(kept, contentFlags(kept, 0, kept.length));
    assert.deepEqual([...unescapeRow(row)], [...kept]);
  }));
});

const line = (bytes: Uint8Array, more: Partial<Line> = {}): Line => ({
  row: 0,
  chan: CHAN.rx,
  wall: 0,
  seq: 1,
  flags: FLAG.dirRx | contentFlags(bytes, 0, bytes.length),
  raw: bytes.length,
  style: 0,
  num: 1,
  partial: false,
  bytes,
  ...more,
});

Deno.test("a text is found as it is shown: over colours, without case, in any script, in hex", () => {
  const has = (s: string, wanted: string, exact = false) => textTest(wanted, exact, "text")(line(encode(s)));
  assert.ok(has("auth error", "ERROR"));
  assert.ok(!has("auth error", "ERROR", true));
  assert.ok(has("au\x1b[31mth er\x1b[0mror", "auth error"));
  assert.ok(!has("\x1b[31mred", "31m"));
  assert.ok(has("ÄRGER 温度", "ärger 温"));
  assert.ok(!has("aab", "ab "));
  assert.ok(has("aab", "ab"));
  assert.ok(textTest("41 54", false, "hex")(line(encode("AT"))));
  assert.deepEqual(rangesOf("abcABC", "bc", false), [[1, 3], [4, 6]]);
  assert.deepEqual(rangesOf("abcABC", "bc", true), [[1, 3]]);
});

Deno.test("a filter is direction, level and text together; marks stay", () => {
  const rx = (s: string, level: number = FLAG.levelInfo) => line(encode(s), { flags: FLAG.dirRx | level });
  const tx = line(encode("AT"), { chan: CHAN.tx, flags: FLAG.dirTx });
  const mark = line(new Uint8Array(), { chan: CHAN.mark });
  assert.equal(filterTest(NO_FILTER, true, "text"), null);
  const noEcho = filterTest(NO_FILTER, false, "text");
  assert.ok(noEcho && !noEcho(tx) && noEcho(rx("a")) && noEcho(mark));
  const onlyTx = filterTest({ ...NO_FILTER, direction: "tx" }, true, "text");
  assert.ok(onlyTx && onlyTx(tx) && !onlyTx(rx("a")) && onlyTx(mark));
  const warn = filterTest({ ...NO_FILTER, level: "warn" }, true, "text");
  assert.ok(warn && !warn(rx("a")) && warn(rx("a", FLAG.levelWarn)) && warn(rx("a", FLAG.levelError)));
  const info = filterTest({ ...NO_FILTER, level: "info" }, true, "text");
  assert.ok(info && !info(rx("a", FLAG.levelDebug)) && info(rx("a")));
  const both = filterTest({ direction: "rx", level: "error", text: "x" }, true, "text");
  assert.ok(both && both(rx("x", FLAG.levelError)) && !both(rx("y", FLAG.levelError)) && !both(rx("x")));
});

Deno.test("a row is cut where style, selection or a match changes, and loses nothing", () => {
  const row = text("plain \x1b[31mred\x1b[0m end");
  const cut = pieces(row, [3, 8], [[7, 9]]);
  assert.equal(cut.map((p) => p.text).join(""), row.text);
  assert.deepEqual(cut.filter((p) => p.selected).map((p) => p.text).join(""), row.text.slice(3, 8));
  assert.deepEqual(cut.filter((p) => p.found).map((p) => p.text).join(""), row.text.slice(7, 9));
  assert.equal(pieces(row, undefined, [], 6, 9).map((p) => p.text).join(""), "red");
});

Deno.test("spans of time say no more than they need", () => {
  assert.equal(span(0), "+0.000");
  assert.equal(span(1204.4), "+1.204");
  assert.equal(span(62_204), "+1:02.204");
  assert.equal(span(7_262_204), "+2:01:02.204");
  assert.equal(span(-5), "-0.005");
});
