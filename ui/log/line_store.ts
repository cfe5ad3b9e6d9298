/**
 * The lines of one pane in the browser: received and sent merged by time, in chunks of typed arrays without an object a
 * line. Rows have numbers that never change (older ones are below zero), so that a place in the log survives new data.
 * Bounded: chunks far from the view give their bytes back and are read from the session log again when they are looked
 * at. Pure.
 */
import { FLAG } from "../../src/core/line.ts";
import { CHAN, type Chan, Chunk, Columns, fill, type Line, lineAt, MARK, type NewLine, type Source } from "./chunk.ts";
import { PLAIN, styleAfter } from "./style.ts";

export { CHAN, type Chunk, type Line, MARK, type NewLine } from "./chunk.ts";

const CHUNK_ROWS = 512;
const MOST_ROWS = 1024;
const CHUNK_BYTES = 65_536;
const KEEP_AROUND = 6;

export class LineStore {
  readonly #budget: number;
  readonly chunks: Chunk[] = [];
  #open: Chunk | undefined;
  #bytes = 0;
  #endRow = 0;
  /** First row of this run of the server: seqs before it are of another count. */
  #runRow = 0;
  #style: [number, number] = [PLAIN, PLAIN];
  #lastSeq: [number, number] = [0, 0];
  /** What evicted chunks can be read from; false: they are forgotten, oldest first. */
  readonly #canReload: boolean;
  #partials: Line[] = [];
  /** Rows `at` and later moved down by one. */
  onInsert: ((at: number) => void) | undefined;
  version = 0;

  constructor({ budget = 16_777_216, canReload = true }: { budget?: number; canReload?: boolean } = {}) {
    this.#budget = budget;
    this.#canReload = canReload;
  }

  /** Bytes of memory held, about. */
  get bytes(): number {
    return this.#bytes;
  }
  get firstRow(): number {
    const first = this.chunks[0];
    return first ? first.firstRow + first.skip : this.#endRow;
  }
  /** One past the last finished row. */
  get endRow(): number {
    return this.#endRow;
  }
  get runRow(): number {
    return this.#runRow;
  }
  /** Lines without an end yet: shown after the last row. */
  get partials(): readonly Line[] {
    return this.#partials;
  }
  lastSeq(chan: Chan): number {
    return chan === CHAN.mark ? 0 : this.#lastSeq[chan];
  }

  append(line: NewLine): void {
    let chunk = this.#open;
    if (chunk?.columns && this.#full(chunk, chunk.columns, line.wall)) {
      this.#seal(chunk, line.wall);
      chunk = undefined;
    }
    if (!chunk) chunk = this.#begin();
    const columns = chunk.columns;
    if (!columns) return;
    let i = chunk.count;
    // A line that began earlier and ended later goes where it began, as far as that is still open.
    if (line.chan !== CHAN.mark) {
      const passes = (before: number) => {
        const chan = columns.chan[before];
        // Marks stay where they are: their time is the page's, not the server's.
        return chan !== line.chan && chan !== CHAN.mark && (columns.wall[before] ?? 0) > line.wall;
      };
      while (i > 0 && passes(i - 1)) i--;
    }
    const late = i < chunk.count;
    if (late) columns.shift(i, chunk.count);
    let style: number = PLAIN;
    if (line.chan !== CHAN.mark) {
      const at = line.chan;
      style = this.#style[at];
      if (line.flags & FLAG.control && !(line.flags & FLAG.frame)) this.#style[at] = styleAfter(style, line.bytes);
      this.#lastSeq[at] = line.seq;
      const name = at === CHAN.rx ? "rx" : "tx";
      chunk.first[name] ||= line.seq;
      chunk.lastSeq[name] = line.seq;
    }
    const before = columns.bytes.length;
    columns.put(i, line, style, this.#lastSeq[0] + this.#lastSeq[1]);
    this.#bytes += columns.bytes.length - before;
    chunk.count++;
    chunk.wallFrom = Math.min(chunk.wallFrom || line.wall, line.wall);
    chunk.wallTo = Math.max(chunk.wallTo, line.wall);
    this.#endRow++;
    this.version++;
    if (!late) return;
    chunk.revision++;
    this.onInsert?.(chunk.firstRow + i);
  }

  /** A row that is no line: a loss of `count` lines, a clear, a restart. */
  mark(kind: number, wall: number, count = 0): void {
    this.append({ chan: CHAN.mark, wall, seq: kind, flags: 0, raw: count, bytes: new Uint8Array(0) });
  }

  /** Replaces the unfinished lines; their bytes must stay valid. */
  setPartials(lines: readonly NewLine[]): void {
    this.#partials = [...lines].sort((a, b) => a.wall - b.wall).map((l, i) => ({
      ...l,
      row: this.#endRow + i,
      style: l.chan === CHAN.mark ? PLAIN : this.#style[l.chan],
      num: this.#lastSeq[0] + this.#lastSeq[1] + 1 + i,
      partial: true,
    }));
    this.version++;
  }

  /** Another run of the server: seqs start anew. */
  restart(wall: number): void {
    if (this.#endRow > this.firstRow) this.mark(MARK.restart, wall);
    this.#lastSeq = [0, 0];
    this.#style = [PLAIN, PLAIN];
    this.#runRow = this.#endRow;
    const open = this.#open;
    if (open) this.#seal(open, wall);
  }

  /** Index among {@link chunks} of the one that holds a row; -1: none. */
  indexOf(row: number): number {
    const chunks = this.chunks;
    let low = 0;
    let high = chunks.length - 1;
    while (low <= high) {
      const mid = (low + high) >> 1;
      const chunk = chunks[mid];
      if (!chunk) return -1;
      if (row < chunk.firstRow) high = mid - 1;
      else if (row >= chunk.endRow) low = mid + 1;
      else return mid;
    }
    return -1;
  }

  /** The row, or undefined when it is not there or its bytes are away. */
  line(row: number): Line | undefined {
    if (row >= this.#endRow) return this.#partials[row - this.#endRow];
    const chunk = this.chunks[this.indexOf(row)];
    return chunk?.columns ? lineAt(chunk, chunk.columns, row - chunk.firstRow) : undefined;
  }

  /** The row at an offset of a chunk; undefined when it was cleared or its bytes are away. */
  lineIn(chunk: Chunk, offset: number): Line | undefined {
    return chunk.columns ? lineAt(chunk, chunk.columns, offset) : undefined;
  }

  /** Row of a line of this run; -1: not there. */
  rowOf(chan: 0 | 1, seq: number): number {
    const name = chan === CHAN.rx ? "rx" : "tx";
    // Seqs of a direction ascend over the chunks of a run.
    let low = Math.max(0, this.indexOf(Math.min(this.#runRow, this.#endRow - 1)));
    let high = this.chunks.length - 1;
    let found = -1;
    while (low <= high) {
      const mid = (low + high) >> 1;
      const last = this.#lastSeqUpTo(mid, name);
      if (last >= seq) {
        found = mid;
        high = mid - 1;
      } else low = mid + 1;
    }
    const chunk = this.chunks[found];
    if (!chunk?.columns) return -1;
    const { columns } = chunk;
    for (let i = chunk.skip; i < chunk.count; i++) {
      if (columns.chan[i] === chan && columns.seq[i] === seq && chunk.firstRow + i >= this.#runRow) {
        return chunk.firstRow + i;
      }
    }
    return -1;
  }

  /** Puts older lines before the first row; they are read again from `source`. Lines are oldest first. */
  prepend(lines: readonly NewLine[], source: Source): void {
    for (let end = lines.length; end > 0; end -= MOST_ROWS) {
      const part = lines.slice(Math.max(0, end - MOST_ROWS), end);
      const first = this.chunks[0];
      const chunk = new Chunk((first ? first.firstRow : this.#endRow) - part.length);
      // Only the whole answer can be asked for again.
      chunk.source = end === lines.length && part.length === lines.length ? source : undefined;
      fill(chunk, part);
      this.#bytes += chunk.cost;
      this.chunks.unshift(chunk);
    }
    this.version++;
  }

  /** Whether there is anything before the first row that may be on disk: rows cleared by a person are not. */
  get cleared(): boolean {
    return (this.chunks[0]?.skip ?? 0) > 0;
  }

  /** Bytes of a chunk are back. Fewer lines than it had: the rest is lost. */
  restore(chunk: Chunk, lines: readonly NewLine[]): void {
    chunk.loading = false;
    if (lines.length === 0) {
      chunk.lost = true;
      this.version++;
      return;
    }
    const padded = lines.length >= chunk.count ? lines.slice(-chunk.count) : [
      ...Array.from({ length: chunk.count - lines.length }, (): NewLine => ({
        chan: CHAN.mark,
        wall: lines[0]?.wall ?? 0,
        seq: MARK.gone,
        flags: 0,
        raw: 1,
        bytes: new Uint8Array(0),
      })),
      ...lines,
    ];
    let { rx, tx } = chunk.first;
    const named = padded.map((l) => ({ ...l, seq: l.chan === CHAN.rx ? rx++ : l.chan === CHAN.tx ? tx++ : l.seq }));
    const { first, count } = chunk;
    chunk.count = 0;
    fill(chunk, named);
    chunk.first = first;
    chunk.count = count;
    if (chunk.columns) { for (let i = 0; i < count; i++) chunk.columns.num[i] = first.num > 0 ? first.num + i : 0; }
    this.#bytes += chunk.cost;
    chunk.revision++;
    this.version++;
  }

  /** Forgets rows up to these seqs of this run, and all before them. True: something went. */
  clearThrough(seqs: { rx: number; tx: number }): boolean {
    let gone = false;
    for (;;) {
      const chunk = this.chunks[0];
      if (!chunk) break;
      const from = this.#firstKept(chunk, seqs);
      if (from < chunk.count) {
        if (from > chunk.skip) {
          chunk.skip = from;
          gone = true;
        }
        break;
      }
      gone = true;
      this.#bytes -= chunk.cost;
      this.chunks.shift();
      if (chunk === this.#open) this.#open = undefined;
    }
    if (gone) this.version++;
    return gone;
  }

  /** Gives bytes back when over the bound: first what is far from these rows and old. */
  trim(viewFrom: number, viewTo: number): void {
    if (this.#bytes <= this.#budget) return;
    const near = { from: this.#indexNear(viewFrom) - KEEP_AROUND, to: this.#indexNear(viewTo) + KEEP_AROUND };
    const last = this.chunks.length - 1 - KEEP_AROUND;
    for (let i = 0; i < last && this.#bytes > this.#budget; i++) {
      const chunk = this.chunks[i];
      if (!chunk?.columns || chunk === this.#open || (i >= near.from && i <= near.to)) continue;
      this.#bytes -= chunk.cost;
      chunk.columns = undefined;
    }
    if (this.#canReload) return;
    while (this.chunks[0] && !this.chunks[0].columns) this.chunks.shift();
    this.version++;
  }

  #indexNear(row: number): number {
    const at = this.indexOf(row);
    return at >= 0 ? at : row < this.firstRow ? 0 : this.chunks.length - 1;
  }

  #lastSeqUpTo(index: number, name: "rx" | "tx"): number {
    for (let i = index; i >= 0; i--) {
      const chunk = this.chunks[i];
      if (!chunk || chunk.firstRow < this.#runRow) return 0;
      if (chunk.lastSeq[name] > 0) return chunk.lastSeq[name];
    }
    return 0;
  }

  #full(chunk: Chunk, columns: Columns, wall: number): boolean {
    if (chunk.count >= MOST_ROWS) return true;
    if (chunk.count < CHUNK_ROWS && columns.used < CHUNK_BYTES) return false;
    // Best between two milliseconds: the session log is read again by time.
    return Math.floor(wall) > Math.floor(chunk.wallTo) || columns.used > CHUNK_BYTES * 4;
  }

  #begin(): Chunk {
    const chunk = new Chunk(this.#endRow);
    chunk.columns = new Columns(MOST_ROWS, 8192);
    chunk.first.num = this.#lastSeq[0] + this.#lastSeq[1] + 1;
    this.#bytes += chunk.cost;
    this.chunks.push(chunk);
    this.#open = chunk;
    return chunk;
  }

  #seal(chunk: Chunk, nextWall: number): void {
    this.#open = undefined;
    chunk.source = { beforeWall: nextWall };
    const { columns } = chunk;
    if (!columns) return;
    this.#bytes -= chunk.cost;
    const tight = new Columns(chunk.count, columns.used);
    tight.bytes.set(columns.bytes.subarray(0, columns.used));
    tight.used = columns.used;
    for (const name of ["start", "size", "wall", "seq", "flags", "chan", "raw", "style", "num"] as const) {
      tight[name].set(columns[name].subarray(0, chunk.count));
    }
    chunk.columns = tight;
    this.#bytes += chunk.cost;
  }

  #firstKept(chunk: Chunk, seqs: { rx: number; tx: number }): number {
    if (chunk.endRow <= this.#runRow) return chunk.count;
    const { columns } = chunk;
    if (!columns) {
      const past = chunk.lastSeq.rx <= seqs.rx && chunk.lastSeq.tx <= seqs.tx;
      return past ? chunk.count : chunk.skip;
    }
    for (let i = chunk.skip; i < chunk.count; i++) {
      if (chunk.firstRow + i < this.#runRow) continue;
      const seq = columns.seq[i] ?? 0;
      const chan = columns.chan[i];
      if ((chan === CHAN.rx && seq > seqs.rx) || (chan === CHAN.tx && seq > seqs.tx)) return i;
    }
    return chunk.count;
  }
}
