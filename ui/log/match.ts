/** Whether a line matches what is looked for or filtered by, and where. Pure. */
import { FLAG, levelOf } from "../../src/core/line.ts";
import { CHAN } from "./line_store.ts";
import { rowText, type View } from "./row_text.ts";
import type { RowTest } from "./row_set.ts";

export type ShownDirection = "both" | "rx" | "tx";
export type ShownLevel = "all" | "info" | "warn" | "error";

export interface Filter {
  direction: ShownDirection;
  /** Least level that is shown. */
  level: ShownLevel;
  text: string;
}
export const NO_FILTER: Filter = { direction: "both", level: "all", text: "" };

const LEVELS = ["debug", "info", "warn", "error"] as const;
const LEAST: Readonly<Record<ShownLevel, number>> = { all: 0, info: 1, warn: 2, error: 3 };

const IS_ASCII = /^[\x20-\x7e]*$/;
const lower = (b: number): number => b >= 0x41 && b <= 0x5a ? b | 0x20 : b;

/** Looks for ASCII in bytes; `fold`: capitals count as small letters, `wanted` is in small letters. */
export function includesBytes(bytes: Uint8Array, wanted: Uint8Array, fold: boolean): boolean {
  const first = wanted[0] ?? 0;
  const end = bytes.length - wanted.length;
  for (let i = 0; i <= end; i++) {
    const b = bytes[i] ?? 0;
    if ((fold ? lower(b) : b) !== first) continue;
    let k = 1;
    while (k < wanted.length && (fold ? lower(bytes[i + k] ?? 0) : bytes[i + k]) === wanted[k]) k++;
    if (k === wanted.length) return true;
  }
  return false;
}

/** A test for lines that hold a text, as it is shown. */
export function textTest(text: string, caseSensitive: boolean, view: View): RowTest {
  const wanted = caseSensitive ? text : text.toLowerCase();
  const bytes = IS_ASCII.test(wanted) ? new TextEncoder().encode(wanted) : undefined;
  return (line) => {
    if (line.chan === CHAN.mark) return false;
    // Of a line of nothing but printable ASCII the bytes are the text.
    if (bytes && view === "text" && (line.flags & (FLAG.high | FLAG.control | FLAG.frame)) === 0) {
      return includesBytes(line.bytes, bytes, !caseSensitive);
    }
    const shown = rowText(view, line.bytes, line.flags).text;
    return (caseSensitive ? shown : shown.toLowerCase()).includes(wanted);
  };
}

/** What a filter shows; null: everything. Marks are shown with whatever is shown. */
export function filterTest(filter: Filter, echo: boolean, view: View): RowTest | null {
  const direction = filter.direction;
  const hidesTx = !echo || direction === "rx";
  const least = LEAST[filter.level];
  const text = filter.text === "" ? null : textTest(filter.text, false, view);
  if (!hidesTx && direction === "both" && least === 0 && !text) return null;
  return (line) => {
    if (line.chan === CHAN.mark) return true;
    if (hidesTx && line.chan === CHAN.tx) return false;
    if (direction === "tx" && line.chan === CHAN.rx) return false;
    if (least > 0 && line.chan !== CHAN.tx && LEVELS.indexOf(levelOf(line.flags)) < least) return false;
    return text === null || text(line);
  };
}

const MAX_MARKS = 200;

/** Where a text is in a row, as [from, to) pairs. */
export function rangesOf(row: string, text: string, caseSensitive: boolean): [number, number][] {
  const found: [number, number][] = [];
  if (text === "") return found;
  const inRow = caseSensitive ? row : row.toLowerCase();
  const wanted = caseSensitive ? text : text.toLowerCase();
  // Small letters of some languages are longer than their capitals: then the places would be wrong.
  if (inRow.length !== row.length) return found;
  for (
    let at = inRow.indexOf(wanted);
    at >= 0 && found.length < MAX_MARKS;
    at = inRow.indexOf(wanted, at + wanted.length)
  ) {
    found.push([at, at + wanted.length]);
  }
  return found;
}

/** The same for an expression; only on rows that the server found, so it ended there in time. */
export function rangesOfRegex(row: string, pattern: RegExp): [number, number][] {
  const found: [number, number][] = [];
  for (const m of row.matchAll(pattern)) {
    if (m[0] !== "") found.push([m.index, m.index + m[0].length]);
    if (found.length >= MAX_MARKS) break;
  }
  return found;
}
