import fc from "fast-check";
import { FLAG } from "../../src/core/line.ts";
import { LineAssembler } from "../../src/core/line_assembler.ts";

export interface Line {
  t: number;
  flags: number;
  bytes: number[];
}
const EOL: Record<number, number[]> = {
  [FLAG.eolNone]: [],
  [FLAG.eolLf]: [10],
  [FLAG.eolCr]: [13],
  [FLAG.eolCrLf]: [13, 10],
};

/** An assembler that collects, with a late LF put right in the line that it belongs to. */
export function collector(options: { maxLineBytes?: number } = {}) {
  const lines: Line[] = [];
  const assembler = new LineAssembler(
    (t, flags, bytes, from, to) => lines.push({ t, flags, bytes: [...bytes.subarray(from, to)] }),
    {
      ...options,
      onCrLf: () => {
        const last = lines.at(-1);
        if (last) last.flags = (last.flags & ~FLAG.eolMask) | FLAG.eolCrLf;
      },
    },
  );
  return { lines, assembler };
}

/** The lines of the bytes when they come in these pieces. */
export function assemble(pieces: readonly Uint8Array[], maxLineBytes = 64): Line[] {
  const { lines, assembler } = collector({ maxLineBytes });
  for (const piece of pieces) assembler.push(piece, 0);
  assembler.end();
  return lines;
}

/** Bytes and line ends back again. */
export const bytesBack = (lines: readonly Line[]): number[] =>
  lines.flatMap((line) =>
    line.flags & FLAG.continues ? line.bytes : [...line.bytes, ...EOL[line.flags & FLAG.eolMask] ?? []]
  );

/** The bytes cut at the given places (parts of the whole, 0 to 1). */
export function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = cuts.map((c) => Math.floor(c * bytes.length)).sort((a, b) => a - b);
  return [0, ...places].map((from, i) => bytes.subarray(from, places[i] ?? bytes.length));
}
export const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30, size: "max" });

const encoder = new TextEncoder();
const piece = fc.oneof(
  fc.constantFrom(
    "\r",
    "\n",
    "\r\n",
    "\n\r",
    "\x1b[0m",
    "\x1b[38;5;208m",
    "\x1b]0;title\x07",
    "\x1b",
    "\x1b[",
    "°",
    "中",
    "😀",
    "a",
  )
    .map((text) => encoder.encode(text)),
  fc.uint8Array({ maxLength: 12 }),
  fc.string({ maxLength: 40 }).map((text) => encoder.encode(text)),
);
/** Bytes as no device would dare to send them. */
export const wildBytes = fc.array(piece, { maxLength: 60, size: "max" }).map((pieces) =>
  new Uint8Array(pieces.flatMap((p) => [...p]))
);
