import { BenchError, failed } from "../core/errors.ts";
import { PortError } from "../drivers/serial/port.ts";
import type { OpenPort } from "./pane_link.ts";
import { type Pacing, pieces } from "./pieces.ts";

export interface SendOptions {
  mode: "text" | "hex";
  /** Bits a second of the line: tells how much may go between two reports of progress. */
  baudRate: number;
  pacing: Pacing;
  /** Ends the sending within one line: bytes that went are told, the rest is not sent. */
  signal?: AbortSignal | undefined;
  /** Bytes handed to the driver so far, of all; at most ten times a second, and at the end. */
  progress?: ((done: number, total: number) => void) | undefined;
  /** These bytes went; `t` is when their write began. */
  onWritten(bytes: Uint8Array, t: number): void;
  /** Nothing more of this goes. */
  onEnd(): void;
}

export interface SenderOptions {
  /** A write of which the driver takes no byte for this long has failed, ms. */
  stallMs: number;
  /** ms, monotonic. */
  now(): number;
}

const PROGRESS_EVERY_MS = 100;
/** Small enough for lively progress, large enough for full speed. */
const MAX_PIECE = 4096;
/** A driver that was told to end a write has this long to say how many bytes went. */
const LAST_WORD_MS = 1000;

/** How a write ended: the bytes that the driver took, and why not all of them. */
interface Written {
  went: number;
  error?: unknown;
}

/** Sends to the port of one pane, one thing at a time, in the order of asking. */
export class Sender {
  readonly #options: SenderOptions;
  #tail: Promise<unknown> = Promise.resolve();
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
      const max = pieceSize(options.baudRate);
      for await (const bytes of source) {
        for (const piece of pieces(bytes, options.pacing, options.mode, max)) {
          await this.#write(open, bytes.slice(piece.from, piece.to), options, sent, total);
          sent += piece.to - piece.from;
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

  /** Gives when all of it is with the driver; throws with the exact count else. */
  async #write(
    open: OpenPort,
    bytes: Uint8Array<ArrayBuffer>,
    options: SendOptions,
    sent: number,
    total: number,
  ): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      if (options.signal?.aborted || open.ended.aborted) throw this.#canceled(open, sent + done, total);
      const t = this.#options.now();
      const rest = bytes.subarray(done);
      const { went, error, stalled } = await this.#tryWrite(open, rest, options.signal);
      if (went > 0) options.onWritten(rest.subarray(0, went), t);
      done += went;
      // Slow is not blocked: as long as bytes go it is tried again with the rest.
      if (done === bytes.length || (stalled && went > 0)) continue;
      if (!stalled) throw this.#failure(error, open, sent + done, total);
      throw failed(
        "timed_out",
        `The device takes no data: ${sent + done} of ${total} bytes went, then none for ` +
          `${this.#options.stallMs / 1000} s.`,
        "Check the cable and flow control.",
        { bytesWritten: sent + done, total },
      );
    }
  }

  /** Writes until all is with the driver, nothing went for too long, or the caller gives up. */
  async #tryWrite(
    open: OpenPort,
    bytes: Uint8Array<ArrayBuffer>,
    signal: AbortSignal | undefined,
  ): Promise<Written & { stalled: boolean }> {
    const over = open.port.write(bytes).then(
      (): Written => ({ went: bytes.length }),
      (error): Written => ({ went: error instanceof PortError ? error.bytesWritten : 0, error }),
    );
    let stalled = false;
    let silent: ReturnType<typeof setTimeout> | undefined;
    const given = Promise.withResolvers<Written>();
    const cancel = () => {
      // The driver knows how many bytes went: it says so when it ends the write.
      open.port.cancelWrite();
      const error = new PortError("canceled", `the driver of ${open.info.path} does not end the write`);
      silent ??= setTimeout(() => given.resolve({ went: 0, error }), LAST_WORD_MS);
    };
    const stall = setTimeout(() => {
      stalled = true;
      cancel();
    }, this.#options.stallMs);
    signal?.addEventListener("abort", cancel, { once: true });
    open.ended.addEventListener("abort", cancel, { once: true });
    over.then(given.resolve);
    try {
      const written = await given.promise;
      return { ...written, stalled: stalled && !signal?.aborted && !open.ended.aborted };
    } finally {
      clearTimeout(stall);
      clearTimeout(silent);
      signal?.removeEventListener("abort", cancel);
      open.ended.removeEventListener("abort", cancel);
    }
  }

  #canceled(open: OpenPort, sent: number, total: number): BenchError {
    const data = { bytesWritten: sent, total };
    if (open.ended.aborted && open.ended.reason === "lost") return lost(open, sent, total, data);
    const why = open.ended.aborted ? "The port was closed while sending" : "Sending was canceled";
    return failed("canceled", `${why}: ${sent} of ${total} bytes went.`, undefined, data);
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
