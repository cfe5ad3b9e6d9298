import { FLAG, levelOf, type LineSink } from "../core/line.ts";
import { escapeRow, ROW_GROWTH, writeRow } from "../core/text.ts";
import { dayOf, type Kind, KINDS, safePane, safePort } from "./session_files.ts";
import { BLOCK_BYTES, type PlannedPart, SessionWriter } from "./session_writer.ts";

export interface SessionLogOptions {
  /** Made when the first byte comes. */
  folder: string;
  pane: string;
  /** No file grows over this many bytes; the next part begins instead. Default 64 MiB. */
  maxBytes?: number;
  /** Parts of this pane that are kept. Default 10. */
  keep?: number;
  /** Told once when the log cannot be written (`ok` false), and once when it can again (`ok` true). */
  onProblem?: (text: string, ok: boolean) => void;
  /** Wall clock, ms since 1970. */
  now?: () => number;
  /** Wall-clock time of a time on the hub's monotonic clock. */
  wallMs?: (t: number) => number;
}

/** Bytes that may wait for a slow or full disk; more are dropped and counted. */
export const QUEUE_BYTES = 32 * 1024 * 1024;
/** Nothing waits longer than this in memory while the disk works. */
const FLUSH_MS = 200;
/** The same after a block that was full: the end of a flood does not wait, and beside its blocks these writes are few. */
const FLOOD_FLUSH_MS = 25;
const CLOSE_MS = 2000;
/** A disk that writes nothing for so long is not waited for: what comes in is more than its copy on disk. */
const PATIENCE_MS = 1000;
const LF = 10;
/** Bytes of `HH:MM:SS.mmm `; with the longest tag. */
const CLOCK_BYTES = 13;
const HEAD_BYTES = 32;

/**
 * What went through one pane, on disk: `<folder>/session-<pane>-<port>-<date>-<number>` with `.rx.bin` and `.tx.bin`
 * (the bytes as they were) and `.log` (readable: `HH:MM:SS.mmm [rx] text`, local time; `[rx+]` goes on in the same
 * line as the row before). Nothing here waits for the disk: bytes are copied, and written behind.
 */
export class SessionLog {
  readonly #writer: SessionWriter;
  readonly #maxBytes: number;
  readonly #now: () => number;
  readonly #wallMs: (t: number) => number;
  readonly #encoder = new TextEncoder();
  #port = "none";
  #day = { date: "", from: 0, to: 0 };
  #part: PlannedPart;
  #blocks: Record<Kind, Uint8Array<ArrayBuffer> | undefined> = { rx: undefined, tx: undefined, log: undefined };
  #lengths: Record<Kind, number> = { rx: 0, tx: 0, log: 0 };
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** It is that of a flood. */
  #soon = false;
  #closed: Promise<void> | undefined;
  #patient = true;
  /** Bytes refused since the queue was full; told in the readable file when there is room again. */
  #refused: Record<Kind, number> | undefined;
  readonly #pane: string;
  readonly #onProblem: (text: string, ok: boolean) => void;
  // The head of a row is made once for all lines of a chunk, and its clock once a millisecond, not once a row.
  readonly #head = new Uint8Array(HEAD_BYTES);
  #headLength = 0;
  #headKey = -1;
  #headMs = NaN;
  #lineT = NaN;
  #lineMs = NaN;
  readonly #tags: Uint8Array[] = [];

  constructor(options: SessionLogOptions) {
    this.#maxBytes = Math.max(1, options.maxBytes ?? 64 * 1024 * 1024);
    this.#now = options.now ?? Date.now;
    this.#wallMs = options.wallMs ?? ((t) => performance.timeOrigin + t);
    this.#pane = options.pane;
    this.#onProblem = options.onProblem ?? (() => {});
    this.#writer = new SessionWriter({
      folder: options.folder,
      pane: safePane(options.pane),
      maxBytes: this.#maxBytes,
      keep: Math.max(1, options.keep ?? 10),
      onProblem: this.#onProblem,
    });
    this.#part = this.#plan(false);
  }

  /** Bytes that reached the disk, of each file kind, since the start. */
  get written(): Readonly<Record<Kind, number>> {
    return this.#writer.written;
  }

  /** Bytes that were lost because the disk took nothing for too long. */
  get dropped(): Readonly<Record<Kind, number>> {
    return this.#writer.dropped;
  }

  /** The log cannot be written at the moment. */
  get failing(): boolean {
    return this.#writer.failing;
  }

  /** From now on the bytes are of this port: the names of the files carry it. */
  port(name: string): void {
    const port = safePort(name);
    if (port === this.#port) return;
    this.#seal();
    this.#port = port;
    this.#part = this.#plan(false);
  }

  /** Bytes as they came or went. They are copied. */
  raw(dir: "rx" | "tx", bytes: Uint8Array): void {
    if (this.#closed || bytes.length === 0) return;
    this.#roll();
    if (this.#refuse(dir, bytes.length)) return;
    for (let at = 0; at < bytes.length;) {
      let room = this.#maxBytes - this.#part.sizes[dir];
      // A chunk goes whole into the next part, unless it is larger than a part.
      if (bytes.length - at > room && (this.#part.sizes[dir] > 0 || room <= 0)) {
        this.#nextPart();
        room = this.#maxBytes;
      }
      const end = Math.min(bytes.length, at + room);
      this.#part.sizes[dir] += end - at;
      this.#append(dir, bytes, at, end);
      at = end;
    }
  }

  /** A line for the readable file. */
  readonly line: LineSink = (t, flags, bytes, from, to) => {
    if (this.#closed) return;
    if (t !== this.#lineT) {
      this.#lineMs = this.#wallMs(t);
      this.#lineT = t;
      // The clock costs more than the line: the raw bytes that came before it have looked at it already.
      if (this.#lineMs >= this.#day.to) this.#roll();
    }
    if (this.#refuse("log", to - from)) return;
    const need = HEAD_BYTES + ROW_GROWTH * (to - from) + 1;
    if (need > BLOCK_BYTES) { // not from the line assembler; only a caller's own long message
      this.#textRow(this.#lineMs, flags, escapeRow(bytes.subarray(from, to), flags));
      return;
    }
    const block = this.#room("log", need);
    const start = this.#lengths.log;
    const end = writeRow(bytes, from, to, flags, block, this.#putHead(this.#lineMs, flags, block, start));
    block[end] = LF;
    this.#endRow(block, start, end + 1);
  };

  /**
   * While the queue is more than half full: resolves when the disk has caught up, or has shown for a second that it does
   * not; then it is not waited for again before it has. Whoever can make a flood wait (a read that is not called is flow
   * control to the sender) loses nothing to a disk that is only slow.
   */
  room(): Promise<void> | undefined {
    if (this.#writer.queued <= QUEUE_BYTES / 2) {
      this.#patient = true;
      return undefined;
    }
    if (!this.#patient || this.#closed) return undefined;
    return this.#writer.drain(PATIENCE_MS, QUEUE_BYTES / 2).then((caughtUp) => {
      this.#patient = caughtUp;
    });
  }

  /**
   * Empties every file of this pane, those of earlier days and ports too, and goes on writing. Rejects, with a
   * message for people, if one could not be emptied.
   */
  clear(): Promise<void> {
    for (const kind of KINDS) {
      this.#lengths[kind] = 0;
      this.#part.sizes[kind] = 0;
    }
    this.#refused = undefined;
    return this.#writer.clear();
  }

  /** Resolves with true when everything so far is on disk, with false if the disk does not take it within 2 s. */
  flush(): Promise<boolean> {
    this.#seal();
    return this.#writer.drain(CLOSE_MS);
  }

  /** Writes what is left, for two seconds at most, and lets go of the files. */
  close(): Promise<void> {
    return this.#closed ??= (() => {
      this.#seal();
      clearTimeout(this.#timer);
      return this.#writer.close(CLOSE_MS);
    })();
  }

  #plan(fresh: boolean): PlannedPart {
    this.#day = dayOf(this.#now());
    return { port: this.#port, date: this.#day.date, fresh, sizes: { rx: 0, tx: 0, log: 0 } };
  }

  #nextPart(): void {
    this.#seal();
    this.#part = this.#plan(true);
  }

  /** A new day begins a new part. */
  #roll(): void {
    const now = this.#now();
    if (now >= this.#day.from && now < this.#day.to) return;
    this.#seal();
    this.#part = this.#plan(false);
  }

  /** Hands what is in the blocks to the writer. */
  #seal(): void {
    for (const kind of KINDS) {
      const block = this.#blocks[kind];
      if (!block || this.#lengths[kind] === 0) continue;
      this.#writer.push(kind, this.#part, block, this.#lengths[kind]);
      this.#blocks[kind] = undefined;
      this.#lengths[kind] = 0;
    }
  }

  /** A block with room for `need` bytes (not more than a block holds), and the timer that will bring it to disk. */
  #room(kind: Kind, need: number): Uint8Array<ArrayBuffer> {
    let block = this.#blocks[kind];
    if (block && this.#lengths[kind] + need > block.length) {
      this.#writer.push(kind, this.#part, block, this.#lengths[kind]);
      this.#lengths[kind] = 0;
      block = undefined;
      if (!this.#soon) {
        clearTimeout(this.#timer);
        this.#sealIn(FLOOD_FLUSH_MS);
        this.#soon = true;
      }
    }
    if (!block) block = this.#blocks[kind] = this.#writer.takeBlock();
    if (this.#timer === undefined) this.#sealIn(FLUSH_MS);
    return block;
  }

  #sealIn(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#soon = false;
      this.#seal();
    }, ms);
  }

  #append(kind: Kind, bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to;) {
      const block = this.#room(kind, 1);
      const end = Math.min(to, at + block.length - this.#lengths[kind]);
      block.set(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end), this.#lengths[kind]);
      this.#lengths[kind] += end - at;
      at = end;
    }
  }

  #textRow(wallMs: number, flags: number, text: string): void {
    const need = HEAD_BYTES + 3 * text.length + 1;
    if (need > BLOCK_BYTES) { // not from the line assembler; only a caller's own long message
      const bytes = this.#encoder.encode(text);
      const head = new Uint8Array(HEAD_BYTES);
      const headLength = this.#putHead(wallMs, flags, head, 0);
      const row = new Uint8Array(headLength + bytes.length + 1);
      row.set(head.subarray(0, headLength));
      row.set(bytes, headLength);
      row[row.length - 1] = LF;
      if (this.#part.sizes.log > 0 && this.#part.sizes.log + row.length > this.#maxBytes) this.#nextPart();
      this.#part.sizes.log += row.length;
      this.#append("log", row, 0, row.length);
      return;
    }
    const block = this.#room("log", need);
    const start = this.#lengths.log;
    let at = this.#putHead(wallMs, flags, block, start);
    at += this.#encoder.encodeInto(text, block.subarray(at)).written;
    block[at++] = LF;
    this.#endRow(block, start, at);
  }

  /** The row is in the block; if the file is full with it, it is moved to the next part, whole. */
  #endRow(block: Uint8Array<ArrayBuffer>, start: number, end: number): void {
    const size = end - start;
    const sizes = this.#part.sizes;
    if (sizes.log + size <= this.#maxBytes || sizes.log === 0) {
      sizes.log += size;
      this.#lengths.log = end;
      return;
    }
    const row = block.slice(start, end);
    this.#nextPart();
    this.#part.sizes.log += size;
    this.#append("log", row, 0, size);
  }

  #putHead(wallMs: number, flags: number, block: Uint8Array, start: number): number {
    const ms = Math.floor(wallMs);
    const key = (flags & (FLAG.dirMask | FLAG.levelMask | FLAG.continued)) >> 2;
    if (ms !== this.#headMs) {
      this.#headMs = ms;
      const d = new Date(ms);
      const two = (n: number) => String(n).padStart(2, "0");
      const text = `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}.`;
      this.#encoder.encodeInto(`${text}${String(d.getMilliseconds()).padStart(3, "0")} `, this.#head);
    }
    if (key !== this.#headKey) {
      this.#headKey = key;
      const tag = this.#tags[key] ??= this.#encoder.encode(tagOf(flags));
      this.#head.set(tag, CLOCK_BYTES);
      this.#headLength = CLOCK_BYTES + tag.length;
    }
    const head = this.#head;
    const length = this.#headLength;
    for (let i = 0; i < length; i++) block[start + i] = head[i] ?? 0;
    return start + length;
  }

  /** Whether the queue is too full for more. What is refused is counted, and told in the file once there is room. */
  #refuse(kind: Kind, bytes: number): boolean {
    const waiting = this.#writer.queued;
    if (!this.#refused) {
      if (waiting < QUEUE_BYTES) return false;
      this.#refused = { rx: 0, tx: 0, log: 0 };
      if (!this.#writer.failing) {
        this.#onProblem(`session log of pane ${this.#pane}: the disk is too slow, some of it is lost`, false);
      }
    } else if (waiting < QUEUE_BYTES / 2) {
      const { rx, tx, log } = this.#refused;
      this.#refused = undefined;
      const lost =
        `lost here, the disk took nothing more: ${rx} bytes received, ${tx} bytes sent, ${log} bytes of lines`;
      this.#textRow(this.#now(), FLAG.levelWarn, lost);
      this.#onProblem(`session log of pane ${this.#pane}: ${lost}`, true);
      return false;
    }
    this.#refused[kind] += bytes;
    this.#writer.dropped[kind] += bytes;
    return true;
  }
}

function tagOf(flags: number): string {
  const dir = flags & FLAG.dirMask;
  const name = dir === FLAG.dirRx ? "rx" : dir === FLAG.dirTx ? "tx" : levelOf(flags);
  return `[${name}${flags & FLAG.continued ? "+" : ""}] `;
}
