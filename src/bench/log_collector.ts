import type { OutputOf } from "../../tools/mod.ts";
import { LIMITS } from "../../tools/limits.ts";
import { directionOf, FLAG, levelOf, sourceOf } from "../core/line.ts";
import type { LineRecord } from "../core/ring.ts";
import { hexOf, needsHex, renderText } from "../core/text.ts";
import { tokenWeight } from "../core/tokens.ts";
import type { Channel, LogHub } from "./log_hub.ts";
import { cutMark, rowText, shownPart, tagOf, type TextRow, wallOf } from "./log_rows.ts";

export type TailLine = NonNullable<OutputOf<"log_tail">["lines"]>[number];
export type PaneItem = NonNullable<OutputOf<"serial_get_output">["items"]>[number];
export type Format = "json" | "text";

/** Kept for counters, header, summary and the way to go on. */
const RESERVE_TOKENS = 1200;
/** What a line with a new base time costs. */
const BASE_TOKENS = 24;
/** Of a line that would fill an answer by itself this much is shown. */
const SHOWN_OF_HUGE = 2000;

/** One line on its way into a page. */
export interface Entry {
  channel: Channel;
  record: LineRecord;
  partial: boolean;
}

const oneDigit = (t: number): number => Math.round(t * 10) / 10;

/** Text and hex of a record for JSON. */
function bodyOf({ record, partial }: Entry): { text: string; hex?: string } {
  const bytes = partial ? shownPart(record) : record.bytes;
  const text = renderText(bytes, record.flags);
  const body = record.flags & FLAG.cut ? { text: text + cutMark(record) } : { text };
  return needsHex(bytes, record.flags) ? { ...body, hex: hexOf(record.bytes) } : body;
}

const marks = ({ record, partial }: Entry) => ({
  ...(partial && { partial: true as const }),
  ...(record.flags & FLAG.continues && { continues: true as const }),
});

/** A line as `log_tail` gives it. */
export const tailLine = (hub: LogHub, entry: Entry): TailLine => ({
  seq: entry.record.seq,
  ts: hub.iso(entry.record.t),
  t: oneDigit(entry.record.t),
  level: levelOf(entry.record.flags),
  dir: directionOf(entry.record.flags),
  src: sourceOf(entry.record.flags),
  bytes: entry.record.raw,
  rawBytes: entry.record.raw,
  ...bodyOf(entry),
  ...marks(entry),
});

/** A line as `serial_get_output` gives it. */
export const paneItem = (hub: LogHub, entry: Entry): PaneItem => ({
  seq: entry.record.seq,
  ts: hub.iso(entry.record.t),
  dir: directionOf(entry.record.flags) === "tx" ? "tx" : "rx",
  src: sourceOf(entry.record.flags),
  ...bodyOf(entry),
  bytes: entry.record.raw,
  ...marks(entry),
});

/**
 * Collects entries until the answer is full: lines and tokens. Entries may come newest first (`backward`) or oldest
 * first. One line is always taken, if need be shortened.
 */
export class Collector<Item extends { text: string }> {
  readonly #hub: LogHub;
  readonly #format: Format;
  readonly #make: (hub: LogHub, entry: Entry) => Item;
  readonly #most: number;
  #left = LIMITS.maxAnswerTokens - RESERVE_TOKENS;
  #lastWall: number | undefined;
  /** Format json. */
  readonly items: Item[] = [];
  /** Format text. */
  readonly rows: TextRow[] = [];
  /** Tags of all lines, for the summary. */
  readonly tags: string[] = [];
  readonly taken = new Map<Channel, { complete: number; partial: number; first: number; last: number }>();
  count = 0;

  constructor(hub: LogHub, format: Format, most: number, make: (hub: LogHub, entry: Entry) => Item) {
    this.#hub = hub;
    this.#format = format;
    this.#most = most;
    this.#make = make;
  }

  get full(): boolean {
    return this.count >= this.#most;
  }

  /** False when the entry does not fit: the page ends there. */
  take(entry: Entry): boolean {
    if (this.full) return false;
    if (this.#format === "json" ? !this.#takeItem(entry) : !this.#takeRow(entry)) return false;
    this.count++;
    this.tags.push(tagOf(entry.record.flags));
    const { seq } = entry.record;
    const taken = this.taken.get(entry.channel) ?? { complete: 0, partial: 0, first: seq, last: 0 };
    if (entry.partial) taken.partial++;
    else {
      taken.complete++;
      taken.first = Math.min(taken.first, seq);
      taken.last = Math.max(taken.last, seq);
    }
    this.taken.set(entry.channel, taken);
    return true;
  }

  /** Turns a page that was collected newest first. */
  reverse(): void {
    this.items.reverse();
    this.rows.reverse();
    this.tags.reverse();
  }

  /** The lines in few words, for `content[0].text` of format json. */
  summary(head: string, tail: string, newestLast: boolean): string {
    const rows = this.items.map((item, i) => `${this.tags[i] ?? ""} ${oneLine(item.text)}`);
    return summarise(head, rows, tail, newestLast);
  }

  #takeItem(entry: Entry): boolean {
    const item = this.#make(this.#hub, entry);
    let cost = tokenWeight(JSON.stringify(item)) + 1;
    if (cost > this.#left && this.count === 0) {
      item.text = shorten(item.text, entry.record);
      cost = tokenWeight(JSON.stringify(item)) + 1;
    }
    if (cost > this.#left) return false;
    this.#left -= cost;
    this.items.push(item);
    return true;
  }

  #takeRow({ record, partial }: Entry): boolean {
    const wallMs = wallOf(this.#hub, record.t);
    const gap = this.#lastWall === undefined ? 0 : Math.abs(wallMs - this.#lastWall);
    const tag = tagOf(record.flags);
    const costOf = (text: string) => tokenWeight(`[+9999] ${tag} ${text}\n`);
    let text = rowText(record, partial);
    let cost = costOf(text) + BASE_TOKENS * Math.min(1, gap / 5000);
    if (cost > this.#left && this.count === 0) {
      text = shorten(text, record);
      cost = costOf(text);
    }
    if (cost > this.#left) return false;
    this.#left -= cost;
    this.#lastWall = wallMs;
    this.rows.push({ wallMs, tag, text });
    return true;
  }
}

const shorten = (text: string, record: LineRecord): string =>
  `${text.slice(0, SHOWN_OF_HUGE).toWellFormed()}… [shown in part: ${record.raw} bytes in all]`;

const oneLine = (text: string): string => text.replaceAll("\n", "\\n").replaceAll("\r", "\\r");

/** Whole rows up to 600 characters, then how many more there are. `newestLast`: the last ones are shown. */
export function summarise(
  head: string,
  rows: readonly string[],
  tail: string,
  newestLast: boolean,
): string {
  let left = LIMITS.maxSummaryChars - head.length - tail.length - 2 - "99999 more in structuredContent\n".length;
  const shown: string[] = [];
  for (let i = 0; i < rows.length; i++) {
    const line = rows[newestLast ? rows.length - 1 - i : i] ?? "";
    if (line.length + 1 > left) break;
    left -= line.length + 1;
    shown.push(line);
  }
  if (newestLast) shown.reverse();
  const more = rows.length - shown.length;
  return [head, ...shown, ...(more > 0 ? [`${more} more in structuredContent`] : []), ...(tail ? [tail] : [])]
    .join("\n").slice(0, LIMITS.maxSummaryChars);
}
