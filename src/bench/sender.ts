import { BenchError, failed } from "../core/errors.ts";
import { PortError, type SerialPort } from "../drivers/serial/port.ts";
import type { OpenPort } from "./pane_link.ts";
import { type Pacing, pieces } from "./pieces.ts";

export interface SendOptions {
  mode: "text" | "hex";
  /** Bits a second of the line: tells how much goes between two looks at a blocked write. */
  baudRate: number;
  pacing: Pacing;
  /** Ends the sending within one line: bytes that went are told, the rest is not sent. */
  signal?: AbortSignal | undefined;
  /** Bytes handed to the driver so far, of all; at most ten times a second, and at the end. */
  progress?: ((done: number, total: number) => void) | undefined;
  /** These bytes went; `t` is when their write began. */
  onWritten(bytes: Uint8Array, t: number): void;
  /** Nothing more of this goes now; called again when a driver that held bytes back was late with them. */
  onEnd(): void;
}

export interface SenderOptions {
  /** A write of which the driver takes no byte for this long has failed, ms. */
  stallMs: number;
  /** ms, monotonic. */
  now(): number;
}

const PROGRESS_EVERY_MS = 100;
/** Small enough to tell exactly where a blocked write stands, large enough for full speed. */
const MAX_PIECE = 4096;
/** A driver that was told to end a write has this long to say how many bytes went. */
const LAST_WORD_MS = 1000;

/** A write that was given up while the driver still held its bytes: they may go yet, and nothing goes before them. */
interface Leftover {
  port: SerialPort;
  done: Promise<void>;
}

type Ended = { how: "done" } | { how: "stalled" | "aborted" } | { how: "failed"; error: unknown };

/** Sends to the port of one pane, one thing at a time, in the order of asking. */
export class Sender {
  readonly #options: SenderOptions;
  #tail: Promise<unknown> = Promise.resolve();
  #leftover: Leftover | undefined;
  #progress: { done: number; total: number } | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** What is being sent now, in bytes. */
  get sending(): { done: number; total: number } | undefined {
    return this.#progress;
  }

  /** Runs alone: nothing else goes to the port meanwhile. Aborted while it waits, it throws reason `canceled`. */
  async alone<T>(signal: AbortSignal | undefined, run: () => Promise<T>): Promise<T> {
    const before = this.#tail;
    const turn = Promise.withResolvers<void>();
    this.#tail = turn.promise;
    try {
      if (await until(before, signal) === "aborted") {
        throw failed("canceled", "Canceled while it waited for what is being sent before it; nothing was sent.");
      }
      return await run();
    } finally {
      // What waits behind this one still waits for the one before it.
      before.then(() => turn.resolve());
    }
  }

  /** Only inside {@link alone}: sends what the source gives; `total` is how many bytes that will be. */
  async send(
    open: OpenPort,
    source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    total: number,
    options: SendOptions,
  ): Promise<number> {
    let sent = 0;
    let told = this.#options.now();
    this.#progress = { done: 0, total };
    const tell = (last: boolean) => {
      const t = this.#options.now();
      if (!last && t - told < PROGRESS_EVERY_MS) return;
      told = t;
      options.progress?.(sent, total);
    };
    try {
      await this.#waitForLeftover(open, options.signal);
      const max = pieceSize(options.baudRate);
      for await (const bytes of source) {
        for (const piece of pieces(bytes, options.pacing, options.mode, max)) {
          const count = await this.#write(open, bytes.slice(piece.from, piece.to), options, sent, total);
          sent += count;
          this.#progress = { done: sent, total };
          tell(false);
          if (piece.pauseMs > 0 && await sleep(piece.pauseMs, [options.signal, open.ended]) === "aborted") {
            throw this.#canceled(open, sent, total);
          }
        }
      }
      tell(true);
      return sent;
    } finally {
      this.#progress = undefined;
      options.onEnd();
    }
  }

  async #write(
    open: OpenPort,
    bytes: Uint8Array<ArrayBuffer>,
    options: SendOptions,
    sent: number,
    total: number,
  ): Promise<number> {
    if (options.signal?.aborted || open.ended.aborted) throw this.#canceled(open, sent, total);
    const t = this.#options.now();
    const writing = open.port.write(bytes);
    const ended = await this.#settle(writing, open, options.signal);
    if (ended.how === "done") {
      options.onWritten(bytes, t);
      return bytes.length;
    }
    if (ended.how === "failed") {
      const went = ended.error instanceof PortError ? ended.error.bytesWritten : 0;
      if (went > 0) options.onWritten(bytes.subarray(0, went), t);
      throw this.#failure(ended.error, open, sent + went, total);
    }
    // The driver cannot be told to forget a write: what it still takes of this piece is logged when it goes.
    const late = writing.then(() => options.onWritten(bytes, t), (error) => {
      const went = error instanceof PortError ? error.bytesWritten : 0;
      if (went > 0) options.onWritten(bytes.subarray(0, went), t);
    }).then(() => options.onEnd());
    this.#leftover = { port: open.port, done: late };
    if (ended.how === "aborted") throw this.#canceled(open, sent, total, bytes.length);
    throw failed(
      "timed_out",
      `The device takes no data: ${sent} of ${total} bytes went, then none for ${this.#options.stallMs / 1000} s.`,
      "Check the cable and flow control; serial_close ends what is left in the driver.",
      { bytesWritten: sent, total, ...pending(bytes.length) },
    );
  }

  async #waitForLeftover(open: OpenPort, signal: AbortSignal | undefined): Promise<void> {
    const leftover = this.#leftover;
    if (!leftover || leftover.port !== open.port) return;
    const ended = await this.#settle(leftover.done, open, signal);
    if (ended.how === "stalled") {
      throw failed(
        "timed_out",
        "The device takes no data: bytes of the send before are still waiting in the driver. Nothing of this one was sent.",
        "Check the cable and flow control, or serial_close and serial_open.",
        { bytesWritten: 0 },
      );
    }
    if (ended.how === "aborted") {
      throw failed("canceled", "Canceled; nothing was sent.", undefined, { bytesWritten: 0 });
    }
    this.#leftover = undefined;
  }

  /** Waits for a write: to its end, until nothing went for too long, or until the caller gives up. */
  async #settle(writing: Promise<void>, open: OpenPort, signal: AbortSignal | undefined): Promise<Ended> {
    const over = writing.then((): Ended => ({ how: "done" }), (error): Ended => ({ how: "failed", error }));
    const done = Promise.withResolvers<Ended>();
    let last: ReturnType<typeof setTimeout> | undefined;
    const stalled = setTimeout(() => done.resolve({ how: "stalled" }), this.#options.stallMs);
    const abort = () => done.resolve({ how: "aborted" });
    // A close or a loss ends the write in the driver, which then knows how many bytes went: let it say so.
    const closing = () => last = setTimeout(abort, LAST_WORD_MS);
    signal?.addEventListener("abort", abort, { once: true });
    open.ended.addEventListener("abort", closing, { once: true });
    over.then(done.resolve);
    try {
      return await done.promise;
    } finally {
      clearTimeout(stalled);
      clearTimeout(last);
      signal?.removeEventListener("abort", abort);
      open.ended.removeEventListener("abort", closing);
    }
  }

  #canceled(open: OpenPort, sent: number, total: number, waiting = 0): BenchError {
    const data = { bytesWritten: sent, total, ...pending(waiting) };
    if (open.ended.aborted && open.ended.reason === "lost") return lost(open, sent, total, data);
    const why = open.ended.aborted ? "The port was closed while sending" : "Sending was canceled";
    const rest = waiting > 0 ? ` Up to ${waiting} more may still go: the driver holds them.` : "";
    return failed("canceled", `${why}: ${sent} of ${total} bytes went.${rest}`, undefined, data);
  }

  #failure(error: unknown, open: OpenPort, sent: number, total: number): BenchError {
    const data = { bytesWritten: sent, total };
    if (!(error instanceof PortError)) throw error;
    if (error.kind === "lost") return lost(open, sent, total, data);
    if (error.kind === "canceled") return this.#canceled(open, sent, total);
    return failed(
      "write_failed",
      `Writing to ${open.info.path} failed: ${error.message}. ${sent} of ${total} bytes went.`,
      "Look at serial_get_state; serial_close and serial_open start anew.",
      data,
    );
  }
}

const pending = (waiting: number) => waiting > 0 ? { bytesPending: waiting } : {};

const lost = (open: OpenPort, sent: number, total: number, data: Record<string, unknown>): BenchError =>
  failed(
    "lost",
    `${open.info.path} was lost while sending: ${sent} of ${total} bytes went.`,
    "serial_get_state tells whether it waits for the device to come back.",
    data,
  );

/** About four seconds of the line, so that a slow line is not taken for a blocked one. */
const pieceSize = (baudRate: number): number => Math.max(16, Math.min(MAX_PIECE, Math.floor(baudRate / 10) * 4));

const until = (promise: Promise<unknown>, signal: AbortSignal | undefined): Promise<"done" | "aborted"> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve("aborted");
    const abort = () => resolve("aborted");
    signal?.addEventListener("abort", abort, { once: true });
    promise.then(() => {
      signal?.removeEventListener("abort", abort);
      resolve("done");
    });
  });

/** Sleeps, or wakes at once when one of the signals is aborted. */
export const sleep = (ms: number, signals: (AbortSignal | undefined)[] = []): Promise<"done" | "aborted"> =>
  new Promise((resolve) => {
    if (signals.some((s) => s?.aborted)) return resolve("aborted");
    const finish = (how: "done" | "aborted") => {
      clearTimeout(timer);
      for (const s of signals) s?.removeEventListener("abort", abort);
      resolve(how);
    };
    const abort = () => finish("aborted");
    const timer = setTimeout(() => finish("done"), ms);
    for (const s of signals) s?.addEventListener("abort", abort, { once: true });
  });
