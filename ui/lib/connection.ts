/**
 * The page's one WebSocket to its server: requests with answers, progress and cancel; state; log frames. It comes back
 * by itself and says what it is doing. Nothing here knows the DOM but `WebSocket` and `location`, which can be given.
 */
import { type ReadonlySignal, signal } from "@preact/signals";
import type { InputOf, OutputOf, ToolName } from "../../tools/mod.ts";
import {
  type ActionArgs,
  type ActionName,
  type ActionOutput,
  type Command,
  type Control,
  type FindResult,
  type LineFrame,
  type OlderResult,
  type PageMessage,
  readLineFrame,
  type ServerMessage,
  type WireError,
  writeChunk,
} from "../../src/core/page_protocol.ts";

export type Link =
  | { kind: "connecting" }
  | { kind: "online" }
  /** Lost or never there; the next try is at `retryAt` (ms of `Date.now`). `refused`: the server wants a new sign-in. */
  | { kind: "gone"; since: number; retryAt: number; tries: number; refused: boolean };

/** What the server answered instead of a result. */
export class CallError extends Error {
  override name = "CallError";
  readonly code: number;
  readonly reason: string | undefined;
  readonly hint: string | undefined;
  constructor(error: WireError) {
    super(error.message);
    this.code = error.code;
    this.reason = error.reason;
    this.hint = error.hint;
  }
}

export interface RequestOptions {
  signal?: AbortSignal;
  onProgress?(done: number, total?: number): void;
}

type Answered = { output: unknown; text: string };
interface Waiting {
  resolve(answer: Answered): void;
  reject(error: unknown): void;
  onProgress: RequestOptions["onProgress"];
  /** Set while a file goes out: how far the server is. */
  moved?: () => void;
  done: number;
}

export interface SocketLike {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(data: string | ArrayBufferView<ArrayBuffer>): void;
  close(): void;
  addEventListener(type: "close", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
}

export interface ConnectionOptions {
  /** Makes a socket; by default to `/page/stream` of this origin. */
  open?: () => SocketLike;
  /** Ms before the first, second … new try; the last one repeats. */
  delays?: readonly number[];
  /** Whether the server is there and only refuses this page; asked after a try that got no hello. */
  isRefused?: () => Promise<boolean>;
}

type MessageOf<T extends ServerMessage["type"]> = Extract<ServerMessage, { type: T }>;

/** The server is told what was dealt with each time it is this much more. */
const TOLD_BYTES = 32_768;
const CHUNK_BYTES = 65_536;
/** A file goes out at most this far ahead of what the server has sent. */
const AHEAD_BYTES = 262_144;

export class Connection {
  readonly #link = signal<Link>({ kind: "connecting" });
  readonly #open: () => SocketLike;
  readonly #delays: readonly number[];
  readonly #isRefused: () => Promise<boolean>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #fetches = new Map<number, (frame: LineFrame) => void>();
  readonly #listeners = new Map<string, Set<(message: ServerMessage) => void>>();
  readonly #frames = new Set<(frame: LineFrame) => void>();
  #socket: SocketLike | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #tries = 0;
  #since = 0;
  #nextId = 1;
  #taken = 0;
  #takenTold = 0;
  #closed = false;

  constructor(options: ConnectionOptions = {}) {
    this.#open = options.open ?? (() => {
      const scheme = location.protocol === "https:" ? "wss" : "ws";
      return new WebSocket(`${scheme}://${location.host}/page/stream`);
    });
    this.#isRefused = options.isRefused ?? askRefused;
    this.#delays = options.delays ?? [250, 500, 1000, 2000, 3000];
  }

  get link(): ReadonlySignal<Link> {
    return this.#link;
  }
  get online(): boolean {
    return this.#link.peek().kind === "online";
  }

  /** Starts, or tries again at once. */
  connect(): void {
    if (this.#closed || this.#socket) return;
    clearTimeout(this.#timer);
    let socket: SocketLike;
    try {
      socket = this.#open();
    } catch {
      this.#lost();
      return;
    }
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }: { data: unknown }) => {
      if (this.#socket === socket) this.#receive(data);
    });
    socket.addEventListener("close", () => {
      if (this.#socket === socket) this.#lost();
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.#rejectAll();
  }

  /** Hears messages of one type until the answer is called. */
  on<T extends ServerMessage["type"]>(type: T, listener: (message: MessageOf<T>) => void): () => void {
    const set = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, set);
    const own = (message: ServerMessage) => {
      if (isType(message, type)) listener(message);
    };
    set.add(own);
    return () => set.delete(own);
  }

  /** Hears `lines` frames; a frame's bytes stay valid. */
  onFrame(listener: (frame: LineFrame) => void): () => void {
    this.#frames.add(listener);
    return () => this.#frames.delete(listener);
  }

  /** A gated tool call, marked as the person's. */
  async call<N extends ToolName>(
    tool: N,
    args: Partial<InputOf<N>> & Record<string, unknown>,
    options: RequestOptions = {},
  ): Promise<{ output: OutputOf<N>; text: string }> {
    const answer = await this.#request((id) => ({ type: "call", id, tool, args }), options);
    // The gate checked the output against the tool's row; the page trusts its own server.
    return answer as { output: OutputOf<N>; text: string };
  }

  /** What only a person can do. */
  async act<A extends ActionName>(
    action: A,
    args: ActionArgs<A>,
    options: RequestOptions = {},
  ): Promise<ActionOutput<A>> {
    const answer = await this.#request((id) => ({ type: "do", id, action, args }), options);
    return answer.output as ActionOutput<A>;
  }

  /** Sends bytes through a pane with its pacing; progress counts what has gone out. */
  async sendFile(
    args: ActionArgs<"pane.sendFile">,
    data: Blob,
    options: RequestOptions = {},
  ): Promise<{ bytes: number }> {
    let id = 0;
    const answered = this.#request((given) => {
      id = given;
      return { type: "do", id: given, action: "pane.sendFile", args };
    }, options);
    // The answer ends it early when it is refused or cancelled; then no more chunks are read.
    let ended = false;
    const end = () => {
      ended = true;
      this.#waiting.get(id)?.moved?.();
    };
    const settled = answered.finally(end);
    settled.catch(() => {});
    for (let at = 0; at < data.size && !ended; at += CHUNK_BYTES) {
      const bytes = new Uint8Array(await data.slice(at, at + CHUNK_BYTES).arrayBuffer());
      while (!ended && this.#waiting.has(id) && at - (this.#waiting.get(id)?.done ?? 0) >= AHEAD_BYTES) {
        await this.#movement(id);
      }
      if (!ended) this.#socket?.send(writeChunk(id, bytes));
    }
    if (!ended) this.#socket?.send(writeChunk(id, new Uint8Array(0)));
    return (await settled).output as { bytes: number };
  }

  find(
    query: { channels: string[]; pattern: string; regex?: boolean; caseSensitive?: boolean },
    options: RequestOptions = {},
  ): Promise<FindResult> {
    return this.#request((id) => ({ type: "find", id, ...query }), options).then((a) => a.output as FindResult);
  }

  older(
    query: { pane: string; before: number | string; count: number },
    options: RequestOptions = {},
  ): Promise<OlderResult> {
    return this.#request((id) => ({ type: "older", id, ...query }), options).then((a) => a.output as OlderResult);
  }

  /** Resolves when the state has come that holds everything that was done before. */
  async sync(): Promise<void> {
    await this.#request((id) => ({ type: "sync", id }), {});
  }

  /** Lines that the ring still holds. */
  fetch(channel: string, fromSeq: number, count: number): Promise<LineFrame> {
    const { promise, resolve, reject } = Promise.withResolvers<LineFrame>();
    let id = 0;
    this.#request((given) => {
      id = given;
      this.#fetches.set(given, resolve);
      return { type: "fetch", id: given, channel, fromSeq, count };
    }, {}).catch((error) => {
      this.#fetches.delete(id);
      reject(error);
    });
    return promise;
  }

  /** Follows a channel; after a reconnect it has to be asked for again (on `hello`). */
  want(channel: string, from: number | "tail"): void {
    this.#send({ type: "want", channel, from });
  }
  unwant(channel: string): void {
    this.#send({ type: "unwant", channel });
  }
  focus(): void {
    this.#send({ type: "focus" });
  }
  controls(controls: Control[]): void {
    this.#send({ type: "controls", controls });
  }
  acknowledge(command: Command, result: unknown): void {
    this.#send({ type: "ack", id: command.id, ok: true, result });
  }
  refuse(command: Command, reason: "not_found" | "failed", message: string): void {
    this.#send({ type: "ack", id: command.id, ok: false, error: { reason, message: message.slice(0, 1000) } });
  }

  #send(message: PageMessage): boolean {
    if (!this.#socket || !this.online) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  #request(message: (id: number) => PageMessage, options: RequestOptions): Promise<Answered> {
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<Answered>();
    if (options.signal?.aborted) {
      reject(new CallError({ code: -32006, message: "canceled", reason: "canceled" }));
      return promise;
    }
    this.#waiting.set(id, { resolve, reject, onProgress: options.onProgress, done: 0 });
    if (!this.#send(message(id))) {
      this.#waiting.delete(id);
      reject(gone());
      return promise;
    }
    const cancel = () => this.#send({ type: "cancel", id });
    options.signal?.addEventListener("abort", cancel, { once: true });
    return promise.finally(() => options.signal?.removeEventListener("abort", cancel));
  }

  #movement(id: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(id);
    if (waiting) waiting.moved = resolve;
    else resolve();
    return promise;
  }

  #receive(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      const frame = readLineFrame(data);
      if (frame?.kind === "fetched") this.#fetched(frame);
      else if (frame) { for (const listener of this.#frames) listener(frame); }
      this.#tellTaken(data.byteLength);
      return;
    }
    if (typeof data !== "string") return;
    const message = JSON.parse(data) as ServerMessage;
    if (message.type === "hello") {
      this.#tries = 0;
      this.#taken = this.#takenTold = 0;
      this.#link.value = { kind: "online" };
    }
    if (message.type === "answer") this.#answered(message);
    else if (message.type === "progress") this.#progress(message);
    else if (message.type === "refused") console.error(`refused by the server: ${message.message}`);
    const listeners = this.#listeners.get(message.type);
    if (listeners) { for (const listener of listeners) listener(message); }
  }

  #fetched(frame: LineFrame): void {
    this.#fetches.get(frame.requestId)?.(frame);
    this.#fetches.delete(frame.requestId);
    this.#waiting.get(frame.requestId)?.resolve({ output: null, text: "" });
    this.#waiting.delete(frame.requestId);
  }

  #answered(message: MessageOf<"answer">): void {
    const waiting = this.#waiting.get(message.id);
    if (!waiting) return;
    this.#waiting.delete(message.id);
    if (message.ok) waiting.resolve({ output: message.output, text: message.text });
    else waiting.reject(new CallError(message.error));
    waiting.moved?.();
  }

  #progress(message: MessageOf<"progress">): void {
    const waiting = this.#waiting.get(message.id);
    if (!waiting) return;
    waiting.done = message.done;
    waiting.onProgress?.(message.done, message.total);
    waiting.moved?.();
  }

  /** Listeners deal with a frame at once, so what was received is what was taken; told now and then. */
  #tellTaken(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken - this.#takenTold < TOLD_BYTES) return;
    this.#takenTold = this.#taken;
    this.#send({ type: "taken", bytes: this.#taken });
  }

  #lost(): void {
    this.#socket = undefined;
    this.#rejectAll();
    if (this.#closed) return;
    if (this.#tries === 0) this.#since = Date.now();
    const delay = this.#delays[Math.min(this.#tries, this.#delays.length - 1)] ?? 1000;
    this.#tries++;
    const gone = { kind: "gone", since: this.#since, retryAt: Date.now() + delay, tries: this.#tries } as const;
    const before = this.#link.peek();
    this.#link.value = { ...gone, refused: before.kind === "gone" && before.refused };
    // A browser does not say why a socket failed: another request tells a server that is gone from one that refuses.
    if (this.#tries > 1) {
      this.#isRefused().then((refused) => {
        const now = this.#link.peek();
        if (now.kind === "gone" && now.refused !== refused) this.#link.value = { ...now, refused };
      }, () => {});
    }
    this.#timer = setTimeout(() => this.connect(), delay);
  }

  #rejectAll(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#fetches.clear();
    for (const one of waiting) {
      one.reject(gone());
      one.moved?.();
    }
  }
}

/** The document of this page is refused to whoever is not signed in. */
async function askRefused(): Promise<boolean> {
  const { status } = await fetch(location.pathname, { cache: "no-store", redirect: "manual" });
  return status === 401 || status === 403;
}

const gone = (): CallError => new CallError({ code: -32006, message: "The server is gone.", reason: "server_gone" });

const isType = <T extends ServerMessage["type"]>(message: ServerMessage, type: T): message is MessageOf<T> =>
  message.type === type;
