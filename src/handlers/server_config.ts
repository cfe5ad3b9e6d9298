import { z } from "zod";
import { failed, invalid } from "../core/errors.ts";
import { LOOPBACK_HOSTS, type McpConfig, TRANSPORTS } from "../store/mcp_config.ts";
import type { ServerState } from "./server_state.ts";
import type { HandlersOf } from "./types.ts";

/** Everything that `mcp_config_set` may change; closed, so that a token or an unknown key is refused. */
const patchSchema = z.strictObject({
  server: z.strictObject({
    enabled: z.boolean(),
    host: z.enum(LOOPBACK_HOSTS),
    port: z.int().min(1).max(65535),
    transport: z.enum(TRANSPORTS),
    /** Old spelling: false is `transport: "sse"`. */
    streamableHttp: z.boolean(),
  }).partial(),
  callLog: z.strictObject({
    enabled: z.boolean(),
    includeArgs: z.boolean(),
    includeResults: z.boolean(),
    maxPayloadChars: z.int().min(32).max(1_000_000),
    maxFileMiB: z.int().min(1).max(1024),
    rotateKeep: z.int().min(0).max(50),
  }).partial(),
  expose: z.strictObject({ readOnly: z.boolean() }).partial(),
}).partial();
type Patch = z.output<typeof patchSchema>;

/** Of the settings file's form. */
const SETTINGS_VERSION = 1;
const ALLOWED =
  "server.{enabled, host, port, transport}, callLog.{enabled, includeArgs, includeResults, maxPayloadChars, maxFileMiB, rotateKeep}, expose.readOnly (only true)";

export function configHandlers(server: ServerState): HandlersOf<"mcp_config_get" | "mcp_config_set"> {
  return {
    mcp_config_get: () => {
      const saved = server.settings.value;
      const output = {
        server: {
          ...saved.server,
          streamableHttp: saved.server.transport !== "sse",
          tokenMasked: server.tokenMasked,
        },
        callLog: saved.callLog,
        expose: { ...saved.expose, readOnly: server.readOnly },
        version: SETTINGS_VERSION,
      };
      const { host, port, transport } = output.server;
      return {
        output,
        text: `Server ${host}:${port}, transport ${transport}; call log ${
          saved.callLog.enabled ? `on, results ${saved.callLog.includeResults ? "kept" : "not kept"}` : "off"
        }; read-only ${output.expose.readOnly ? "ON" : "off"}. The token is not shown.`,
      };
    },

    mcp_config_set: async ({ patch }) => {
      const parsed = patchSchema.safeParse(patch);
      if (!parsed.success) throw refuse(parsed.error.issues);
      const change = parsed.data;
      if (change.expose?.readOnly === false) {
        throw invalid("mcp_config_set: expose.readOnly can only be set to true; a person switches it off on the page.");
      }
      const applied = keyPaths(change);
      if (applied.length === 0) throw invalid(`mcp_config_set: the patch is empty. Keys: ${ALLOWED}.`);
      try {
        await server.settings.update((now) => merge(now, change));
      } catch (error) {
        throw failed(
          "write_failed",
          "The settings could not be saved; nothing was changed.",
          "Look at free space and permissions of the configuration folder.",
          { cause: error instanceof Error ? error.message.replace(/^.* cannot be written: /, "") : "unknown" },
        );
      }
      const needRestart = change.server !== undefined;
      return {
        output: { applied, needRestart },
        text: `Saved ${applied.join(", ")}.${needRestart ? " server.* takes effect at the next start." : ""}`,
      };
    },
  };
}

function keyPaths(patch: Patch): string[] {
  return Object.entries(patch).flatMap(([group, values]) => Object.keys(values ?? {}).map((k) => `${group}.${k}`));
}

function merge(now: McpConfig, { server = {}, callLog = {}, expose = {} }: Patch): McpConfig {
  const old = server.streamableHttp === undefined ? undefined : server.streamableHttp ? "both" : "sse";
  return {
    ...now,
    server: {
      enabled: server.enabled ?? now.server.enabled,
      host: server.host ?? now.server.host,
      port: server.port ?? now.server.port,
      transport: server.transport ?? old ?? now.server.transport,
    },
    callLog: {
      enabled: callLog.enabled ?? now.callLog.enabled,
      includeArgs: callLog.includeArgs ?? now.callLog.includeArgs,
      includeResults: callLog.includeResults ?? now.callLog.includeResults,
      maxPayloadChars: callLog.maxPayloadChars ?? now.callLog.maxPayloadChars,
      maxFileMiB: callLog.maxFileMiB ?? now.callLog.maxFileMiB,
      rotateKeep: callLog.rotateKeep ?? now.callLog.rotateKeep,
    },
    expose: { ...now.expose, readOnly: expose.readOnly ?? now.expose.readOnly },
  };
}

function refuse(issues: readonly z.core.$ZodIssue[]) {
  const said = issues.slice(0, 3).map((i) => {
    const path = i.path.map(String).join(".");
    if (i.code === "unrecognized_keys") {
      const keys = i.keys.slice(0, 5).map((k) => [path, k].filter(Boolean).join(".").slice(0, 80));
      return keys.some((k) => /token/i.test(k))
        ? "the token cannot be set by a tool; a person resets it on the page"
        : `unknown key ${keys.join(", ")}`;
    }
    if (path === "server.host") return "server.host takes loopback only: 127.0.0.1, ::1 or localhost";
    return `${path || "patch"}: ${i.message}`;
  });
  return invalid(`mcp_config_set: ${said.join("; ")}. Nothing was changed. Keys: ${ALLOWED}.`);
}
