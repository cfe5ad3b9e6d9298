import { z } from "zod";
import { tool } from "../define.ts";
import { LIMITS } from "../limits.ts";

const limitsShape = Object.fromEntries(
  Object.entries(LIMITS).map(([k, v]) => [k, typeof v === "string" ? z.string() : z.int()]),
);
/** Every number that is enforced, with the counts of tools. */
export const limitsReport = z.strictObject({ ...limitsShape, toolCount: z.int(), builtinToolCount: z.int() });

const count = z.record(z.string(), z.int());
const callLogSettings = z.strictObject({
  enabled: z.boolean(),
  includeArgs: z.boolean(),
  includeResults: z.boolean(),
  maxPayloadChars: z.int(),
  maxFileMiB: z.int(),
  rotateKeep: z.int(),
});

/** One recorded call as `mcp_calls` gives it. */
export const callRecord = z.strictObject({
  seq: z.int(),
  /** ISO 8601, UTC, when it began. */
  ts: z.string(),
  /** The first characters of the session's id. */
  session: z.string(),
  tool: z.string(),
  /** As given, secrets masked; a text when it was longer than maxPayloadChars, null when arguments are not recorded. */
  args: z.unknown(),
  ok: z.boolean(),
  error: z.string().nullable(),
  durationMs: z.number(),
  /** What the call changed: controls, or settings of a pane. */
  effects: z.array(z.unknown()),
  result: z.unknown().optional(),
});

export const serverTools = [
  tool({
    name: "mcp_danger",
    surface: "device",
    group: "Server",
    access: "read",
    title: "Dangerous tools",
    description: "Tools that need confirm:true, and what each can do. Read before calling one.",
    input: z.strictObject({}),
    output: z.strictObject({
      tools: z.array(z.strictObject({ name: z.string(), consequence: z.string(), confirm: z.literal(true) })),
      total: z.int(),
      note: z.string(),
    }),
  }),
  tool({
    name: "app_info",
    surface: "device",
    group: "Server",
    access: "read",
    title: "About this program",
    description: "Version, platform, process and uptime of this program.",
    input: z.strictObject({}),
    output: z.strictObject({
      name: z.string(),
      version: z.string(),
      profile: z.enum(["debug", "release"]),
      os: z.string(),
      arch: z.string(),
      pid: z.int(),
      uptimeSecs: z.int(),
    }),
  }),
  tool({
    name: "mcp_status",
    surface: "device",
    group: "Server",
    access: "read",
    title: "Server state and next steps",
    description:
      "Start here if unsure: server state, counters, read-only mode, and nextSteps that say what to call next.",
    input: z.strictObject({}),
    output: z.strictObject({
      running: z.boolean(),
      enabled: z.boolean(),
      host: z.string(),
      port: z.int(),
      streamableHttp: z.boolean(),
      transport: z.enum(["both", "http", "sse"]),
      tokenMasked: z.string(),
      urlMasked: z.string().optional(),
      streamableUrlMasked: z.string().optional(),
      sessions: z.int(),
      statusEmits: z.int(),
      readOnly: z.boolean(),
      requests: z.int(),
      dropped: z.int(),
      rateLimited: z.int(),
      toolCalls: z.record(z.string(), z.int()),
      toolCount: z.int(),
      builtinToolCount: z.int(),
      hasUi: z.boolean(),
      registry: z.strictObject({ controls: z.int() }),
      logHub: z.strictObject({ channels: z.int(), totalBytes: z.int(), totalCapBytes: z.int() }),
      errorReports: z.strictObject({ total: z.int(), duplicates: z.int() }),
      callLog: z.strictObject({ enabled: z.boolean(), totalCalls: z.int() }),
      limits: limitsReport,
      version: z.string(),
      uptimeSecs: z.int(),
      nextSteps: z.array(z.string()),
    }),
    notes: "No token and no full address.",
  }),
  tool({
    name: "mcp_limits",
    surface: "device",
    group: "Server",
    access: "read",
    title: "Limits",
    description: "Every hard limit the server enforces: sessions, queues, rates, sizes, timeouts.",
    input: z.strictObject({}),
    output: limitsReport,
    notes: "toolsPage pages only the ctl_* tools; the built-in ones all come on the first page of tools/list.",
  }),
  tool({
    name: "mcp_calls",
    surface: "device",
    group: "Server",
    access: "read",
    title: "Recorded calls",
    description: "Recent tool calls: who, when, what, ok or not, how long, what changed.",
    input: z.strictObject({
      limit: z.int().min(1).optional().describe("Default 50, max 2000"),
      tool: z.string().optional().describe("Only this tool"),
      okOnly: z.boolean().optional().describe("true: only ok; false: only failed"),
      format: z.enum(["jsonl", "md"]).optional().describe("Default jsonl"),
    }),
    output: z.strictObject({
      calls: z.array(callRecord).optional(),
      returned: z.int(),
      scanned: z.int(),
      tailOnly: z.boolean(),
      truncated: z.boolean(),
      file: z.string(),
      enabled: z.boolean(),
      note: z.string(),
    }),
    aliases: { ok_only: "okOnly" },
    clamp: { limit: "maxCallRecords" },
    limits: ["maxCallRecords", "callLogTailBytes", "maxAnswerTokens"],
    notes:
      "Newest last. Only the end of the record is read; tailOnly:true says that there are older calls which were not looked at. Results are recorded only with callLog.includeResults. format md: a table as content text.",
  }),
  tool({
    name: "mcp_stats",
    surface: "device",
    group: "Server",
    access: "read",
    title: "Call statistics",
    description: "Totals of tool calls, by tool, with the record file's size.",
    input: z.strictObject({}),
    output: z.strictObject({
      callLog: z.strictObject({
        totalCalls: z.int(),
        /** Number of the newest record. */
        seq: z.int(),
        dropped: z.int(),
        byTool: count,
        firstAt: z.string().nullable(),
        lastAt: z.string().nullable(),
        settings: callLogSettings,
        enabled: z.boolean(),
        file: z.string(),
        fileBytes: z.int(),
      }),
      sessionToolCalls: count,
    }),
    notes: "callLog counts what was recorded since the program started, sessionToolCalls every call that was let in.",
  }),
  tool({
    name: "mcp_config_get",
    surface: "device",
    group: "Server",
    access: "read",
    title: "Server settings",
    description: "The server's own settings; the token is masked.",
    input: z.strictObject({}),
    output: z.strictObject({
      server: z.strictObject({
        enabled: z.boolean(),
        host: z.string(),
        port: z.int(),
        transport: z.enum(["both", "http", "sse"]),
        streamableHttp: z.boolean(),
        tokenMasked: z.string(),
      }),
      callLog: callLogSettings,
      expose: z.strictObject({
        autoControlTools: z.boolean(),
        namespaces: z.array(z.string()),
        readOnly: z.boolean(),
        /** A dangerous call waits for a person's yes on the page. */
        askPerson: z.boolean(),
      }),
      version: z.int(),
    }),
    notes: "What is saved; server.* may differ from what runs until the next start. mcp_status tells what runs.",
  }),
  tool({
    name: "mcp_config_set",
    surface: "device",
    group: "Server",
    access: "write",
    title: "Change server settings",
    description:
      "Change server or callLog settings. server.* takes effect at the next start; the token cannot be set. Check with mcp_config_get.",
    input: z.strictObject({
      patch: z.looseObject({}).describe('e.g. {"callLog":{"includeResults":true}}, {"expose":{"readOnly":true}}'),
    }),
    output: z.strictObject({ applied: z.array(z.string()), needRestart: z.boolean() }),
    notes:
      "All or nothing: one bad key changes nothing. Keys: server.enabled, host (127.0.0.1, ::1, localhost), port, transport (both, http, sse), streamableHttp (old spelling); callLog.enabled, includeArgs, includeResults, maxPayloadChars (32 to 1,000,000), maxFileMiB (1 to 1024), rotateKeep (0 to 50); expose.readOnly, only true: a person switches it off.",
  }),
] as const;
