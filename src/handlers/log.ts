import { count } from "../core/count.ts";
import { LIMITS } from "../../tools/limits.ts";
import type { InputOf, OutputOf } from "../../tools/mod.ts";
import type { Channel, LogHub } from "../bench/log_hub.ts";
import { tailPage } from "../bench/log_pages.ts";
import { type Hit, LogSearch, type SearchResult } from "../bench/log_search.ts";
import { invalid } from "../core/errors.ts";
import { directionOf, levelOf } from "../core/line.ts";
import { renderText } from "../core/text.ts";
import { tokenWeight } from "../core/tokens.ts";
import { summarise } from "../bench/log_collector.ts";
import type { Answer, HandlersOf } from "./types.ts";

type LogTools = "log_channels" | "log_tail" | "log_search" | "log_stats" | "log_clear";
type SearchInput = InputOf<"log_search">;
type SearchOutput = OutputOf<"log_search">;
type SearchHit = NonNullable<SearchOutput["hits"]>[number];

/** Kept for counters, summary and the counts of channels. */
const RESERVE_TOKENS = 2000;
/** Of a hit that would fill an answer by itself this much is shown. */
const SHOWN_OF_HUGE = 2000;

/** The five log tools over a hub. The worker for regular expressions ends with the hub. */
export function logHandlers(hub: LogHub): HandlersOf<LogTools> {
  const search = new LogSearch();
  hub.onClose(() => search.close());
  return {
    log_channels: () => channelsAnswer(hub),
    log_tail: ({ channel, lines, sinceSeq, format }) =>
      tailPage(hub, needChannel(hub, channel), { lines, sinceSeq, format }),
    log_search: async (input, { signal }) => {
      const channels = input.channel === undefined ? allChannels(hub) : [needChannel(hub, input.channel)];
      const mode = input.mode ?? "lines";
      const result = await search.run({
        channels,
        mode,
        pattern: input.pattern,
        regex: input.regex ?? false,
        caseSensitive: input.caseSensitive ?? false,
        limit: Math.min(input.limit ?? 100, LIMITS.maxLogSearchHits),
      }, signal);
      return searchAnswer(hub, input, mode, result);
    },
    log_stats: () => statsAnswer(hub),
    log_clear: ({ channel }) => {
      if (channel !== undefined) needChannel(hub, channel);
      const clearedChannels = hub.clear(channel);
      const text = channel === undefined ? `Erased all ${clearedChannels} channels.` : `Erased ${channel}.`;
      return { output: { clearedChannels, channel: channel ?? null }, text };
    },
  };
}

/** The channel; throws -32602 with the real names. */
function needChannel(hub: LogHub, name: string): Channel {
  const channel = hub.find(name);
  if (channel) return channel;
  const names = hub.names();
  throw invalid(`Unknown log channel ${JSON.stringify(name)}: see log_channels. There are: ${names.join(", ")}.`, {
    channels: names,
  });
}

const allChannels = (hub: LogHub): Channel[] =>
  hub.names().flatMap((name) => {
    const channel = hub.find(name);
    return channel ? [channel] : [];
  });

function channelsAnswer(hub: LogHub): Answer<OutputOf<"log_channels">> {
  const channels = allChannels(hub).map((channel) => {
    const { name, capBytes, ring, lastT } = channel;
    return {
      channel: name,
      lines: ring.lines,
      bytes: ring.bytes,
      capBytes,
      seqFrom: ring.lines > 0 ? ring.firstSeq : null,
      seqTo: ring.lines > 0 ? ring.lastSeq : null,
      dropped: ring.dropped,
      lastTs: lastT === undefined ? null : hub.iso(lastT),
    };
  });
  const rows = channels.filter((c) => c.lines > 0 || c.dropped > 0).map((c) =>
    `${c.channel}: ${count(c.lines, "line")}, seq ${c.seqFrom}-${c.seqTo}${
      c.dropped > 0 ? `, ${c.dropped} dropped` : ""
    }`
  );
  const empty = channels.filter((c) => c.lines === 0 && c.dropped === 0).map((c) => c.channel);
  const tail = empty.length > 0 ? `empty: ${empty.join(", ")}`.slice(0, 300) : "";
  return {
    output: { enabled: true, channelCount: channels.length, channels, ...hub.totals() },
    text: summarise(`${channels.length} log channels`, rows, tail, false),
  };
}

function statsAnswer(hub: LogHub): Answer<OutputOf<"log_stats">> {
  const channels = allChannels(hub).map(({ name, ring, warnOrError }) => {
    const first = ring.get(ring.firstSeq)?.t ?? 0;
    const last = ring.get(ring.lastSeq)?.t ?? 0;
    const span = Math.max(0, last - first) / 1000;
    return {
      channel: name,
      lines: ring.lines,
      bytes: ring.bytes,
      dropped: ring.dropped,
      warnOrError,
      spanSecs: round(span),
      // Between the first and the last line lies one line less than there are.
      linesPerSec: span > 0 ? round((ring.lines - 1) / span) : 0,
    };
  });
  const rows = channels.filter((c) => c.lines > 0).map((c) =>
    `${c.channel}: ${count(c.lines, "line")} in ${c.spanSecs} s (${c.linesPerSec}/s), ${c.warnOrError} warn or error` +
    (c.dropped > 0 ? `, ${c.dropped} dropped` : "")
  );
  const head = rows.length > 0 ? `${rows.length} of ${channels.length} log channels have lines` : "The log is empty.";
  return { output: { enabled: true, channels, ...hub.totals() }, text: summarise(head, rows, "", false) };
}

const round = (n: number): number => Math.round(n * 1000) / 1000;

function searchAnswer(
  hub: LogHub,
  input: SearchInput,
  mode: "lines" | "matches" | "count",
  result: SearchResult,
): Answer<SearchOutput> {
  const { total, totalMatches, scanned } = result;
  const base = { pattern: input.pattern, regex: input.regex ?? false, mode };
  const what = `${JSON.stringify(input.pattern)}: ${count(total, "line")}, ${count(totalMatches, "place")} in ${
    count(scanned, "line")
  } searched`;
  if (mode === "count") {
    const channels = result.channels.filter((c) => c.scanned > 0 || input.channel !== undefined);
    const rows = channels.filter((c) => c.count > 0).map((c) => `${c.channel}: ${c.count} of ${c.scanned} lines`);
    return {
      output: {
        ...base,
        total,
        totalMatches,
        channels,
        scanned,
        scannedChannels: result.channels.length,
        truncated: false,
      },
      text: summarise(what, rows, "", false),
    };
  }
  const hits = fitHits(hub, result.hits, mode, input.context ?? 0);
  const truncated = (mode === "lines" ? total : totalMatches) > hits.length;
  const rows = hits.map((hit) => `${hit.channel}#${hit.seq} ${oneLine(hit.text ?? hit.match ?? "")}`);
  const head = truncated ? `${what}; the newest ${hits.length} given` : what;
  return {
    output: { ...base, hits, total, totalMatches, scanned, truncated },
    text: summarise(head, rows, "", true),
  };
}

const oneLine = (text: string): string => text.replaceAll("\r", "\\r").replaceAll("\n", "\\n");

/** The newest hits that fit into an answer, oldest first. A line that was dropped meanwhile is left out. */
function fitHits(hub: LogHub, found: readonly Hit[], mode: "lines" | "matches", context: number): SearchHit[] {
  const hits: SearchHit[] = [];
  let left = LIMITS.maxAnswerTokens - RESERVE_TOKENS;
  for (let i = found.length - 1; i >= 0; i--) {
    const hit = found[i];
    if (!hit) break;
    const made = makeHit(hub, hit, mode, context);
    if (!made) continue;
    let cost = tokenWeight(JSON.stringify(made)) + 1;
    if (cost > left && hits.length === 0) {
      shorten(made);
      cost = tokenWeight(JSON.stringify(made)) + 1;
    }
    if (cost > left) break;
    left -= cost;
    hits.push(made);
  }
  return hits.reverse();
}

function makeHit(hub: LogHub, hit: Hit, mode: "lines" | "matches", context: number): SearchHit | undefined {
  const { ring } = hit.channel;
  const base = {
    channel: hit.channel.name,
    seq: hit.seq,
    ts: hub.iso(hit.t),
    level: levelOf(hit.flags),
    dir: directionOf(hit.flags),
  };
  if (mode === "matches") return { ...base, match: hit.match ?? "" };
  const record = ring.get(hit.seq);
  if (!record) return undefined;
  const text = renderText(record.bytes, record.flags);
  if (context === 0) return { ...base, text };
  const around = (from: number, to: number) => {
    const lines: { seq: number; text: string }[] = [];
    for (let seq = from; seq <= to; seq++) {
      const line = ring.get(seq);
      if (line) lines.push({ seq, text: renderText(line.bytes, line.flags) });
    }
    return lines;
  };
  return {
    ...base,
    text,
    before: around(hit.seq - context, hit.seq - 1),
    after: around(hit.seq + 1, hit.seq + context),
  };
}

const cut = (text: string): string =>
  text.length > SHOWN_OF_HUGE ? `${text.slice(0, SHOWN_OF_HUGE).toWellFormed()}… [shown in part]` : text;

function shorten(hit: SearchHit): void {
  if (hit.text !== undefined) hit.text = cut(hit.text);
  if (hit.match !== undefined) hit.match = cut(hit.match);
  for (const line of [...(hit.before ?? []), ...(hit.after ?? [])]) line.text = cut(line.text).slice(0, 200);
}
