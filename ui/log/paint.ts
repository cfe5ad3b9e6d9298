/** Paints one row of the log into its element: text nodes and classes only, never markup. */
import { type Direction, directionOf, FLAG, levelOf, sourceOf } from "../../src/core/line.ts";
import { t } from "../i18n/mod.ts";
import { timeOfDay } from "../lib/format.ts";
import { dark } from "../lib/settings.ts";
import { CHAN, type Line, MARK } from "./line_store.ts";
import { type RowText, type Run } from "./row_text.ts";
import { ATTR, luminance, paletteRgb, PLAIN, readable, RGB, styleOf } from "./style.ts";

export type TimeMode = "absolute" | "relative" | "between";

/** What a row looks like beside its text. */
export interface Look {
  timestamps: boolean;
  lineNumbers: boolean;
  timeMode: TimeMode;
  /** Wall time that relative times count from. */
  zero: number;
  /** Wall time of the row before, for times between lines. */
  previous: number | undefined;
  selected: [number, number] | undefined;
  found: readonly [number, number][];
  /** This row is where the search stands. */
  current: boolean;
  /** This row is where the keyboard stands. */
  cursor: boolean;
  /** First column that is drawn, and how many: rows can be thousands of columns long. */
  columns: { from: number; count: number };
}

export interface RowElement {
  readonly root: HTMLElement;
  readonly num: HTMLElement;
  readonly time: HTMLElement;
  readonly arrow: HTMLElement;
  readonly text: HTMLElement;
  readonly by: HTMLElement;
  key: string;
  /** Columns of its text, and whether it is marked as going on beyond the edge. */
  length: number;
  more: boolean;
}

export function newRow(): RowElement {
  const make = (tag: string, name: string): HTMLElement => {
    const element = document.createElement(tag);
    element.className = name;
    return element;
  };
  const root = make("div", "lr");
  const num = make("span", "ln");
  const time = make("span", "lt");
  const arrow = make("span", "ld");
  const box = make("span", "lx");
  const text = make("span", "lx-in");
  const by = make("span", "lb");
  box.append(text);
  root.append(num, time, arrow, box, by);
  return { root, num, time, arrow, text, by, key: "", length: 0, more: false };
}

/** `+1.204`, `+1:02.204`, `+2:01:02.204`: seconds and thousandths, what is above only when there is any. */
export function span(ms: number): string {
  const sign = ms < 0 ? "-" : "+";
  const all = Math.round(Math.abs(ms));
  const s = Math.floor(all / 1000);
  const frac = String(all % 1000).padStart(3, "0");
  const two = (n: number) => String(n).padStart(2, "0");
  if (s < 60) return `${sign}${s}.${frac}`;
  if (s < 3600) return `${sign}${Math.floor(s / 60)}:${two(s % 60)}.${frac}`;
  return `${sign}${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}.${frac}`;
}

export function timeText(line: Line, look: Pick<Look, "timeMode" | "zero" | "previous">): string {
  if (look.timeMode === "absolute") return timeOfDay(line.wall);
  if (look.timeMode === "relative") return span(line.wall - look.zero);
  return look.previous === undefined ? "" : span(line.wall - look.previous);
}

const ARROWS: Readonly<Record<Direction, string>> = { rx: "‹", tx: "›", none: "·" };

/** Colours of the ground, for what a device asks for. */
const GROUND = { dark: luminance([14, 17, 19]), light: luminance([244, 246, 246]) };
const colours = new Map<string, string>();

function css(value: number, ground: number): string {
  const key = `${value} ${ground}`;
  let found = colours.get(key);
  if (found === undefined) {
    const rgb = value >= RGB
      ? [(value - RGB) >> 16, ((value - RGB) >> 8) & 255, (value - RGB) & 255] as const
      : paletteRgb(value - 1);
    if (colours.size > 4096) colours.clear();
    colours.set(key, found = `rgb(${readable(rgb, ground).join(" ")})`);
  }
  return found;
}

/** Luminance that a palette colour of 0 to 15 has about, as a ground. */
const groundOf = (value: number): number => {
  if (value >= RGB) return luminance([(value - RGB) >> 16, ((value - RGB) >> 8) & 255, (value - RGB) & 255]);
  return luminance(paletteRgb(value - 1));
};
const rawCss = (value: number): string => {
  const rgb = value >= RGB
    ? [(value - RGB) >> 16, ((value - RGB) >> 8) & 255, (value - RGB) & 255]
    : paletteRgb(value - 1);
  return `rgb(${rgb.join(" ")})`;
};

function dress(element: HTMLElement, id: number): void {
  const { fg, bg, attrs } = styleOf(id);
  const list = element.classList;
  const page = dark.peek() ? GROUND.dark : GROUND.light;
  const inverse = (attrs & ATTR.inverse) !== 0;
  if (inverse && fg === 0 && bg === 0) list.add("inv");
  const front = inverse ? bg : fg;
  const back = inverse ? fg : bg;
  // The sixteen named colours belong to the theme; as a ground they keep their own look with text that can be read.
  if (back > 0) {
    const isNamed = back <= 16;
    if (isNamed) list.add(`b${back - 1}`);
    else {
      element.style.backgroundColor = rawCss(back);
      const ground = groundOf(back);
      if (front > 16) element.style.color = css(front, ground);
      else list.add(ground > 0.18 ? "on-light" : "on-dark");
    }
  } else if (front > 16) element.style.color = css(front, page);
  else if (front > 0) list.add(`c${front - 1}`);
  else if (inverse && fg > 0 && bg === 0) list.add("inv");
  if (attrs & ATTR.bold) list.add("sb");
  if (attrs & ATTR.dim) list.add("sd");
  if (attrs & ATTR.italic) list.add("si");
  if (attrs & ATTR.underline) list.add("su");
  if (attrs & ATTR.strike) list.add("ss");
}

type Piece = { text: string; run: Run; selected: boolean; found: boolean };

/** A row cut where anything changes: style, selection, matches. */
export function pieces(
  row: RowText,
  selected: [number, number] | undefined,
  found: readonly [number, number][],
  from = 0,
  to = row.text.length,
): Piece[] {
  const cuts = new Set<number>();
  const marks = selected ? [...found, selected] : found;
  for (const [a, b] of marks) cuts.add(a).add(b);
  const points = [...cuts].sort((a, b) => a - b);
  const inFound = (at: number) => found.some(([a, b]) => at >= a && at < b);
  const out: Piece[] = [];
  for (const run of row.runs) {
    const end = Math.min(run.to, to);
    let at = Math.max(run.from, from);
    while (at < end) {
      const next = points.find((p) => p > at) ?? end;
      const stop = Math.min(next, end);
      out.push({
        text: row.text.slice(at, stop),
        run,
        selected: selected !== undefined && at >= selected[0] && at < selected[1],
        found: inFound(at),
      });
      at = stop;
    }
  }
  return out;
}

const setText = (element: HTMLElement, text: string): void => {
  if (element.textContent !== text) element.textContent = text;
};

const sourceText = (line: Line): string => {
  const src = sourceOf(line.flags);
  return src === "ai" ? t("log.agent") : src === "ui" ? t("log.you") : "";
};

export function markText(line: Line): string {
  switch (line.seq) {
    case MARK.loss:
      return t("log.lost", { n: line.raw });
    case MARK.cleared:
      return t("log.clearedAt", { time: timeOfDay(line.wall).slice(0, 8) });
    case MARK.restart:
      return t("log.restarted");
    case MARK.gone:
      return t("log.gone");
    default:
      return t("log.reading");
  }
}

export function paintRow(into: RowElement, line: Line, row: RowText, look: Look): void {
  const { root } = into;
  const isMark = line.chan === CHAN.mark;
  const dir = line.chan === CHAN.tx ? "tx" : isMark ? "none" : directionOf(line.flags);
  const level = levelOf(line.flags);
  // A colour that the device chose says more than a guess from the words.
  const coloured = row.runs.some((r) => r.kind === "hex" || (r.style !== PLAIN && styleOf(r.style).fg > 0));
  const classes = ["lr"];
  if (isMark) classes.push(line.seq === MARK.loss ? "loss" : "note");
  else if (line.chan === CHAN.tx) classes.push("tx");
  else if (!coloured && (level === "warn" || level === "error")) classes.push(level);
  if (line.partial) classes.push("open");
  if (look.cursor) classes.push("at");
  if (look.current) classes.push("found");
  root.className = classes.join(" ");
  setText(into.num, look.lineNumbers && !isMark && line.num > 0 ? String(line.num) : "");
  setText(into.time, look.timestamps && !isMark ? timeText(line, look) : "");
  setText(into.arrow, isMark ? "" : line.flags & FLAG.continued ? "⋯" : ARROWS[dir]);
  setText(into.by, isMark ? "" : sourceText(line));
  into.by.className = `lb ${sourceOf(line.flags)}`;
  if (isMark) return setText(into.text, row.text);
  const nodes: Node[] = [];
  const { from } = look.columns;
  const to = from + look.columns.count;
  for (const piece of pieces(row, look.selected, look.found, from, to)) {
    const plain = piece.run.style === PLAIN && piece.run.kind === "text" && !piece.selected && !piece.found;
    if (plain) {
      nodes.push(document.createTextNode(piece.text));
      continue;
    }
    const element = document.createElement(piece.found ? "mark" : "span");
    element.textContent = piece.text;
    if (piece.run.style !== PLAIN) dress(element, piece.run.style);
    if (piece.run.kind !== "text") element.classList.add(piece.run.kind);
    if (piece.selected) element.classList.add("sel");
    nodes.push(element);
  }
  // Selected, and with nothing in it to show that.
  root.classList.toggle("sel-empty", look.selected !== undefined && row.text === "");
  into.text.replaceChildren(...nodes);
}
