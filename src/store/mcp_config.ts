import { z } from "zod";
import { JsonFile } from "./json_file.ts";

export const LOOPBACK_HOSTS = ["127.0.0.1", "::1", "localhost"] as const;
export const TRANSPORTS = ["both", "http", "sse"] as const;

/** A token goes into addresses: only characters that need no escaping there, and not so few that it can be guessed. */
export const tokenPattern = /^[A-Za-z0-9_.~-]{8,256}$/;

const server = z.strictObject({
  enabled: z.boolean().default(true),
  host: z.enum(LOOPBACK_HOSTS).default("127.0.0.1"),
  port: z.int().min(1).max(65535).default(7777),
  /** Which endpoints answer: `/mcp` (http), `/sse` (sse) or both. */
  transport: z.enum(TRANSPORTS).default("both"),
});

/** `streamableHttp: false` is the spelling of old files for `transport: "sse"`; `transport` wins. */
const serverWithOldSpelling = z.preprocess((value) => {
  if (typeof value !== "object" || value === null || !("streamableHttp" in value)) return value;
  const { streamableHttp, ...rest } = value;
  return { transport: streamableHttp === false ? "sse" : "both", ...rest };
}, server);

const callLog = z.strictObject({
  enabled: z.boolean().default(true),
  includeArgs: z.boolean().default(true),
  includeResults: z.boolean().default(false),
  maxPayloadChars: z.int().min(32).max(1_000_000).default(2000),
  maxFileMiB: z.int().min(1).max(1024).default(8),
  rotateKeep: z.int().min(0).max(50).default(3),
});

const expose = z.strictObject({
  /** Agents may read only. Only the person on the page, or this file, switches it off. */
  readOnly: z.boolean().default(false),
  autoControlTools: z.boolean().default(false),
  namespaces: z.array(z.string()).default([]),
  /** A dangerous call waits for a person's yes on the page. Only the person on the page, or this file, sets it. */
  askPerson: z.boolean().default(false),
});

/** Settings of the MCP server, `mcp.json`: apart from the user's settings, and the only file that holds the token. */
export const mcpConfigSchema = z.strictObject({
  token: z.string().regex(tokenPattern, "8 to 256 letters, digits or . _ ~ -").default(newToken),
  server: serverWithOldSpelling.prefault({}),
  callLog: callLog.prefault({}),
  expose: expose.prefault({}),
  /** Tool calls a minute and session, 0 for no limit; absent: the default of limits.ts. No tool changes it. */
  rateLimitPerMin: z.int().min(0).max(1_000_000).optional(),
});
export type McpConfig = z.infer<typeof mcpConfigSchema>;
export type McpConfigFile = JsonFile<McpConfig>;

/** 32 random bytes, as 43 characters that need no escaping in an address. */
export function newToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Enough of a token to tell two apart, never enough to use it. */
export const maskToken = (
  token: string,
): string => (token.length < 16 ? "****" : `${token.slice(0, 2)}****${token.slice(-2)}`);

/**
 * Reads `mcp.json`; on the first start it is written, so that the token stays the same from then on. Throws
 * SettingsError if it is broken (and is kept) or cannot be written.
 */
export async function loadMcpConfig(path: string): Promise<McpConfigFile> {
  const file = await JsonFile.load<McpConfig>(path, mcpConfigSchema, mcpConfigSchema.parse({}));
  const saved = await Deno.stat(path).then(() => true, () => false);
  if (!saved) await file.update((now) => now);
  return file;
}
