import type {
  JSONRPCErrorResponse,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResultResponse,
} from "@modelcontextprotocol/server";
import { isObject } from "./protocol.ts";

/** A JSON-RPC message as it came, its shape checked; what is inside `params` is checked by who reads it. */
export type Incoming =
  | { kind: "request"; message: JSONRPCRequest }
  | { kind: "notification"; message: JSONRPCNotification }
  | { kind: "response"; message: JSONRPCResultResponse | JSONRPCErrorResponse };

/** What is wrong with a message, or the message. */
export function parseMessage(value: unknown): Incoming | string {
  if (!isObject(value)) return "a message must be an object";
  if (value["jsonrpc"] !== "2.0") return 'jsonrpc must be "2.0"';
  const { id, method, params } = value;
  if (method === undefined) return parseResponse(value);
  if (typeof method !== "string") return "method must be a string";
  if (params !== undefined && !isObject(params)) return "params must be an object";
  const clean = params === undefined ? undefined : withCleanMeta(params);
  if (clean === null) return "params._meta must be an object";
  const more = clean === undefined ? {} : { params: clean };
  if (id === undefined) return { kind: "notification", message: { jsonrpc: "2.0", method, ...more } };
  if (!isId(id)) return "id must be a string or a whole number";
  return { kind: "request", message: { jsonrpc: "2.0", id, method, ...more } };
}

/**
 * Only the progress token is kept of `_meta`, and only if it is one: the SDK silently drops, unanswered, every message
 * whose `_meta` has another form than it expects. Null when it is no object.
 */
function withCleanMeta(params: Record<string, unknown>): Record<string, unknown> | null {
  const meta = params["_meta"];
  if (meta === undefined) return params;
  if (!isObject(meta)) return null;
  const { _meta: _, ...rest } = params;
  const token = meta["progressToken"];
  return isId(token) ? { ...rest, _meta: { progressToken: token } } : rest;
}

function parseResponse(value: Record<string, unknown>): Incoming | string {
  const { id, result, error } = value;
  if (result === undefined && error === undefined) return "method is missing";
  if (!isId(id)) return "a response needs the id of its request";
  if (isObject(result)) return { kind: "response", message: { jsonrpc: "2.0", id, result } };
  if (isObject(error) && typeof error["code"] === "number" && typeof error["message"] === "string") {
    const { code, message, data } = error;
    return {
      kind: "response",
      message: { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } },
    };
  }
  return "a response needs a result object or an error with code and message";
}

const isId = (id: unknown): id is string | number =>
  typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id));

/** The id to answer to, of a message that may be broken. */
export const idOf = (value: unknown): string | number | null =>
  isObject(value) && isId(value["id"]) ? value["id"] : null;
