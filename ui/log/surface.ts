/**
 * The log on the screen: a scrolled element, and over it the few rows that are in view, painted once a frame at most.
 * Its place is kept as a row, never as pixels, so that new lines, trimmed lines and filters do not move what is read.
 */
import { t } from "../i18n/mod.ts";
import type { LineFeed } from "../lib/ring_client.ts";
import { CHAN, MARK } from "./line_store.ts";
import { filterTest, NO_FILTER } from "./match.ts";
import { ROW_HEIGHT, RowLayer, type SurfaceSettings, textOf } from "./row_layer.ts";
import { RowSet } from "./row_set.ts";
import type { RowText } from "./row_text.ts";
import { type Found, LogSearch } from "./search.ts";
import { type Place, Selection } from "./selection.ts";
import { type Extent, MAX_HEIGHT, maxTop, scrollHeight, scrollOf, topAfterScroll, visible } from "./windowing.ts";

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
/** Filtering and searching take at most this much of a frame. */
const WORK_MS = 6;
/** Near the beginning, older lines are read. */
const OLDER_ROWS = 20;
/** A painting that took longer than this is slow: news then wait, so that keys and clicks have their time too. */
const SLOW_PAINT_MS = 8;
/** After a move of the person the scroll bar is put right this much later. */
const SETTLE_MS = 200;

export class LogSurface {
  readonly selection = new Selection();
  readonly #feed: LineFeed;
  readonly #rows: RowSet;
  readonly #search: LogSearch;
  readonly #box: HTMLElement;
  readonly #sizer: HTMLElement;
  readonly #layer: RowLayer;
  readonly #onState: (state: SurfaceState) => void;
  readonly #onFollow: (on: boolean) => void;
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
  #following = true;
  /** What stands at the top while not following: this row, and how far it is above the edge. */
  #anchor = { row: 0, offset: 0 };
  #top = 0;
  /** The scroll position that was set from here; any other is the person's. */
  #scroll = 0;
  #frame: number | undefined;
  /** Part of every row's key: changes when all are to be painted anew. */
  #look = 0;
  #cursor: number | undefined;
  #told = "";
  #height = 0;
  #left = 0;
  #clearRow: number | undefined;
  #sawLines = false;
  #scrolledAt = 0;
  #settle: ReturnType<typeof setTimeout> | undefined;
  /** How long the last painting took, and when it ended. */
  #painted = { ms: 0, at: 0 };
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor(
    feed: LineFeed,
    elements: { box: HTMLElement; sizer: HTMLElement; layer: HTMLElement },
    on: { state: (state: SurfaceState) => void; follow: (on: boolean) => void },
  ) {
    this.#feed = feed;
    this.#rows = new RowSet(feed.store);
    this.#search = new LogSearch(feed.store);
    this.#layer = new RowLayer(feed.store, elements);
    this.#box = elements.box;
    this.#sizer = elements.sizer;
    this.#onState = on.state;
    this.#onFollow = on.follow;
    feed.store.onInsert = (at) => {
      this.selection.inserted(at);
      if (this.#anchor.row >= at) this.#anchor.row++;
      if (this.#cursor !== undefined && this.#cursor >= at) this.#cursor++;
      const { current } = this.#search;
      if (current !== undefined && current >= at) this.#search.current = current + 1;
      this.#look++;
    };
    this.#stops.push(feed.onChange(() => this.#news()));
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
    clearTimeout(this.#pause);
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
      this.#searchAgain();
    }
    if (before.view !== view) {
      this.#layer.resetWidth();
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
    this.#search.setFound(found);
    this.#searchAgain();
  }

  /** Rows that the server found for an expression. */
  setRegexRows(rows: ReadonlySet<number>): void {
    this.#search.setRegexRows(rows);
    this.#searchAgain();
  }

  /** To the next (1) or previous (-1) match, from where the search stands or what is in view. */
  step(by: 1 | -1): void {
    const { from, to } = visible(this.#extent(), this.#top);
    const row = this.#search.step(by, { first: this.#rows.at(from) ?? 0, last: this.#rows.at(to - 1) ?? 0 });
    if (row === undefined) return;
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
    return line && textOf(line, this.#settings.view);
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
    return row === undefined ? undefined : this.#layer.placeAt(row, this.lineText(row)?.text.length ?? 0, x);
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
      const { text } = textOf(line, this.#settings.view);
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
      const from = performance.now();
      this.#render();
      const at = performance.now();
      this.#painted = { ms: at - from, at };
    });
  }

  /** Lines came. On a slow machine the log takes half of the time at most; what a person does is painted at once. */
  #news(): void {
    if (this.#frame !== undefined || this.#pause !== undefined) return;
    const { ms, at } = this.#painted;
    const rest = ms < SLOW_PAINT_MS ? 0 : at + ms - performance.now();
    if (rest <= 0) return this.draw();
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.draw();
    }, rest);
  }

  #searchAgain(): void {
    const { filter, echo, view } = this.#settings;
    this.#search.restart(view, filterTest(filter, echo, view));
    this.#look++;
    this.draw();
  }

  #extent(): Extent {
    return { rows: this.#rows.total, rowHeight: ROW_HEIGHT, view: this.#height, pad: PAD };
  }

  #measure(): void {
    this.#height = this.#box.clientHeight;
    this.#layer.measure();
    this.#look++;
    this.draw();
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
    this.#search.hits.sync(deadline);
    const e = this.#extent();
    this.#top = this.#following
      ? maxTop(e)
      : Math.max(0, Math.min(maxTop(e), PAD + this.#rows.indexOf(this.#anchor.row) * ROW_HEIGHT + this.#anchor.offset));
    const { from, to, offset } = visible(e, this.#top);
    this.#left = this.#box.scrollLeft;
    this.#layer.paint(from, to, offset, {
      rows: this.#rows,
      settings: this.#settings,
      selection: this.selection,
      current: this.#search.current,
      cursor: this.#cursor,
      marks: (line, text) => this.#search.marks(line, text),
      version: this.#look,
    });
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
    if (this.#rows.pending || this.#search.hits.pending) this.draw();
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

  #tell(e: Extent, to: number): void {
    const state: SurfaceState = {
      following: this.#following,
      below: this.#following ? 0 : Math.max(0, e.rows - to),
      rows: e.rows,
      ...this.#search.place,
      searching: this.#search.hits.pending,
    };
    const told = JSON.stringify(state);
    if (told === this.#told) return;
    this.#told = told;
    this.#onState(state);
  }
}
