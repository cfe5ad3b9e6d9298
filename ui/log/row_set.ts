/**
 * A subset of the rows of a store, kept as new ones come: what a filter shows, or what a search found. Worked out in
 * slices from the newest chunk back, so that no filter holds the page up. Pure.
 */
import type { Chunk, Line, LineStore } from "./line_store.ts";

export type RowTest = (line: Line) => boolean;

interface Hits {
  revision: number;
  /** Rows of the chunk that were looked at. */
  done: number;
  /** Offsets in the chunk, ascending. */
  at: number[];
}

export class RowSet {
  readonly #store: LineStore;
  #test: RowTest | null = null;
  #hits = new WeakMap<Chunk, Hits>();
  /** How many rows of the set are before each chunk, and in the end all. */
  #before: number[] = [0];
  #partials: number[] = [];
  #seen = -1;
  #pending = false;

  constructor(store: LineStore) {
    this.#store = store;
  }

  /** null: every row. */
  setTest(test: RowTest | null): void {
    this.#test = test;
    this.#hits = new WeakMap();
    this.#seen = -1;
  }

  /** Something is not worked out yet. */
  get pending(): boolean {
    return this.#pending;
  }
  /** Rows, with the unfinished lines at the end. */
  get total(): number {
    return this.finished + this.#partials.length;
  }
  get finished(): number {
    return this.#before[this.#before.length - 1] ?? 0;
  }

  /** Takes in what is new; works until `deadline` (ms of `performance.now`). True: something changed. */
  sync(deadline = Infinity, now: () => number = () => performance.now()): boolean {
    if (this.#seen === this.#store.version && !this.#pending) return false;
    this.#seen = this.#store.version;
    const test = this.#test;
    const chunks = this.#store.chunks;
    this.#pending = false;
    if (test) {
      for (let i = chunks.length - 1; i >= 0; i--) {
        const chunk = chunks[i];
        if (!chunk) continue;
        const hits = this.#hits.get(chunk);
        if (hits && hits.done >= chunk.count && hits.revision === chunk.revision) continue;
        if (!chunk.columns) continue;
        // The newest is always done, so that what comes in shows at once.
        if (i < chunks.length - 1 && now() > deadline) {
          this.#pending = true;
          break;
        }
        this.#look(chunk, test);
      }
    }
    const before = [0];
    let sum = 0;
    for (const chunk of chunks) before.push(sum += this.#countOf(chunk));
    this.#before = before;
    this.#partials = this.#store.partials.filter((line) => !test || test(line)).map((line) => line.row);
    return true;
  }

  /** Row at an index of the set; undefined past the end. */
  at(index: number): number | undefined {
    if (index < 0) return undefined;
    if (index >= this.finished) return this.#partials[index - this.finished];
    let low = 0;
    let high = this.#store.chunks.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if ((this.#before[mid] ?? 0) <= index) low = mid;
      else high = mid - 1;
    }
    const chunk = this.#store.chunks[low];
    if (!chunk) return undefined;
    const offset = index - (this.#before[low] ?? 0);
    if (!this.#test) return chunk.firstRow + chunk.skip + offset;
    const at = this.#hits.get(chunk)?.at ?? [];
    return chunk.firstRow + (at[firstAtLeast(at, chunk.skip) + offset] ?? 0);
  }

  /** Index of a row, or of the next one after it that is in the set. */
  indexOf(row: number): number {
    if (row >= this.#store.endRow) {
      const i = this.#partials.findIndex((r) => r >= row);
      return this.finished + (i < 0 ? this.#partials.length : i);
    }
    const chunks = this.#store.chunks;
    let i = this.#store.indexOf(row);
    if (i < 0) i = row < this.#store.firstRow ? 0 : chunks.length - 1;
    const chunk = chunks[i];
    const before = this.#before[i] ?? 0;
    if (!chunk) return 0;
    const offset = Math.max(chunk.skip, row - chunk.firstRow);
    if (!this.#test) return before + Math.min(offset, chunk.count) - chunk.skip;
    const at = this.#hits.get(chunk)?.at ?? [];
    return before + firstAtLeast(at, offset) - firstAtLeast(at, chunk.skip);
  }

  has(row: number): boolean {
    return this.at(this.indexOf(row)) === row;
  }

  #countOf(chunk: Chunk): number {
    if (!this.#test) return chunk.count - chunk.skip;
    const at = this.#hits.get(chunk)?.at;
    return at ? at.length - firstAtLeast(at, chunk.skip) : 0;
  }

  #look(chunk: Chunk, test: RowTest): void {
    let hits = this.#hits.get(chunk);
    if (!hits || hits.revision !== chunk.revision) {
      hits = { revision: chunk.revision, done: 0, at: [] };
      this.#hits.set(chunk, hits);
    }
    for (let i = hits.done; i < chunk.count; i++) {
      const line = this.#store.lineIn(chunk, i);
      if (line && test(line)) hits.at.push(i);
    }
    hits.done = chunk.count;
  }
}

/** Index of the first value that is not less. */
export function firstAtLeast(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((sorted[mid] ?? 0) < value) low = mid + 1;
    else high = mid;
  }
  return low;
}
