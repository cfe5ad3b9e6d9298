import assert from "node:assert/strict";
import { FLAG } from "../../src/core/line.ts";
import { olderLines } from "../../src/page/older.ts";
import { SessionLog } from "../../src/store/session_log.ts";

/** A session log of `count` lines, `perMs` in each millisecond, from noon of a day on. */
async function written(count: number, options: { maxBytes?: number; perMs?: number; width?: number } = {}) {
  const folder = await Deno.makeTempDir({ prefix: "fieldbench-older-" });
  const start = new Date(2026, 2, 1, 12, 0, 0, 0).getTime();
  const perMs = options.perMs ?? 1;
  let now = start;
  const log = new SessionLog({
    folder,
    pane: "main",
    now: () => now,
    wallMs: (t) => t,
    keep: 100,
    ...(options.maxBytes !== undefined && { maxBytes: options.maxBytes }),
  });
  const encoder = new TextEncoder();
  const pad = "x".repeat(options.width ?? 0);
  const timeOf = (i: number) => start + Math.floor(i / perMs) + 0.25;
  for (let i = 0; i < count; i++) {
    now = timeOf(i);
    const bytes = encoder.encode(`line ${i} ${pad}`);
    log.line(now, i % 2 ? FLAG.dirTx : FLAG.dirRx, bytes, 0, bytes.length);
  }
  await log.flush();
  return {
    folder,
    log,
    timeOf,
    [Symbol.asyncDispose]: async () => {
      await log.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const numbers = (lines: { text: string }[]) => lines.map((l) => Number(/^line (\d+)/.exec(l.text)?.[1]));

/** Pages back to the beginning; the numbers of all lines, oldest first. */
async function pageBack(folder: string, before: Parameters<typeof olderLines>[2], count: number): Promise<number[]> {
  let all: number[] = [];
  let place = before;
  for (;;) {
    const page = await olderLines(folder, "main", place, count);
    assert.ok(page.lines.length <= count);
    all = [...numbers(page.lines), ...all];
    if (page.cursor === null) return all;
    place = { cursor: page.cursor };
  }
}

Deno.test("paging back from the oldest line that a page holds gives each line before it once, to the beginning", async () => {
  await using w = await written(3000, { perMs: 7 });
  // The page holds the lines from 2001 on: of the millisecond of its oldest, as many as there are from there.
  const ms = Math.floor(w.timeOf(2001));
  const held =
    Array.from({ length: 3000 }, (_, i) => i).filter((i) => i >= 2001 && Math.floor(w.timeOf(i)) === ms).length;
  const all = await pageBack(w.folder, { wallMs: w.timeOf(2001), held }, 137);
  assert.deepEqual(all, Array.from({ length: 2001 }, (_, i) => i));
});

Deno.test("it goes on over all parts of a session, and finds its place in a large file without reading all of it", async () => {
  await using w = await written(40_000, { maxBytes: 1_000_000, width: 60 });
  const names = [...Deno.readDirSync(w.folder)].filter((e) => e.name.endsWith(".log"));
  assert.ok(names.length >= 3, `${names.length} parts`);
  for (const at of [39_999, 12_345, 20_000, 1]) {
    const page = await olderLines(w.folder, "main", { wallMs: w.timeOf(at), held: 1 }, 50);
    assert.deepEqual(
      numbers(page.lines),
      Array.from({ length: Math.min(50, at) }, (_, i) => at - Math.min(50, at) + i),
    );
  }
  const all = await pageBack(w.folder, { wallMs: w.timeOf(40_000), held: 0 }, 5000);
  assert.equal(all.length, 40_000);
  assert.ok(all.every((n, i) => n === i));
});

Deno.test("lines tell their time, direction and whether they go on in the line before", async () => {
  await using w = await written(2);
  const long = new TextEncoder().encode("rest");
  w.log.line(w.timeOf(2), FLAG.dirRx | FLAG.continued, long, 0, long.length);
  await w.log.flush();
  const { lines, cursor } = await olderLines(w.folder, "main", { wallMs: w.timeOf(10), held: 0 }, 10);
  assert.equal(cursor, null);
  assert.deepEqual(lines.map(({ dir, text, continued }) => ({ dir, text: text.trim(), continued })), [
    { dir: "rx", text: "line 0", continued: undefined },
    { dir: "tx", text: "line 1", continued: undefined },
    { dir: "rx", text: "rest", continued: true },
  ]);
  assert.equal(lines[1]?.wallMs, Math.floor(w.timeOf(1)));
});

Deno.test("no session on disk is the beginning; a place that is gone is refused", async () => {
  const folder = await Deno.makeTempDir();
  try {
    assert.deepEqual(await olderLines(folder, "main", { wallMs: 1e12, held: 0 }, 10), { lines: [], cursor: null });
    await assert.rejects(olderLines(folder, "main", { cursor: "session-main-x-2026-01-01-001.log@10" }, 10), /is gone/);
    await assert.rejects(olderLines(folder, "main", { cursor: "../../etc/passwd@10" }, 10), /is gone/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
