/** The rows in view as elements: painted when they changed, moved when they did not, in the order in which they are seen. */
import { FLAG } from "../../src/core/line.ts";
import { CHAN, type Line, type LineStore, MARK } from "./line_store.ts";
import type { Filter } from "./match.ts";
import { markText, newRow, paintRow, type RowElement, type TimeMode } from "./paint.ts";
import type { RowSet } from "./row_set.ts";
import { type RowText, rowText, type View } from "./row_text.ts";
import type { Place, Selection } from "./selection.ts";

export const ROW_HEIGHT = 19;
/** Right of the text, as `log.css` has it. */
const ROW_PADDING = 10;
const MARGIN_COLUMNS = 64;
const MAX_COLUMNS = 40_000;

export interface SurfaceSettings {
  view: View;
  lineNumbers: boolean;
  timestamps: boolean;
  timeMode: TimeMode;
  echo: boolean;
  filter: Filter;
}

/** What the rows look like now. */
export interface LayerLook {
  rows: RowSet;
  settings: SurfaceSettings;
  selection: Selection;
  /** Row where the search, and where the keyboard stands. */
  current: number | undefined;
  cursor: number | undefined;
  marks(line: Line, text: string): readonly [number, number][];
  /** Changes when every row is to be painted anew. */
  version: number;
}

export class RowLayer {
  readonly #store: LineStore;
  readonly #box: HTMLElement;
  readonly #sizer: HTMLElement;
  readonly #layer: HTMLElement;
  readonly #pool: RowElement[] = [];
  /** Index of the first row that is painted. */
  #from = 0;
  #columns = 0;
  #charWidth = 7.2;
  #width = 0;
  /** Where the text of a row begins, px; measured when the rows look different. */
  #gutter = 0;
  #gutterOf = -1;

  constructor(store: LineStore, elements: { box: HTMLElement; sizer: HTMLElement; layer: HTMLElement }) {
    this.#store = store;
    this.#box = elements.box;
    this.#sizer = elements.sizer;
    this.#layer = elements.layer;
  }

  /** The view has another size. */
  measure(): void {
    this.#width = this.#box.clientWidth;
    this.#layer.style.width = `${this.#width}px`;
    this.#charWidth = charWidth(this.#layer) || this.#charWidth;
  }

  /** Rows of another view are as wide as they turn out to be. */
  resetWidth(): void {
    this.#columns = 0;
  }

  /** The column of a row, with a text of this length, under an x of the window. */
  placeAt(row: number, length: number, x: number): Place {
    const element = this.#pool.find((r) => r.key !== "" && Number(r.root.dataset.row) === row);
    if (!element) return { row, col: 0 };
    const { text } = element;
    const box = text.getBoundingClientRect();
    const first = this.#firstColumn(length);
    if (x <= box.left) return { row, col: first };
    return { row, col: x >= box.right ? length : first + offsetAt(text, x) };
  }

  /** Paints the rows of the set from one index up to another, the first one `offset` px above the edge. */
  paint(from: number, to: number, offset: number, look: LayerLook): void {
    const store = this.#store;
    const { rows, settings } = look;
    const count = to - from;
    while (this.#pool.length < count) {
      const row = newRow();
      this.#pool.push(row);
      this.#layer.append(row.root);
    }
    this.#rotate(from, count);
    const left = this.#box.scrollLeft;
    const columns = this.#drawn();
    const zero = store.line(store.firstRow)?.wall ?? 0;
    let widest = this.#columns;
    const used = new Set<RowElement>();
    for (let i = from; i < to; i++) {
      const row = rows.at(i);
      const element = this.#pool[i - from];
      if (!element || row === undefined) continue;
      used.add(element);
      const line = store.line(row);
      const chunk = store.chunks[store.indexOf(row)];
      const y = `translateY(${(i - from) * ROW_HEIGHT - offset}px)`;
      if (element.root.style.transform !== y) element.root.style.transform = y;
      const key = `${row} ${look.version} ${chunk?.revision ?? 0} ${Math.floor(left / 256)} ${
        line?.partial ? line.bytes.length : line ? "" : "away"
      }`;
      if (element.key !== key) {
        element.key = key;
        element.root.hidden = false;
        element.root.dataset.row = String(row);
        if (line) {
          const text = partOf(line, columns.from + columns.count, settings.view);
          widest = Math.max(widest, text.text.length, columnsOf(line, settings.view));
          // Short rows are drawn whole: there the width of a character does not matter.
          const part = text.text.length > columns.count ? columns : { from: 0, count: MAX_COLUMNS };
          const before = i > 0 && settings.timeMode === "between" ? rows.at(i - 1) : undefined;
          paintRow(element, line, text, {
            ...settings,
            zero,
            previous: before === undefined ? undefined : store.line(before)?.wall,
            selected: look.selection.columns(row, text.text.length),
            found: look.marks(line, text.text),
            current: row === look.current,
            cursor: row === look.cursor,
            columns: part,
          });
          element.length = text.text.length;
          element.more = false;
          element.text.style.marginLeft = part.from > 0 ? `${part.from * this.#charWidth}px` : "";
        } else {
          element.length = 0;
          element.more = false;
          paintRow(element, awayLine(row, chunk?.lost === true), { text: "", runs: [] }, {
            ...settings,
            zero,
            previous: undefined,
            selected: undefined,
            found: [],
            current: false,
            cursor: false,
            columns,
          });
        }
      }
      const x = left === 0 ? "" : `translateX(${-left}px)`;
      if (element.text.style.transform !== x) element.text.style.transform = x;
    }
    for (const element of this.#pool) {
      if (used.has(element) || element.key === "") continue;
      element.key = "";
      element.root.hidden = true;
    }
    this.#tellMore(left, look.version);
    if (widest !== this.#columns) this.#widen(Math.min(widest, MAX_COLUMNS));
  }

  /** Rows stand in the document in the order in which they are seen; those that stay in view stay as they are. */
  #rotate(from: number, count: number): void {
    const by = from - this.#from;
    this.#from = from;
    if (by === 0 || Math.abs(by) >= count) return;
    if (by > 0) {
      const gone = this.#pool.splice(0, by);
      this.#pool.push(...gone);
      this.#layer.append(...gone.map((row) => row.root));
    } else {
      const gone = this.#pool.splice(by);
      this.#pool.unshift(...gone);
      this.#layer.prepend(...gone.map((row) => row.root));
    }
  }

  /** Marks rows that go on beyond the edge: a cut that falls between two characters cannot be seen. */
  #tellMore(left: number, version: number): void {
    if (this.#gutterOf !== version) {
      const sample = this.#pool.find((row) => row.key !== "")?.text.parentElement;
      if (!sample) return;
      this.#gutterOf = version;
      this.#gutter = sample.offsetLeft;
    }
    const room = this.#width - this.#gutter - ROW_PADDING + left;
    for (const row of this.#pool) {
      const more = row.length * this.#charWidth > room;
      if (more === row.more) continue;
      row.more = more;
      row.root.classList.toggle("more", more);
    }
  }

  /** Room to scroll sideways to the end of the longest row that was seen. */
  #widen(columns: number): void {
    this.#columns = columns;
    const sample = this.#pool.find((row) => row.key !== "");
    const gutter = sample?.text.parentElement?.offsetLeft ?? 120;
    this.#sizer.style.minWidth = `${Math.ceil(gutter + columns * this.#charWidth + 90)}px`;
  }

  /** Of a long row only some columns are drawn: the first of them. */
  #firstColumn(length: number): number {
    const { from, count } = this.#drawn();
    return length > count ? from : 0;
  }

  #drawn(): { from: number; count: number } {
    return {
      from: Math.max(0, Math.floor(this.#box.scrollLeft / this.#charWidth) - MARGIN_COLUMNS),
      count: Math.ceil(this.#width / this.#charWidth) + 2 * MARGIN_COLUMNS,
    };
  }
}

export function textOf(line: Line, view: View): RowText {
  if (line.chan === CHAN.mark) return { text: markText(line), runs: [] };
  return rowText(view, line.bytes, line.flags, line.style);
}

/** At least the first columns of a row: of a line of thousands of bytes no more is looked at than is drawn. */
function partOf(line: Line, columns: number, view: View): RowText {
  const most = columns * 4 + 1024;
  if (line.bytes.length <= most || view === "both") return textOf(line, view);
  return textOf({ ...line, bytes: line.bytes.subarray(0, most) }, view);
}

/** About how wide a row is. */
const columnsOf = (line: Line, view: View): number =>
  view === "hex" || line.flags & FLAG.frame ? line.bytes.length * 4 : line.bytes.length;

/** Width of a character of the log's font, px; 0 while nothing is laid out. */
function charWidth(layer: HTMLElement): number {
  const probe = document.createElement("span");
  probe.className = "log-probe";
  probe.textContent = "0".repeat(100);
  layer.append(probe);
  const { width } = probe.getBoundingClientRect();
  probe.remove();
  return width / 100;
}

const awayLine = (row: number, lost: boolean): Line => ({
  row,
  chan: CHAN.mark,
  wall: 0,
  seq: lost ? MARK.gone : MARK.reading,
  flags: 0,
  raw: 1,
  style: 0,
  num: 0,
  partial: false,
  bytes: new Uint8Array(0),
});

/** Offset in the text of an element that is nearest to an x of the window. */
function offsetAt(element: HTMLElement, x: number): number {
  const range = document.createRange();
  let base = 0;
  const walker = document.createTreeWalker(element, 4 /* NodeFilter.SHOW_TEXT */);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const length = node.textContent?.length ?? 0;
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (x > box.right) {
      base += length;
      continue;
    }
    let low = 0;
    let high = length;
    while (low < high) {
      const mid = (low + high) >> 1;
      range.setStart(node, mid);
      range.setEnd(node, mid + 1);
      const one = range.getBoundingClientRect();
      if (x > (one.left + one.right) / 2) low = mid + 1;
      else high = mid;
    }
    return base + low;
  }
  return base;
}
