import type { CallToolResult, JSONRPCErrorResponse, JSONRPCResultResponse } from "@modelcontextprotocol/server";
import { BenchError, CODE } from "../core/errors.ts";
import type { Answer } from "../handlers/types.ts";
import { isObject } from "./protocol.ts";

/** Failures that are JSON-RPC errors; all others are results with `isError`. */
const PROTOCOL_CODES: ReadonlySet<number> = new Set([CODE.invalidParams, CODE.rateLimited, CODE.internal]);

export function toResult(answer: Answer): CallToolResult {
  const output = answer.output;
  return {
    content: [{ type: "text", text: answer.text }],
    ...(isObject(output) && { structuredContent: output }),
  };
}

/**
 * A failure as a result: the text begins with the code, `structuredContent.error` is for programs. Throws what has to
 * be a JSON-RPC error: the SDK sends `code`, `message` and `data` of it.
 */
export function toFailure(error: unknown): CallToolResult {
  if (!(error instanceof BenchError) || PROTOCOL_CODES.has(error.code)) throw error;
  return {
    isError: true,
    content: [{ type: "text", text: `${error.code}: ${error.message}${error.hint ? ` ${error.hint}` : ""}` }],
    structuredContent: {
      error: {
        code: error.code,
        ...(error.reason && { reason: error.reason }),
        ...(error.hint && { hint: error.hint }),
        ...(error.data && { data: error.data }),
      },
    },
  };
}

/** The error of a JSON-RPC answer, as the SDK makes it of what a handler throws. */
export const errorOf = (error: unknown): { code: number; message: string; data?: unknown } =>
  error instanceof BenchError
    ? { code: error.code, message: error.message, ...(error.data && { data: error.data }) }
    : { code: CODE.internal, message: "Internal error" };

/**
 * The SDK's own methods (the handshake, the log level) answer wrong parameters with -32603 and a dump of its schema's
 * findings: that becomes -32602 in words.
 */
export function repaired(answer: JSONRPCResultResponse | JSONRPCErrorResponse): Record<string, unknown> {
  return "error" in answer ? { ...answer, error: repairError(answer.error) } : { ...answer };
}

function repairError(error: { code: number; message: string; data?: unknown }): typeof error {
  if (error.code !== CODE.internal || !error.message.startsWith("[")) return error;
  try {
    const issues: unknown = JSON.parse(error.message);
    if (!Array.isArray(issues)) return error;
    const said = issues.slice(0, 3).filter(isObject).map((i) => {
      const path = Array.isArray(i["path"]) ? i["path"].join(".") : "";
      return `${path || "params"}: ${String(i["message"])}`;
    });
    return { code: CODE.invalidParams, message: `Invalid params: ${said.join("; ")}` };
  } catch {
    return error;
  }
}
