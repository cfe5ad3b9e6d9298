/** Rows in typed arrays, some hundred in a chunk: what a {@link LineStore} is made of. Pure. */
import { contentFlags } from "../../src/core/utf8.ts";
import { PLAIN } from "./style.ts";

export const CHAN = { rx: 0, tx: 1, mark: 2 } as const;
export type Chan = (typeof CHAN)[keyof typeof CHAN];

/** Rows that are no lines. `loss`: `raw` lines that this page missed; `gone`: a line that is held nowhere any more. */
export const MARK = { reading: 0, loss: 1, cleared: 2, restart: 3, gone: 4 } as const;

/** Beside its bytes a row takes about this much. */
const ROW_COST = 30;

/** One row; `bytes` is a view that stays valid. */
export interface Line {
  row: number;
  chan: Chan;
  /** Wall time, ms. */
  wall: number;
  seq: number;
  flags: number;
  raw: number;
  /** Style that it starts with. */
  style: number;
  /** Number of the line among all of the pane, received and sent; 0: unknown. */
  num: number;
  /** It has no end yet. */
  partial: boolean;
  bytes: Uint8Array;
}

export interface NewLine {
  chan: Chan;
  wall: number;
  seq: number;
  flags: number;
  raw: number;
  bytes: Uint8Array;
}

/** Where the bytes of a chunk can be read again: lines before a time, or a place in the session log. */
export type Source = { beforeWall: number } | { cursor: string };

export class Columns {
  bytes: Uint8Array<ArrayBuffer>;
  used = 0;
  readonly start: Uint32Array;
  readonly size: Uint16Array;
  readonly wall: Float64Array;
  readonly seq: Uint32Array;
  readonly flags: Uint16Array;
  readonly chan: Uint8Array;
  readonly raw: Uint32Array;
  readonly style: Uint16Array;
  readonly num: Uint32Array;
  constructor(rows: number, bytes: number) {
    this.bytes = new Uint8Array(bytes);
    this.start = new Uint32Array(rows);
    this.size = new Uint16Array(rows);
    this.wall = new Float64Array(rows);
    this.seq = new Uint32Array(rows);
    this.flags = new Uint16Array(rows);
    this.chan = new Uint8Array(rows);
    this.raw = new Uint32Array(rows);
    this.style = new Uint16Array(rows);
    this.num = new Uint32Array(rows);
  }
  /** Moves rows from `at` on by one. */
  shift(at: number, count: number): void {
    const columns = [
      this.start,
      this.size,
      this.wall,
      this.seq,
      this.flags,
      this.chan,
      this.raw,
      this.style,
      this.num,
    ];
    for (const column of columns) column.copyWithin(at + 1, at, count);
  }
  put(i: number, line: NewLine, style: number, num: number): void {
    const need = this.used + line.bytes.length;
    if (need > this.bytes.length) {
      const bigger = new Uint8Array(Math.max(this.bytes.length * 2, need));
      bigger.set(this.bytes.subarray(0, this.used));
      this.bytes = bigger;
    }
    this.bytes.set(line.bytes, this.used);
    this.start[i] = this.used;
    this.size[i] = line.bytes.length;
    this.used = need;
    this.wall[i] = line.wall;
    this.seq[i] = line.seq;
    this.flags[i] = line.flags;
    this.chan[i] = line.chan;
    this.raw[i] = line.raw;
    this.style[i] = style;
    this.num[i] = num;
  }
}

export class Chunk {
  /** Absolute row of its first one. */
  firstRow: number;
  count = 0;
  /** Rows at its front that were cleared. */
  skip = 0;
  columns: Columns | undefined;
  /** Changes when rows that were there moved or came back with other bytes. */
  revision = 0;
  loading = false;
  /** The session log does not have it any more. */
  lost = false;
  source: Source | undefined;
  /** Seq and number of the first line of each direction, to name them when they are read again. */
  first = { rx: 0, tx: 0, num: 0 };
  lastSeq = { rx: 0, tx: 0 };
  wallFrom = 0;
  wallTo = 0;
  constructor(firstRow: number) {
    this.firstRow = firstRow;
  }
  get endRow(): number {
    return this.firstRow + this.count;
  }
  get cost(): number {
    return this.columns ? this.columns.bytes.length + this.columns.start.length * ROW_COST : 0;
  }
}

/** Puts lines that are no news into a chunk, tight. */
export function fill(chunk: Chunk, lines: readonly NewLine[]): void {
  const columns = new Columns(lines.length, lines.reduce((sum, l) => sum + l.bytes.length, 0));
  lines.forEach((line, i) => {
    const flags = line.chan === CHAN.mark ? 0 : line.flags | contentFlags(line.bytes, 0, line.bytes.length);
    columns.put(i, { ...line, flags }, PLAIN, 0);
  });
  chunk.columns = columns;
  chunk.count = lines.length;
  chunk.wallFrom = lines[0]?.wall ?? 0;
  chunk.wallTo = lines[lines.length - 1]?.wall ?? 0;
}

const chanOf = (n: number | undefined): Chan => n === CHAN.rx ? CHAN.rx : n === CHAN.tx ? CHAN.tx : CHAN.mark;

export function lineAt(chunk: Chunk, columns: Columns, i: number): Line | undefined {
  if (i < chunk.skip || i >= chunk.count) return undefined;
  const start = columns.start[i] ?? 0;
  return {
    row: chunk.firstRow + i,
    chan: chanOf(columns.chan[i]),
    wall: columns.wall[i] ?? 0,
    seq: columns.seq[i] ?? 0,
    flags: columns.flags[i] ?? 0,
    raw: columns.raw[i] ?? 0,
    style: columns.style[i] ?? PLAIN,
    num: columns.num[i] ?? 0,
    partial: false,
    bytes: columns.bytes.subarray(start, start + (columns.size[i] ?? 0)),
  };
}
