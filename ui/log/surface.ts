/**
 * The log on the screen: a scrolled element, and over it the few rows that are in view, painted once a frame at most.
 * Its place is kept as a row, never as pixels, so that new lines, trimmed lines and filters do not move what is read.
 */
import { FLAG } from "../../src/core/line.ts";
import { t } from "../i18n/mod.ts";
import type { LineFeed } from "../lib/ring_client.ts";
import { CHAN, type Line, MARK } from "./line_store.ts";
import { type Filter, filterTest, NO_FILTER, rangesOf, rangesOfRegex, textTest } from "./match.ts";
import { markText, newRow, paintRow, type RowElement, type TimeMode } from "./paint.ts";
import { RowSet, type RowTest } from "./row_set.ts";
import { type RowText, rowText, type View } from "./row_text.ts";
import { type Place, Selection } from "./selection.ts";
import { type Extent, MAX_HEIGHT, maxTop, scrollHeight, scrollOf, topAfterScroll, visible } from "./windowing.ts";

export interface SurfaceSettings {
  view: View;
  lineNumbers: boolean;
  timestamps: boolean;
  timeMode: TimeMode;
  echo: boolean;
  filter: Filter;
}

export interface Found {
  pattern: string;
  caseSensitive: boolean;
  regex: boolean;
}

/** What the rest of the view shows about it. */
export interface SurfaceState {
  following: boolean;
  /** Rows in view below the last one that was read. */
  below: number;
  rows: number;
  /** Lines that match, and which of them is the current one (1 is the oldest; 0: none). */
  found: number;
  foundAt: number;
  searching: boolean;
}

const PAD = 6;
const ROW_HEIGHT = 19;
/** Filtering and searching take at most this much of a frame. */
const WORK_MS = 6;
const MARGIN_COLUMNS = 64;
const MAX_COLUMNS = 40_000;
/** Near the beginning, older lines are read. */
const OLDER_ROWS = 20;
/** After a move of the person the scroll bar is put right this much later. */
const SETTLE_MS = 200;

export class LogSurface {
  readonly selection = new Selection();
  readonly #feed: LineFeed;
  readonly #rows: RowSet;
  readonly #hits: RowSet;
  readonly #box: HTMLElement;
  readonly #sizer: HTMLElement;
  readonly #layer: HTMLElement;
  readonly #onState: (state: SurfaceState) => void;
  readonly #onFollow: (on: boolean) => void;
  readonly #pool: RowElement[] = [];
  readonly #stops: (() => void)[] = [];
  readonly #resize: ResizeObserver | undefined;
  #settings: SurfaceSettings = {
    view: "text",
    lineNumbers: false,
    timestamps: true,
    timeMode: "absolute",
    echo: true,
    filter: NO_FILTER,
  };
  #found: Found | undefined;
  #regex: RegExp | undefined;
  /** Rows that the server found for an expression. */
  #regexRows: ReadonlySet<number> = new Set();
  #following = true;
  /** What stands at the top while not following: this row, and how far it is above the edge. */
  #anchor = { row: 0, offset: 0 };
  #top = 0;
  /** The scroll position that was set from here; any other is the person's. */
  #scroll = 0;
  #frame: number | undefined;
  /** Part of every row's key: changes when all are to be painted anew. */
  #look = 0;
  #current: number | undefined;
  #cursor: number | undefined;
  #columns = 0;
  #charWidth = 7.2;
  #told = "";
  #height = 0;
  #width = 0;
  #left = 0;
  #clearRow: number | undefined;
  #sawLines = false;
  /** Index of the first row that is painted. */
  #from = 0;
  #scrolledAt = 0;
  #settle: ReturnType<typeof setTimeout> | undefined;

  constructor(
    feed: LineFeed,
    elements: { box: HTMLElement; sizer: HTMLElement; layer: HTMLElement },
    on: { state: (state: SurfaceState) => void; follow: (on: boolean) => void },
  ) {
    this.#feed = feed;
    this.#rows = new RowSet(feed.store);
    this.#hits = new RowSet(feed.store);
    this.#hits.setTest(() => false);
    this.#box = elements.box;
    this.#sizer = elements.sizer;
    this.#layer = elements.layer;
    this.#onState = on.state;
    this.#onFollow = on.follow;
    feed.store.onInsert = (at) => {
      this.selection.inserted(at);
      if (this.#anchor.row >= at) this.#anchor.row++;
      if (this.#cursor !== undefined && this.#cursor >= at) this.#cursor++;
      if (this.#current !== undefined && this.#current >= at) this.#current++;
      this.#look++;
    };
    this.#stops.push(feed.onChange(() => this.draw()));
    const scrolled = () => this.#scrolled();
    this.#box.addEventListener("scroll", scrolled, { passive: true });
    this.#stops.push(() => this.#box.removeEventListener("scroll", scrolled));
    if (typeof ResizeObserver !== "undefined") {
      this.#resize = new ResizeObserver(() => this.#measure());
      this.#resize.observe(this.#box);
    }
    this.#measure();
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#resize?.disconnect();
    clearTimeout(this.#settle);
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#feed.store.onInsert = undefined;
  }

  get following(): boolean {
    return this.#following;
  }
  get rowHeight(): number {
    return ROW_HEIGHT;
  }
  /** Row that the keyboard stands on. */
  get cursor(): number | undefined {
    return this.#cursor;
  }
  get firstVisible(): number | undefined {
    return this.#rows.at(visible(this.#extent(), this.#top).from);
  }
  get visibleRows(): number {
    return Math.max(1, Math.floor(this.#height / ROW_HEIGHT) - 1);
  }

  set(settings: SurfaceSettings): void {
    const before = this.#settings;
    this.#settings = settings;
    const { view, filter, echo } = settings;
    if (before.filter !== filter || before.echo !== echo || before.view !== view) {
      this.#rows.setTest(filterTest(filter, echo, view));
      this.#setHits();
    }
    if (before.view !== view) {
      this.#columns = 0;
      // Columns of one view mean nothing in another.
      this.selection.clear();
    }
    this.#look++;
    this.draw();
  }

  /** Language or theme changed. */
  repaint(): void {
    this.#look++;
    this.draw();
  }

  follow(on: boolean): void {
    if (on === this.#following) return;
    this.#following = on;
    if (!on) this.#hold();
    this.draw();
  }

  /** As {@link follow}, because the person did something: told on. */
  wantFollow(on: boolean): void {
    if (on === this.#following) return;
    this.follow(on);
    this.#onFollow(on);
  }

  setFound(found: Found | undefined): void {
    this.#found = found;
    this.#current = undefined;
    this.#regexRows = new Set();
    this.#regex = undefined;
    if (found?.regex) {
      try {
        this.#regex = new RegExp(found.pattern, found.caseSensitive ? "g" : "gi");
      } catch {
        // The server says what is wrong with it.
      }
    }
    this.#setHits();
    this.#look++;
    this.draw();
  }

  /** Rows that the server found for an expression. */
  setRegexRows(rows: ReadonlySet<number>): void {
    this.#regexRows = rows;
    this.#setHits();
    this.#look++;
    this.draw();
  }

  /** To the next (1) or previous (-1) match, from where the search stands or what is in view. */
  step(by: 1 | -1): void {
    this.#hits.sync();
    const { finished } = this.#hits;
    if (finished === 0) return;
    const { from, to } = visible(this.#extent(), this.#top);
    let index: number;
    if (this.#current !== undefined) {
      const at = this.#hits.indexOf(this.#current);
      const isOn = this.#hits.at(at) === this.#current;
      index = by > 0 ? at + (isOn ? 1 : 0) : at - 1;
    } else if (by > 0) index = this.#hits.indexOf(this.#rows.at(from) ?? 0);
    else index = this.#hits.indexOf((this.#rows.at(to - 1) ?? 0) + 1) - 1;
    index = (index + finished) % finished;
    const row = this.#hits.at(index);
    if (row === undefined) return;
    this.#current = row;
    this.#look++;
    this.reveal(row, true);
  }

  /** Puts a row into view; `centre`: in the middle unless it is in view already. Following stops. */
  reveal(row: number, centre = false): void {
    const e = this.#extent();
    const index = this.#rows.indexOf(row);
    const y = PAD + index * ROW_HEIGHT;
    if (y >= this.#top && y + ROW_HEIGHT <= this.#top + this.#height) {
      this.draw();
      return;
    }
    this.wantFollow(false);
    const above = y < this.#top;
    const wanted = centre ? y - (this.#height - ROW_HEIGHT) / 2 : above ? y - PAD : y + ROW_HEIGHT + PAD - this.#height;
    this.#moveTo(Math.max(0, Math.min(maxTop(e), wanted)));
  }

  /** Moves by rows; up stops following. */
  scrollRows(by: number): void {
    if (by < 0) this.wantFollow(false);
    const e = this.#extent();
    const top = Math.max(0, Math.min(maxTop(e), this.#top + by * ROW_HEIGHT));
    this.#moveTo(top);
    if (by > 0 && top >= maxTop(e) - 1) this.wantFollow(true);
  }

  toStart(): void {
    this.wantFollow(false);
    this.#moveTo(0);
  }

  /** To a part of the whole, 0 to 1. */
  toPart(part: number): void {
    this.wantFollow(false);
    this.#moveTo(maxTop(this.#extent()) * part);
  }

  setCursor(row: number | undefined): void {
    this.#cursor = row;
    this.#look++;
    this.draw();
  }

  /** Row after (1) or before (-1) the cursor among those that are shown; the nearest one in view when there is none. */
  rowBeside(by: number): number | undefined {
    const { to } = visible(this.#extent(), this.#top);
    if (this.#cursor === undefined) return this.#rows.at(by < 0 ? to - 1 : Math.max(0, to - 1));
    const index = this.#rows.indexOf(this.#cursor) + by;
    return this.#rows.at(Math.max(0, Math.min(this.#rows.total - 1, index)));
  }

  lineText(row: number): RowText | undefined {
    const line = this.#feed.store.line(row);
    return line && this.#textOf(line);
  }

  /** The row at a height of the window; the nearest one when it is above or below. */
  rowAtY(clientY: number): number | undefined {
    const y = clientY - this.#box.getBoundingClientRect().top + this.#top - PAD;
    const index = Math.max(0, Math.min(this.#rows.total - 1, Math.floor(y / ROW_HEIGHT)));
    return this.#rows.at(index);
  }

  /** The place in the text under a point. */
  placeAt(x: number, y: number): Place | undefined {
    const row = this.rowAtY(y);
    if (row === undefined) return undefined;
    const element = this.#pool.find((r) => r.key !== "" && Number(r.root.dataset.row) === row);
    if (!element) return { row, col: 0 };
    const text = element.text;
    const box = text.getBoundingClientRect();
    if (x <= box.left) return { row, col: this.#firstColumn(row) };
    if (x >= box.right) return { row, col: this.lineText(row)?.text.length ?? 0 };
    return { row, col: this.#firstColumn(row) + offsetAt(text, x) };
  }

  selectAll(): void {
    const from = this.#rows.at(0);
    const to = this.#rows.at(this.#rows.total - 1);
    if (from === undefined || to === undefined) return;
    this.selection.set({ row: from, col: 0 }, { row: to, col: Infinity });
    this.selectionChanged();
  }

  selectionChanged(): void {
    this.#look++;
    this.draw();
  }

  /** What is selected of the rows that are shown, else all of them. */
  copyText(onlySelected = false): string {
    this.#rows.sync();
    const range = this.selection.range;
    if (!range && onlySelected) return "";
    const from = range ? this.#rows.indexOf(range.from.row) : 0;
    const to = range ? this.#rows.indexOf(range.to.row + 1) : this.#rows.total;
    const out: string[] = [];
    let away = 0;
    const tellAway = () => {
      if (away > 0) out.push(t("log.notCopied", { n: away }));
      away = 0;
    };
    for (let i = from; i < to; i++) {
      const row = this.#rows.at(i);
      if (row === undefined) continue;
      const line = this.#feed.store.line(row);
      if (!line) {
        away++;
        continue;
      }
      tellAway();
      const { text } = this.#textOf(line);
      const part = range ? this.selection.columns(row, text.length) : undefined;
      out.push(part ? text.slice(part[0], part[1]) : range && row === range.to.row ? "" : text);
    }
    tellAway();
    return out.join("\n");
  }

  /** Paints in the next frame. */
  draw(): void {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#render();
    });
  }

  #setHits(): void {
    const found = this.#found;
    const { filter, echo, view } = this.#settings;
    if (!found || found.pattern === "") return this.#hits.setTest(() => false);
    const shown = filterTest(filter, echo, view);
    const matches: RowTest = found.regex
      ? (line) => this.#regexRows.has(line.row)
      : textTest(found.pattern, found.caseSensitive, view);
    this.#hits.setTest(shown ? (line) => matches(line) && shown(line) : matches);
  }

  #extent(): Extent {
    return { rows: this.#rows.total, rowHeight: ROW_HEIGHT, view: this.#height, pad: PAD };
  }

  #measure(): void {
    this.#height = this.#box.clientHeight;
    this.#width = this.#box.clientWidth;
    this.#layer.style.width = `${this.#width}px`;
    this.#charWidth = charWidth(this.#layer) || this.#charWidth;
    this.#look++;
    this.draw();
  }

  #textOf(line: Line): RowText {
    if (line.chan === CHAN.mark) return { text: markText(line), runs: [] };
    return rowText(this.#settings.view, line.bytes, line.flags, line.style);
  }

  /** At least the first columns of a row: of a line of thousands of bytes no more is looked at than is drawn. */
  #partOf(line: Line, columns: number): RowText {
    const most = columns * 4 + 1024;
    if (line.bytes.length <= most || this.#settings.view === "both") return this.#textOf(line);
    return this.#textOf({ ...line, bytes: line.bytes.subarray(0, most) });
  }

  /** About how wide a row is. */
  #columnsOf(line: Line): number {
    const bytes = line.bytes.length;
    return this.#settings.view === "hex" || line.flags & FLAG.frame ? bytes * 4 : bytes;
  }

  #scrolled(): void {
    const to = this.#box.scrollTop;
    if (this.#box.scrollLeft !== this.#left) this.draw();
    if (Math.abs(to - this.#scroll) < 1) return;
    // The view became higher and the browser moved the bar: that was no person.
    if (this.#following && this.#box.clientHeight !== this.#height) return this.#measure();
    this.#scrolledAt = performance.now();
    const e = this.#extent();
    const before = this.#top;
    this.#top = topAfterScroll(e, this.#top, this.#scroll, to);
    this.#scroll = to;
    this.#holdAt(this.#top);
    if (this.#top >= maxTop(e) - 1) this.wantFollow(true);
    else if (this.#top < before - 0.5) this.wantFollow(false);
    else if (this.#following) this.wantFollow(false);
    this.draw();
  }

  #moveTo(top: number): void {
    this.#top = Math.round(top);
    this.#holdAt(this.#top);
    this.draw();
  }

  #hold(): void {
    this.#holdAt(this.#top);
  }

  #holdAt(top: number): void {
    const { from, offset } = visible(this.#extent(), top);
    this.#anchor = { row: this.#rows.at(from) ?? 0, offset };
  }

  #render(): void {
    const { store } = this.#feed;
    const deadline = performance.now() + WORK_MS;
    this.selection.cleared(store.firstRow);
    this.#sawClear();
    this.#rows.sync(deadline);
    this.#hits.sync(deadline);
    const e = this.#extent();
    this.#top = this.#following
      ? maxTop(e)
      : Math.max(0, Math.min(maxTop(e), PAD + this.#rows.indexOf(this.#anchor.row) * ROW_HEIGHT + this.#anchor.offset));
    const { from, to, offset } = visible(e, this.#top);
    this.#paint(from, to, offset);
    this.#sizer.style.height = `${scrollHeight(e)}px`;
    this.#place(e);
    this.#tell(e, to);
    this.#sawLines ||= e.rows > 0;
    const first = this.#rows.at(from);
    if (first !== undefined) {
      store.trim(first, this.#rows.at(Math.max(from, to - 1)) ?? first);
      this.#load(first, this.#rows.at(Math.max(from, to - 1)) ?? first);
    }
    if (from < OLDER_ROWS && !this.#following && this.#feed.hasOlder) this.#feed.older();
    if (this.#rows.pending || this.#hits.pending) this.draw();
  }

  /** After a clear there is nothing to stay with: what comes is followed. */
  #sawClear(): void {
    const { store } = this.#feed;
    const first = store.line(store.firstRow);
    if (first?.chan !== CHAN.mark || first.seq !== MARK.cleared || first.row === this.#clearRow) return;
    const isNews = this.#clearRow !== undefined || this.#sawLines;
    this.#clearRow = first.row;
    if (isNews) this.wantFollow(true);
  }

  /** Puts the scroll bar where the rows are. Above the cap it waits until the person has ended a move. */
  #place(e: Extent): void {
    const isScaled = scrollHeight(e) >= MAX_HEIGHT;
    const idle = performance.now() - this.#scrolledAt;
    if (isScaled && !this.#following && idle < SETTLE_MS) {
      this.#settle ??= setTimeout(() => {
        this.#settle = undefined;
        this.draw();
      }, SETTLE_MS);
    } else {
      const scroll = Math.round(scrollOf(e, this.#top));
      if (Math.abs(scroll - this.#box.scrollTop) >= 1) this.#box.scrollTop = scroll;
    }
    this.#scroll = this.#box.scrollTop;
  }

  /** Bytes that are away: of what is in view, and when those are there, of what is next to it. */
  #load(first: number, last: number): void {
    const { chunks } = this.#feed.store;
    const from = Math.max(0, this.#feed.store.indexOf(first));
    const to = Math.max(this.#feed.store.indexOf(last), from);
    const away = chunks.slice(from, to + 1).filter((chunk) => !chunk.columns && !chunk.lost);
    if (away.length === 0) {
      for (const i of [from - 1, to + 1]) if (chunks[i] && !chunks[i].columns) away.push(chunks[i]);
    }
    for (const chunk of away) this.#feed.load(chunk);
  }

  #paint(from: number, to: number, offset: number): void {
    const { store } = this.#feed;
    const count = to - from;
    while (this.#pool.length < count) {
      const row = newRow();
      this.#pool.push(row);
      this.#layer.append(row.root);
    }
    this.#rotate(from, count);
    const left = this.#left = this.#box.scrollLeft;
    const columns = {
      from: Math.max(0, Math.floor(left / this.#charWidth) - MARGIN_COLUMNS),
      count: Math.ceil(this.#width / this.#charWidth) + 2 * MARGIN_COLUMNS,
    };
    const zero = store.line(store.firstRow)?.wall ?? 0;
    const settings = this.#settings;
    let widest = this.#columns;
    const used = new Set<RowElement>();
    for (let i = from; i < to; i++) {
      const row = this.#rows.at(i);
      const element = this.#pool[i - from];
      if (!element || row === undefined) continue;
      used.add(element);
      const line = store.line(row);
      const chunk = store.chunks[store.indexOf(row)];
      const y = `translateY(${(i - from) * ROW_HEIGHT - offset}px)`;
      if (element.root.style.transform !== y) element.root.style.transform = y;
      const key = `${row} ${this.#look} ${chunk?.revision ?? 0} ${Math.floor(left / 256)} ${
        line?.partial ? line.bytes.length : line ? "" : "away"
      }`;
      if (element.key !== key) {
        element.key = key;
        element.root.hidden = false;
        element.root.dataset.row = String(row);
        if (line) {
          const text = this.#partOf(line, columns.from + columns.count);
          widest = Math.max(widest, text.text.length, this.#columnsOf(line));
          // Short rows are drawn whole: there the width of a character does not matter.
          const part = text.text.length > columns.count ? columns : { from: 0, count: MAX_COLUMNS };
          const before = i > 0 && settings.timeMode === "between" ? this.#rows.at(i - 1) : undefined;
          paintRow(element, line, text, {
            ...settings,
            zero,
            previous: before === undefined ? undefined : store.line(before)?.wall,
            selected: this.selection.columns(row, text.text.length),
            found: this.#marksOf(line, text.text),
            current: row === this.#current,
            cursor: row === this.#cursor,
            columns: part,
          });
          element.text.style.marginLeft = part.from > 0 ? `${part.from * this.#charWidth}px` : "";
        } else {
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

  #marksOf(line: Line, text: string): readonly [number, number][] {
    const found = this.#found;
    if (!found || line.chan === CHAN.mark) return [];
    if (!found.regex) return rangesOf(text, found.pattern, found.caseSensitive);
    return this.#regex && this.#regexRows.has(line.row) ? rangesOfRegex(text, this.#regex) : [];
  }

  /** Room to scroll sideways to the end of the longest row that was seen. */
  #widen(columns: number): void {
    this.#columns = columns;
    const sample = this.#pool.find((row) => row.key !== "");
    const gutter = sample?.text.parentElement?.offsetLeft ?? 120;
    this.#sizer.style.minWidth = `${Math.ceil(gutter + columns * this.#charWidth + 90)}px`;
  }

  #firstColumn(row: number): number {
    const length = this.lineText(row)?.text.length ?? 0;
    const count = Math.ceil(this.#width / this.#charWidth) + 2 * MARGIN_COLUMNS;
    if (length <= count) return 0;
    return Math.max(0, Math.floor(this.#box.scrollLeft / this.#charWidth) - MARGIN_COLUMNS);
  }

  #tell(e: Extent, to: number): void {
    const current = this.#current;
    const state: SurfaceState = {
      following: this.#following,
      below: this.#following ? 0 : Math.max(0, e.rows - to),
      rows: e.rows,
      found: this.#hits.total,
      foundAt: current !== undefined && this.#hits.has(current) ? this.#hits.indexOf(current) + 1 : 0,
      searching: this.#hits.pending,
    };
    const told = JSON.stringify(state);
    if (told === this.#told) return;
    this.#told = told;
    this.#onState(state);
  }
}

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
