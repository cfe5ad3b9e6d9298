import { stripSequences } from "./ansi.ts";
import { FLAG } from "./line.ts";
import { charLength, validUntil } from "./utf8.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const BACKSLASH = 0x5c;
/** Everything that would break a row, hide in it or make its escapes ambiguous: controls but tab, line separators. */
// deno-lint-ignore no-control-regex
const UNSAFE = /[\\\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/;
// deno-lint-ignore no-control-regex
const UNSAFE_ALL = /[\\\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/g;
const encoder = new TextEncoder();

const hexByte = (b: number): string => `\\x${b < 16 ? "0" : ""}${b.toString(16).toUpperCase()}`;

function escapeChar(char: string): string {
  if (char === "\\") return "\\\\";
  if (char === "\r") return "\\r";
  if (char === "\n") return "\\n";
  let out = "";
  for (const b of encoder.encode(char)) out += hexByte(b);
  return out;
}

/** The bytes as hex digits without blanks: `48656C`. */
export const hexOf = (bytes: Uint8Array): string => bytes.toHex().toUpperCase();

/** The bytes as pairs: `01 03 AF`. */
export const hexPairs = (bytes: Uint8Array): string => hexOf(bytes).replace(/..(?=.)/g, "$& ");

/** UTF-8 to text with invalid bytes as `\xNN`; `clean` is applied to what is valid. */
function decode(bytes: Uint8Array, clean: (text: string) => string): string {
  let from = 0;
  let out = "";
  while (from < bytes.length) {
    const to = validUntil(bytes, from, bytes.length);
    if (to > from) out += clean(decoder.decode(bytes.subarray(from, to)));
    from = to;
    while (from < bytes.length && charLength(bytes, from, bytes.length) <= 0) out += hexByte(bytes[from++] ?? 0);
  }
  return out;
}

const showEscape = (text: string): string => text.includes("\x1b") ? text.replaceAll("\x1b", "\\x1B") : text;
const cleanRow = (text: string): string => UNSAFE.test(text) ? text.replace(UNSAFE_ALL, escapeChar) : text;
const asIs = (text: string): string => text;

/** A record for JSON: UTF-8 decoded, ANSI sequences taken out, a lone ESC and invalid bytes as `\xNN`; frames as hex pairs. */
export function renderText(bytes: Uint8Array, flags: number): string {
  if (flags & FLAG.frame) return hexPairs(bytes);
  if ((flags & (FLAG.high | FLAG.control)) === 0) return decoder.decode(bytes);
  const plain = flags & FLAG.control ? stripSequences(bytes) : bytes;
  if ((flags & FLAG.high) === 0) return showEscape(decoder.decode(plain));
  return decode(plain, flags & FLAG.control ? showEscape : asIs);
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
  const plain = flags & FLAG.control ? stripSequences(bytes) : bytes;
  return (flags & FLAG.high) === 0 ? cleanRow(decoder.decode(plain)) : decode(plain, cleanRow);
}

/** Whether text alone does not give the bytes back: they are not UTF-8. */
export const needsHex = (bytes: Uint8Array, flags: number): boolean =>
  (flags & FLAG.high) !== 0 && (flags & FLAG.frame) === 0 && validUntil(bytes, 0, bytes.length) < bytes.length;
