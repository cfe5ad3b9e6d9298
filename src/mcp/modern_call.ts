import { ENVELOPE_KEY, isObject, MODERN_VERSIONS, VERSION_HEADER } from "./protocol.ts";

/** A `tools/call` of the modern era that asks for nothing but its answer. */
export interface PlainCall {
  readonly id: string | number;
  readonly params: { name: string; arguments?: unknown };
}

const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/**
 * Recognises the request that clients send all day: right headers, whole envelope, no progress, no log level, no answer
 * to a question. It can go to the gate without the SDK, which takes four times as long over it. Anything else, and
 * anything that is wrong, gives undefined: then the SDK says what is wrong.
 */
export function plainCall({ headers }: Request, body: unknown): PlainCall | undefined {
  if (!isObject(body) || body["jsonrpc"] !== "2.0" || body["method"] !== "tools/call") return undefined;
  const { id, params } = body;
  if (typeof id !== "string" && !(typeof id === "number" && Number.isSafeInteger(id))) return undefined;
  if (!isObject(params) || !onlyKeys(params, ["name", "arguments", "_meta"])) return undefined;
  const { name, arguments: args, _meta: meta } = params;
  if (typeof name !== "string" || !isObject(meta) || !isPlainEnvelope(meta)) return undefined;
  if (headers.get(VERSION_HEADER) !== meta[ENVELOPE_KEY] || headers.get("mcp-method") !== "tools/call") {
    return undefined;
  }
  if (headers.get("mcp-name") !== name || !acceptsBoth(headers.get("accept"))) return undefined;
  return { id, params: { name, ...(args !== undefined && { arguments: args }) } };
}

function isPlainEnvelope(meta: Record<string, unknown>): boolean {
  if (!onlyKeys(meta, [ENVELOPE_KEY, CLIENT_INFO, CAPABILITIES])) return false;
  if (!MODERN_VERSIONS.some((v) => v === meta[ENVELOPE_KEY])) return false;
  const info = meta[CLIENT_INFO];
  if (!isObject(info) || typeof info["name"] !== "string" || typeof info["version"] !== "string") return false;
  const capabilities = meta[CAPABILITIES];
  return isObject(capabilities) && Object.values(capabilities).every(isObject);
}

function onlyKeys(value: Record<string, unknown>, allowed: readonly string[]): boolean {
  for (const key in value) if (!allowed.includes(key)) return false;
  return true;
}

const acceptsBoth = (accept: string | null): boolean =>
  accept !== null && accept.includes("application/json") && accept.includes("text/event-stream");
