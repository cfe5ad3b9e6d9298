import { join } from "node:path";
import type { Bench } from "../bench/bench.ts";
import { clockTime, rowText, tagOf } from "../bench/log_rows.ts";
import { invalid } from "../core/errors.ts";
import { filesOf, safePane } from "../store/session_files.ts";
import { saveName } from "./actions.ts";

export interface Saved {
  name: string;
  type: "text/plain; charset=utf-8" | "application/octet-stream";
  body: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Rows that are made before the others have their turn. */
const BATCH = 2000;

/** A channel of the log centre as readable text: what the ring holds now. Throws -32602 for an unknown one. */
export function saveChannel(bench: Bench, name: string): Saved {
  const channel = bench.hub.find(name);
  if (!channel) throw invalid(`No channel ${name}.`);
  const { hub } = bench;
  const { ring } = channel;
  const last = ring.lastSeq;
  const encoder = new TextEncoder();
  let next = ring.firstSeq;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const rows: string[] = [];
      next = Math.max(next, ring.firstSeq);
      for (; next <= last && rows.length < BATCH; next++) {
        const record = ring.get(next);
        if (record) {
          rows.push(`${clockTime(hub.wallMs(record.t))} ${tagOf(record.flags)} ${rowText(record, false)}\n`);
        }
      }
      if (rows.length) controller.enqueue(encoder.encode(rows.join("")));
      if (next > last) controller.close();
    },
  });
  return { name: saveName(name, "text"), type: "text/plain; charset=utf-8", body };
}

/**
 * The session of a pane from its files on disk, all parts in order: readable lines, or the bytes received or sent.
 * Undefined when sessions are not kept.
 */
export async function savePane(
  bench: Bench,
  folder: string | undefined,
  paneName: string,
  kind: "text" | "rx" | "tx",
): Promise<Saved | undefined> {
  const pane = bench.panes.need(paneName);
  if (folder === undefined) return undefined;
  await pane.log.flush();
  const wanted = kind === "text" ? "log" : kind;
  const files = (await filesOf(folder, safePane(pane.name))).filter((f) => f.kind === wanted)
    .sort((a, b) => a.part.date.localeCompare(b.part.date) || a.part.number - b.part.number);
  const body = ReadableStream.from(chunksOf(files.map((f) => join(folder, f.name))));
  const type = kind === "text" ? "text/plain; charset=utf-8" : "application/octet-stream";
  return { name: saveName(pane.name, kind), type, body };
}

async function* chunksOf(paths: string[]): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (const path of paths) {
    let file: Deno.FsFile;
    try {
      file = await Deno.open(path);
    } catch (error) {
      // The oldest part may have been removed meanwhile to make room.
      if (error instanceof Deno.errors.NotFound) continue;
      throw error;
    }
    // The stream closes the file, also when the reader goes away.
    yield* file.readable;
  }
}
