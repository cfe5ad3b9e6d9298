import { count } from "../core/count.ts";
import type { OutputOf } from "../../tools/mod.ts";
import { LIMITS } from "../../tools/limits.ts";
import type { LineRecord } from "../core/ring.ts";
import { Collector, type Format, type PaneItem, paneItem, type TailLine, tailLine } from "./log_collector.ts";
import type { Channel, LogHub } from "./log_hub.ts";
import { headerRow, layRows, localStamp } from "./log_rows.ts";

/** An answer: what goes into `structuredContent` and into `content[0].text`. */
export interface Page<Output> {
  output: Output;
  text: string;
}
type TailOutput = OutputOf<"log_tail">;
type PaneOutput = OutputOf<"serial_get_output">;

/** The call that gives the lines which did not fit. */
const goOn = (channel: string, sinceSeq: number, lines: number | undefined, format: Format): string =>
  `log_tail ${
    JSON.stringify({ channel, sinceSeq, ...(lines !== undefined && { lines }), ...(format === "text" && { format }) })
  }`;

export interface TailOptions {
  /** Default 100, cut to 2,000. */
  lines?: number | undefined;
  /** Only newer lines, oldest first; without it the newest. */
  sinceSeq?: number | undefined;
  format?: Format | undefined;
}

/**
 * A page of a channel. With `sinceSeq` the oldest lines after it come first and following `nextSinceSeq` gives every
 * line once; without it the newest. Cut at whole lines so that the answer stays under 20,000 tokens.
 */
export function tailPage(hub: LogHub, channel: Channel, options: TailOptions = {}): Page<TailOutput> {
  const format = options.format ?? "json";
  const most = Math.min(options.lines ?? 100, LIMITS.maxLogReadLines);
  const { ring } = channel;
  const { lastSeq, firstSeq } = ring;
  const since = options.sinceSeq;
  const collector = new Collector<TailLine>(hub, format, most, tailLine);
  const open = channel.open();
  const takeOpen = () => open !== undefined && collector.take({ channel, record: open, partial: true });
  let waiting = 0;
  let lost = 0;
  if (since === undefined) {
    takeOpen();
    let seq = lastSeq;
    for (let record; seq >= firstSeq && (record = ring.get(seq)); seq--) {
      if (!collector.take({ channel, record, partial: false })) break;
    }
    collector.reverse();
    waiting = Math.max(0, seq - firstSeq + 1);
  } else {
    let seq = Math.max(since + 1, firstSeq);
    lost = Math.max(0, Math.min(firstSeq - 1, lastSeq) - since);
    for (let record; seq <= lastSeq && (record = ring.get(seq)); seq++) {
      if (!collector.take({ channel, record, partial: false })) break;
    }
    waiting = Math.max(0, lastSeq - seq + 1);
    if (waiting === 0) takeOpen();
  }
  const taken = collector.taken.get(channel);
  const lastGiven = taken?.last ?? 0;
  const output: TailOutput = {
    channel: channel.name,
    format,
    ...(format === "json" && { lines: collector.items }),
    returned: collector.count,
    dropped: ring.dropped,
    seqFrom: collector.count > 0 && taken ? taken.first : null,
    seqTo: ring.lines > 0 ? lastSeq : null,
    missed: since === undefined ? 0 : lost + waiting,
    nextSinceSeq: lastGiven > 0 ? lastGiven : lastSeq,
    mayBeIncomplete: ring.dropped > 0,
    truncated: waiting > 0,
  };
  const more = moreRow(channel, options, output, waiting);
  const lostRow = lost > 0 ? `${lost} lines before seq ${firstSeq} are gone (dropped or cleared)` : "";
  if (format === "json") {
    const head = `${channel.name}: ${count(output.returned, "line")}${
      output.seqFrom === null ? "" : `, seq ${output.seqFrom}-${lastGiven || output.seqFrom}`
    }, nextSinceSeq ${output.nextSinceSeq}${ring.dropped > 0 ? `, ${ring.dropped} dropped` : ""}${
      lostRow && `; ${lostRow}`
    }`;
    return { output, text: collector.summary(head, more, since === undefined) };
  }
  const laid = layRows(collector.rows);
  const header = headerRow({
    channel: channel.name,
    returned: output.returned,
    seqFrom: output.seqFrom,
    seqTo: output.seqTo,
    missed: output.missed,
    dropped: output.dropped,
    mayBeIncomplete: output.mayBeIncomplete,
    truncated: output.truncated,
    nextSinceSeq: output.nextSinceSeq,
    base: laid.base === undefined ? null : localStamp(laid.base),
  });
  const partial = taken && taken.partial > 0 ? "# partial: the last line has no end yet\n" : "";
  return { output, text: `${header}\n${lostRow && `# ${lostRow}\n`}${laid.text}${partial}${more && `# ${more}\n`}` };
}

function moreRow(channel: Channel, options: TailOptions, output: TailOutput, waiting: number): string {
  if (waiting === 0) return "";
  const format = options.format ?? "json";
  return options.sinceSeq === undefined
    ? `${waiting} more before these: ${goOn(channel.name, channel.ring.firstSeq - 1, options.lines, format)}`
    : `${waiting} more: ${goOn(channel.name, output.nextSinceSeq, options.lines, format)}`;
}

export interface OutputChannels {
  pane: string;
  isConnected: boolean;
  rx: Channel;
  tx: Channel;
}
export interface OutputOptions {
  /** Default both. */
  direction?: "rx" | "tx" | "both" | undefined;
  /** Default 50, cut to 2,000; of both directions together. */
  lines?: number | undefined;
  format?: Format | undefined;
}

/** The newest of what a pane received and sent, merged by time; at equal times what was sent comes first. */
export function outputPage(hub: LogHub, pane: OutputChannels, options: OutputOptions = {}): Page<PaneOutput> {
  const direction = options.direction ?? "both";
  const format = options.format ?? "json";
  const most = Math.min(options.lines ?? 50, LIMITS.maxLogReadLines);
  const collector = new Collector<PaneItem>(hub, format, most, paneItem);
  const sides = [
    ...(direction === "tx" ? [] : [{ channel: pane.rx, seq: pane.rx.ring.lastSeq }]),
    ...(direction === "rx" ? [] : [{ channel: pane.tx, seq: pane.tx.ring.lastSeq }]),
  ];
  const open = sides.flatMap(({ channel }) => {
    const record = channel.open();
    return record ? [{ channel, record, partial: true }] : [];
  }).sort((a, b) => b.record.t - a.record.t);
  let fits = open.every((entry) => collector.take(entry));
  const partials = collector.count;
  while (fits) {
    let newest: { side: (typeof sides)[number]; record: LineRecord } | undefined;
    for (const side of sides) {
      const record = side.seq >= side.channel.ring.firstSeq ? side.channel.ring.get(side.seq) : undefined;
      if (record && (!newest || record.t > newest.record.t)) newest = { side, record };
    }
    if (!newest) break;
    fits = collector.take({ channel: newest.side.channel, record: newest.record, partial: false });
    if (fits) newest.side.seq--;
  }
  collector.reverse();
  const older = sides.map(({ channel, seq }) => ({ channel, left: Math.max(0, seq - channel.ring.firstSeq + 1) }))
    .filter(({ left }) => left > 0);
  const sideOf = (channel: Channel) => {
    const taken = collector.taken.get(channel);
    return {
      channel: channel.name,
      count: (taken?.complete ?? 0) + (taken?.partial ?? 0),
      dropped: channel.ring.dropped,
      mayBeIncomplete: channel.ring.dropped > 0,
      nextSinceSeq: channel.ring.lastSeq,
    };
  };
  const note = collector.count > 0
    ? undefined
    : pane.isConnected
    ? "Nothing received or sent yet."
    : `Nothing yet: pane ${pane.pane} is not open. Call serial_open.`;
  const output: PaneOutput = {
    pane: pane.pane,
    direction,
    format,
    isConnected: pane.isConnected,
    channels: { rx: sideOf(pane.rx), tx: sideOf(pane.tx) },
    count: collector.count,
    ...(format === "json" && { items: collector.items }),
    truncated: older.length > 0,
    ...(note !== undefined && { note }),
  };
  const more = older.map(({ channel, left }) =>
    `${left} more before these: ${goOn(channel.name, channel.ring.firstSeq - 1, options.lines, format)}`
  );
  const { rx, tx } = output.channels;
  if (format === "json") {
    const lost = rx.dropped + tx.dropped > 0 ? `, dropped rx ${rx.dropped} tx ${tx.dropped}` : "";
    const head = note ?? `${pane.pane}: ${count(output.count, "line")} (rx ${rx.count}, tx ${tx.count})${lost}`;
    return { output, text: collector.summary(head, more.join("\n"), true) };
  }
  const laid = layRows(collector.rows);
  const header = headerRow({
    pane: pane.pane,
    direction,
    isConnected: pane.isConnected,
    count: output.count,
    truncated: output.truncated,
    "rx.count": rx.count,
    "rx.dropped": rx.dropped,
    "rx.mayBeIncomplete": rx.mayBeIncomplete,
    "rx.nextSinceSeq": rx.nextSinceSeq,
    "tx.count": tx.count,
    "tx.dropped": tx.dropped,
    "tx.mayBeIncomplete": tx.mayBeIncomplete,
    "tx.nextSinceSeq": tx.nextSinceSeq,
    base: laid.base === undefined ? null : localStamp(laid.base),
  });
  const partial = partials > 0 ? `# partial: the last ${partials === 1 ? "line has" : "lines have"} no end yet\n` : "";
  const after = [...(note ? [note] : []), ...more].map((line) => `# ${line}\n`).join("");
  return { output, text: `${header}\n${laid.text}${partial}${after}` };
}
