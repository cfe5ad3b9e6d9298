/** The transport of 2024-11-05: one event stream down, POSTs up, each acknowledged with 202. */
import type { JSONRPCMessage, MessageExtraInfo, Transport } from "@modelcontextprotocol/server";
import { idOf, type Incoming, parseMessage } from "./messages.ts";
import { BATCH_VERSIONS, isObject, LEGACY_VERSIONS, RPC, rpcError } from "./protocol.ts";
import type { SessionHost } from "./session_transport.ts";
import { clientOf, completeHandshake, type Handshake } from "./params.ts";
import { repaired } from "./results.ts";
import { SseOut } from "./sse_out.ts";
import { LIMITS } from "../../tools/mod.ts";

export class SseTransport implements Transport {
  readonly sessionId = crypto.randomUUID();
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void;
  protocolVersion = LEGACY_VERSIONS.at(-1) ?? "2024-11-05";
  onagreed: ((handshake: Handshake) => void) | undefined;
  #client = "";
  readonly #out: SseOut;
  /** Our id → the client's, which it may use twice at the same time. */
  readonly #open = new Map<number, string | number>();
  #lastId = 0;
  #initializeId = -1;
  #closed = false;

  /** `pathFor` gives the address that the client has to post to. */
  constructor(host: SessionHost, pathFor: (sessionId: string) => string) {
    this.#out = new SseOut(host, () => {
      host.onDropped(this.#out.dropped);
      void this.close();
    });
    this.#out.endpoint(pathFor(this.sessionId));
  }

  start(): Promise<void> {
    return Promise.resolve();
  }
  get inFlight(): number {
    return this.#open.size;
  }
  readonly listening = true;
  tick(): void {
    this.#out.tick();
  }
  response(): Response {
    return this.#out.response();
  }

  /** A POST with its parsed body; answers go out on the stream. */
  receive(body: unknown): Response {
    const messages: Incoming[] = [];
    const isBatch = Array.isArray(body);
    if (
      isBatch && (!BATCH_VERSIONS.includes(this.protocolVersion) || body.length > LIMITS.maxBatch || body.length === 0)
    ) {
      return rpcError(400, RPC.invalidRequest, `Invalid Request: no batches in ${this.protocolVersion}`);
    }
    for (const value of isBatch ? body : [body]) {
      const message = parseMessage(value);
      if (typeof message === "string") {
        return rpcError(
          400,
          RPC.invalidRequest,
          `Invalid Request: ${message}`,
          undefined,
          isBatch ? null : idOf(value),
        );
      }
      messages.push(message);
    }
    for (const m of messages) {
      if (m.kind === "request") {
        const id = ++this.#lastId;
        this.#open.set(id, m.message.id);
        m.message.id = id;
        if (m.message.method === "initialize") {
          this.#initializeId = id;
          m.message.params = completeHandshake(m.message.params);
          this.#client = clientOf(m.message.params);
        }
      }
      if (m.kind === "notification" && m.message.method === "notifications/cancelled") {
        this.#cancel(m.message.params ?? {});
      } else this.onmessage?.(m.message);
    }
    return new Response(null, { status: 202 });
  }

  send(message: JSONRPCMessage): Promise<void> {
    if ("method" in message) {
      this.#out.message(message, !("id" in message));
      return Promise.resolve();
    }
    if (typeof message.id !== "number" || !this.#open.has(message.id)) return Promise.resolve();
    if (message.id === this.#initializeId && "result" in message && isObject(message.result)) {
      const agreed = message.result["protocolVersion"];
      if (typeof agreed === "string") {
        this.protocolVersion = agreed;
        this.onagreed?.({ client: this.#client, version: agreed });
      }
    }
    const id = this.#open.get(message.id);
    this.#open.delete(message.id);
    this.#out.message({ ...repaired(message), id }, false);
    return Promise.resolve();
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#closed = true;
    this.#out.end();
    this.onclose?.();
    return Promise.resolve();
  }

  #cancel(params: Record<string, unknown>): void {
    for (const [id, theirs] of [...this.#open]) {
      if (theirs !== params["requestId"] || id === this.#initializeId) continue;
      this.#open.delete(id);
      this.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    }
  }
}
