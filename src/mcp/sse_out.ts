import { LIMITS } from "../../tools/mod.ts";

/** Frames that go out in one chunk together. */
const MAX_CHUNK_CHARS = 64 * 1024;

const SSE_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
} as const;

/** Why a stream ended: the client went away, we ended it, or the reader took nothing for too long. */
export type StreamEnd = "gone" | "done" | "stalled";

export interface StreamTimes {
  /** ms, monotonic. */
  now: () => number;
  heartbeatMs: number;
}

interface Frame {
  readonly text: string;
  readonly droppable: boolean;
}

const encoder = new TextEncoder();
const HEARTBEAT = ": keepalive\n\n";

/**
 * A server-sent event stream that never holds its writers up: at most {@link LIMITS.sessionQueue} messages wait for
 * the reader. Over that the oldest notification is dropped and counted; responses are never dropped, and when one does
 * not fit, or the reader takes nothing for two heartbeats, the stream is cut. `tick` must be called about once a second.
 */
export class SseOut {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Notifications that were dropped. */
  dropped = 0;
  readonly #times: StreamTimes;
  readonly #onEnd: (end: StreamEnd) => void;
  #waiting: Frame[] = [];
  #waitingChars = 0;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  /** The reader has asked for more than there was. */
  #hungry = false;
  #closing = false;
  #ended = false;
  #lastWritten: number;
  #lastTaken: number;

  constructor(times: StreamTimes, onEnd: (end: StreamEnd) => void) {
    this.#times = times;
    this.#onEnd = onEnd;
    this.#lastWritten = this.#lastTaken = times.now();
    this.body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#pull(),
      cancel: () => this.#finish("gone"),
    }, { highWaterMark: 0 });
  }

  get ended(): boolean {
    return this.#ended;
  }
  get waiting(): number {
    return this.#waiting.length;
  }

  /** A JSON-RPC message; `droppable` for notifications. */
  message(message: unknown, droppable: boolean): void {
    this.#push({ text: `event: message\ndata: ${JSON.stringify(message)}\n\n`, droppable });
  }

  /** An event that is written already, without its blank line. */
  block(text: string, droppable: boolean): void {
    this.#push({ text: `${text}\n\n`, droppable });
  }

  /** The first frame of the legacy transport: where to post to. */
  endpoint(path: string): void {
    this.#push({ text: `event: endpoint\ndata: ${path}\n\n`, droppable: false });
  }

  /** Heartbeat and the watch over a stalled reader. */
  tick(): void {
    if (this.#ended) return;
    const now = this.#times.now();
    if (this.#waiting.length > 0) {
      if (now - this.#lastTaken >= 2 * this.#times.heartbeatMs) this.#cut();
    } else if (now - this.#lastWritten >= this.#times.heartbeatMs) this.#push({ text: HEARTBEAT, droppable: true });
  }

  heartbeat(): void {
    this.#push({ text: HEARTBEAT, droppable: true });
  }

  /** Ends after what waits is taken. */
  end(): void {
    if (this.#ended || this.#closing) return;
    this.#closing = true;
    if (this.#waiting.length === 0) this.#close();
  }

  response(headers: Record<string, string> = {}): Response {
    return new Response(this.body, { headers: { ...SSE_HEADERS, ...headers } });
  }

  #push(frame: Frame): void {
    if (this.#ended || this.#closing) return;
    this.#lastWritten = this.#times.now();
    if (this.#hungry) {
      this.#hungry = false;
      this.#lastTaken = this.#lastWritten;
      this.#controller?.enqueue(encoder.encode(frame.text));
      return;
    }
    if (this.#waiting.length === 0) this.#lastTaken = this.#lastWritten;
    this.#waiting.push(frame);
    this.#waitingChars += frame.text.length;
    while (this.#waiting.length > LIMITS.sessionQueue || this.#waitingChars > LIMITS.sessionQueueChars) {
      const oldest = this.#waiting.findIndex((f) => f.droppable);
      if (oldest < 0) return this.#cut();
      this.#waitingChars -= this.#waiting[oldest]?.text.length ?? 0;
      this.#waiting.splice(oldest, 1);
      this.dropped++;
    }
  }

  #pull(): void {
    this.#lastTaken = this.#times.now();
    if (this.#waiting.length === 0) {
      if (this.#closing) this.#close();
      else this.#hungry = true;
      return;
    }
    let text = "", n = 0;
    while (n < this.#waiting.length && text.length < MAX_CHUNK_CHARS) text += this.#waiting[n++]?.text ?? "";
    this.#waiting.splice(0, n);
    this.#waitingChars -= text.length;
    this.#controller?.enqueue(encoder.encode(text));
    if (this.#closing && this.#waiting.length === 0) this.#close();
  }

  #close(): void {
    if (this.#ended) return;
    this.#controller?.close();
    this.#finish("done");
  }

  #cut(): void {
    if (this.#ended) return;
    this.dropped += this.#waiting.length;
    this.#waiting = [];
    this.#waitingChars = 0;
    this.#controller?.error(new Error("the reader of this event stream stalled"));
    this.#finish("stalled");
  }

  #finish(end: StreamEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd(end);
  }
}
