/** Part of what is to be sent, and the pause that follows it. */
export interface Piece {
  from: number;
  to: number;
  pauseMs: number;
}

export interface Pacing {
  /** Pause after each character, ms. */
  charMs: number;
  /** Pause after each line, ms. */
  lineMs: number;
}

const CR = 0x0d;
const LF = 0x0a;

/** Where the UTF-8 character at `at` ends; a stray byte is a character of its own. */
const characterEnd = (bytes: Uint8Array, at: number): number => {
  let end = at + 1;
  while (end < bytes.length && end < at + 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end++;
  return end;
};

/** Whether a line ends before `end`. CR LF is one end, so a CR that an LF follows ends nothing yet. */
const lineEndsAt = (bytes: Uint8Array, end: number): boolean =>
  bytes[end - 1] === LF || (bytes[end - 1] === CR && bytes[end] !== LF);

/**
 * Cuts what is to be sent into pieces of at most `max` bytes; with pacing, at each character and each line. In hex
 * there are no lines and each byte is a character. No pause follows the last piece.
 */
export function* pieces(bytes: Uint8Array, pacing: Pacing, mode: "text" | "hex", max: number): Generator<Piece> {
  const lineMs = mode === "text" ? pacing.lineMs : 0;
  for (let from = 0; from < bytes.length;) {
    let to = from;
    if (pacing.charMs > 0) {
      to = mode === "text" ? characterEnd(bytes, from) : from + 1;
    } else if (lineMs > 0) {
      do to++; while (to < bytes.length && to - from < max && !lineEndsAt(bytes, to));
    } else {
      to = Math.min(from + max, bytes.length);
    }
    const lineEnd = lineMs > 0 && lineEndsAt(bytes, to);
    const pauseMs = to === bytes.length ? 0 : Math.max(pacing.charMs, lineEnd ? lineMs : 0);
    yield { from, to, pauseMs };
    from = to;
  }
}
