import { invalid } from "../core/errors.ts";
import { isObject } from "./protocol.ts";

type Params = Readonly<Record<string, unknown>> | undefined;

/** A text that a method needs. Throws -32602 without it. */
export function textParam(method: string, params: Params, name: string): string {
  const value = params?.[name];
  if (typeof value === "string") return value;
  throw invalid(`${method}: ${value === undefined ? `missing "${name}"` : `"${name}" must be a string`}.`);
}

export function optionalText(method: string, params: Params, name: string): string | undefined {
  return params?.[name] === undefined ? undefined : textParam(method, params, name);
}

/** An object whose values are all texts, as arguments of prompts are. */
export function textMap(method: string, params: Params, name: string): Record<string, string> {
  const value = params?.[name];
  if (value === undefined) return {};
  if (!isObject(value)) throw invalid(`${method}: "${name}" must be an object.`);
  const out: Record<string, string> = {};
  for (const key of Object.keys(value)) out[key] = textParam(method, value, key);
  return out;
}

export function objectParam(method: string, params: Params, name: string): Record<string, unknown> {
  const value = params?.[name];
  if (isObject(value)) return value;
  throw invalid(`${method}: ${value === undefined ? `missing "${name}"` : `"${name}" must be an object`}.`);
}

/** What progress is told with; undefined when the client asked for none. */
export function progressTokenOf(params: Params): string | number | undefined {
  const meta = params?.["_meta"];
  const token = isObject(meta) ? meta["progressToken"] : undefined;
  return typeof token === "string" || typeof token === "number" ? token : undefined;
}

/**
 * The handshake as clients send it: many leave out `capabilities` or the client's version, which the SDK insists on.
 */
export function completeHandshake(params: Params): Record<string, unknown> {
  const info = isObject(params?.["clientInfo"]) ? params["clientInfo"] : {};
  return {
    ...params,
    capabilities: params?.["capabilities"] ?? {},
    clientInfo: { ...info, name: String(info["name"] ?? "unknown"), version: String(info["version"] ?? "") },
  };
}

/** A handshake that succeeded: who the client says it is, and the version agreed. */
export interface Handshake {
  readonly client: string;
  readonly version: string;
}

/** Name and version as the client gives them, short. */
export function clientOf(params: Params): string {
  const info = isObject(params?.["clientInfo"]) ? params["clientInfo"] : {};
  return `${String(info["name"] ?? "unknown").slice(0, 64)} ${String(info["version"] ?? "").slice(0, 32)}`.trim();
}
