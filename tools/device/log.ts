import { z } from "zod";
import { tool } from "../define.ts";
import { LIMITS } from "../limits.ts";

export const level = z.enum(["debug", "info", "warn", "error"]);
const format = z.enum(["json", "text"]).optional().describe("Default json");

const hubTotals = {
  totalBytes: z.int(),
  totalCapBytes: z.int(),
  maxChannels: z.int(),
  lockSkips: z.int(),
  channelSkips: z.int(),
  reclaims: z.int(),
  reclaimedBytes: z.int(),
};

/** One log line; `bytes` and `rawBytes` are the same number: the real size, also of a line that was cut. */
export const logLine = z.strictObject({
  seq: z.int(),
  /** ISO 8601, UTC, of the line's first byte. */
  ts: z.string(),
  /** The same moment in ms on the program's monotonic clock. */
  t: z.number(),
  level,
  dir: z.enum(["rx", "tx", "none"]),
  src: z.enum(["ai", "ui", "none"]),
  bytes: z.int(),
  rawBytes: z.int(),
  text: z.string(),
  hex: z.string().optional(),
  partial: z.literal(true).optional(),
  continues: z.literal(true).optional(),
});

const contextLine = z.strictObject({ seq: z.int(), text: z.string() });
const hit = z.strictObject({
  channel: z.string(),
  seq: z.int(),
  ts: z.string(),
  level,
  dir: z.enum(["rx", "tx", "none"]),
  text: z.string().optional(),
  match: z.string().optional(),
  before: z.array(contextLine).optional(),
  after: z.array(contextLine).optional(),
});

export const logTools = [
  tool({
    name: "log_channels",
    surface: "device",
    group: "Log",
    access: "read",
    title: "Log channels",
    description:
      "All log channels with lines, bytes, seq range and losses. Call when unsure where a log is; then log_tail or log_search.",
    input: z.strictObject({}),
    output: z.strictObject({
      enabled: z.boolean(),
      channelCount: z.int(),
      channels: z.array(z.strictObject({
        channel: z.string(),
        lines: z.int(),
        bytes: z.int(),
        capBytes: z.int(),
        seqFrom: z.int().nullable(),
        seqTo: z.int().nullable(),
        dropped: z.int(),
        lastTs: z.string().nullable(),
      })),
      ...hubTotals,
    }),
    limits: ["logMaxLineBytes", "logTotalCapBytes", "logMaxChannels"],
  }),
  tool({
    name: "log_tail",
    surface: "device",
    group: "Log",
    access: "read",
    title: "Read a log channel",
    description:
      "The end of a channel, or what is new since sinceSeq; go on with nextSinceSeq. format:text costs least.",
    input: z.strictObject({
      channel: z.string().describe("e.g. app, error, mcp, serial:main:rx, ui:sys"),
      lines: z.int().min(1).optional().describe("Default 100, max 2000"),
      sinceSeq: z.int().min(0).optional().describe("Only newer than this"),
      format,
    }),
    output: z.strictObject({
      channel: z.string(),
      format: z.enum(["json", "text"]),
      lines: z.array(logLine).optional(),
      returned: z.int(),
      dropped: z.int(),
      /** First line given. */
      seqFrom: z.int().nullable(),
      /** Newest line of the channel. */
      seqTo: z.int().nullable(),
      /** Lines after sinceSeq that were not given: still waiting, plus lost. */
      missed: z.int(),
      nextSinceSeq: z.int(),
      mayBeIncomplete: z.boolean(),
      truncated: z.boolean(),
    }),
    aliases: { since_seq: "sinceSeq" },
    clamp: { lines: "maxLogReadLines" },
    limits: ["maxAnswerTokens"],
    notes:
      "With sinceSeq the oldest lines come first, and following nextSinceSeq gives every line once; without it, the newest. format text: a header line, then `[+ms] [level or direction] text` a line.",
  }),
  tool({
    name: "log_search",
    surface: "device",
    group: "Log",
    access: "read",
    title: "Search the log",
    description:
      "Search one or all channels. mode count only counts, matches gives fragments, lines (default) whole lines with context.",
    input: z.strictObject({
      pattern: z.string().min(1).max(LIMITS.maxSearchPatternChars).describe("Literal unless regex"),
      channel: z.string().optional().describe("Default: all"),
      regex: z.boolean().optional(),
      caseSensitive: z.boolean().optional(),
      limit: z.int().min(1).optional().describe("Default 100, max 500"),
      mode: z.enum(["lines", "matches", "count"]).optional(),
      context: z.int().min(0).max(LIMITS.maxSearchContextLines).optional().describe("Lines around; mode lines only"),
    }),
    output: z.strictObject({
      pattern: z.string(),
      regex: z.boolean(),
      mode: z.enum(["lines", "matches", "count"]),
      hits: z.array(hit).optional(),
      total: z.int().optional(),
      totalMatches: z.int().optional(),
      channels: z.array(z.strictObject({ channel: z.string(), count: z.int(), scanned: z.int() })).optional(),
      scanned: z.int(),
      scannedChannels: z.int().optional(),
      truncated: z.boolean(),
    }),
    aliases: { case_sensitive: "caseSensitive" },
    clamp: { limit: "maxLogSearchHits" },
    rule: (input) =>
      input["context"] !== undefined && input["mode"] !== undefined && input["mode"] !== "lines"
        ? "context only goes with mode lines"
        : undefined,
    limits: ["maxSearchPatternChars", "searchTimeoutMs", "maxAnswerTokens"],
    notes:
      "JavaScript syntax with the u flag, run off the main thread with a time limit. Zero-length matches are not counted.",
  }),
  tool({
    name: "log_stats",
    surface: "device",
    group: "Log",
    access: "read",
    title: "Log statistics",
    description: "Per channel: lines, bytes, losses, warnings and errors, lines a second. Tells a flood.",
    input: z.strictObject({}),
    output: z.strictObject({
      enabled: z.boolean(),
      channels: z.array(z.strictObject({
        channel: z.string(),
        lines: z.int(),
        bytes: z.int(),
        dropped: z.int(),
        warnOrError: z.int(),
        spanSecs: z.number(),
        linesPerSec: z.number(),
      })),
      ...hubTotals,
    }),
  }),
  tool({
    name: "log_clear",
    surface: "device",
    group: "Log",
    access: "write",
    title: "Erase a log channel",
    description: "Erase a channel, or all. This destroys evidence: only when the record is no longer needed.",
    input: z.strictObject({ channel: z.string().optional().describe("Default: all") }),
    output: z.strictObject({ clearedChannels: z.int(), channel: z.string().nullable() }),
    notes: "The channel stays; seq goes on; dropped is unchanged.",
  }),
] as const;
