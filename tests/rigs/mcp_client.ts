/** A raw MCP client: every byte of the wire is in the test's hands. */
import assert from "node:assert/strict";
import { isObject } from "../../src/mcp/protocol.ts";

export const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
} as const;

export type Json = Record<string, unknown>;

export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; of an event stream, its last message. */
  json: Json;
}

export interface PostOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Added to the path. */
  query?: string;
}

/** Reads a whole answer. */
export async function readAnswer(response: Response): Promise<HttpAnswer> {
  const text = await response.text();
  let json: Json = {};
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const body = isStream ? events(text).at(-1) ?? "" : text;
  try {
    const value: unknown = JSON.parse(body);
    json = isObject(value) ? value : { batch: value };
  } catch { /* not JSON: `text` has it */ }
  return { status: response.status, headers: response.headers, text, json };
}

/** The data of the events in a piece of a stream. */
export const events = (text: string): string[] =>
  text.split("\n\n").flatMap((block) => {
    const data = block.split("\n").filter((l) => l.startsWith("data: ")).map((l) => l.slice(6));
    return data.length ? [data.join("\n")] : [];
  });

export class RawMcp {
  session = "";
  #id = 0;
  constructor(readonly origin: string, readonly token: string, public path = "/mcp") {}

  get headers(): Record<string, string> {
    return {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${this.token}`,
      ...(this.session && { "mcp-session-id": this.session }),
    };
  }

  /** Posts any body as it is. */
  async raw(body: string, options: PostOptions = {}): Promise<HttpAnswer> {
    return await readAnswer(await this.open(body, options));
  }

  /** Posts and gives the response unread. */
  open(body: string, options: PostOptions = {}): Promise<Response> {
    return fetch(this.origin + this.path + (options.query ?? ""), {
      method: "POST",
      headers: { ...this.headers, ...options.headers },
      body,
      ...(options.signal && { signal: options.signal }),
    });
  }

  request(method: string, params?: unknown, options: PostOptions & { id?: number | string } = {}): Promise<HttpAnswer> {
    const { id = ++this.#id, ...rest } = options;
    return this.raw(JSON.stringify({ jsonrpc: "2.0", id, method, params }), rest);
  }

  notify(method: string, params?: unknown): Promise<HttpAnswer> {
    return this.raw(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** The handshake; keeps the session id. */
  async initialize(version: string = INITIALIZE.protocolVersion): Promise<HttpAnswer> {
    const answer = await this.request("initialize", { ...INITIALIZE, protocolVersion: version });
    const id = answer.headers.get("mcp-session-id");
    assert.equal(answer.status, 200, answer.text);
    assert.ok(id, "no session id in the answer to initialize");
    this.session = id;
    assert.equal((await this.notify("notifications/initialized")).status, 202);
    return answer;
  }

  call(name: string, args?: unknown, options: PostOptions & { id?: number | string } = {}): Promise<HttpAnswer> {
    return this.request("tools/call", { name, arguments: args }, options);
  }

  /** A call that must succeed; its structured content. */
  async ok(name: string, args?: unknown): Promise<Json> {
    const { json, text } = await this.call(name, args);
    const result = json["result"];
    assert.ok(isObject(result) && result["isError"] !== true && isObject(result["structuredContent"]), text);
    return result["structuredContent"];
  }

  async delete(): Promise<HttpAnswer> {
    const response = await fetch(this.origin + this.path, { method: "DELETE", headers: this.headers });
    return await readAnswer(response);
  }

  /** The stream for notifications. */
  async listen(signal?: AbortSignal): Promise<EventReader> {
    const { "content-type": _, ...headers } = this.headers;
    const response = await fetch(this.origin + this.path, {
      headers: { ...headers, accept: "text/event-stream" },
      ...(signal && { signal }),
    });
    assert.equal(response.status, 200);
    return new EventReader(response);
  }
}

/** Opens a session. */
export async function connect(origin: string, token: string, version?: string): Promise<RawMcp> {
  const client = new RawMcp(origin, token);
  await client.initialize(version);
  return client;
}

/** Reads an event stream piece by piece. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #decoder = new TextDecoder();
  #buffer = "";
  constructor(readonly response: Response) {
    assert.ok(response.body);
    this.#reader = response.body.getReader();
  }

  /** The next block between blank lines: an event or a comment. Undefined at the end of the stream. */
  async block(): Promise<string | undefined> {
    for (;;) {
      const end = this.#buffer.indexOf("\n\n");
      if (end >= 0) {
        const block = this.#buffer.slice(0, end);
        this.#buffer = this.#buffer.slice(end + 2);
        return block;
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#buffer += this.#decoder.decode(value, { stream: true });
    }
  }

  /** The data of the next event that is no comment. */
  async event(): Promise<string | undefined> {
    for (;;) {
      const block = await this.block();
      if (block === undefined) return undefined;
      const [data] = events(block);
      if (data !== undefined) return data;
    }
  }

  async message(): Promise<Json> {
    const value: unknown = JSON.parse(await this.event() ?? "null");
    assert.ok(isObject(value), "the stream ended");
    return value;
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel().catch(() => {});
  }
}

/** The legacy transport: one stream down, posts up. */
export class SseClient {
  readonly #messages = new Map<unknown, (message: Json) => void>();
  readonly notifications: Json[] = [];
  #id = 0;
  readonly done: Promise<void>;

  private constructor(
    readonly origin: string,
    readonly token: string,
    readonly endpoint: string,
    readonly events: EventReader,
  ) {
    this.done = this.#pump();
  }

  static async open(origin: string, token: string, query = true): Promise<SseClient> {
    const response = await fetch(`${origin}/sse${query ? `?token=${token}` : ""}`, {
      headers: query ? {} : { authorization: `Bearer ${token}` },
    });
    assert.equal(response.status, 200, response.status === 200 ? "" : await response.text());
    const reader = new EventReader(response);
    const first = await reader.block();
    assert.match(first ?? "", /^event: endpoint\ndata: \/messages\?sessionId=/);
    return new SseClient(origin, token, (first ?? "").slice("event: endpoint\ndata: ".length), reader);
  }

  async #pump(): Promise<void> {
    for (;;) {
      const data = await this.events.event().catch(() => undefined);
      if (data === undefined) return;
      const message: unknown = JSON.parse(data);
      if (!isObject(message)) continue;
      const waiting = this.#messages.get(message["id"]);
      if (waiting && message["method"] === undefined) {
        this.#messages.delete(message["id"]);
        waiting(message);
      } else this.notifications.push(message);
    }
  }

  async post(body: unknown): Promise<number> {
    const response = await fetch(this.origin + this.endpoint, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(this.endpoint.includes("token=") ? {} : { authorization: `Bearer ${this.token}` }),
      },
      body: JSON.stringify(body),
    });
    await response.body?.cancel();
    return response.status;
  }

  async request(method: string, params?: unknown): Promise<Json> {
    const id = ++this.#id;
    const answer = new Promise<Json>((resolve) => this.#messages.set(id, resolve));
    assert.equal(await this.post({ jsonrpc: "2.0", id, method, params }), 202);
    return await answer;
  }

  async initialize(version = "2024-11-05"): Promise<Json> {
    const answer = await this.request("initialize", { ...INITIALIZE, protocolVersion: version });
    assert.equal(await this.post({ jsonrpc: "2.0", method: "notifications/initialized" }), 202);
    return answer;
  }

  async close(): Promise<void> {
    await this.events.cancel();
    await this.done;
  }
}

/** Parts of an answer; empty where there is none, so that a test can compare without asking first. */
export const resultOf = (json: Json): Json => isObject(json["result"]) ? json["result"] : {};
export const errorOf = (json: Json): Json => isObject(json["error"]) ? json["error"] : {};
export const structured = (json: Json): Json => {
  const value = resultOf(json)["structuredContent"];
  return isObject(value) ? value : {};
};
export const textOf = (json: Json): string => {
  const content = resultOf(json)["content"];
  return Array.isArray(content) ? String(content[0]?.text) : "";
};
