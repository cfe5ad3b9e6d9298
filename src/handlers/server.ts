import type { HandlersOf } from "./types.ts";
import type { CallLog } from "../store/call_log.ts";
import { type ToolRow, TOOLS } from "../../tools/mod.ts";
import { callHandlers } from "./server_calls.ts";
import { configHandlers } from "./server_config.ts";
import { originOf, type ServerState } from "./server_state.ts";

/** What of the log hub the status reports. */
export interface HubTotals {
  totals(): { totalBytes: number; totalCapBytes: number };
  names(): string[];
}
/** What of the panes the next steps look at. */
export interface PaneSummary {
  readonly name: string;
  readonly port: string;
  readonly isOpen: boolean;
}

export interface ServerToolsOptions {
  server: ServerState;
  callLog: CallLog;
  hub: HubTotals;
  /** Panes that exist, for `nextSteps`. */
  panes: () => PaneSummary[];
}

type ServerTool =
  | "app_info"
  | "mcp_status"
  | "mcp_limits"
  | "mcp_danger"
  | "mcp_calls"
  | "mcp_stats"
  | "mcp_config_get"
  | "mcp_config_set";

/** The table without its literal types. */
const ROWS: readonly ToolRow[] = TOOLS;

/** The tools about the program and the server itself. */
export function serverHandlers(
  { server, callLog, hub, panes }: ServerToolsOptions,
): HandlersOf<ServerTool> {
  return {
    ...configHandlers(server),
    ...callHandlers({ log: callLog, settings: server.settings, toolCalls: () => server.gate().toolCalls }),

    mcp_danger: () => {
      const tools = ROWS.flatMap(({ name, danger }) =>
        danger ? [{ name, consequence: danger.consequence, confirm: true as const }] : []
      );
      const note = "Without confirm: true these answer -32006 and nothing is done. Ask the person before confirming.";
      return {
        output: { tools, total: tools.length, note },
        text: `${
          tools.map((t) => `${t.name}: ${t.consequence}`).join("\n") || "No tool needs a confirmation."
        }\n${note}`,
      };
    },

    app_info: () => {
      const output = {
        name: "fieldbench",
        version: server.version,
        profile: server.profile,
        os: Deno.build.os,
        arch: Deno.build.arch,
        pid: Deno.pid,
        uptimeSecs: server.uptimeSecs,
      };
      return {
        output,
        text: `fieldbench ${output.version} (${output.profile}) on ${output.os} ${output.arch}, pid ${output.pid}, up ${
          duration(output.uptimeSecs)
        }.`,
      };
    },

    mcp_status: () => {
      const steps = nextSteps(server, panes());
      const { toolCalls, rateLimited, reports } = server.gate();
      const address = server.address;
      const masked = (path: string) => address && `${originOf(address)}${path}?token=${server.tokenMasked}`;
      const limits = server.limits();
      const totals = hub.totals();
      const output = {
        running: address !== undefined,
        enabled: server.settings.value.server.enabled,
        host: address?.host ?? "127.0.0.1",
        port: address?.port ?? 0,
        streamableHttp: server.transport !== "sse",
        transport: server.transport,
        tokenMasked: server.tokenMasked,
        ...(address && { urlMasked: masked("/sse"), streamableUrlMasked: masked("/mcp") }),
        sessions: server.sessions(),
        statusEmits: server.statusEmits,
        readOnly: server.readOnly,
        requests: server.requests,
        dropped: server.dropped,
        rateLimited,
        toolCalls: Object.fromEntries(toolCalls),
        toolCount: limits.toolCount,
        builtinToolCount: limits.builtinToolCount,
        hasUi: server.pages() > 0,
        registry: { controls: server.controls() },
        logHub: {
          channels: hub.names().length,
          totalBytes: totals.totalBytes,
          totalCapBytes: totals.totalCapBytes,
        },
        errorReports: { total: reports.total, duplicates: reports.duplicates },
        callLog: { enabled: callLog.enabled, totalCalls: callLog.totalCalls },
        limits,
        version: server.version,
        uptimeSecs: server.uptimeSecs,
        nextSteps: steps,
      };
      return {
        output,
        text: `fieldbench ${output.version}, up ${duration(output.uptimeSecs)}: ${output.sessions} of ${
          limits["maxSessions"]
        } sessions, ${output.requests} requests, read-only ${output.readOnly ? "ON" : "off"}, page ${
          output.hasUi ? "open" : "closed"
        }.\nNext: ${steps.join(" ")}`.slice(0, 600),
      };
    },

    mcp_limits: () => {
      const output = server.limits();
      const rate = output.rateLimitPerMin === 0
        ? "no limit on calls a minute"
        : `${output.rateLimitPerMin} calls a minute`;
      return {
        output,
        text:
          `${rate}, ${output.maxSessions} sessions, bodies up to ${output.maxBodyBytes} bytes, ${output.maxSendChars} ` +
          `characters a serial_send, ${output.maxLogReadLines} lines a read, answers up to ${output.maxAnswerTokens} ` +
          `tokens, ${output.builtinToolCount} tools. All numbers are in structuredContent.`,
      };
    },
  };
}

/** What to call next, by the state of things: each sentence names one tool. */
function nextSteps(server: ServerState, panes: PaneSummary[]): string[] {
  const steps: string[] = [];
  if (server.readOnly) {
    steps.push(
      "Read-only mode is on: writing tools answer -32007. Ask the person at the bench to switch it off; meanwhile read with serial_get_output.",
    );
  }
  const open = panes.filter((p) => p.isOpen);
  const first = open[0];
  if (first) {
    steps.push(`Pane ${first.name} is open on ${first.port}: read it with serial_get_output {"format":"text"}.`);
    if (!server.readOnly) steps.push("Send with serial_send.");
  } else {
    steps.push("See the selectable ports with serial_get_state.");
    if (!server.readOnly) steps.push('Then open one with serial_open {"port":…,"baud":…}.');
  }
  steps.push(
    server.pages() > 0
      ? 'A page is open: the person sees what you do; its own messages are in log_tail {"channel":"ui:sys"}.'
      : "No page is open; device tools work without one. Find other logs with log_channels.",
  );
  return steps;
}

const duration = (secs: number): string => {
  const h = Math.floor(secs / 3600), m = Math.floor(secs / 60) % 60;
  return h ? `${h} h ${m} min` : m ? `${m} min ${secs % 60} s` : `${secs} s`;
};
