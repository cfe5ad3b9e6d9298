import { LIMITS } from "../../tools/limits.ts";
import { failed } from "../core/errors.ts";
import { FLAG } from "../core/line.ts";
import { compilePattern, LiteralFinder, type SearchSpec } from "../core/search.ts";
import { renderText } from "../core/text.ts";
import type { Channel } from "./log_hub.ts";
import { SearchPool } from "./search_pool.ts";
import type { WorkerBatch } from "./search_worker.ts";

/** The loop is given to others after so many ms. */
const SLICE_MS = 6;
/** Lines between two looks at the clock. */
const CHECK_LINES = 64;
const BATCH_LINES = 8192;
const BATCH_BYTES = 524_288;

export interface SearchRequest extends SearchSpec {
  channels: readonly Channel[];
  mode: "lines" | "matches" | "count";
  /** Hits wanted: the newest are given. */
  limit: number;
}
/** A line, or a place in it (mode matches). */
export interface Hit {
  channel: Channel;
  seq: number;
  t: number;
  flags: number;
  /** Mode matches: what matched. */
  match?: string;
}
export interface ChannelCount {
  channel: string;
  /** Lines with a place. */
  count: number;
  scanned: number;
}
export interface SearchResult {
  /** Lines with a place, and places. */
  total: number;
  totalMatches: number;
  scanned: number;
  channels: ChannelCount[];
  /** The newest ones, oldest first; none in mode count. */
  hits: Hit[];
}

const pause = (): Promise<void> => new Promise((go) => setTimeout(go, 0));
const encoder = new TextEncoder();

/** What one search has found so far. */
class Findings implements SearchResult {
  total = 0;
  totalMatches = 0;
  scanned = 0;
  channels: ChannelCount[] = [];
  hits: Hit[] = [];
  readonly keep: number;
  #here: ChannelCount = { channel: "", count: 0, scanned: 0 };
  /** Hits of the channel at hand; the newest of each are kept, then the newest of all. */
  #found: Hit[] = [];

  constructor(request: SearchRequest) {
    this.keep = request.mode === "count" ? 0 : request.limit;
  }
  begin(channel: Channel): void {
    this.end();
    this.#here = { channel: channel.name, count: 0, scanned: 0 };
    this.channels.push(this.#here);
  }
  saw(lines: number): void {
    this.scanned += lines;
    this.#here.scanned += lines;
  }
  matched(lines: number, places: number): void {
    this.total += lines;
    this.totalMatches += places;
    this.#here.count += lines;
  }
  hit(hit: Hit): void {
    this.#found.push(hit);
    if (this.#found.length > 2 * this.keep + 64) this.#found.splice(0, this.#found.length - this.keep);
  }
  end(): void {
    if (this.#found.length === 0) return;
    this.hits.push(...this.#found.slice(-this.keep));
    this.#found = [];
    this.hits.sort((a, b) => a.t - b.t);
    if (this.hits.length > this.keep) this.hits.splice(0, this.hits.length - this.keep);
  }
}

/**
 * Searches over log channels. A literal one runs here in slices of a few ms; a regular expression in a worker with a
 * time limit, so that no pattern holds the program up. Lines that are dropped while a search runs are not searched.
 */
export class LogSearch {
  readonly #pool = new SearchPool();

  /**
   * Throws -32602 for a bad pattern, `timed_out` when the expression took too long (data says how far it got),
   * `canceled` when the signal is aborted.
   */
  async run(request: SearchRequest, signal: AbortSignal): Promise<SearchResult> {
    const expression = compilePattern(request);
    const findings = new Findings(request);
    try {
      if (request.regex) await this.#regex(request, expression, findings, signal);
      else await this.#literal(request, findings, signal);
    } catch (error) {
      if (signal.aborted) throw failed("canceled", "The search was canceled.");
      throw error;
    }
    findings.end();
    return findings;
  }

  /** Ends the worker. */
  close(): void {
    this.#pool.close();
  }

  async #literal(request: SearchRequest, findings: Findings, signal: AbortSignal): Promise<void> {
    const finder = new LiteralFinder(request.pattern, request.caseSensitive);
    const { mode } = request;
    let sliceEnd = performance.now() + SLICE_MS;
    for (const channel of request.channels) {
      findings.begin(channel);
      const last = channel.ring.lastSeq;
      let next = channel.ring.firstSeq;
      while (next <= last) {
        let lines = 0;
        let hits = 0;
        let places = 0;
        channel.ring.scan(next, last, (seq, t, flags, _raw, bytes, from, to) => {
          next = seq + 1;
          lines++;
          const count = finder.count(bytes, from, to, flags);
          if (count > 0) {
            hits++;
            places += count;
            if (mode === "lines") findings.hit({ channel, seq, t, flags });
            else if (mode === "matches") {
              for (const match of finder.places(bytes.subarray(from, to), flags)) {
                findings.hit({ channel, seq, t, flags, match });
              }
            }
          }
          return lines % CHECK_LINES !== 0 || performance.now() < sliceEnd;
        });
        findings.saw(lines);
        findings.matched(hits, places);
        if (lines === 0) break;
        if (next > last) continue;
        await pause();
        signal.throwIfAborted();
        sliceEnd = performance.now() + SLICE_MS;
      }
    }
  }

  async #regex(
    request: SearchRequest,
    expression: RegExp,
    findings: Findings,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const worker = await this.#pool.take(signal);
    const abort = () => worker.end(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      worker.start({
        kind: "start",
        source: expression.source,
        flags: expression.flags,
        keep: findings.keep,
        fragments: request.mode === "matches",
      });
      const deadline = performance.now() + LIMITS.searchTimeoutMs;
      for (const channel of request.channels) {
        findings.begin(channel);
        const last = channel.ring.lastSeq;
        let next = channel.ring.firstSeq;
        let made = next <= last ? makeBatch(channel, next, last) : undefined;
        while (made) {
          const reply = worker.search({ ...made.batch, timeoutMs: deadline - performance.now() });
          const { seqs, times, flags } = made;
          next = (seqs.at(-1) ?? last) + 1;
          // The next batch is made while the worker is at this one.
          const following = next <= last ? makeBatch(channel, next, last) : undefined;
          const { lines, places, hits, fragments, done, timedOut } = await reply;
          findings.saw(done);
          findings.matched(lines, places);
          hits.forEach((at, i) => {
            const match = fragments[i];
            findings.hit({
              channel,
              seq: seqs[at] ?? 0,
              t: times[at] ?? 0,
              flags: flags[at] ?? 0,
              ...(match !== undefined && { match }),
            });
          });
          if (timedOut || (following && performance.now() >= deadline)) {
            throw tooSlow(request, findings, channel, seqs[done] ?? next);
          }
          made = following;
        }
      }
    } finally {
      signal.removeEventListener("abort", abort);
      this.#pool.release(worker);
    }
  }
}

function tooSlow(request: SearchRequest, findings: Findings, channel: Channel, seq: number) {
  const all = request.channels.reduce((sum, { ring }) => sum + ring.lines, 0);
  return failed(
    "timed_out",
    `The regular expression took over ${LIMITS.searchTimeoutMs} ms: ${findings.scanned} of ${all} lines searched, ` +
      `${findings.total} with a match, stopped at ${channel.name} seq ${seq}.`,
    "Make the expression simpler (no repeated group inside a repetition), name one channel, or search literally.",
    { scanned: findings.scanned, lines: all, total: findings.total, channel: channel.name, seq },
  );
}

interface MadeBatch {
  batch: Omit<WorkerBatch, "timeoutMs">;
  seqs: number[];
  times: number[];
  flags: number[];
}

/** The text of the next lines, copied for the worker: a ms or two of work. Undefined when they are all dropped. */
function makeBatch(channel: Channel, from: number, last: number): MadeBatch | undefined {
  let bytes = new Uint8Array(Math.min(BATCH_BYTES, channel.ring.bytes));
  let used = 0;
  let ascii = true;
  const ends = new Uint32Array(BATCH_LINES);
  const seqs: number[] = [];
  const times: number[] = [];
  const lineFlags: number[] = [];
  const began = performance.now();
  channel.ring.scan(from, last, (seq, t, flags, _raw, source, start, end) => {
    // A rendered line is at most four times its bytes, in hex pairs three.
    const most = (end - start) * 4;
    if (used + most > bytes.length) {
      if (seqs.length > 0) return false;
      bytes = new Uint8Array(most);
    }
    if ((flags & (FLAG.high | FLAG.control | FLAG.frame)) === 0) {
      bytes.set(source.subarray(start, end), used);
      used += end - start;
    } else {
      const { written } = encoder.encodeInto(renderText(source.subarray(start, end), flags), bytes.subarray(used));
      used += written;
      if (flags & FLAG.high) ascii = false;
    }
    ends[seqs.length] = used;
    seqs.push(seq);
    times.push(t);
    lineFlags.push(flags);
    if (seqs.length >= BATCH_LINES) return false;
    return seqs.length % CHECK_LINES !== 0 || performance.now() - began < SLICE_MS;
  });
  if (seqs.length === 0) return undefined;
  return {
    batch: { kind: "batch", bytes: bytes.subarray(0, used), ends: ends.subarray(0, seqs.length), ascii },
    seqs,
    times,
    flags: lineFlags,
  };
}
