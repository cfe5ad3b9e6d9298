import { join } from "node:path";
import { makeFolder, whyFailed } from "./files.ts";
import { fileName, filesOf, type Kind, KINDS, nextPart, type Part, prune } from "./session_files.ts";

/** Bytes a block holds. Blocks are used again, so that a running log allocates nothing. */
export const BLOCK_BYTES = 128 * 1024;
/** While the disk is behind: each write costs a turn of the event loop, and in a flood these are what is short. */
const LARGE_BLOCK_BYTES = 8 * BLOCK_BYTES;
const spare: Uint8Array<ArrayBuffer>[] = [];
const spareLarge: Uint8Array<ArrayBuffer>[] = [];
const giveBack = (block: Uint8Array<ArrayBuffer>): void => {
  if (block.length === LARGE_BLOCK_BYTES) {
    if (spareLarge.length < 4) spareLarge.push(block);
  } else if (spare.length < 32 && block.length === BLOCK_BYTES) spare.push(block);
};

/** A part as it is planned while bytes come in; the writer gives it its number when it comes to the first of them. */
export interface PlannedPart {
  readonly port: string;
  readonly date: string;
  /** Never goes on in an old file: the part before was full. */
  readonly fresh: boolean;
  /** Bytes in its files once everything queued is written. */
  readonly sizes: Record<Kind, number>;
}

interface WriteJob {
  readonly kind: Kind;
  readonly part: PlannedPart;
  readonly block: Uint8Array<ArrayBuffer>;
  readonly length: number;
  /** How many of them are on disk: a retry goes on from here, so that no byte is lost or doubled. */
  done: number;
}
interface ClearJob {
  readonly kind: "clear";
  resolve(): void;
  reject(error: unknown): void;
}

interface OpenFile {
  readonly file: Deno.FsFile;
  readonly path: string;
  readonly ino: number | null;
}

export interface WriterOptions {
  folder: string;
  /** Pane as it stands in file names. */
  pane: string;
  maxBytes: number;
  keep: number;
  /** Told once when writing fails (`ok` false) and once when it works again (`ok` true). */
  onProblem: (text: string, ok: boolean) => void;
}

type Timer = ReturnType<typeof setTimeout> | undefined;

const RETRY_MS = 500;
const RETRY_MAX_MS = 5000;
/** How often it is looked whether an open file is still in its place. */
const CHECK_MS = 1000;

/** Brings blocks to disk one after another, whatever the disk does. */
export class SessionWriter {
  readonly #o: WriterOptions;
  #queue: (WriteJob | ClearJob)[] = [];
  #queued = 0;
  #running: Promise<void> | undefined;
  #files = new Map<Kind, OpenFile>();
  #planned: PlannedPart | undefined;
  #part: Part | undefined;
  #failing = false;
  #retryMs = RETRY_MS;
  #checked = 0;
  #wake: (() => void) | undefined;
  #idle: (() => void)[] = [];
  #closing = false;
  #abandoned = false;
  readonly written: Record<Kind, number> = { rx: 0, tx: 0, log: 0 };
  readonly dropped: Record<Kind, number> = { rx: 0, tx: 0, log: 0 };

  constructor(options: WriterOptions) {
    this.#o = options;
  }

  /** Bytes that wait for the disk. */
  get queued(): number {
    return this.#queued;
  }

  /** Writing does not work at the moment. */
  get failing(): boolean {
    return this.#failing;
  }

  /** A block of at least {@link BLOCK_BYTES}; the more waits already, the larger. */
  takeBlock(): Uint8Array<ArrayBuffer> {
    if (this.#queued < LARGE_BLOCK_BYTES) return spare.pop() ?? new Uint8Array(BLOCK_BYTES);
    return spareLarge.pop() ?? new Uint8Array(LARGE_BLOCK_BYTES);
  }

  /** Takes the block over; it must not be touched any more. */
  push(kind: Kind, part: PlannedPart, block: Uint8Array<ArrayBuffer>, length: number): void {
    if (this.#abandoned) {
      this.dropped[kind] += length;
      return;
    }
    this.#queue.push({ kind, part, block, length, done: 0 });
    this.#queued += length;
    this.#running ??= this.#run();
  }

  /** Forgets what waits, and empties every file of the pane. What is pushed from now on is written after that. */
  clear(): Promise<void> {
    const waiting = this.#queue.filter((j) => j.kind === "clear");
    // The first job may be at the disk right now: it ends, and its bytes are cut off with the rest.
    const first = this.#queue[0];
    this.#queue = first && first.kind !== "clear" && this.#running ? [first, ...waiting] : waiting;
    this.#queued = first && first.kind !== "clear" ? first.length - first.done : 0;
    if (first && first.kind !== "clear") first.done = first.length; // nothing more of it
    const cleared = new Promise<void>((resolve, reject) => this.#queue.push({ kind: "clear", resolve, reject }));
    this.#running ??= this.#run();
    this.#wake?.();
    return cleared;
  }

  /**
   * Resolves with true when no more than `most` bytes of what was pushed are not on disk yet; with false after
   * `timeoutMs`, or when writing fails.
   */
  async drain(timeoutMs: number, most = 0): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    const done = () => this.#queue.length === 0 || (most > 0 && this.#queued <= most);
    while (!done() && !this.#failing) {
      const left = deadline - performance.now();
      if (left <= 0) return false;
      let timer: Timer;
      await new Promise<void>((go) => {
        this.#idle.push(go);
        timer = setTimeout(go, left);
      });
      clearTimeout(timer);
    }
    return done();
  }

  /** Writes what it can within `timeoutMs`, counts the rest as dropped, and closes the files. */
  async close(timeoutMs: number): Promise<void> {
    this.#closing = true;
    this.#wake?.(); // a last try at once
    const run = this.#running;
    if (run) {
      let timer: Timer;
      await Promise.race([run, new Promise<void>((go) => timer = setTimeout(go, timeoutMs))]);
      clearTimeout(timer);
    }
    this.#abandoned = true;
    for (const job of this.#queue.splice(0)) {
      if (job.kind === "clear") job.reject(new Error("the session log was closed"));
      else this.dropped[job.kind] += job.length - job.done;
    }
    this.#queued = 0;
    this.#closeFiles();
  }

  async #run(): Promise<void> {
    await null; // so that a burst of small pushes is seen whole
    for (let job = this.#queue[0]; job && !this.#abandoned; job = this.#queue[0]) {
      if (job.kind === "clear") {
        await this.#truncateAll(job);
        if (this.#queue[0] === job) this.#queue.shift();
      } else {
        try {
          await this.#write(job);
          if (this.#queue[0] === job) this.#queue.shift();
          giveBack(job.block);
          if (this.#failing && this.#queue[0]?.kind !== "clear") this.#recovered();
        } catch (error) {
          await this.#failed(error);
          if (this.#closing) break;
        }
      }
      for (const go of this.#idle.splice(0)) go();
    }
    this.#running = undefined;
    for (const go of this.#idle.splice(0)) go();
  }

  async #write(job: WriteJob): Promise<void> {
    if (job.done >= job.length) return;
    if (job.part !== this.#planned || !this.#part) await this.#begin(job.part);
    const open = await this.#open(job.kind);
    while (job.done < job.length && !this.#abandoned) {
      const n = await open.file.write(job.block.subarray(job.done, job.length));
      if (n <= 0) throw new Error("the disk takes no more bytes");
      const counted = Math.min(n, job.length - job.done); // 0 if it was cleared meanwhile
      job.done += counted;
      this.#queued = Math.max(0, this.#queued - counted);
      this.written[job.kind] += n;
    }
  }

  async #begin(planned: PlannedPart): Promise<void> {
    this.#closeFiles();
    await makeFolder(this.#o.folder);
    const want = { pane: this.#o.pane, port: planned.port, date: planned.date };
    const { part, sizes } = await nextPart(this.#o.folder, want, {
      fresh: planned.fresh,
      maxBytes: this.#o.maxBytes,
    });
    for (const kind of KINDS) planned.sizes[kind] += sizes[kind];
    this.#planned = planned;
    this.#part = part;
    await prune(this.#o.folder, part, this.#o.keep);
  }

  async #open(kind: Kind): Promise<OpenFile> {
    if (performance.now() - this.#checked > CHECK_MS) await this.#lookForLost();
    const known = this.#files.get(kind);
    if (known) return known;
    if (!this.#part) throw new Error("no part was begun");
    const path = join(this.#o.folder, fileName(this.#part, kind));
    await makeFolder(this.#o.folder);
    const file = await Deno.open(path, { append: true, create: true, mode: 0o600 });
    if (this.#abandoned) {
      file.close();
      throw new Error("the session log was closed");
    }
    const open = { file, path, ino: (await file.stat()).ino };
    this.#files.set(kind, open);
    return open;
  }

  /** A file that was deleted takes bytes without an error, into nowhere: so look. */
  async #lookForLost(): Promise<void> {
    this.#checked = performance.now();
    for (const [kind, open] of this.#files) {
      const now = await Deno.stat(open.path).catch(() => undefined);
      if (now && (now.ino === null || open.ino === null || now.ino === open.ino)) continue;
      open.file.close();
      this.#files.delete(kind);
      if (this.#failing) continue;
      this.#failing = true;
      this.#o.onProblem(`session log of pane ${this.#o.pane}: ${open.path} was removed by somebody`, false);
    }
  }

  async #truncateAll(job: ClearJob): Promise<void> {
    try {
      for (const { name } of await filesOf(this.#o.folder, this.#o.pane)) {
        await Deno.truncate(join(this.#o.folder, name), 0);
      }
      job.resolve();
    } catch (error) {
      job.reject(new Error(`the session log of pane ${this.#o.pane} could not be emptied: ${whyFailed(error)}`));
    }
  }

  async #failed(error: unknown): Promise<void> {
    this.#closeFiles();
    if (this.#abandoned) return;
    if (!this.#failing) {
      this.#failing = true;
      this.#retryMs = RETRY_MS;
      const where = `session log of pane ${this.#o.pane} in ${this.#o.folder}`;
      this.#o.onProblem(`${where} cannot be written: ${whyFailed(error)}. It is tried again until it works`, false);
    }
    for (const go of this.#idle.splice(0)) go();
    if (this.#closing) return;
    let timer: Timer;
    await new Promise<void>((go) => {
      this.#wake = go;
      timer = setTimeout(go, this.#retryMs);
    });
    clearTimeout(timer);
    this.#wake = undefined;
    this.#retryMs = Math.min(RETRY_MAX_MS, this.#retryMs * 2);
  }

  #recovered(): void {
    this.#failing = false;
    this.#o.onProblem(`session log of pane ${this.#o.pane} is written again`, true);
  }

  #closeFiles(): void {
    for (const open of this.#files.values()) {
      try {
        open.file.close();
      } catch { /* it is gone */ }
    }
    this.#files.clear();
  }
}
