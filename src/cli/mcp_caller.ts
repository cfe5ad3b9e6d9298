import { z } from "zod";
import { SseLink } from "../mcp/sse_link.ts";
import { LIMITS } from "../../tools/mod.ts";
import { CliError } from "./args.ts";
import { VERSION } from "./version.ts";

/** Nobody listens at the address. */
export class NoServer extends Error {
  override name = "NoServer";
}

export type CallAnswer =
  | { text: string; structured: Record<string, unknown> | undefined; isError: boolean }
  | { error: { code: number; message: string; data?: unknown } };

const reply = z.looseObject({
  result: z.looseObject({}).optional(),
  error: z.looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
});
const toolResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })).default([]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().default(false),
});

/**
 * A small MCP client over streamable HTTP (revision 2025-11-25), or over SSE where a person has switched that off;
 * without the SDK, whose loading would take longer than the call.
 */
export class McpCaller {
  readonly #url: string;
  readonly #signal: AbortSignal;
  readonly #ended = new AbortController();
  /** Requests over SSE that wait for their answer. */
  readonly #waiting = new Map<unknown, (answer: unknown) => void>();
  #session: string | undefined;
  #sse: SseLink | undefined;
  #id = 0;

  constructor(url: string, signal: AbortSignal) {
    this.#url = url;
    this.#signal = signal;
  }

  /** Throws {@link NoServer} if nobody listens, CliError if what listens is not ours or ends meanwhile. */
  async call(name: string, args: Record<string, unknown>): Promise<CallAnswer> {
    const hello = await this.#request("initialize", {
      protocolVersion: LIMITS.protocolVersion,
      capabilities: {},
      clientInfo: { name: "fieldbench-call", version: VERSION },
    });
    if (hello.error) throw new CliError(`the server refused: ${hello.error.message}`);
    const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
    if (this.#sse) await this.#sse.post(initialized, JSON.stringify(initialized));
    else await this.#post(initialized);
    const answer = await this.#request("tools/call", { name, arguments: args });
    if (answer.error) {
      const { code, message, data } = answer.error;
      return { error: { code, message, ...(data !== undefined && { data }) } };
    }
    const result = toolResult.parse(answer.result ?? {});
    const text = result.content.map((c) => c.text ?? "").filter((t) => t !== "").join("\n");
    return { text, structured: result.structuredContent, isError: result.isError };
  }

  /** Ends the session, so that it takes no place any more. Never throws. */
  async end(): Promise<void> {
    this.#ended.abort();
    await this.#sse?.ended;
    if (this.#session === undefined) return;
    try {
      const response = await fetch(this.#url, {
        method: "DELETE",
        headers: { "mcp-session-id": this.#session },
        signal: AbortSignal.timeout(2000),
      });
      await response.body?.cancel();
    } catch { /* the server has gone, and the session with it */ }
  }

  async #request(method: string, params: Record<string, unknown>): Promise<z.infer<typeof reply>> {
    const id = ++this.#id;
    const message = { jsonrpc: "2.0", id, method, params };
    if (this.#sse) return await this.#overSse(this.#sse, id, message);
    const response = await this.#post(message);
    if (response.status === 404 && this.#session === undefined) {
      this.#sse = await this.#openSse();
      if (this.#sse) return await this.#overSse(this.#sse, id, message);
    }
    const body = response.text;
    const parsed = reply.safeParse(response.stream ? lastEvent(body, id) : parse(body));
    if (parsed.success && (parsed.data.result || parsed.data.error)) return parsed.data;
    throw new CliError(`the server answered with HTTP ${response.status}: ${body.slice(0, 300) || "nothing"}`);
  }

  async #openSse(): Promise<SseLink | undefined> {
    const settle = (id: unknown, answer: unknown) => {
      this.#waiting.get(id)?.(answer);
      this.#waiting.delete(id);
      return Promise.resolve();
    };
    return await SseLink.open(this.#url, {
      onMessage: (data) => {
        const message = reply.extend({ id: z.unknown() }).safeParse(JSON.parse(data));
        return message.success ? settle(message.data.id, message.data) : Promise.resolve();
      },
      onLost: (id) => settle(id, undefined),
      signal: AbortSignal.any([this.#signal, this.#ended.signal]),
    });
  }

  async #overSse(sse: SseLink, id: number, message: unknown): Promise<z.infer<typeof reply>> {
    const answer = new Promise((resolve, reject) => {
      this.#waiting.set(id, resolve);
      this.#signal.addEventListener("abort", () => reject(this.#signal.reason), { once: true });
    });
    answer.catch(() => {}); // also when nobody waits for it
    const arrived = await sse.post(message, JSON.stringify(message));
    const parsed = reply.safeParse(arrived ? await answer : undefined);
    if (parsed.success) return parsed.data;
    throw new CliError("the server ended before it answered; what the call did until then is in its logs");
  }

  async #post(message: unknown): Promise<{ status: number; text: string; stream: boolean }> {
    try {
      const response = await fetch(this.#url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": LIMITS.protocolVersion,
          ...(this.#session !== undefined && { "mcp-session-id": this.#session }),
        },
        body: JSON.stringify(message),
        signal: this.#signal,
      });
      const session = response.headers.get("mcp-session-id");
      const stream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
      const text = await response.text();
      this.#session ??= session ?? undefined;
      return { status: response.status, text, stream };
    } catch (error) {
      // No address in the message: it holds the token.
      if (!(error instanceof TypeError)) throw error;
      if (this.#session === undefined) throw new NoServer("nobody listens");
      throw new CliError("the server ended before it answered; what the call did until then is in its logs");
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The event of a stream that answers request `id`; notifications before it are passed over. */
function lastEvent(text: string, id: number): unknown {
  for (const block of text.split(/\r?\n\r?\n/)) {
    const data = block.split(/\r?\n/).filter((l) => l.startsWith("data:")).map((l) => l.slice(5).trimStart()).join(
      "\n",
    );
    const value = parse(data);
    if (typeof value === "object" && value !== null && "id" in value && value.id === id) return value;
  }
  return undefined;
}
