import { FLAG } from "./line.ts";

/**
 * Bytes of the well-formed UTF-8 character that starts at `at` (1 to 4); 0 when there is none; -1 when the bytes end
 * inside one that may still become good. Table 3-7 of the Unicode Standard.
 */
export function charLength(bytes: Uint8Array, at: number, to: number): number {
  const a = bytes[at] ?? 0;
  if (a < 0x80) return 1;
  if (a < 0xc2 || a > 0xf4) return 0;
  if (at + 1 >= to) return -1;
  const b = bytes[at + 1] ?? 0;
  if (a < 0xe0) return (b & 0xc0) === 0x80 ? 2 : 0;
  const low = a === 0xe0 ? 0xa0 : a === 0xf0 ? 0x90 : 0x80;
  const high = a === 0xed ? 0x9f : a === 0xf4 ? 0x8f : 0xbf;
  if (b < low || b > high) return 0;
  if (at + 2 >= to) return -1;
  if (((bytes[at + 2] ?? 0) & 0xc0) !== 0x80) return 0;
  if (a < 0xf0) return 3;
  if (at + 3 >= to) return -1;
  return ((bytes[at + 3] ?? 0) & 0xc0) === 0x80 ? 4 : 0;
}

/** Where well-formed UTF-8 ends: `to` when all of it is. */
export function validUntil(bytes: Uint8Array, from: number, to: number): number {
  let i = from;
  while (i < to) {
    if ((bytes[i] ?? 0) < 0x80) {
      i++;
      continue;
    }
    const n = charLength(bytes, i, to);
    if (n <= 0) return i;
    i += n;
  }
  return i;
}

/** Where the unfinished character starts with which the bytes end; `to` when they end with a whole one or with noise. */
export function openChar(bytes: Uint8Array, from: number, to: number): number {
  for (let i = to - 1; i >= from && i >= to - 3; i--) {
    const b = bytes[i] ?? 0;
    if (b < 0x80) return to;
    if (b >= 0xc0) return charLength(bytes, i, to) < 0 ? i : to;
  }
  return to;
}

/** {@link FLAG.high} and {@link FLAG.control} as these bytes deserve. */
export function contentFlags(bytes: Uint8Array, from: number, to: number): number {
  let flags = 0;
  for (let i = from; i < to; i++) {
    const b = bytes[i] ?? 0;
    if (b >= 0x80) flags |= FLAG.high;
    else if (b < 0x20 || b === 0x7f) flags |= FLAG.control;
  }
  return flags;
}
