/**
 * The modern era (2026-07-28) by the SDK's handler: no sessions, each request carries its envelope. Around it is what
 * the SDK leaves out: its streams are unbounded, and a call that is silent for long gets no heartbeat.
 */
import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { ClientWatch } from "./client_watch.ts";
import type { Connection, DirectCall, Engine, Sdk } from "./engine.ts";
import { type PlainCall, plainCall } from "./modern_call.ts";
import { isObject } from "./protocol.ts";
import { errorOf } from "./results.ts";
import type { SessionHost } from "./session_transport.ts";
import { profileOf } from "./slim.ts";
import { SseOut } from "./sse_out.ts";
import { LIMITS } from "../../tools/mod.ts";

/** A request that the SDK has not answered yet. */
interface Waiting {
  readonly begun: number;
  out: SseOut | undefined;
  upgrade(): void;
}

/** Session name that all modern requests share: their rate is counted together. */
const MODERN_SESSION = "modern";

export class ModernEra {
  readonly #handler: McpHttpHandler;
  readonly #host: SessionHost;
  readonly #waiting = new Set<Waiting>();
  readonly #streams = new Set<SseOut>();
  /** Places of subscribers: the request while it is not answered, then its stream. */
  readonly #listeners = new Set<Waiting | SseOut>();
  readonly #unknown = new WeakSet<Request>();
  readonly #clients = new ClientWatch();
  readonly #aborts = new Set<AbortController>();
  readonly #directCall: DirectCall | undefined;
  /** What the era has in every result. */
  readonly #stamp: Record<string, unknown>;

  constructor(sdk: Sdk, engine: Engine, host: SessionHost, onError: (error: Error) => void) {
    this.#host = host;
    this.#directCall = engine.directCall(MODERN_SESSION);
    this.#stamp = { resultType: "complete", _meta: { [sdk.SERVER_INFO_META_KEY]: engine.info } };
    this.#handler = sdk.createMcpHandler(({ requestInfo }) => engine.createServer(sdk, this.#connection(requestInfo)), {
      legacy: "reject",
      maxRequestBodySize: LIMITS.maxBodyBytes,
      keepAliveMs: 0,
      onerror: onError,
    });
  }

  /** Event streams that are open. */
  get streams(): number {
    return this.#streams.size;
  }
  get notify(): McpHttpHandler["notify"] {
    return this.#handler.notify;
  }

  /** A POST with its parsed body. */
  fetch(request: Request, parsedBody: unknown): Promise<Response> {
    const plain = this.#directCall && plainCall(request, parsedBody);
    if (this.#directCall && plain) return this.#callDirectly(this.#directCall, plain, request);
    const listens = isObject(parsedBody) && parsedBody["method"] === "subscriptions/listen";
    if (listens && this.#listeners.size >= LIMITS.maxListeners) return Promise.resolve(fullOfListeners());
    const answer = this.#handler.fetch(request, { parsedBody });
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        begun: this.#host.now(),
        out: undefined,
        upgrade: () => {
          waiting.out = this.#open();
          waiting.out.heartbeat();
          resolve(waiting.out.response());
        },
      };
      if (listens) this.#listeners.add(waiting);
      if (request.headers.get("accept")?.includes("text/event-stream")) this.#waiting.add(waiting);
      answer.then((response) => this.#settle(waiting, this.#withStatus(request, response), resolve), reject)
        .finally(() => {
          this.#waiting.delete(waiting);
          this.#listeners.delete(waiting);
        });
    });
  }

  /** Heartbeats, and the end of readers that stalled. */
  tick(): void {
    const now = this.#host.now();
    for (const w of this.#waiting) {
      if (!w.out && now - w.begun >= this.#host.heartbeatMs) w.upgrade();
    }
    for (const s of this.#streams) s.tick();
  }

  async close(): Promise<void> {
    this.#clients.close();
    for (const abort of this.#aborts) abort.abort(new DOMException("the server stops", "AbortError"));
    await this.#handler.close();
    for (const s of [...this.#streams]) s.end();
  }

  #connection(request: Request | undefined): Connection {
    return {
      session: MODERN_SESSION,
      profile: request && profileOf(request),
      subscriptions: new Set(),
      unknownMethod: () => {
        if (request) this.#unknown.add(request);
      },
    };
  }

  #callDirectly(call: DirectCall, { id, params }: PlainCall, request: Request): Promise<Response> {
    const abort = new AbortController();
    return new Promise((resolve) => {
      const gone = () => {
        abort.abort(new DOMException("the client went away", "AbortError"));
        waiting.out?.end();
        resolve(new Response(null, { status: 499 }));
      };
      const waiting: Waiting = {
        begun: this.#host.now(),
        out: undefined,
        upgrade: () => {
          waiting.out = this.#open(gone);
          waiting.out.heartbeat();
          resolve(waiting.out.response());
        },
      };
      this.#waiting.add(waiting);
      const unwatch = this.#clients.add(request, gone);
      const answer = (message: Record<string, unknown>) => {
        unwatch();
        this.#waiting.delete(waiting);
        if (waiting.out) {
          waiting.out.message(message, false);
          waiting.out.end();
        } else resolve(new Response(JSON.stringify(message), { headers: { "content-type": "application/json" } }));
      };
      this.#aborts.add(abort);
      call(params, { signal: abort.signal, notify: () => {} }).then(
        (result) => answer({ jsonrpc: "2.0", id, result: { ...result, ...this.#stamp } }),
        (error) => answer({ jsonrpc: "2.0", id, error: errorOf(error) }),
      ).finally(() => this.#aborts.delete(abort));
    });
  }

  #open(onGone: () => void = () => {}): SseOut {
    const out: SseOut = new SseOut(this.#host, (end) => {
      this.#streams.delete(out);
      this.#listeners.delete(out);
      this.#host.onDropped(out.dropped);
      if (end !== "done") onGone();
    });
    this.#streams.add(out);
    return out;
  }

  /** The suite of the modern era wants 404 for a method that there is not, not only the JSON-RPC error. */
  #withStatus(request: Request, response: Response): Response {
    if (!this.#unknown.has(request) || response.status !== 200) return response;
    return new Response(response.body, { status: 404, headers: response.headers });
  }

  #settle(waiting: Waiting, response: Response, resolve: (r: Response) => void): void {
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    if (isStream && response.body) {
      const source = response.body.getReader();
      const out = waiting.out ?? this.#open(() => void source.cancel().catch(() => {}));
      if (this.#listeners.has(waiting)) this.#listeners.add(out);
      resolve(out.response());
      void relay(source, out);
    } else if (waiting.out) {
      const out = waiting.out;
      void response.json().then((message) => out.message(message, false)).catch(() => {}).finally(() => out.end());
    } else resolve(response);
  }
}

const fullOfListeners = (): Response =>
  Response.json({ error: `all ${LIMITS.maxListeners} event streams of subscribers are in use; end one` }, {
    status: 429,
    headers: { "retry-after": "5" },
  });

/** Takes frames as they come, so that nothing piles up where there is no limit. */
async function relay(source: ReadableStreamDefaultReader<Uint8Array>, out: SseOut): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await source.read();
      if (done || out.ended) break;
      const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) out.block(block, isNotification(block));
    }
  } catch { /* the exchange was ended from our side */ }
  await source.cancel().catch(() => {});
  out.end();
}

function isNotification(block: string): boolean {
  const data = block.split("\n").find((l) => l.startsWith("data: "))?.slice(6);
  if (data === undefined) return true;
  try {
    const message: unknown = JSON.parse(data);
    return isObject(message) && "method" in message && !("id" in message);
  } catch {
    return false;
  }
}
