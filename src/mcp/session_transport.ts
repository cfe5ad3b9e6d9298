/**
 * 2025-era streamable HTTP, one object a session, under the SDK's `Server`. The SDK's own transport is not used: it
 * routes answers by the client's id (a repeated id in flight hangs the first call), never ends a POST whose call was
 * cancelled, has unbounded queues, and fixes JSON or stream for the whole session.
 */
import type {
  JSONRPCMessage,
  JSONRPCRequest,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/server";
import { ClientWatch } from "./client_watch.ts";
import type { DirectCall } from "./engine.ts";
import { idOf, type Incoming, parseMessage } from "./messages.ts";
import { BATCH_VERSIONS, isObject, RPC, rpcError, SESSION_HEADER, VERSION_WITHOUT_HEADER } from "./protocol.ts";
import { clientOf, completeHandshake, type Handshake } from "./params.ts";
import { errorOf, repaired } from "./results.ts";
import { SseOut, type StreamTimes } from "./sse_out.ts";
import { LIMITS } from "../../tools/mod.ts";

type Answer = Record<string, unknown>;

/** One POST: its calls, and how they are answered. */
interface Exchange {
  /** Our id → the client's, of what is not answered yet. */
  readonly open: Map<number, string | number>;
  readonly answers: Answer[];
  readonly batch: boolean;
  readonly canStream: boolean;
  readonly begun: number;
  out: SseOut | undefined;
  resolve: (response: Response) => void;
  /** Stops watching the client. */
  unwatch: () => void;
}

export interface SessionHost extends StreamTimes {
  onDropped(count: number): void;
}

export class SessionTransport implements Transport {
  readonly sessionId = crypto.randomUUID();
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void;
  /** Agreed in the handshake. */
  protocolVersion = VERSION_WITHOUT_HEADER;
  /** Answers `tools/call` without the protocol layer above. */
  directCall: DirectCall | undefined;
  onagreed: ((handshake: Handshake) => void) | undefined;
  #client = "";
  /** The handshake succeeded. */
  agreed = false;
  readonly #host: SessionHost;
  readonly #exchanges = new Set<Exchange>();
  readonly #byId = new Map<number, Exchange>();
  readonly #clients = new ClientWatch();
  readonly #direct = new Map<number, AbortController>();
  #lastId = 0;
  #initializeId = -1;
  #events: SseOut | undefined;
  #closed = false;

  constructor(host: SessionHost) {
    this.#host = host;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Calls that are not answered. */
  get inFlight(): number {
    return this.#byId.size;
  }
  /** A client listens on the GET stream. */
  get listening(): boolean {
    return this.#events !== undefined;
  }

  /** Heartbeats: a call that takes long becomes a stream, so that no client gives up waiting for it. */
  tick(): void {
    this.#events?.tick();
    const now = this.#host.now();
    for (const x of this.#exchanges) {
      if (x.out) x.out.tick();
      else if (x.canStream && now - x.begun >= this.#host.heartbeatMs) this.#streamOf(x).heartbeat();
    }
  }

  /** A POST with its parsed body. */
  post(body: unknown, request: Request): Promise<Response> {
    const messages = this.#parse(body);
    if (messages instanceof Response) return Promise.resolve(messages);
    const open = new Map<number, string | number>();
    for (const m of messages) {
      if (m.kind !== "request") continue;
      const id = ++this.#lastId;
      open.set(id, m.message.id);
      m.message.id = id;
      if (m.message.method !== "initialize") continue;
      this.#initializeId = id;
      m.message.params = completeHandshake(m.message.params);
      this.#client = clientOf(m.message.params);
    }
    if (open.size === 0) {
      for (const m of messages) this.#deliver(m);
      return Promise.resolve(new Response(null, { status: 202 }));
    }
    return new Promise((resolve) => {
      const exchange: Exchange = {
        open,
        answers: [],
        batch: Array.isArray(body),
        canStream: acceptsStream(request),
        begun: this.#host.now(),
        out: undefined,
        resolve,
        unwatch: this.#clients.add(request, () => this.#abandon(exchange, "the client went away")),
      };
      this.#exchanges.add(exchange);
      for (const id of open.keys()) this.#byId.set(id, exchange);
      for (const m of messages) this.#deliver(m);
    });
  }

  /** The stream for notifications. A client that connects again takes over from its older stream. */
  listen(request: Request): Response {
    if (!acceptsStream(request)) {
      return rpcError(406, RPC.server, "GET /mcp is an event stream: send Accept: text/event-stream");
    }
    this.#events?.end();
    const out: SseOut = new SseOut(this.#host, () => {
      this.#host.onDropped(out.dropped);
      if (this.#events === out) this.#events = undefined;
    });
    this.#events = out;
    return out.response({ [SESSION_HEADER]: this.sessionId });
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!("method" in message)) {
      const exchange = typeof message.id === "number" ? this.#byId.get(message.id) : undefined;
      if (exchange && typeof message.id === "number") this.#answer(exchange, message.id, repaired(message));
      return Promise.resolve();
    }
    const isRequest = "id" in message;
    if (options?.relatedRequestId === undefined) {
      this.#events?.message(message, !isRequest);
      return Promise.resolve();
    }
    const exchange = this.#byId.get(Number(options.relatedRequestId));
    if (exchange?.canStream) this.#streamOf(exchange).message(message, !isRequest);
    else if (isRequest) return Promise.reject(new Error("this client takes no stream, so it cannot be asked anything"));
    return Promise.resolve();
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#closed = true;
    for (const [id, exchange] of [...this.#byId]) {
      this.#direct.get(id)?.abort(new DOMException("session closed", "AbortError"));
      this.#answer(exchange, id, { jsonrpc: "2.0", error: { code: RPC.server, message: "session closed" } });
    }
    this.#clients.close();
    this.#events?.end();
    this.onclose?.();
    return Promise.resolve();
  }

  #parse(body: unknown): Incoming[] | Response {
    const refuse = (what: string, of: unknown) =>
      rpcError(400, RPC.invalidRequest, `Invalid Request: ${what}`, undefined, idOf(of));
    const list = Array.isArray(body) ? body : [body];
    if (Array.isArray(body)) {
      if (!BATCH_VERSIONS.includes(this.protocolVersion)) {
        return refuse(`no batches in ${this.protocolVersion}; send one message at a time`, undefined);
      }
      if (body.length === 0 || body.length > LIMITS.maxBatch) {
        return refuse(`a batch has 1 to ${LIMITS.maxBatch} messages`, undefined);
      }
    }
    const out: Incoming[] = [];
    for (const value of list) {
      const message = parseMessage(value);
      if (typeof message === "string") return refuse(message, Array.isArray(body) ? undefined : value);
      if (Array.isArray(body) && message.kind === "request" && message.message.method === "initialize") {
        return refuse("initialize cannot be part of a batch", undefined);
      }
      out.push(message);
    }
    return out;
  }

  #deliver({ kind, message }: Incoming): void {
    if (kind === "notification" && message.method === "notifications/cancelled") this.#cancel(message.params ?? {});
    else if (kind === "request" && message.method === "tools/call" && this.directCall) {
      this.#callDirectly(this.directCall, message);
    } else this.onmessage?.(message);
  }

  #callDirectly(call: DirectCall, { id, params }: JSONRPCRequest): void {
    const ours = Number(id);
    const abort = new AbortController();
    this.#direct.set(ours, abort);
    const answer = (message: Answer) => {
      this.#direct.delete(ours);
      const exchange = this.#byId.get(ours);
      if (exchange) this.#answer(exchange, ours, { jsonrpc: "2.0", ...message });
    };
    call(params, {
      signal: abort.signal,
      notify: (notification) => void this.send({ jsonrpc: "2.0", ...notification }, { relatedRequestId: ours }),
    }).then((result) => answer({ result }), (error) => answer({ error: errorOf(error) }));
  }

  #streamOf(exchange: Exchange): SseOut {
    if (exchange.out) return exchange.out;
    const out: SseOut = new SseOut(this.#host, (end) => {
      this.#host.onDropped(out.dropped);
      if (end !== "done") this.#abandon(exchange, "the client went away");
      if (end === "stalled") void this.close();
    });
    exchange.out = out;
    exchange.resolve(out.response({ [SESSION_HEADER]: this.sessionId }));
    for (const early of exchange.answers.splice(0)) out.message(early, false);
    return out;
  }

  #answer(exchange: Exchange, id: number, message: Answer): void {
    if (id === this.#initializeId && isObject(message["result"])) {
      const agreed = message["result"]["protocolVersion"];
      if (typeof agreed === "string") {
        [this.protocolVersion, this.agreed] = [agreed, true];
        this.onagreed?.({ client: this.#client, version: agreed });
      }
    }
    const answer = { ...message, id: exchange.open.get(id) };
    exchange.open.delete(id);
    this.#byId.delete(id);
    if (exchange.out) exchange.out.message(answer, false);
    else exchange.answers.push(answer);
    if (exchange.open.size === 0) this.#finish(exchange);
  }

  /** Every call of the POST is answered or cancelled. */
  #finish(exchange: Exchange): void {
    exchange.unwatch();
    this.#exchanges.delete(exchange);
    if (exchange.out) return exchange.out.end();
    // Nothing is said to a call that was cancelled.
    if (exchange.answers.length === 0) return exchange.resolve(new Response(null, { status: 202 }));
    const body = JSON.stringify(exchange.batch ? exchange.answers : exchange.answers[0]);
    exchange.resolve(
      new Response(body, { headers: { "content-type": "application/json", [SESSION_HEADER]: this.sessionId } }),
    );
  }

  /** By the client's id: all calls in flight with it, should there be several. */
  #cancel(params: Record<string, unknown>): void {
    for (const [id, exchange] of [...this.#byId]) {
      if (exchange.open.get(id) !== params["requestId"] || id === this.#initializeId) continue;
      this.#abort(id, typeof params["reason"] === "string" ? params["reason"] : "cancelled by the client");
      exchange.open.delete(id);
      this.#byId.delete(id);
      if (exchange.open.size === 0) this.#finish(exchange);
    }
  }

  /** Nobody is there to take the answers. */
  #abandon(exchange: Exchange, reason: string): void {
    if (!this.#exchanges.delete(exchange)) return;
    exchange.unwatch();
    for (const id of exchange.open.keys()) {
      this.#byId.delete(id);
      this.#abort(id, reason);
    }
    exchange.open.clear();
    exchange.out?.end();
    exchange.resolve(new Response(null, { status: 499 }));
  }

  /** Aborts the handler's signal. */
  #abort(id: number, reason: string): void {
    const direct = this.#direct.get(id);
    if (direct) return direct.abort(new DOMException(reason, "AbortError"));
    this.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } });
  }
}

const acceptsStream = (request: Request): boolean =>
  request.headers.get("accept")?.includes("text/event-stream") ?? false;
