import { sequenceEnd, stripSequences } from "./ansi.ts";
import { FLAG } from "./line.ts";
import { charLength, validUntil } from "./utf8.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const BACKSLASH = 0x5c;
const LF = 0x0a;
const CR = 0x0d;
const TAB = 0x09;
const ESC = 0x1b;
const DIGITS = Uint8Array.from("0123456789ABCDEF", (c) => c.charCodeAt(0));
/** A row is at most so many times as long as its bytes: each as `\xNN`. */
export const ROW_GROWTH = 4;

const hexByte = (b: number): string => `\\x${b < 16 ? "0" : ""}${b.toString(16).toUpperCase()}`;

/** The bytes as hex digits without blanks: `48656C`. */
export const hexOf = (bytes: Uint8Array): string => bytes.toHex().toUpperCase();

/** The bytes as pairs: `01 03 AF`. */
export const hexPairs = (bytes: Uint8Array): string => hexOf(bytes).replace(/..(?=.)/g, "$& ");

const showEscape = (text: string): string => text.includes("\x1b") ? text.replaceAll("\x1b", "\\x1B") : text;

/** UTF-8 to text with invalid bytes as `\xNN`, and a lone ESC too if there are controls. */
function decode(bytes: Uint8Array, controls: boolean): string {
  let from = 0;
  let out = "";
  while (from < bytes.length) {
    const to = validUntil(bytes, from, bytes.length);
    if (to > from) {
      const text = decoder.decode(bytes.subarray(from, to));
      out += controls ? showEscape(text) : text;
    }
    from = to;
    while (from < bytes.length && charLength(bytes, from, bytes.length) <= 0) out += hexByte(bytes[from++] ?? 0);
  }
  return out;
}

/** A record for JSON: UTF-8 decoded, ANSI sequences taken out, a lone ESC and invalid bytes as `\xNN`; frames as hex pairs. */
export function renderText(bytes: Uint8Array, flags: number): string {
  if (flags & FLAG.frame) return hexPairs(bytes);
  if ((flags & (FLAG.high | FLAG.control)) === 0) return decoder.decode(bytes);
  const plain = flags & FLAG.control ? stripSequences(bytes) : bytes;
  if ((flags & FLAG.high) === 0) return showEscape(decoder.decode(plain));
  return decode(plain, (flags & FLAG.control) !== 0);
}

/**
 * A record for a row of text: as {@link renderText}, but so that the row stays one line and can be undone:
 * `\\`, `\r`, `\n`, and `\xNN` for every other control and each byte that is not UTF-8. A tab stays a tab.
 */
export function escapeRow(bytes: Uint8Array, flags: number): string {
  if (flags & FLAG.frame) return hexPairs(bytes);
  if ((flags & (FLAG.high | FLAG.control)) === 0) {
    const text = decoder.decode(bytes);
    return bytes.includes(BACKSLASH) ? text.replaceAll("\\", "\\\\") : text;
  }
  const row = new Uint8Array(ROW_GROWTH * bytes.length);
  return decoder.decode(row.subarray(0, writeRow(bytes, 0, bytes.length, flags, row, 0)));
}

/**
 * Writes what {@link escapeRow} gives for `bytes[from, to)` as UTF-8 to `out` from `at` on, without a string in between,
 * and gives where it ends. `out` must have room for {@link ROW_GROWTH} times the bytes.
 */
export function writeRow(
  bytes: Uint8Array,
  from: number,
  to: number,
  flags: number,
  out: Uint8Array,
  at: number,
): number {
  if (flags & FLAG.frame) return writePairs(bytes, from, to, out, at);
  if ((flags & (FLAG.high | FLAG.control)) === 0) {
    for (let i = from; i < to; i++) {
      const b = bytes[i] ?? 0;
      if (b === BACKSLASH) out[at++] = BACKSLASH;
      out[at++] = b;
    }
    return at;
  }
  const begin = at;
  /** Where the last byte ends that was no part of a character. */
  let broken = -1;
  for (let i = from; i < to;) {
    const b = bytes[i] ?? 0;
    if (b < 0x80) {
      i++;
      if ((b >= 0x20 && b !== 0x7f) || b === TAB) {
        if (b === BACKSLASH) out[at++] = BACKSLASH;
        out[at++] = b;
      } else if (b === CR || b === LF) {
        out[at++] = BACKSLASH;
        out[at++] = b === CR ? 0x72 : 0x6e;
      } else {
        const end = b === ESC && (flags & FLAG.control) !== 0 ? sequenceEnd(bytes, i - 1, to) : 0;
        if (end <= 0) at = writeHex(b, out, at);
        else if (broken !== i - 1) i = end;
        else {
          // Without the sequence the bytes around it may be one character after all.
          const plain = stripSequences(bytes.subarray(from, to));
          return writeRow(plain, 0, plain.length, (flags & ~FLAG.control) | FLAG.high, out, begin);
        }
      }
      continue;
    }
    const length = charLength(bytes, i, to);
    if (length <= 0) {
      at = writeHex(b, out, at);
      broken = ++i;
      continue;
    }
    const safe = !hidden(bytes, i, length);
    for (const end = i + length; i < end; i++) {
      if (safe) out[at++] = bytes[i] ?? 0;
      else at = writeHex(bytes[i] ?? 0, out, at);
    }
  }
  return at;
}

/** Whether the character of more than one byte would break a row or hide in it: U+0080 to U+009F, U+2028, U+2029. */
function hidden(bytes: Uint8Array, at: number, length: number): boolean {
  const second = bytes[at + 1] ?? 0;
  if (length === 2) return bytes[at] === 0xc2 && second < 0xa0;
  return length === 3 && bytes[at] === 0xe2 && second === 0x80 && ((bytes[at + 2] ?? 0) | 1) === 0xa9;
}

function writeHex(b: number, out: Uint8Array, at: number): number {
  out[at] = BACKSLASH;
  out[at + 1] = 0x78;
  out[at + 2] = DIGITS[b >> 4] ?? 0;
  out[at + 3] = DIGITS[b & 15] ?? 0;
  return at + 4;
}

function writePairs(bytes: Uint8Array, from: number, to: number, out: Uint8Array, at: number): number {
  for (let i = from; i < to; i++) {
    const b = bytes[i] ?? 0;
    if (i > from) out[at++] = 0x20;
    out[at++] = DIGITS[b >> 4] ?? 0;
    out[at++] = DIGITS[b & 15] ?? 0;
  }
  return at;
}

/** Whether text alone does not give the bytes back: they are not UTF-8. */
export const needsHex = (bytes: Uint8Array, flags: number): boolean =>
  (flags & FLAG.high) !== 0 && (flags & FLAG.frame) === 0 && validUntil(bytes, 0, bytes.length) < bytes.length;
