/** What is selected: from a place to a place, as row and column, so that it outlives whatever scrolls by. Pure. */
export interface Place {
  row: number;
  /** UTF-16 offset in the row as it is shown; Infinity: its end. */
  col: number;
}

export interface Range {
  from: Place;
  to: Place;
}

export const isBefore = (a: Place, b: Place): boolean => a.row < b.row || (a.row === b.row && a.col < b.col);

const WORD = /[\p{L}\p{N}_.+-]/u;

/** The word around a column. */
export function wordAt(text: string, col: number): [number, number] {
  const at = Math.min(col, Math.max(0, text.length - 1));
  if (!WORD.test(text[at] ?? "")) return [at, Math.min(text.length, at + 1)];
  let from = at;
  let to = at + 1;
  while (from > 0 && WORD.test(text[from - 1] ?? "")) from--;
  while (to < text.length && WORD.test(text[to] ?? "")) to++;
  return [from, to];
}

export class Selection {
  #anchor: Place | undefined;
  #head: Place | undefined;

  get anchor(): Place | undefined {
    return this.#anchor;
  }
  get head(): Place | undefined {
    return this.#head;
  }
  /** In order; undefined: nothing is selected. */
  get range(): Range | undefined {
    const a = this.#anchor;
    const b = this.#head;
    if (!a || !b || (a.row === b.row && a.col === b.col)) return undefined;
    return isBefore(a, b) ? { from: a, to: b } : { from: b, to: a };
  }
  /** A place without extent, from which {@link extend} goes on. */
  start(place: Place): void {
    this.#anchor = place;
    this.#head = place;
  }
  extend(place: Place): void {
    this.#anchor ??= place;
    this.#head = place;
  }
  set(from: Place, to: Place): void {
    this.#anchor = from;
    this.#head = to;
  }
  clear(): void {
    this.#anchor = this.#head = undefined;
  }
  /** The columns of a row that are selected, in a text of this length. */
  columns(row: number, length: number): [number, number] | undefined {
    const range = this.range;
    if (!range || row < range.from.row || row > range.to.row) return undefined;
    const from = row === range.from.row ? Math.min(range.from.col, length) : 0;
    const to = row === range.to.row ? Math.min(range.to.col, length) : length;
    // An empty line in the middle is selected too.
    return to > from || (row !== range.to.row && length === 0) ? [from, to] : undefined;
  }
  /** A row was put in before others. */
  inserted(at: number): void {
    const moved = (place: Place | undefined) => place && place.row >= at ? { ...place, row: place.row + 1 } : place;
    this.#anchor = moved(this.#anchor);
    this.#head = moved(this.#head);
  }
  /** Rows before this one were cleared. */
  cleared(firstRow: number): void {
    const range = this.range;
    if (!range) return this.#anchor && this.#anchor.row < firstRow ? this.clear() : undefined;
    if (range.to.row < firstRow) return this.clear();
    if (range.from.row < firstRow) this.set({ row: firstRow, col: 0 }, range.to);
  }
}
