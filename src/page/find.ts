import type { LogHub } from "../bench/log_hub.ts";
import type { SearchPool, SearchWorker } from "../bench/search_pool.ts";
import { failed, invalid } from "../core/errors.ts";
import type { FindResult } from "../core/page_protocol.ts";
import type { LineRing } from "../core/ring.ts";
import { compilePattern, LiteralFinder } from "../core/search.ts";
import { renderText } from "../core/text.ts";
import { LIMITS } from "../../tools/mod.ts";

export interface FindQuery {
  channels: readonly string[];
  pattern: string;
  regex: boolean;
  caseSensitive: boolean;
}

/** Positions given for one channel; more are only counted. The newest are kept. */
const MAX_SEQS = 10_000;
/** Lines searched before others have their turn. */
const BATCH = 4000;

/** Where lines match, for the page's find field: seqs only, since the page has the lines. */
export class PageFind {
  readonly #hub: LogHub;
  readonly #pool: SearchPool;

  constructor(hub: LogHub, pool: SearchPool) {
    this.#hub = hub;
    this.#pool = pool;
  }

  /** Throws -32602 for a bad pattern or an unknown channel. A time limit holds for regular expressions. */
  async find(query: FindQuery, signal: AbortSignal): Promise<FindResult> {
    const expression = compilePattern(query);
    const rings = query.channels.map((channel) => {
      const ring = this.#hub.find(channel)?.ring;
      if (!ring) throw invalid(`No channel ${channel}.`);
      return { channel, ring };
    });
    const result: FindResult = { channels: [], total: 0, truncated: false };
    const add = (channel: string, found: Found) => {
      result.channels.push({ channel, total: found.total, seqs: found.seqs });
      result.total += found.total;
      if (found.total > found.seqs.length || found.early) result.truncated = true;
    };
    if (!query.regex) {
      const finder = new LiteralFinder(query.pattern, query.caseSensitive);
      for (const { channel, ring } of rings) add(channel, await literal(ring, finder, signal));
      return result;
    }
    const worker = await this.#pool.take(signal);
    const stop = () => worker.end(new Error("stopped"));
    const timer = setTimeout(stop, LIMITS.searchTimeoutMs);
    signal.addEventListener("abort", stop, { once: true });
    try {
      worker.start({
        kind: "start",
        source: expression.source,
        flags: expression.flags,
        keep: BATCH,
        fragments: false,
      });
      for (const { channel, ring } of rings) add(channel, await regular(ring, worker, signal));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      this.#pool.release(worker);
    }
    return result;
  }
}

interface Found {
  total: number;
  seqs: number[];
  /** The time limit ended it before all lines were looked at. */
  early: boolean;
}

function keep(found: Found, seq: number): void {
  found.total++;
  found.seqs.push(seq);
  if (found.seqs.length >= 2 * MAX_SEQS) found.seqs.splice(0, MAX_SEQS);
}

const trimmed = (found: Found): Found => {
  if (found.seqs.length > MAX_SEQS) found.seqs.splice(0, found.seqs.length - MAX_SEQS);
  return found;
};

async function literal(ring: LineRing, finder: LiteralFinder, signal: AbortSignal): Promise<Found> {
  const found: Found = { total: 0, seqs: [], early: false };
  const last = ring.lastSeq;
  for (let next = ring.firstSeq; next <= last;) {
    if (signal.aborted) throw failed("canceled", "The search was canceled.");
    const from = Math.max(next, ring.firstSeq);
    next = from + BATCH;
    ring.scan(from, Math.min(last, next - 1), (seq, _t, flags, _raw, bytes, start, end) => {
      if (finder.has(bytes, start, end, flags)) keep(found, seq);
    });
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return trimmed(found);
}

async function regular(ring: LineRing, worker: SearchWorker, signal: AbortSignal): Promise<Found> {
  const found: Found = { total: 0, seqs: [], early: false };
  const encoder = new TextEncoder();
  const last = ring.lastSeq;
  for (let next = ring.firstSeq; next <= last;) {
    const first = Math.max(next, ring.firstSeq);
    next = first + BATCH;
    const texts: Uint8Array[] = [];
    let ascii = true;
    ring.scan(first, Math.min(last, next - 1), (_seq, _t, flags, _raw, bytes, start, end) => {
      const text = encoder.encode(renderText(bytes.subarray(start, end), flags));
      if (ascii && text.some((b) => b >= 0x80)) ascii = false;
      texts.push(text);
    });
    const ends = new Uint32Array(texts.length);
    const all = new Uint8Array(texts.reduce((n, t) => n + t.length, 0));
    let at = 0;
    texts.forEach((text, i) => {
      all.set(text, at);
      ends[i] = at += text.length;
    });
    try {
      const reply = await worker.search({ kind: "batch", bytes: all, ends, ascii });
      for (const line of reply.hits) keep(found, first + line);
    } catch {
      if (signal.aborted) throw failed("canceled", "The search was canceled.");
      found.early = true;
      break;
    }
  }
  return trimmed(found);
}
