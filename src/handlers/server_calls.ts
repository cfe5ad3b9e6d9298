import { count } from "../core/count.ts";
import { CALL_LOG_FILE, type CallEntry, type CallLog } from "../store/call_log.ts";
import type { Settings } from "./server_state.ts";
import type { McpConfig } from "../store/mcp_config.ts";
import type { HandlersOf } from "./types.ts";
import { invalid } from "../core/errors.ts";
import { estimateTokens } from "../core/tokens.ts";
import { findTool, LIMITS } from "../../tools/mod.ts";

const DEFAULT_RECORDS = 50;

export interface CallToolsOptions {
  log: CallLog;
  settings: Settings<McpConfig>;
  /** Calls let in by the gate since the start, by tool. */
  toolCalls: () => ReadonlyMap<string, number>;
}

/** The tools over the record of calls. */
export function callHandlers({ log, settings, toolCalls }: CallToolsOptions): HandlersOf<"mcp_calls" | "mcp_stats"> {
  return {
    mcp_calls: async (input) => {
      const { entries, tailOnly } = await log.tail();
      const { tool } = input;
      if (tool !== undefined && !findTool(tool) && !toolCalls().has(tool) && !entries.some((e) => e.tool === tool)) {
        throw invalid(`mcp_calls: unknown tool ${tool.slice(0, 64)}. tools/list gives all names.`);
      }
      const match = entries.filter((e) =>
        (tool === undefined || e.tool === tool) && (input.okOnly === undefined || e.ok === input.okOnly)
      );
      const wanted = match.slice(-(input.limit ?? DEFAULT_RECORDS));
      const md = input.format === "md";
      const calls = fitting(wanted, md ? mdRow : (e) => JSON.stringify(e));
      const truncated = calls.length < wanted.length;
      const { enabled, includeResults } = settings.value.callLog;
      const note = [
        enabled ? "" : "Recording is off.",
        includeResults ? "" : "Results are not recorded; callLog.includeResults switches that on.",
        tailOnly ? "Older records exist that were not looked at." : "",
        truncated
          ? `${wanted.length - calls.length} older calls were left out of this answer: ask for fewer, or for one tool.`
          : "",
      ].filter(Boolean).join(" ");
      const output = {
        ...(!md && { calls }),
        returned: calls.length,
        scanned: entries.length,
        tailOnly,
        truncated,
        file: CALL_LOG_FILE,
        enabled,
        note,
      };
      return { output, text: md ? `${MD_HEAD}\n${calls.map(mdRow).join("\n")}\n${note}` : summary(calls, note) };
    },

    mcp_stats: async () => {
      const fileBytes = await log.fileBytes();
      const saved = settings.value.callLog;
      const output = {
        callLog: {
          totalCalls: log.totalCalls,
          seq: log.seq,
          dropped: log.dropped,
          byTool: Object.fromEntries(log.byTool),
          firstAt: log.firstAt === undefined ? null : new Date(log.firstAt).toISOString(),
          lastAt: log.lastAt === undefined ? null : new Date(log.lastAt).toISOString(),
          settings: saved,
          enabled: saved.enabled,
          file: CALL_LOG_FILE,
          fileBytes,
        },
        sessionToolCalls: Object.fromEntries(toolCalls()),
      };
      const most = [...toolCalls()].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([name, n]) => `${name} ${n}`);
      return {
        output,
        text: `${
          count(log.totalCalls, "call")
        } recorded, ${log.dropped} lost, ${CALL_LOG_FILE} has ${fileBytes} bytes. Most: ${most.join(", ") || "none"}.`
          .slice(0, LIMITS.maxSummaryChars),
      };
    },
  };
}

/** The newest entries that fit into one answer. */
function fitting(entries: CallEntry[], written: (e: CallEntry) => string): CallEntry[] {
  let tokens = 1000;
  let from = entries.length;
  while (from > 0) {
    const entry = entries[from - 1];
    if (entry === undefined) break;
    tokens += estimateTokens(written(entry)) + 1;
    if (tokens > LIMITS.maxAnswerTokens) break;
    from--;
  }
  return entries.slice(from);
}

function summary(calls: CallEntry[], note: string): string {
  if (calls.length === 0) return `No calls. ${note}`.trim();
  let text = `${count(calls.length, "call")}, newest first:`;
  for (const [i, c] of calls.toReversed().entries()) {
    const line = `\n${c.ts.slice(11, 19)} ${c.tool} ${c.ok ? "ok" : `failed: ${(c.error ?? "").slice(0, 60)}`}`;
    if (text.length + line.length > LIMITS.maxSummaryChars - 20) return `${text}\n${calls.length - i} more`;
    text += line;
  }
  return text;
}

const MD_HEAD = "| seq | time | session | tool | arguments | ok | ms | error |\n|---|---|---|---|---|---|---|---|";
const mdRow = (e: CallEntry): string =>
  `| ${
    [
      e.seq,
      e.ts,
      e.session,
      e.tool,
      typeof e.args === "string" ? e.args : JSON.stringify(e.args),
      e.ok ? "yes" : "no",
      e.durationMs,
      e.error ?? "",
    ].map(cell).join(" | ")
  } |`;
/** A table's cell: no pipes, no line ends. */
const cell = (value: unknown): string =>
  String(value).replaceAll("\\", "\\\\").replaceAll("|", "\\|").replaceAll(/\s*[\r\n]+\s*/g, " ");
