import { LIMITS } from "../../tools/limits.ts";
import {
  type Direction,
  directionFlag,
  FLAG,
  type Level,
  levelFlag,
  type LineSink,
  type Source,
  sourceFlag,
} from "../core/line.ts";
import { type LineRecord, LineRing, RECORD_HEADER_BYTES } from "../core/ring.ts";
import { contentFlags } from "../core/utf8.ts";
import { LogStream, type StreamTarget } from "./log_stream.ts";

export { LogStream } from "./log_stream.ts";

/** Channels that are there from the start, so that reading a quiet one is not an error. */
export const FIRST_CHANNELS = [
  "app",
  "error",
  "mcp",
  "ui:sys",
  "ui:err",
  "workflow",
  "serial:main:rx",
  "serial:main:tx",
  "ble:rx",
  "ble:tx",
  "adb:rx",
] as const;

/** Least that is taken from the largest channel when the total is full, so that it is not looked for at each line. */
const RECLAIM_BYTES = 65_536;

export interface LogHubOptions {
  /** Ms, monotonic; default `performance.now`. */
  clock?: () => number;
  /** Wall time at clock 0, in ms since 1970. */
  epochMs?: number;
  totalCapBytes?: number;
  maxChannels?: number;
  /** Bytes that a channel may hold; default as in LIMITS. For measurements and tests. */
  capOf?: (name: string) => number;
}

/** One log channel. */
export interface Channel {
  readonly name: string;
  readonly capBytes: number;
  readonly ring: LineRing;
  /** The line that has no end yet, with the seq that it will get; its bytes are valid until the next push. */
  open(): LineRecord | undefined;
  /** Lines held of level warn or error. */
  readonly warnOrError: number;
  /** Time of the newest line ever, ms on the hub's clock; undefined before any. */
  readonly lastT: number | undefined;
}

export interface HubTotals {
  totalBytes: number;
  totalCapBytes: number;
  maxChannels: number;
  lockSkips: number;
  channelSkips: number;
  reclaims: number;
  reclaimedBytes: number;
}

const capOfName = (name: string): number => {
  if (name.startsWith("serial:")) return LIMITS.logCapSerialBytes;
  if (name.startsWith("wsl:")) return LIMITS.logCapWslBytes;
  if (name.startsWith("adb:")) return LIMITS.logCapAdbBytes;
  if (name.startsWith("ble:")) return LIMITS.logCapBleBytes;
  return LIMITS.logCapOtherBytes;
};

class HubChannel implements Channel {
  readonly name: string;
  readonly ring: LineRing;
  lastT: number | undefined;
  stream: LogStream | undefined;

  constructor(name: string, capBytes: number) {
    this.name = name;
    this.ring = new LineRing(capBytes);
  }
  get capBytes(): number {
    return this.ring.capBytes;
  }
  get warnOrError(): number {
    return this.ring.warnOrError;
  }
  open(): LineRecord | undefined {
    const open = this.stream?.open;
    if (!open) return undefined;
    return { seq: this.ring.lastSeq + 1, t: open.t, flags: open.flags, raw: open.bytes.length, bytes: open.bytes };
  }
}

/**
 * Everything that is logged, in bounded memory: a ring a channel, one sequence a channel, one clock for all. Writing
 * never waits and never throws; what is lost is counted.
 */
export class LogHub {
  readonly #clock: () => number;
  readonly #epochMs: number;
  readonly #totalCap: number;
  readonly #maxChannels: number;
  readonly #capOf: (name: string) => number;
  readonly #channels = new Map<string, HubChannel>();
  readonly #scratch = new Uint8Array(LIMITS.logMaxLineBytes);
  readonly #encoder = new TextEncoder();
  readonly #framing = new Set<LogStream>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #closers = new Set<() => void>();
  #closed = false;
  #totalBytes = 0;
  #channelSkips = 0;
  #reclaims = 0;
  #reclaimedBytes = 0;

  constructor(options: LogHubOptions = {}) {
    this.#clock = options.clock ?? (() => performance.now());
    this.#epochMs = options.epochMs ?? Date.now() - this.#clock();
    this.#totalCap = options.totalCapBytes ?? LIMITS.logTotalCapBytes;
    this.#maxChannels = options.maxChannels ?? LIMITS.logMaxChannels;
    this.#capOf = options.capOf ?? capOfName;
    for (const name of FIRST_CHANNELS) this.#need(name);
  }

  /** Ms on the monotonic clock that all lines are timed with. */
  now(): number {
    return this.#clock();
  }
  /** Ms since 1970 of a moment on the clock. */
  wallMs(t: number): number {
    return this.#epochMs + t;
  }
  /** ISO 8601, UTC, of a moment on the clock. */
  iso(t: number): string {
    return new Date(this.wallMs(t)).toISOString();
  }

  /** Logs a message of our own; over 8 KiB it is cut at a character, and its real size stays known. */
  log(channel: string, level: Level, text: string, options: { src?: Source; dir?: Direction } = {}): void {
    const scratch = this.#scratch;
    const { read, written } = this.#encoder.encodeInto(text, scratch);
    let flags = levelFlag(level) | sourceFlag(options.src ?? "none") | directionFlag(options.dir ?? "none");
    flags |= contentFlags(scratch, 0, written);
    let raw = written;
    if (read < text.length) {
      flags |= FLAG.cut;
      raw = this.#encoder.encode(text).length;
    }
    this.#append(channel, this.now(), flags, raw, scratch, 0, written);
  }

  /** A way for bytes into a channel: lines or frames, with the time and source of their first byte. */
  stream(channel: string, dir: Direction, options: { onLine?: LineSink } = {}): LogStream {
    const target: StreamTarget = {
      append: (t, flags, raw, bytes, from, to) => this.#append(channel, t, flags, raw, bytes, from, to),
      setEol: (seq, eol) => this.#channels.get(channel)?.ring.setEol(seq, eol),
      framing: (stream) => this.#watch(stream),
      problem: (error) =>
        this.log("error", "error", `log ${channel}: ${error instanceof Error ? error.message : error}`),
    };
    const stream = new LogStream(target, dir, options.onLine);
    const at = this.#need(channel);
    if (at) at.stream = stream;
    return stream;
  }

  find(name: string): Channel | undefined {
    return this.#channels.get(name);
  }
  /** Names of all channels, sorted. */
  names(): string[] {
    return [...this.#channels.keys()].sort();
  }

  /** Forgets the lines of one channel or of all, and gives how many channels that were. Seq goes on, `dropped` stays. */
  clear(name?: string): number {
    let cleared = 0;
    for (const channel of this.#channels.values()) {
      if (name !== undefined && channel.name !== name) continue;
      this.#totalBytes -= channel.ring.bytes;
      channel.ring.clear();
      cleared++;
    }
    return cleared;
  }

  totals(): HubTotals {
    return {
      totalBytes: this.#totalBytes,
      totalCapBytes: this.#totalCap,
      maxChannels: this.#maxChannels,
      // One thread has no lock to skip: kept for the contract.
      lockSkips: 0,
      channelSkips: this.#channelSkips,
      reclaims: this.#reclaims,
      reclaimedBytes: this.#reclaimedBytes,
    };
  }

  /** What lives and ends with the log, such as the worker that searches it. */
  onClose(close: () => void): void {
    this.#closers.add(close);
  }

  /** Stops the clock of frames and takes nothing more. What is held can still be read. */
  close(): void {
    this.#closed = true;
    for (const close of this.#closers) close();
    this.#closers.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#framing.clear();
  }

  #need(name: string): HubChannel | undefined {
    const known = this.#channels.get(name);
    if (known) return known;
    if (this.#channels.size >= this.#maxChannels) {
      this.#channelSkips++;
      return undefined;
    }
    const channel = new HubChannel(name, this.#capOf(name));
    this.#channels.set(name, channel);
    return channel;
  }

  #append(
    name: string,
    t: number,
    flags: number,
    raw: number,
    bytes: Uint8Array,
    from: number,
    to: number,
  ): number | undefined {
    if (this.#closed) return undefined;
    const channel = this.#need(name);
    if (!channel) return undefined;
    const ring = channel.ring;
    const before = ring.bytes;
    const seq = ring.append(t, flags, raw, bytes, from, to);
    channel.lastT = t;
    this.#totalBytes += ring.bytes - before;
    if (this.#totalBytes > this.#totalCap) this.#reclaim();
    return seq;
  }

  /** Takes the oldest lines of the largest channel until the total fits. */
  #reclaim(): void {
    while (this.#totalBytes > this.#totalCap) {
      let largest: HubChannel | undefined;
      for (const channel of this.#channels.values()) {
        if (!largest || channel.ring.bytes > largest.ring.bytes) largest = channel;
      }
      if (!largest || largest.ring.lines < 2) return;
      // The newest line of the channel stays.
      const newest = RECORD_HEADER_BYTES + (largest.ring.get(largest.ring.lastSeq)?.bytes.length ?? 0);
      const over = Math.max(this.#totalBytes - this.#totalCap, Math.min(RECLAIM_BYTES, this.#totalCap / 64));
      const freed = largest.ring.trim(Math.min(over, largest.ring.bytes - newest));
      this.#totalBytes -= freed;
      this.#reclaims++;
      this.#reclaimedBytes += freed;
    }
  }

  #watch(stream: LogStream): void {
    if (this.#closed || !stream.open) return;
    this.#framing.add(stream);
    this.#timer ??= setTimeout(() => this.#tick(), LIMITS.hexFrameGapMs / 4);
  }

  /** Ends frames after a silence; runs only while one is open. */
  #tick(): void {
    this.#timer = undefined;
    const now = this.now();
    for (const stream of this.#framing) {
      stream.tick(now);
      if (!stream.open) this.#framing.delete(stream);
    }
    if (this.#framing.size > 0) this.#timer = setTimeout(() => this.#tick(), LIMITS.hexFrameGapMs / 4);
  }
}
