import { LIMITS } from "../../tools/mod.ts";

/** Versions with a handshake, newest first. */
export const LEGACY_VERSIONS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/** Versions without sessions, where each request carries its own envelope. */
export const MODERN_VERSIONS: readonly string[] = ["2026-07-28"];
export const SUPPORTED_VERSIONS: readonly string[] = [...MODERN_VERSIONS, ...LEGACY_VERSIONS];
/** Versions whose clients may put several messages into one body. */
export const BATCH_VERSIONS: readonly string[] = ["2025-03-26", "2024-11-05"];
/** What a client without the header speaks. */
export const VERSION_WITHOUT_HEADER = "2025-03-26";
/** Key of `_meta` that makes a message one of the modern era. */
export const ENVELOPE_KEY = "io.modelcontextprotocol/protocolVersion";

export const RPC = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  server: -32000,
} as const;

export type RpcId = string | number | null;

export const SESSION_HEADER = "mcp-session-id";
export const VERSION_HEADER = "mcp-protocol-version";

/** A JSON-RPC error as an HTTP answer. */
export function rpcError(status: number, code: number, message: string, data?: unknown, id: RpcId = null): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message, ...(data !== undefined && { data }) }, id }, {
    status,
  });
}

export const isObject = (x: unknown): x is Record<string, unknown> =>
  typeof x === "object" && x !== null && !Array.isArray(x);

/** Does a message, or any of a batch, claim the modern era? */
export function claimsModernEra(body: unknown): boolean {
  if (Array.isArray(body)) return body.some(claimsModernEra);
  if (!isObject(body) || !isObject(body["params"])) return false;
  const meta = body["params"]["_meta"];
  return isObject(meta) && ENVELOPE_KEY in meta;
}

export type Body = { ok: true; value: unknown } | { ok: false; response: Response };

/** Reads and parses a body: media type, size, syntax and depth. */
export async function readBody(request: Request): Promise<Body> {
  const refuse = (response: Response): Body => ({ ok: false, response });
  if (!isJson(request.headers.get("content-type"))) {
    return refuse(rpcError(415, RPC.server, "Content-Type must be application/json"));
  }
  let text: string | undefined;
  try {
    text = await readText(request, LIMITS.maxBodyBytes);
  } catch {
    // The client went away in the middle of it: nobody reads this answer.
    return refuse(rpcError(400, RPC.parse, "Parse error: the body ended too early"));
  }
  if (text === undefined) {
    return refuse(rpcError(413, RPC.server, `The body is over ${LIMITS.maxBodyBytes} bytes; send less at once`));
  }
  if (isTooDeep(text)) {
    return refuse(
      rpcError(400, RPC.invalidRequest, `Invalid Request: nested deeper than ${LIMITS.maxJsonDepth} levels`),
    );
  }
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return refuse(rpcError(400, RPC.parse, "Parse error: the body is not JSON"));
  }
}

const isJson = (type: string | null): boolean => {
  const media = type?.split(";", 1)[0]?.trim().toLowerCase();
  return media === "application/json" || (media?.endsWith("+json") ?? false);
};

/** The body as text, or undefined when it is longer than `max` bytes; then the rest is not read. */
async function readText(request: Request, max: number): Promise<string | undefined> {
  const declared = request.headers.get("content-length");
  if (declared !== null) {
    if (!(Number(declared) <= max)) return undefined;
    return await request.text();
  }
  if (request.body === null) return "";
  const decoder = new TextDecoder();
  let size = 0, text = "";
  for await (const chunk of request.body) {
    size += chunk.length;
    if (size > max) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Counts brackets outside strings: cheaper than parsing what would be refused. */
function isTooDeep(text: string): boolean {
  if (text.length < 2 * LIMITS.maxJsonDepth) return false;
  let depth = 0, inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (inString) {
      if (c === 0x5c) i++;
      else if (c === 0x22) inString = false;
    } else if (c === 0x22) inString = true;
    else if (c === 0x7b || c === 0x5b) {
      if (++depth > LIMITS.maxJsonDepth) return true;
    } else if (c === 0x7d || c === 0x5d) depth--;
  }
  return false;
}
