const ESC = 0x1b;
const BEL = 0x07;
/** Longer than this it is no sequence but noise; keeps every scan linear. */
export const MAX_SEQUENCE_BYTES = 1024;

/**
 * The end of the CSI or OSC sequence that starts with the ESC at `at`; 0 when there is none; -1 when the bytes end
 * inside one. CSI and OSC as in ECMA-48 5.4 and 8.3.89; an OSC also ends at BEL, as xterm does it.
 */
export function sequenceEnd(bytes: Uint8Array, at: number, to: number): number {
  if (at + 1 >= to) return -1;
  const kind = bytes[at + 1];
  const limit = Math.min(to, at + MAX_SEQUENCE_BYTES);
  const cutShort = limit < to ? 0 : -1;
  if (kind === 0x5b) {
    let i = at + 2;
    let b = 0;
    while (i < limit && (b = bytes[i] ?? 0) >= 0x30 && b <= 0x3f) i++;
    while (i < limit && (b = bytes[i] ?? 0) >= 0x20 && b <= 0x2f) i++;
    if (i >= limit) return cutShort;
    return b >= 0x40 && b <= 0x7e ? i + 1 : 0;
  }
  if (kind === 0x5d) {
    for (let i = at + 2; i < limit; i++) {
      const b = bytes[i];
      if (b === BEL) return i + 1;
      if (b !== ESC) continue;
      if (i + 1 >= limit) return cutShort;
      return bytes[i + 1] === 0x5c ? i + 2 : 0;
    }
    return cutShort;
  }
  return 0;
}

/** Where the unfinished sequence starts that reaches up to `to`; -1 when there is none. */
export function openSequence(bytes: Uint8Array, from: number, to: number): number {
  let i = Math.max(from, to - MAX_SEQUENCE_BYTES);
  for (; i < to; i++) {
    if (bytes[i] !== ESC) continue;
    const end = sequenceEnd(bytes, i, to);
    if (end < 0) return i;
    if (end > 0) i = end - 1;
  }
  return -1;
}

/** The bytes without CSI and OSC sequences: the same array when there are none. */
export function stripSequences(bytes: Uint8Array): Uint8Array {
  let at = bytes.indexOf(ESC);
  if (at < 0) return bytes;
  const out = new Uint8Array(bytes.length);
  let used = 0;
  let from = 0;
  while (at >= 0) {
    const end = sequenceEnd(bytes, at, bytes.length);
    if (end > 0) {
      out.set(bytes.subarray(from, at), used);
      used += at - from;
      from = end;
    }
    at = bytes.indexOf(ESC, end > 0 ? end : at + 1);
  }
  out.set(bytes.subarray(from), used);
  return out.subarray(0, used + bytes.length - from);
}
