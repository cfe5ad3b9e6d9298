import { openSequence } from "../core/ansi.ts";
import { directionOf, FLAG, levelOf } from "../core/line.ts";
import type { LineRecord } from "../core/ring.ts";
import { escapeRow } from "../core/text.ts";
import { openChar } from "../core/utf8.ts";
import type { LogHub } from "./log_hub.ts";

/** Over this many ms since the base, a row of `[+ms] [rx] text` would cost more than 14 bytes over its payload. */
const MOST_MS = 9999;
/** The same for `[rx+]`, the rest of a long line. */
const MOST_MS_WIDE = 999;

const two = (n: number): string => String(n).padStart(2, "0");

/** Local time of day, `HH:MM:SS.mmm`. */
export function clockTime(wallMs: number): string {
  const d = new Date(wallMs);
  const ms = String(d.getMilliseconds()).padStart(3, "0");
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}.${ms}`;
}
/** Local date, `YYYY-MM-DD`. */
export function localDate(wallMs: number): string {
  const d = new Date(wallMs);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}
/** Local time with date and offset: `2026-03-01T12:00:00.000+01:00`. */
export function localStamp(wallMs: number): string {
  const minutes = -new Date(wallMs).getTimezoneOffset();
  const size = Math.abs(minutes);
  const offset = `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  return `${localDate(wallMs)}T${clockTime(wallMs)}${offset}`;
}

/** The whole ms since 1970 that a line's time is shown as, in both encodings. */
export const wallOf = (hub: LogHub, t: number): number => Math.floor(hub.wallMs(t));

/** What a row is tagged with: the direction, else the level; `+` marks the rest of a long line. */
export function tagOf(flags: number): string {
  const dir = directionOf(flags);
  const tag = dir === "none" ? levelOf(flags) : dir;
  return flags & FLAG.continued ? `[${tag}+]` : `[${tag}]`;
}

/** What is shown of a line that is still open: without the character or colour that has come only in part. */
export function shownPart(record: LineRecord): Uint8Array {
  const bytes = record.bytes;
  if (record.flags & FLAG.frame) return bytes;
  let to = bytes.length;
  if (record.flags & FLAG.high) to = openChar(bytes, 0, to);
  if (record.flags & FLAG.control) {
    const at = openSequence(bytes, 0, to);
    if (at >= 0) to = at;
  }
  return bytes.subarray(0, to);
}

/** The text of a record in a row. */
export function rowText(record: LineRecord, partial: boolean): string {
  const text = escapeRow(partial ? shownPart(record) : record.bytes, record.flags);
  return record.flags & FLAG.cut ? `${text}${cutMark(record)}` : text;
}

export const cutMark = (record: LineRecord): string => `… [cut: ${record.raw} bytes in all]`;

/** A line of a page of text before its time is written. */
export interface TextRow {
  wallMs: number;
  tag: string;
  text: string;
}

/** Rows as text, `[+ms] [rx] text`: ms since the base, which the header names and a line `# base …` sets anew. */
export function layRows(rows: readonly TextRow[]): { base: number | undefined; text: string } {
  const first = rows[0];
  if (!first) return { base: undefined, text: "" };
  let base = first.wallMs;
  let day = localDate(base);
  let out = "";
  for (const { wallMs, tag, text } of rows) {
    let ms = wallMs - base;
    if (ms < 0 || ms > (tag === "[rx+]" || tag === "[tx+]" ? MOST_MS_WIDE : MOST_MS)) {
      base = wallMs;
      ms = 0;
      const today = localDate(base);
      out += `# base ${today === day ? "" : `${today} `}${clockTime(base)}\n`;
      day = today;
    }
    out += `[+${ms}] ${tag} ${text}\n`;
  }
  return { base: first.wallMs, text: out };
}

/** `# key=value …`: the first line of a page of text. */
export const headerRow = (fields: Readonly<Record<string, string | number | boolean | null>>): string =>
  `# ${Object.entries(fields).map(([k, v]) => `${k}=${v ?? "none"}`).join(" ")}`;
