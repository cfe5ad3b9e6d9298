/** What the find field looks for: which rows match, where in them, and which of them is the current one. */
import { CHAN, type Line, type LineStore } from "./line_store.ts";
import { rangesOf, rangesOfRegex, textTest } from "./match.ts";
import { RowSet, type RowTest } from "./row_set.ts";
import type { View } from "./row_text.ts";

export interface Found {
  pattern: string;
  caseSensitive: boolean;
  regex: boolean;
}

export class LogSearch {
  readonly hits: RowSet;
  #found: Found | undefined;
  #regex: RegExp | undefined;
  /** Rows that the server found for an expression. */
  #regexRows: ReadonlySet<number> = new Set();
  /** Row where the search stands. */
  current: number | undefined;

  constructor(store: LineStore) {
    this.hits = new RowSet(store);
    this.hits.setTest(() => false);
  }

  setFound(found: Found | undefined): void {
    this.#found = found;
    this.current = undefined;
    this.#regexRows = new Set();
    this.#regex = undefined;
    if (!found?.regex) return;
    try {
      this.#regex = new RegExp(found.pattern, found.caseSensitive ? "g" : "gi");
    } catch {
      // The server says what is wrong with it.
    }
  }

  setRegexRows(rows: ReadonlySet<number>): void {
    this.#regexRows = rows;
  }

  /** Looks through all rows anew; `shown`: what the filter shows. */
  restart(view: View, shown: RowTest | null): void {
    const found = this.#found;
    if (!found || found.pattern === "") return this.hits.setTest(() => false);
    const matches: RowTest = found.regex
      ? (line) => this.#regexRows.has(line.row)
      : textTest(found.pattern, found.caseSensitive, view);
    this.hits.setTest(shown ? (line) => matches(line) && shown(line) : matches);
  }

  /** Goes to the next (1) or previous (-1) match from where it stands, else from the rows in view; round at the ends. */
  step(by: 1 | -1, view: { first: number; last: number }): number | undefined {
    this.hits.sync();
    const { finished } = this.hits;
    if (finished === 0) return undefined;
    let index: number;
    if (this.current !== undefined) {
      const at = this.hits.indexOf(this.current);
      const isOn = this.hits.at(at) === this.current;
      index = by > 0 ? at + (isOn ? 1 : 0) : at - 1;
    } else index = by > 0 ? this.hits.indexOf(view.first) : this.hits.indexOf(view.last + 1) - 1;
    return this.current = this.hits.at((index + finished) % finished);
  }

  marks(line: Line, text: string): readonly [number, number][] {
    const found = this.#found;
    if (!found || line.chan === CHAN.mark) return [];
    if (!found.regex) return rangesOf(text, found.pattern, found.caseSensitive);
    return this.#regex && this.#regexRows.has(line.row) ? rangesOfRegex(text, this.#regex) : [];
  }

  /** How many lines match, and which of them is the current one (1 is the oldest; 0: none). */
  get place(): { found: number; foundAt: number } {
    const { current } = this;
    const isOn = current !== undefined && this.hits.has(current);
    return { found: this.hits.total, foundAt: isOn ? this.hits.indexOf(current) + 1 : 0 };
  }
}
