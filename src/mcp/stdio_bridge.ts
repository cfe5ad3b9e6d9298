/**
 * MCP over standard input and output for clients that only start commands: each line is posted to the running server
 * and what comes back is written as lines. The bench itself stays in that one server, so all clients share it.
 */
import { idOf, parseMessage } from "./messages.ts";
import { ENVELOPE_KEY, isObject, RPC, type RpcId, SESSION_HEADER, VERSION_HEADER } from "./protocol.ts";
import { SseLink } from "./sse_link.ts";
import { readEvents } from "./sse_read.ts";

export interface BridgeOptions {
  /**
   * The server's `/mcp` with its token: asked for at the start, and anew when the server does not answer any more.
   */
  connect: () => Promise<string>;
  /** Writes one line. */
  write: (line: string) => Promise<void>;
}

type Json = Record<string, unknown>;

/** Id of a handshake that the client has not sent itself. */
const RENEWED = crypto.randomUUID();
/** How long calls under way may take when the input has ended. */
const LAST_ANSWERS_MS = 10_000;

export class StdioBridge {
  readonly #options: BridgeOptions;
  readonly #abort = new AbortController();
  readonly #calls = new Set<Promise<void>>();
  #listening: Promise<void> = Promise.resolve();
  #url: Promise<string> | undefined;
  #session: string | undefined;
  #version: string | undefined;
  /** The client's handshake, to begin anew with when the session is gone. */
  #handshake: Json | undefined;
  /** Instead of a session of `/mcp`, where a person has switched that off. */
  #sse: SseLink | undefined;
  #opening: Promise<boolean> | undefined;
  #renewing: Promise<boolean> | undefined;
  #beginning: Promise<unknown> = Promise.resolve();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  /** Serves until the input ends, then ends the session. */
  async run(input: ReadableStream<Uint8Array>): Promise<void> {
    for await (const line of lines(input)) {
      if (line.trim() === "") continue;
      const done = this.#line(line).finally(() => this.#calls.delete(done));
      this.#calls.add(done);
    }
    // What was asked is answered, as in `echo … | fieldbench mcp`; a client that is gone does not want it for long.
    let timer: ReturnType<typeof setTimeout> | undefined;
    await Promise.race([Promise.allSettled(this.#calls), new Promise((r) => timer = setTimeout(r, LAST_ANSWERS_MS))]);
    clearTimeout(timer);
    await this.close();
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await Promise.allSettled([...this.#calls, this.#listening, this.#sse?.ended]);
    await this.#writing;
    if (this.#session !== undefined && this.#url) {
      const headers = { [SESSION_HEADER]: this.#session };
      this.#session = undefined;
      // The process ends now: a server that does not answer must not hold it up.
      const signal = AbortSignal.timeout(1000);
      await fetch(await this.#url, { method: "DELETE", headers, signal }).then((r) => r.body?.cancel()).catch(() => {});
    }
  }

  async #line(line: string): Promise<void> {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return this.#write(errorAnswer(null, RPC.parse, "Parse error: the line is not JSON"));
    }
    if (!Array.isArray(message)) {
      const parsed = parseMessage(message);
      if (typeof parsed === "string") {
        return this.#write(errorAnswer(idOf(message), RPC.invalidRequest, `Invalid Request: ${parsed}`));
      }
    }
    if (isObject(message) && message["method"] === "initialize") {
      this.#session = this.#version = undefined;
      this.#handshake = message;
      const begun = this.#send(message, line);
      this.#beginning = begun;
      return await begun;
    }
    await this.#beginning;
    return await this.#send(message, line);
  }

  /** Posts a message; once more when the session or the server is gone and could be had anew. */
  async #send(message: unknown, text: string): Promise<void> {
    const id = idOf(message);
    const expectsAnswer = Array.isArray(message) || (isObject(message) && "method" in message && id !== null);
    for (let attempt = 0; attempt < 2; attempt++) {
      const session = this.#session;
      if (this.#sse) {
        if (await this.#sse.post(message, text)) return;
        this.#sse = undefined;
        if (attempt === 0 && await this.#beginAnew(message, session, false)) continue;
      }
      let response: Response;
      try {
        response = await this.#post(message, text);
      } catch (error) {
        if (this.#abort.signal.aborted) return;
        if (callsTool(message) && !neverArrived(error)) {
          return await this.#write(errorAnswer(id, RPC.server, ENDED));
        }
        if (attempt === 0 && await this.#beginAnew(message, session, true)) continue;
        if (expectsAnswer) await this.#write(errorAnswer(id, RPC.server, "Fieldbench does not answer; is it running?"));
        return;
      }
      if (response.status === 404 && attempt === 0) {
        await response.body?.cancel();
        if (session === undefined ? await this.#openSse() : await this.#beginAnew(message, session, false)) continue;
        response = new Response(JSON.stringify({ error: "the session is gone and no new one can be had" }), {
          status: 404,
        });
      }
      return await this.#answer(response, message, id, expectsAnswer).catch(() => {});
    }
  }

  async #post(message: unknown, body: string): Promise<Response> {
    this.#url ??= this.#options.connect();
    const url = await this.#url;
    return await fetch(url, { method: "POST", headers: this.#headers(message), body, signal: this.#abort.signal });
  }

  #headers(message: unknown): Record<string, string> {
    const headers: Record<string, string> = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const params = isObject(message) && isObject(message["params"]) ? message["params"] : {};
    const claimed = isObject(params["_meta"]) ? params["_meta"][ENVELOPE_KEY] : undefined;
    if (typeof claimed === "string" && isObject(message)) {
      // The modern era repeats in headers what the body says.
      const name = params["name"] ?? params["uri"];
      return {
        ...headers,
        [VERSION_HEADER]: claimed,
        "mcp-method": String(message["method"]),
        ...(typeof name === "string" && { "mcp-name": headerValue(name) }),
      };
    }
    if (this.#session !== undefined) headers[SESSION_HEADER] = this.#session;
    if (this.#version !== undefined) headers[VERSION_HEADER] = this.#version;
    return headers;
  }

  /**
   * A new session with the client's own handshake, whose answer the client has already; where the server itself is gone,
   * its address is asked for anew. Several calls that meet the loss at once wait for one new session.
   */
  #beginAnew(message: unknown, lost: string | undefined, serverGone: boolean): Promise<boolean> {
    if (this.#renewing) return this.#renewing;
    if (lost !== this.#session) return Promise.resolve(true); // another call has seen to it
    if (serverGone) this.#url = undefined;
    const isHandshake = isObject(message) && message["method"] === "initialize";
    // The modern era has no handshake.
    if (isHandshake || this.#handshake === undefined) return Promise.resolve(true);
    return this.#renewing = this.#renew(this.#handshake).finally(() => this.#renewing = undefined);
  }

  async #renew(handshake: Json): Promise<boolean> {
    this.#session = undefined;
    this.#version = undefined;
    const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
    try {
      const response = await this.#post(handshake, JSON.stringify(handshake));
      await response.body?.cancel();
      const session = response.headers.get(SESSION_HEADER);
      if (session === null) {
        if (response.status !== 404 || !await this.#openSse()) return false;
        const again = { ...handshake, id: RENEWED };
        return (await this.#sse?.post(again, JSON.stringify(again)) ?? false) &&
          (await this.#sse?.post(initialized, JSON.stringify(initialized)) ?? false);
      }
      this.#session = session;
      await (await this.#post(initialized, JSON.stringify(initialized))).body?.cancel();
      this.#listen();
      return true;
    } catch {
      return false;
    }
  }

  /** False where there is no SSE either. Several calls that need it at once share one. */
  #openSse(): Promise<boolean> {
    return this.#opening ??= this.#openLink().finally(() => this.#opening = undefined);
  }

  async #openLink(): Promise<boolean> {
    if (this.#sse) return true;
    const url = await this.#url;
    if (url === undefined) return false;
    this.#sse = await SseLink.open(url, {
      // The client has the answer to its handshake.
      onMessage: (data) => idOf(JSON.parse(data)) === RENEWED ? Promise.resolve() : this.#write(data),
      onLost: (id) => this.#write(errorAnswer(id, RPC.server, ENDED)),
      signal: this.#abort.signal,
    }).catch(() => undefined);
    return this.#sse !== undefined;
  }

  async #answer(response: Response, message: unknown, id: RpcId, expectsAnswer: boolean): Promise<void> {
    const session = response.headers.get(SESSION_HEADER);
    const isHandshake = isObject(message) && message["method"] === "initialize";
    if (response.body && response.headers.get("content-type")?.startsWith("text/event-stream")) {
      for await (const data of readEvents(response.body)) await this.#write(data);
      return;
    }
    const text = await response.text();
    if (isHandshake && session !== null) {
      this.#session = session;
      const result: unknown = JSON.parse(text);
      const agreed = isObject(result) && isObject(result["result"]) ? result["result"]["protocolVersion"] : undefined;
      if (typeof agreed === "string") this.#version = agreed;
    }
    if (response.ok && text !== "") {
      // A batch is answered as one line, as it came.
      await this.#write(JSON.stringify(JSON.parse(text)));
    } else if (!response.ok && expectsAnswer) await this.#write(refusal(text, id));
    if (isObject(message) && message["method"] === "notifications/initialized") this.#listen();
  }

  /** Notifications that belong to no call. */
  #listen(): void {
    const session = this.#session;
    if (session === undefined) return;
    this.#listening = (async () => {
      const url = await this.#url;
      if (url === undefined) return;
      const headers = { accept: "text/event-stream", [SESSION_HEADER]: session };
      const response = await fetch(url, { headers, signal: this.#abort.signal });
      if (!response.ok || response.body === null) return void await response.body?.cancel();
      for await (const data of readEvents(response.body)) await this.#write(data);
    })().catch(() => {});
  }

  /** Lines go out whole and in order. */
  #write(line: string): Promise<void> {
    return this.#writing = this.#writing.then(() => this.#options.write(line)).catch(() => {});
  }
}

/** Names with other than visible ASCII go in the header as the era's rules have it. */
const headerValue = (name: string): string =>
  /^[\x21-\x7e]+$/.test(name) ? name : `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(name)))}?=`;

const ENDED =
  "the connection to Fieldbench ended before it answered; what the call did until then is in its logs: look before you repeat it";

/** A call may do something, so it is not sent a second time where the first may have arrived. */
const callsTool = (message: unknown): boolean =>
  Array.isArray(message) ? message.some(callsTool) : isObject(message) && message["method"] === "tools/call";

/** Nobody took the connection, or there was no address to connect to: `fetch` says so in words only. */
const neverArrived = (error: unknown): boolean =>
  !(error instanceof TypeError) ||
  /\(Connect\)/.test(error.cause instanceof Error ? error.cause.message : error.message);

const errorAnswer = (id: RpcId, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });

/** An HTTP refusal as the JSON-RPC error that a client on a pipe can make use of. */
function refusal(text: string, id: RpcId): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch { /* told in general */ }
  if (isObject(body) && isObject(body["error"])) return JSON.stringify({ ...body, id });
  const said = isObject(body) && typeof body["error"] === "string" ? body["error"] : "the server refused";
  return errorAnswer(id, RPC.server, said);
}

/** Longest line that is kept; over it the input is no MCP. */
const MAX_LINE = 4 * 1024 * 1024;

async function* lines(input: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of input) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) yield part;
    if (rest.length > MAX_LINE) return;
  }
  if (rest.trim() !== "") yield rest;
}
