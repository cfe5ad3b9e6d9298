import { LIMITS } from "../../tools/limits.ts";
import { openSequence } from "./ansi.ts";
import { FLAG, type LineSink } from "./line.ts";
import { contentFlags, openChar } from "./utf8.ts";

const CR = 0x0d;
const LF = 0x0a;

export interface LineAssemblerOptions {
  /** Longest line; default 8192. */
  maxLineBytes?: number;
  /** Set in every line, such as the direction. */
  flags?: number;
  /** Level bits for a finished line of text; none for rests of a long line. */
  level?: (bytes: Uint8Array, from: number, to: number) => number;
  /** The line given last ended with CR, and its LF came only now: what ended it was CRLF. */
  onCrLf?: () => void;
  /** Longest row and longest silence inside a row in frames mode. */
  frameBytes?: number;
  frameGapMs?: number;
}

/** A line that has no end yet. `bytes` is only valid until the next call. */
export interface OpenLine {
  t: number;
  flags: number;
  bytes: Uint8Array;
}

/**
 * Bytes to lines. CR, LF and CRLF end a line at once and once, wherever the bytes were cut. A line over the cap is
 * given in parts (`continues`, `continued`), never cut inside a UTF-8 character nor inside an ANSI sequence.
 * In frames mode it gives rows of raw bytes instead, ended by a silence or a full row.
 */
export class LineAssembler {
  readonly #sink: LineSink;
  readonly #max: number;
  readonly #base: number;
  readonly #level: LineAssemblerOptions["level"];
  readonly #onCrLf: (() => void) | undefined;
  readonly #frameBytes: number;
  readonly #frameGapMs: number;
  /** The open line: bytes of earlier pushes. */
  readonly #open: Uint8Array<ArrayBuffer>;
  #length = 0;
  /** Of the open line: source, `continued`, `high`, `control`. */
  #flags = 0;
  #t = 0;
  /** Time of the last byte, for the silence that ends a frame. */
  #lastT = 0;
  #afterCr = false;
  #mode: "lines" | "frames" = "lines";

  constructor(sink: LineSink, options: LineAssemblerOptions = {}) {
    this.#sink = sink;
    this.#max = options.maxLineBytes ?? LIMITS.logMaxLineBytes;
    this.#base = options.flags ?? 0;
    this.#level = options.level;
    this.#onCrLf = options.onCrLf;
    this.#frameBytes = options.frameBytes ?? LIMITS.hexRowBytes;
    this.#frameGapMs = options.frameGapMs ?? LIMITS.hexFrameGapMs;
    this.#open = new Uint8Array(Math.max(this.#max, this.#frameBytes));
  }

  get mode(): "lines" | "frames" {
    return this.#mode;
  }
  /** A change of mode closes what is open. */
  set mode(mode: "lines" | "frames") {
    if (mode === this.#mode) return;
    this.end();
    this.#mode = mode;
  }

  /** The line so far; undefined between lines. */
  get open(): OpenLine | undefined {
    if (this.#length === 0) return undefined;
    return { t: this.#t, flags: this.#base | this.#flags, bytes: this.#open.subarray(0, this.#length) };
  }

  /** Takes bytes that came at `t`; `srcFlags` (of {@link FLAG.srcMask}) go to the lines that begin in them. */
  push(chunk: Uint8Array, t: number, srcFlags = 0): void {
    if (this.#mode === "frames") this.#pushFrames(chunk, t, srcFlags);
    else this.#pushLines(chunk, t, srcFlags);
  }

  /** Closes an open line (with {@link FLAG.eolNone}). */
  end(): void {
    this.#afterCr = false;
    if (this.#length === 0) return;
    const length = this.#length;
    this.#length = 0;
    this.#give(this.#t, this.#flags, this.#open, 0, length);
  }

  /** Frames mode: closes the open row after a silence. */
  tick(t: number): void {
    if (this.#mode === "frames" && this.#length > 0 && t - this.#lastT >= this.#frameGapMs) this.end();
  }

  #give(t: number, flags: number, bytes: Uint8Array, from: number, to: number): void {
    if (this.#level && (flags & (FLAG.continued | FLAG.frame)) === 0) flags |= this.#level(bytes, from, to);
    this.#sink(t, this.#base | flags, bytes, from, to);
  }

  #pushLines(chunk: Uint8Array, t: number, src: number): void {
    const n = chunk.length;
    if (n === 0) return;
    let i = 0;
    if (this.#afterCr) {
      this.#afterCr = false;
      if (chunk[0] === LF) {
        i = 1;
        this.#onCrLf?.();
      }
    }
    const max = this.#max;
    let have = this.#length;
    let flags = have > 0 ? this.#flags : src;
    let lineT = have > 0 ? this.#t : t;
    let start = i;
    let stop = Math.min(n, start + max - have);
    for (;;) {
      let b = 0;
      while (i < stop && (b = chunk[i] ?? 0) >= 0x20 && b < 0x7f) i++;
      if (i >= stop) {
        if (i >= n) break;
        b = chunk[i] ?? 0;
        if (b !== LF && b !== CR) {
          // Full, and the next byte belongs to it too.
          if (have > 0) {
            this.#open.set(chunk.subarray(start, i), have);
            const cut = this.#safeCut(this.#open, 0, max, b);
            if (cut < max) flags = (flags & ~(FLAG.high | FLAG.control)) | contentFlags(this.#open, 0, cut);
            this.#give(lineT, flags | FLAG.continues, this.#open, 0, cut);
            this.#open.copyWithin(0, cut, max);
            have = max - cut;
            flags = src | FLAG.continued | contentFlags(this.#open, 0, have);
            start = i;
          } else {
            const cut = this.#safeCut(chunk, start, i, b);
            if (cut < i) flags = (flags & ~(FLAG.high | FLAG.control)) | contentFlags(chunk, start, cut);
            this.#give(lineT, flags | FLAG.continues, chunk, start, cut);
            flags = src | FLAG.continued;
            start = i = cut;
          }
          lineT = t;
          stop = Math.min(n, start + max - have);
          continue;
        }
      }
      if (b === LF || b === CR) {
        let next = i + 1;
        let eol: number = FLAG.eolLf;
        if (b === CR) {
          eol = FLAG.eolCr;
          if (next >= n) this.#afterCr = true;
          else if (chunk[next] === LF) {
            eol = FLAG.eolCrLf;
            next++;
          }
        }
        if (have > 0) {
          this.#open.set(chunk.subarray(start, i), have);
          const to = have + i - start;
          this.#length = have = 0;
          this.#give(lineT, flags | eol, this.#open, 0, to);
        } else {
          this.#give(lineT, flags | eol, chunk, start, i);
        }
        start = i = next;
        flags = src;
        lineT = t;
        stop = Math.min(n, start + max);
        continue;
      }
      flags |= b >= 0x80 ? FLAG.high : FLAG.control;
      i++;
    }
    if (start < n) this.#open.set(chunk.subarray(start, n), have);
    this.#length = have + n - start;
    this.#flags = flags;
    this.#t = lineT;
  }

  /** The last place at or before `to` that is inside no character and no ANSI sequence; `next` is the byte at `to`. */
  #safeCut(bytes: Uint8Array, from: number, to: number, next: number): number {
    let cut = to;
    if ((next & 0xc0) === 0x80) cut = openChar(bytes, from, to);
    const sequence = openSequence(bytes, from, cut);
    if (sequence >= 0) cut = sequence;
    return cut > from ? cut : to;
  }

  #pushFrames(chunk: Uint8Array, t: number, src: number): void {
    this.tick(t);
    let from = 0;
    while (from < chunk.length) {
      if (this.#length === 0) {
        this.#t = t;
        this.#flags = src | FLAG.frame;
      }
      const to = Math.min(chunk.length, from + this.#frameBytes - this.#length);
      this.#open.set(chunk.subarray(from, to), this.#length);
      this.#flags |= contentFlags(chunk, from, to);
      this.#length += to - from;
      from = to;
      if (this.#length >= this.#frameBytes) this.end();
    }
    this.#lastT = t;
  }
}
