import { z } from "zod";
import { tool } from "../define.ts";
import { LIMITS } from "../limits.ts";

const limitsShape = Object.fromEntries(
  Object.entries(LIMITS).map(([k, v]) => [k, typeof v === "string" ? z.string() : z.int()]),
);
/** Every number that is enforced, with the counts of tools. */
export const limitsReport = z.strictObject({ ...limitsShape, toolCount: z.int(), builtinToolCount: z.int() });

export const serverTools = [
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
    description: "Start here if unsure: server state, counters, read-only mode, and nextSteps that say what to call next.",
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
] as const;
