import { join } from "node:path";
import { LineAssembler } from "../../src/core/line_assembler.ts";
import { FLAG } from "../../src/core/line.ts";
import { parseFileName } from "../../src/store/session_files.ts";
import { SessionLog, type SessionLogOptions } from "../../src/store/session_log.ts";

/** Waits until `met` holds; fails after a deadline that only a broken program reaches. */
export async function until(met: () => boolean | Promise<boolean>, what: string, deadlineMs = 30_000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!await met()) {
    if (performance.now() > end) throw new Error(`waited ${deadlineMs} ms in vain until ${what}`);
    await new Promise((go) => setTimeout(go, 10));
  }
}

/** A temporary folder for `body`, removed afterwards. */
export async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "fieldbench-store-" });
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A session log with the line assembler before it, as a pane has it. */
export function feed(options: SessionLogOptions): { log: SessionLog; rx(bytes: Uint8Array): void; told: string[] } {
  const told: string[] = [];
  const log = new SessionLog({ onProblem: (text, ok) => told.push(`${ok ? "ok" : "bad"}: ${text}`), ...options });
  const lines = new LineAssembler(log.line, { maxLineBytes: 8192, flags: FLAG.dirRx });
  return {
    log,
    told,
    rx(bytes) {
      log.raw("rx", bytes);
      lines.push(bytes, performance.now());
    },
  };
}

/** File names of one kind in the order in which they were written. */
export async function names(folder: string, suffix: "rx.bin" | "tx.bin" | "log"): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(folder)) if (entry.name.endsWith(`.${suffix}`)) found.push(entry.name);
  const key = (name: string) => {
    const part = parseFileName(name)?.part;
    return `${part?.date} ${String(part?.number).padStart(9, "0")}`;
  };
  return found.sort((a, b) => key(a).localeCompare(key(b)));
}

/** All files of a kind, one after another. */
export async function joined(folder: string, suffix: "rx.bin" | "tx.bin" | "log"): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (const name of await names(folder, suffix)) parts.push(await Deno.readFile(join(folder, name)));
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Rows of the readable files without the end of the last; `[time, tag, text]`. */
export function rows(bytes: Uint8Array): { time: string; tag: string; text: string }[] {
  return new TextDecoder().decode(bytes).split("\n").slice(0, -1).map((row) => {
    const [, time, tag, text] = /^(\d\d:\d\d:\d\d\.\d{3}) \[([^\]]+)\] (.*)$/s.exec(row) ?? [];
    if (time === undefined || tag === undefined || text === undefined) {
      throw new Error(`not a row: ${row.slice(0, 80)}`);
    }
    return { time, tag, text };
  });
}

/** `counter 000000123 …` lines from `first` on, until `bytes` are reached. */
export function counterLines(first: number, bytes: number): { text: string; next: number } {
  let text = "";
  let n = first;
  while (text.length < bytes) text += `counter ${String(n++).padStart(9, "0")} abcdefghijklmnopqrstuvwxyz\r\n`;
  return { text, next: n };
}

/** The counters in the rows; throws if one is missing, doubled or out of order. */
export function gapFree(found: { text: string }[]): { first: number; last: number } {
  const numbers = found.map((r) => Number(/^counter (\d{9}) abcdefghijklmnopqrstuvwxyz$/.exec(r.text)?.[1] ?? NaN));
  numbers.forEach((n, i) => {
    const before = numbers[i - 1];
    if (Number.isNaN(n)) throw new Error(`row ${i} is not whole: ${found[i]?.text}`);
    if (before !== undefined && n !== before + 1) throw new Error(`after ${before} comes ${n}`);
  });
  return { first: numbers[0] ?? NaN, last: numbers[numbers.length - 1] ?? NaN };
}
