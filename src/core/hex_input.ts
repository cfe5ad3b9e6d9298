/** What is wrong: a character that is no digit (`what` is it), a `0x` alone, an odd run of `what` digits. */
export type HexFault = "digit" | "prefix" | "run";

/** What {@link parseHex} found: the bytes, or what is wrong and where (1-based column, in UTF-16 units). */
export type HexResult =
  | { bytes: Uint8Array<ArrayBuffer> }
  | { error: string; column: number; fault: HexFault; what: string };

const isHexDigit = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);
const isSeparator = (code: number): boolean => code === 0x2c || (code >= 9 && code <= 13) || code === 0x20;

/**
 * Hex as technicians type it: blanks, commas and `0x` separate bytes, and a lone digit is a byte: `0 1 2` is 00 01 02,
 * `0xA` is 0A, `48656C` and `0x48656C` are three bytes. Bad input is refused whole, also an odd run of three digits
 * and more: it could be read in two ways.
 */
export function parseHex(text: string): HexResult {
  const out = new Uint8Array((text.length >> 1) + 1);
  let used = 0;
  let i = 0;
  while (i < text.length) {
    let code = text.charCodeAt(i);
    if (isSeparator(code)) {
      i++;
      continue;
    }
    const prefixed = code === 48 && (text.charCodeAt(i + 1) | 0x20) === 0x78;
    const prefixAt = i;
    if (prefixed) i += 2;
    const start = i;
    while (i < text.length && isHexDigit(code = text.charCodeAt(i))) {
      // The 0 of a `0x` that follows without a blank begins the next byte.
      if (code === 48 && i > start && (text.charCodeAt(i + 1) | 0x20) === 0x78) break;
      i++;
    }
    const digits = i - start;
    if (digits === 0) {
      if (prefixed) return { error: "0x without a digit", column: prefixAt + 1, fault: "prefix", what: "0x" };
      return noDigit(text, i);
    }
    if (i < text.length && !isSeparator(code = text.charCodeAt(i)) && code !== 48) {
      return noDigit(text, i);
    }
    if (digits > 2 && digits % 2 === 1) {
      const error = `${digits} hex digits in a row: give pairs, or separate the bytes`;
      return { error, column: start + 1, fault: "run", what: String(digits) };
    }
    if (digits === 1) {
      out[used++] = Number.parseInt(text.charAt(start), 16);
      continue;
    }
    for (let at = start; at < i; at += 2) out[used++] = Number.parseInt(text.slice(at, at + 2), 16);
  }
  return { bytes: out.slice(0, used) };
}

function noDigit(text: string, at: number): HexResult {
  const what = String.fromCodePoint(text.codePointAt(at) ?? 0);
  return { error: `${JSON.stringify(what)} is not a hex digit`, column: at + 1, fault: "digit", what };
}
