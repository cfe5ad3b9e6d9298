/**
 * A line as it is shown: one string without anything that could move the layout, and the runs in it that look
 * different. Controls are symbols, bytes that are no text are `\xNN`, sequences are drawn or left out. Pure.
 */
import { sequenceEnd } from "../../src/core/ansi.ts";
import { FLAG } from "../../src/core/line.ts";
import { charLength, validUntil } from "../../src/core/utf8.ts";
import { PLAIN, styleAfterSequence } from "./style.ts";

export type View = "text" | "hex" | "both";
/** `ctl`: a stand-in for what cannot be seen; `hex`: bytes; `beside`: what stands beside them. */
export type RunKind = "text" | "ctl" | "hex" | "beside";

export interface Run {
  from: number;
  to: number;
  style: number;
  kind: RunKind;
}
export interface RowText {
  text: string;
  runs: readonly Run[];
}

const ESC = 0x1b;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
/**
 * Unicode that hides, breaks a row or turns it round: controls but tab, separators, bidi marks and embeddings, the BOM.
 * Joiners stay: emoji are made with them.
 */
// deno-lint-ignore no-control-regex
const UNSEEN = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
// deno-lint-ignore no-control-regex
const UNSEEN_ALL = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const hexByte = (b: number): string => (b < 16 ? "0" : "") + b.toString(16).toUpperCase();

/** What stands for a character that cannot be seen. */
function symbol(char: string): string {
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  if (code < 0xa0) return `\\x${hexByte(code)}`;
  return `\\u{${code.toString(16).toUpperCase()}}`;
}

/** Runs of one style and kind are put together as they come. */
class Builder {
  text = "";
  readonly runs: Run[] = [];
  add(text: string, style: number, kind: RunKind): void {
    if (text === "") return;
    const from = this.text.length;
    this.text += text;
    const last = this.runs[this.runs.length - 1];
    if (last && last.style === style && last.kind === kind) last.to = this.text.length;
    else this.runs.push({ from, to: this.text.length, style, kind });
  }
  /** Valid text: what cannot be seen becomes a symbol. */
  safe(text: string, style: number): void {
    if (!UNSEEN.test(text)) return this.add(text, style, "text");
    let at = 0;
    for (const m of text.matchAll(UNSEEN_ALL)) {
      this.add(text.slice(at, m.index), style, "text");
      this.add(symbol(m[0]), style, "ctl");
      at = m.index + m[0].length;
    }
    this.add(text.slice(at), style, "text");
  }
}

function segment(out: Builder, bytes: Uint8Array, from: number, to: number, style: number): void {
  while (from < to) {
    const valid = validUntil(bytes, from, to);
    if (valid > from) out.safe(decoder.decode(bytes.subarray(from, valid)), style);
    from = valid;
    while (from < to && charLength(bytes, from, to) <= 0) out.add(`\\x${hexByte(bytes[from++] ?? 0)}`, style, "ctl");
  }
}

/** A line of text; `style` is the one that it starts with. */
export function textRow(bytes: Uint8Array, flags: number, style = PLAIN): RowText {
  if ((flags & (FLAG.high | FLAG.control)) === 0) {
    const text = decoder.decode(bytes);
    return { text, runs: text === "" ? [] : [{ from: 0, to: text.length, style, kind: "text" }] };
  }
  const out = new Builder();
  let from = 0;
  let at = bytes.indexOf(ESC);
  while (at >= 0) {
    const end = sequenceEnd(bytes, at, bytes.length);
    if (end > 0) {
      segment(out, bytes, from, at, style);
      style = styleAfterSequence(style, bytes, at, end);
      from = end;
    }
    at = bytes.indexOf(ESC, end > 0 ? end : at + 1);
  }
  segment(out, bytes, from, bytes.length, style);
  return { text: out.text, runs: out.runs };
}

const LEAST_BYTES = 16;
const STEP_BYTES = 8;

export function hexPairs(bytes: Uint8Array): string {
  let out = "";
  for (let i = 0; i < bytes.length; i++) out += (i > 0 ? " " : "") + hexByte(bytes[i] ?? 0);
  return out;
}

/** Printable ASCII as it is, everything else a dot: one character a byte. */
export function asciiOf(bytes: Uint8Array): string {
  let out = "";
  for (const b of bytes) out += b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : "\u00b7";
  return out;
}

/** A row of bytes with the ASCII beside, at columns that rows of like length share: 16, 24, 32 … bytes. */
export function hexRow(bytes: Uint8Array): RowText {
  const out = new Builder();
  const columns = Math.max(LEAST_BYTES, Math.ceil(bytes.length / STEP_BYTES) * STEP_BYTES);
  out.add(hexPairs(bytes).padEnd(columns * 3 + 1, " "), PLAIN, "hex");
  out.add(asciiOf(bytes), PLAIN, "beside");
  return { text: out.text, runs: out.runs };
}

const BOTH_STEP = 16;
const BOTH_LEAST = 32;

/** Text with its bytes beside, at columns that lines of like length share. */
export function bothRow(bytes: Uint8Array, flags: number, style = PLAIN): RowText {
  const left = textRow(bytes, flags, style);
  const width = Math.max(BOTH_LEAST, Math.ceil((left.text.length + 2) / BOTH_STEP) * BOTH_STEP);
  const text = left.text.padEnd(width, " ");
  const hex = hexPairs(bytes);
  return {
    text: text + hex,
    runs: [
      ...left.runs,
      { from: left.text.length, to: width, style: PLAIN, kind: "text" },
      { from: width, to: width + hex.length, style: PLAIN, kind: "beside" },
    ],
  };
}

/** A line in a view. A frame has no text: it is bytes in every view. */
export function rowText(view: View, bytes: Uint8Array, flags: number, style = PLAIN): RowText {
  if (view === "hex" || flags & FLAG.frame) return hexRow(bytes);
  return view === "both" ? bothRow(bytes, flags, style) : textRow(bytes, flags, style);
}

/** Undoes the escapes of the readable session log: `\\`, `\r`, `\n`, `\xNN`. */
export function unescapeRow(text: string): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  if (!text.includes("\\")) return encoder.encode(text);
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const m of text.matchAll(/\\(?:x([0-9A-F]{2})|([\\rn]))/g)) {
    parts.push(encoder.encode(text.slice(at, m.index)));
    parts.push(Uint8Array.of(m[1] !== undefined ? parseInt(m[1], 16) : m[2] === "r" ? 13 : m[2] === "n" ? 10 : 0x5c));
    at = m.index + m[0].length;
  }
  parts.push(encoder.encode(text.slice(at)));
  const out = new Uint8Array(parts.reduce((sum, p) => sum + p.length, 0));
  let used = 0;
  for (const part of parts) {
    out.set(part, used);
    used += part.length;
  }
  return out;
}
