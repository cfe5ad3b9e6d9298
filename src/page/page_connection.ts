import { BenchError, CODE } from "../core/errors.ts";
import {
  type Command,
  type Control,
  type PageState,
  readChunk,
  type ServerMessage,
  type WireError,
} from "../core/page_protocol.ts";
import { pageMessage } from "../core/page_schema.ts";
import type { z } from "zod";
import type { CommandTarget } from "./commands.ts";
import type { LineOut } from "./line_stream.ts";

/** The largest JSON message taken from a page. */
const MAX_MESSAGE_CHARS = 4 * 1024 * 1024;
/** A page that lets this much pile up is not reading any more: it is cut off and comes back by itself. */
const MAX_BUFFERED = 64 * 1024 * 1024;
const MAX_REQUESTS = 64;

export type PageMessageIn = z.output<typeof pageMessage>;
export type PageRequest = Extract<PageMessageIn, { type: "call" | "do" | "fetch" | "find" | "older" | "sync" }>;

export interface ConnectionHost {
  /** Runs a request; what it resolves with is the answer. `undefined`: it was answered in another way. */
  request(
    page: PageConnection,
    request: PageRequest,
    context: RequestContext,
  ): Promise<{ output: unknown; text: string } | undefined>;
  /** Everything that is no request. */
  message(page: PageConnection, message: Exclude<PageMessageIn, PageRequest | { type: "cancel" | "taken" }>): void;
  /** This tool needs a confirmation. */
  dangerous(tool: string): boolean;
  /** What it has is another set now. */
  controls(page: PageConnection): void;
  closed(page: PageConnection): void;
  /** A bug of ours. */
  problem(where: string, error: unknown): void;
}

export interface RequestContext {
  readonly signal: AbortSignal;
  progress(done: number, total?: number, message?: string): void;
  /** Parts of a file that come after the request, until an empty one. */
  chunks(): AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** One page: its socket, its controls, its requests under way. */
export class PageConnection implements CommandTarget, LineOut {
  readonly id: number;
  /** Counts up with each focus of any page; the highest is spoken to. */
  focus = 0;
  /** Parts of the state that it has not been sent yet. */
  readonly stale = new Set<keyof PageState>();
  readonly #socket: WebSocket;
  readonly #host: ConnectionHost;
  readonly #gone = new AbortController();
  readonly #requests = new Map<number, Running>();
  /** What came before `hello` went. */
  #early: unknown[] | undefined = [];
  #controls: readonly Control[] = [];
  #sentLineBytes = 0;
  #taken: number | undefined;

  constructor(id: number, socket: WebSocket, host: ConnectionHost) {
    this.id = id;
    this.#socket = socket;
    this.#host = host;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", (event) => this.#received(event.data));
    socket.addEventListener("close", () => this.#end());
    socket.addEventListener("error", () => this.close());
  }

  /** `hello` is sent: from now on messages count. */
  begin(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const data of early) this.#received(data);
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }
  get controls(): readonly Control[] {
    return this.#controls;
  }
  /** It has told what it has, be it nothing. */
  hasControls = false;

  /** Controls whose tool needs `confirm` are left out, else confirm would be void; of one path the first counts. */
  setControls(controls: readonly Control[]): void {
    this.hasControls = true;
    const byPath = new Map<string, Control>();
    for (const c of controls) {
      const dangerous = c.tool !== undefined && this.#host.dangerous(c.tool);
      if (!dangerous && !byPath.has(c.path)) byPath.set(c.path, c);
    }
    this.#controls = [...byPath.values()];
    this.#host.controls(this);
  }

  /** Bytes in the socket, and of lines that the page has not dealt with, where it tells. */
  get backlog(): number {
    const inPage = this.#taken === undefined ? 0 : this.#sentLineBytes - this.#taken;
    return Math.max(this.#socket.bufferedAmount, inPage);
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  send(message: ServerMessage | Command): void {
    this.sendText(JSON.stringify(message));
  }

  /** A message that is JSON already. */
  sendText(json: string): void {
    if (!this.isOpen) return;
    if (this.#socket.bufferedAmount > MAX_BUFFERED) return this.close();
    this.#socket.send(json);
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    if (!this.isOpen) return;
    this.#sentLineBytes += bytes.length;
    this.#socket.send(bytes);
  }

  close(): void {
    if (this.#socket.readyState <= WebSocket.OPEN) this.#socket.close();
    this.#end();
  }

  #end(): void {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort();
    for (const running of [...this.#requests.values()]) running.cancel();
    this.#requests.clear();
    this.#host.closed(this);
  }

  #received(data: unknown): void {
    if (this.#gone.signal.aborted) return;
    if (this.#early) {
      if (this.#early.length >= MAX_REQUESTS) return this.close();
      this.#early.push(data);
      return;
    }
    if (data instanceof ArrayBuffer) {
      const chunk = readChunk(data);
      const running = chunk && this.#requests.get(chunk.requestId);
      running?.push(chunk?.bytes ?? new Uint8Array(0));
      return;
    }
    const message = typeof data === "string" && data.length <= MAX_MESSAGE_CHARS ? parse(data) : undefined;
    if (message === undefined) return this.send({ type: "refused", message: "not a message of this protocol" });
    if (!message.ok) {
      if (message.id === undefined) return this.send({ type: "refused", message: message.why });
      return this.#answerError(message.id, { code: CODE.invalidParams, message: message.why });
    }
    const m = message.value;
    switch (m.type) {
      case "call":
      case "do":
      case "fetch":
      case "find":
      case "older":
      case "sync":
        void this.#run(m);
        break;
      case "cancel":
        this.#requests.get(m.id)?.cancel();
        break;
      case "taken":
        this.#taken = Math.min(m.bytes, this.#sentLineBytes);
        break;
      default:
        try {
          this.#host.message(this, m);
        } catch (error) {
          this.#host.problem(`message ${m.type} of a page`, error);
        }
    }
  }

  async #run(request: PageRequest): Promise<void> {
    const { id } = request;
    if (this.#requests.has(id)) {
      return this.send({ type: "refused", message: `request ${id} is still under way; ids are used once` });
    }
    if (this.#requests.size >= MAX_REQUESTS) {
      return this.#answerError(id, { code: CODE.uiBusy, message: `${MAX_REQUESTS} requests are under way` });
    }
    const running = new Running();
    this.#requests.set(id, running);
    try {
      const answer = await this.#host.request(this, request, {
        signal: running.signal,
        progress: (done, total, message) =>
          this.send({
            type: "progress",
            id,
            done,
            ...(total !== undefined && { total }),
            ...(message !== undefined && { message }),
          }),
        chunks: () => running.chunks(),
      });
      if (answer) this.send({ type: "answer", id, ok: true, ...answer });
    } catch (error) {
      if (!(error instanceof BenchError)) this.#host.problem(`request ${request.type} of a page`, error);
      this.#answerError(id, toWire(error));
    } finally {
      this.#requests.delete(id);
    }
  }

  #answerError(id: number, error: WireError): void {
    this.send({ type: "answer", id, ok: false, error });
  }
}

function toWire(error: unknown): WireError {
  if (!(error instanceof BenchError)) {
    return { code: CODE.internal, message: 'Internal error. It was written to the log channel "error".' };
  }
  return {
    code: error.code,
    message: error.message,
    ...(error.reason && { reason: error.reason }),
    ...(error.hint && { hint: error.hint }),
    ...(error.data && { data: error.data }),
  };
}

type Parsed = { ok: true; value: PageMessageIn } | { ok: false; why: string; id: number | undefined };

function parse(data: string): Parsed | undefined {
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch {
    return undefined;
  }
  const parsed = pageMessage.safeParse(json);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issue = parsed.error.issues[0];
  const why = `${issue?.path.join(".") || "message"}: ${issue?.message ?? "not understood"}`;
  const id = typeof json === "object" && json !== null && "id" in json && "type" in json && json.type !== "ack"
    ? json.id
    : undefined;
  return { ok: false, why, id: typeof id === "number" && Number.isSafeInteger(id) ? id : undefined };
}

/** Most of a file that waits here; the page must not be further ahead of `progress`. */
const MAX_CHUNK_BYTES = 1024 * 1024;

/** One request under way: its cancel, and the file that may come with it. */
class Running {
  readonly #abort = new AbortController();
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  #bytes = 0;
  #ended = false;
  #wake: (() => void) | undefined;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }
  cancel(): void {
    this.#abort.abort();
    this.#wake?.();
  }

  push(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_CHUNK_BYTES) return this.cancel();
    if (bytes.length === 0) this.#ended = true;
    else this.#chunks.push(bytes);
    this.#wake?.();
  }

  async *chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    while (!this.signal.aborted) {
      const next = this.#chunks.shift();
      if (next) {
        this.#bytes -= next.length;
        yield next;
      } else if (this.#ended) return;
      else {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
        this.#wake = undefined;
      }
    }
  }
}
