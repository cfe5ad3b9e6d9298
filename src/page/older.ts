import { join } from "node:path";
import { invalid } from "../core/errors.ts";
import type { OlderResult } from "../core/page_protocol.ts";
import { filesOf, safePane } from "../store/session_files.ts";

type Line = OlderResult["lines"][number];

const BLOCK = 65_536;
/** `HH:MM:SS.mmm [tag] ` */
const HEAD = /^(\d\d):(\d\d):(\d\d)\.(\d\d\d) \[([a-z]+)(\+?)\] ?/;

interface LogFile {
  name: string;
  path: string;
  /** Local date, `YYYY-MM-DD`. */
  date: string;
}

/**
 * Lines of a pane's session log on disk, before a moment or before where the last answer began; oldest first.
 * `held`: lines of that same millisecond that the page has, so that none comes twice and none is left out.
 */
export async function olderLines(
  folder: string,
  pane: string,
  before: { wallMs: number; held: number } | { cursor: string },
  count: number,
): Promise<OlderResult> {
  const files = await logFiles(folder, pane);
  let at: { index: number; offset: number } | undefined;
  let skip = 0;
  let limit = Infinity;
  if ("cursor" in before) at = placeOf(files, before.cursor);
  else {
    limit = Math.floor(before.wallMs);
    skip = before.held;
    at = await seek(files, limit + 1);
  }
  const lines: Line[] = [];
  let cursor: string | null = null;
  for (let index = at.index; index >= 0 && lines.length < count; index--) {
    const file = files[index];
    if (!file) continue;
    let offset = index === at.index ? at.offset : (await Deno.stat(file.path)).size;
    using handle = await Deno.open(file.path);
    for await (const row of rowsBackwards(handle, offset)) {
      offset = row.offset;
      const line = parse(row.text, file.date);
      if (!line || line.wallMs > limit) continue;
      if (skip > 0 && line.wallMs === limit) {
        skip--;
        continue;
      }
      lines.push(line);
      if (lines.length >= count) break;
    }
    cursor = offset > 0 ? `${file.name}@${offset}` : index > 0 ? `${file.name}@0` : null;
  }
  return { lines: lines.reverse(), cursor: lines.length === 0 ? null : cursor };
}

/** Readable files of a pane, oldest first. */
export async function logFiles(folder: string, pane: string): Promise<LogFile[]> {
  const files = await filesOf(folder, safePane(pane));
  return files.filter((f) => f.kind === "log")
    .sort((a, b) => a.part.date.localeCompare(b.part.date) || a.part.number - b.part.number)
    .map((f) => ({ name: f.name, path: join(folder, f.name), date: f.part.date }));
}

function placeOf(files: LogFile[], cursor: string): { index: number; offset: number } {
  const at = cursor.lastIndexOf("@");
  const index = files.findIndex((f) => f.name === cursor.slice(0, at));
  const offset = Number(cursor.slice(at + 1));
  if (index < 0 || !Number.isSafeInteger(offset) || offset < 0) {
    throw invalid("older: this place in the session log is gone; ask again with the time of the oldest line.");
  }
  return { index, offset };
}

/** Just after the last line that is before `wallMs`. Lines are in order of time, so halving finds it. */
async function seek(files: LogFile[], wallMs: number): Promise<{ index: number; offset: number }> {
  for (let index = files.length - 1; index >= 0; index--) {
    const file = files[index];
    if (!file) continue;
    using handle = await Deno.open(file.path);
    const size = (await handle.stat()).size;
    let low = 0; // every line that starts before it is before the moment
    let high = size; // every line that starts at it or later is not
    while (high - low > BLOCK) {
      const middle = (low + high) >>> 1;
      const found = await firstLineAt(handle, middle, file.date);
      if (!found || found.start >= high) {
        high = middle;
        continue;
      }
      if (found.wallMs < wallMs) low = found.start;
      else high = found.start;
    }
    // The rest of the last block is read line by line, from behind: later lines are left out by their time.
    if (low > 0 || index === 0) return { index, offset: high === size ? size : Math.min(size, high) };
    const first = await firstLineAt(handle, 0, file.date);
    if (first && first.wallMs < wallMs) return { index, offset: high };
  }
  return { index: -1, offset: 0 };
}

async function firstLineAt(
  handle: Deno.FsFile,
  offset: number,
  date: string,
): Promise<{ start: number; wallMs: number } | undefined> {
  const bytes = await readAt(handle, offset, BLOCK);
  let from = offset === 0 ? 0 : bytes.indexOf(10) + 1;
  if (offset > 0 && from === 0) return undefined;
  const decoder = new TextDecoder();
  for (;;) {
    const end = bytes.indexOf(10, from);
    if (end < 0) return undefined;
    const line = parse(decoder.decode(bytes.subarray(from, end)), date);
    if (line) return { start: offset + from, wallMs: line.wallMs };
    from = end + 1;
  }
}

/** Whole rows that end at or before `offset`, last first, each with where it begins. */
async function* rowsBackwards(
  handle: Deno.FsFile,
  offset: number,
): AsyncGenerator<{ text: string; offset: number }> {
  const decoder = new TextDecoder();
  let tail = new Uint8Array(0);
  let start = offset;
  while (start > 0) {
    const from = Math.max(0, start - BLOCK);
    const block = await readAt(handle, from, start - from);
    const bytes = new Uint8Array(block.length + tail.length);
    bytes.set(block);
    bytes.set(tail, block.length);
    start = from;
    let end = bytes.length;
    // A row that is still being written has no end yet.
    if (tail.length === 0 && bytes[end - 1] !== 10) end = bytes.lastIndexOf(10) + 1;
    while (end > 0) {
      const begin = bytes.lastIndexOf(10, end - 2) + 1;
      if (begin === 0 && start > 0) break;
      yield { text: decoder.decode(bytes.subarray(begin, end - 1)), offset: start + begin };
      end = begin;
    }
    tail = bytes.slice(0, end);
  }
}

async function readAt(handle: Deno.FsFile, offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  await handle.seek(offset, Deno.SeekMode.Start);
  let read = 0;
  while (read < length) {
    const n = await handle.read(bytes.subarray(read));
    if (n === null) break;
    read += n;
  }
  return bytes.subarray(0, read);
}

function parse(text: string, date: string): Line | undefined {
  const head = HEAD.exec(text);
  if (!head) return undefined;
  const [all, h, m, s, ms, tag, plus] = head;
  const [year, month, day] = date.split("-").map(Number);
  const time = new Date(year ?? 0, (month ?? 1) - 1, day, Number(h), Number(m), Number(s), Number(ms));
  return {
    wallMs: time.getTime(),
    dir: tag === "rx" || tag === "tx" ? tag : "none",
    text: text.slice(all.length),
    ...(plus === "+" && { continued: true }),
  };
}
