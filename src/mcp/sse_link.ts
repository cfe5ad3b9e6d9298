import { idOf } from "./messages.ts";
import { isObject, type RpcId } from "./protocol.ts";
import { readEvents } from "./sse_read.ts";

export interface SseLinkOptions {
  /** Each message of the server, as JSON. */
  onMessage: (data: string) => Promise<void>;
  /** Called for each request that can have no answer any more, since the stream ended. */
  onLost: (id: RpcId) => Promise<void>;
  signal: AbortSignal;
}

/** A client's end of the legacy SSE transport: one stream down, posts up. */
export class SseLink {
  readonly #messages: URL;
  readonly #signal: AbortSignal;
  /** Requests that are not answered. */
  readonly #asked = new Set<RpcId>();
  #open = true;
  /** Resolves when the stream has ended. */
  readonly ended: Promise<void>;

  private constructor(messages: URL, events: AsyncGenerator<string>, options: SseLinkOptions) {
    this.#messages = messages;
    this.#signal = options.signal;
    this.ended = this.#pump(events, options);
  }

  /** `mcp` is the server's `/mcp` with its query. Undefined where `/sse` does not answer with a stream. */
  static async open(mcp: string, options: SseLinkOptions): Promise<SseLink | undefined> {
    const address = new URL(mcp);
    address.pathname = "/sse";
    const response = await fetch(address, { headers: { accept: "text/event-stream" }, signal: options.signal });
    if (!response.ok || response.body === null) return void await response.body?.cancel();
    const events = readEvents(response.body);
    const first = await events.next();
    return first.done ? undefined : new SseLink(new URL(first.value, address), events, options);
  }

  /** False when it did not arrive: the stream has ended, or the session is gone. */
  async post(message: unknown, body: string): Promise<boolean> {
    if (!this.#open) return false;
    const ids = requestIds(message);
    for (const id of ids) this.#asked.add(id);
    const headers = { "content-type": "application/json" };
    const response = await fetch(this.#messages, { method: "POST", headers, body, signal: this.#signal })
      .catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 202) return true;
    for (const id of ids) this.#asked.delete(id);
    return false;
  }

  async #pump(events: AsyncGenerator<string>, { onMessage, onLost }: SseLinkOptions): Promise<void> {
    try {
      for await (const data of events) {
        const message: unknown = JSON.parse(data);
        if (isObject(message) && !("method" in message)) this.#asked.delete(idOf(message));
        await onMessage(data);
      }
    } catch { /* the server is gone */ }
    this.#open = false;
    if (this.#signal.aborted) return;
    for (const id of this.#asked) await onLost(id);
  }
}

const requestIds = (message: unknown): RpcId[] =>
  (Array.isArray(message) ? message : [message]).filter((m) => isObject(m) && "method" in m).map(idOf)
    .filter((id) => id !== null);
