/**
 * Lines of a pane (or of one channel) from the server into a {@link LineStore}: what the ring holds, then what comes,
 * over reconnects and restarts; what left memory is read back from the session log. One for each pane, shared by its
 * log, terminal and plot.
 */
import { FLAG, sourceFlag } from "../../src/core/line.ts";
import { type LineFrame, WIRE_PARTIAL, type WireRecord } from "../../src/core/page_protocol.ts";
import { CHAN, type Chunk, LineStore, MARK, type NewLine } from "../log/line_store.ts";
import { unescapeRow } from "../log/row_text.ts";
import type { Connection } from "./connection.ts";

/** A flush takes in what the server sent in one go, received and sent together, so that they merge by time. */
const FLUSH_MS = 4;
const FETCH_COUNT = 20_000;
const OLDER_COUNT = 500;
const MAX_FETCHES = 8;
const DIRECTIONS = { rx: FLAG.dirRx, tx: FLAG.dirTx, none: FLAG.dirNone } as const;

type Link = Pick<Connection, "on" | "onFrame" | "want" | "unwant" | "fetch" | "older" | "online">;

/**
 * Who follows what over one connection. A channel is followed once, whoever wants it: a second `want` would move the
 * place of the first.
 */
class Wants {
  readonly #link: Link;
  readonly #users = new Map<string, number>();
  readonly #wanted = new Set<string>();
  readonly ids = new Map<string, number>();
  constructor(link: Link) {
    this.#link = link;
    link.on("hello", () => this.#wanted.clear());
    link.on("following", ({ channel, channelId }) => this.ids.set(channel, channelId));
  }
  add(name: string): void {
    this.#users.set(name, (this.#users.get(name) ?? 0) + 1);
  }
  want(name: string, from: number): void {
    if (this.#wanted.has(name)) return;
    this.#wanted.add(name);
    this.#link.want(name, from);
  }
  remove(name: string): void {
    const left = (this.#users.get(name) ?? 1) - 1;
    this.#users.set(name, left);
    if (left > 0) return;
    this.#wanted.delete(name);
    this.#link.unwant(name);
  }
}
const wants = new WeakMap<Link, Wants>();
const wantsOf = (link: Link): Wants => {
  const held = wants.get(link) ?? new Wants(link);
  wants.set(link, held);
  return held;
};

interface Channel {
  readonly name: string;
  readonly chan: 0 | 1;
  /** Seq that comes next. */
  next: number;
  waiting: WireRecord[];
  /** Lines that the page lost before the first waiting one. */
  losses: { before: number; count: number }[];
  open: WireRecord | undefined;
}

/** Lines as they came, for a terminal or a plot; `open`: the line without an end so far. */
export type Listener = (records: readonly WireRecord[], chan: 0 | 1, open: WireRecord | undefined) => void;

export interface FeedOptions {
  rx: string;
  tx: string | null;
  /** Its session log is read for what is older; null: there is none. */
  pane: string | null;
  budget?: number;
}

export class LineFeed {
  readonly store: LineStore;
  readonly #link: Link;
  readonly #wants: Wants;
  readonly #pane: string | null;
  readonly #channels: Channel[];
  readonly #changed = new Set<() => void>();
  readonly #listeners = new Set<Listener>();
  readonly #stops: (() => void)[];
  #epochMs: number | undefined;
  /** Counts connections: an answer of the one before is dropped. */
  #turn = 0;
  #syncing = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** For the next `older`; null: that was the beginning. undefined: not asked yet. */
  #cursor: string | null | undefined;
  #loadingOlder = false;
  /** Lines up to these are not shown; 0: never cleared in this run of the server. */
  #cleared = { rx: 0, tx: 0 };

  constructor(link: Link, { rx, tx, pane, budget }: FeedOptions, epochMs: number | undefined) {
    this.#link = link;
    this.#wants = wantsOf(link);
    this.#pane = pane;
    this.store = new LineStore({ canReload: pane !== null, ...(budget !== undefined && { budget }) });
    const channel = (name: string, chan: 0 | 1): Channel => ({
      name,
      chan,
      next: 1,
      waiting: [],
      losses: [],
      open: undefined,
    });
    this.#channels = [channel(rx, CHAN.rx), ...(tx === null ? [] : [channel(tx, CHAN.tx)])];
    this.#stops = [
      link.on("hello", (hello) => this.#begin(hello.epochMs)),
      link.on("skipped", ({ channel: name, count, nextSeq }) => {
        this.#channels.find((c) => c.name === name)?.losses.push({ before: nextSeq, count });
      }),
      link.onFrame((frame) => this.#take(frame)),
    ];
    for (const { name } of this.#channels) this.#wants.add(name);
    if (link.online && epochMs !== undefined) this.#begin(epochMs);
  }

  /** Called after lines came or went, at most once for all that came together. */
  onChange(listener: () => void): () => void {
    this.#changed.add(listener);
    return () => this.#changed.delete(listener);
  }

  onRecords(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Something older than the first row may be on disk. */
  get hasOlder(): boolean {
    return this.#pane !== null && this.#cursor !== null && this.#cleared.rx + this.#cleared.tx === 0;
  }

  /** A person cleared the view: lines up to these seqs go. */
  clearThrough(seqs: { rx: number; tx: number }): void {
    if (seqs.rx <= this.#cleared.rx && seqs.tx <= this.#cleared.tx) return;
    this.#cleared = { rx: Math.max(seqs.rx, this.#cleared.rx), tx: Math.max(seqs.tx, this.#cleared.tx) };
    const { store } = this;
    if (!store.clearThrough(this.#cleared)) return;
    if (store.endRow === store.firstRow) store.mark(MARK.cleared, Date.now());
    this.#tell();
  }

  /** Reads lines before the first row from the session log. False: there are none. */
  async older(): Promise<boolean> {
    if (this.#pane === null || !this.hasOlder || this.#loadingOlder || this.#syncing) return false;
    this.#loadingOlder = true;
    try {
      const { store } = this;
      const first = store.line(store.firstRow);
      const epoch = this.#epochMs ?? 0;
      let held = 0;
      if (first) {
        const ms = Math.floor(first.wall);
        for (let row = store.firstRow; Math.floor(store.line(row)?.wall ?? -1) === ms; row++) held++;
      }
      const before = this.#cursor ?? (first ? first.wall - epoch : Date.now() - epoch);
      const query = { pane: this.#pane, before, count: OLDER_COUNT, ...(this.#cursor === undefined && { held }) };
      const { lines, cursor } = await this.#link.older(query);
      const source = typeof before === "string" ? { cursor: before } : { beforeWall: first?.wall ?? 0 };
      this.#cursor = cursor;
      if (this.#cleared.rx + this.#cleared.tx > 0 || lines.length === 0) {
        this.#tell();
        return false;
      }
      store.prepend(lines.map((l) => fromDisk(l)), source);
      this.#tell();
      return true;
    } catch {
      this.#cursor = null;
      return false;
    } finally {
      this.#loadingOlder = false;
    }
  }

  /** Reads a chunk whose bytes went. */
  async load(chunk: Chunk): Promise<void> {
    const { source } = chunk;
    if (chunk.columns || chunk.loading || chunk.lost || !this.#link.online) return;
    if (this.#pane === null || source === undefined) {
      this.store.restore(chunk, []);
      return this.#tell();
    }
    chunk.loading = true;
    try {
      const before = "cursor" in source
        ? source.cursor
        // Everything of the milliseconds before that one.
        : Math.floor(source.beforeWall) - 0.5 - (this.#epochMs ?? 0);
      const query = { pane: this.#pane, before, count: chunk.count, ...(typeof before === "number" && { held: 0 }) };
      const { lines } = await this.#link.older(query);
      this.store.restore(chunk, lines.map((l) => fromDisk(l)));
    } catch {
      if (this.#link.online) this.store.restore(chunk, []);
      else chunk.loading = false;
    }
    this.#tell();
  }

  close(): void {
    for (const stop of this.#stops) stop();
    clearTimeout(this.#timer);
    this.#turn++;
    for (const channel of this.#channels) this.#wants.remove(channel.name);
    this.#changed.clear();
    this.#listeners.clear();
  }

  #begin(epochMs: number): void {
    const turn = ++this.#turn;
    // Another start of the server has another zero of time, and counts lines anew.
    if (this.#epochMs !== undefined && Math.abs(this.#epochMs - epochMs) > 1) {
      this.store.restart(Date.now());
      for (const channel of this.#channels) channel.next = 1;
      this.#cleared = { rx: 0, tx: 0 };
    }
    this.#epochMs = epochMs;
    for (const channel of this.#channels) {
      channel.waiting = [];
      channel.losses = [];
      channel.open = undefined;
    }
    this.#syncing = true;
    this.#sync(turn);
  }

  /** What the rings hold since the last line, both directions merged; then each channel is followed. */
  async #sync(turn: number): Promise<void> {
    await Promise.all(this.#channels.map(async (channel) => {
      try {
        let from = channel.next;
        for (let i = 0; i < MAX_FETCHES; i++) {
          const frame = await this.#link.fetch(channel.name, from, FETCH_COUNT);
          if (turn !== this.#turn) return;
          const first = frame.records[0];
          if (!first) break;
          if (from > 1 && first.seq > from) channel.losses.push({ before: first.seq, count: first.seq - from });
          for (const record of frame.records) channel.waiting.push(record);
          from = first.seq + frame.records.length;
        }
      } catch {
        // There is no such channel yet: following it waits until there is.
      }
    }));
    if (turn !== this.#turn) return;
    this.#syncing = false;
    for (const channel of this.#channels) {
      // Frames that came meanwhile, for someone else who follows it, are among them.
      channel.waiting.sort((a, b) => a.seq - b.seq);
      channel.waiting = channel.waiting.filter((r, i, all) => r.seq !== all[i - 1]?.seq);
      const last = channel.waiting[channel.waiting.length - 1];
      this.#wants.want(channel.name, last ? last.seq + 1 : channel.next);
    }
    this.#flush();
  }

  #take(frame: LineFrame): void {
    const channel = this.#channels.find((c) => this.#wants.ids.get(c.name) === frame.channelId);
    if (!channel) return;
    const last = frame.records[frame.records.length - 1];
    channel.open = undefined;
    if (last && last.flags & WIRE_PARTIAL) {
      frame.records.pop();
      channel.open = { ...last, bytes: last.bytes.slice() };
    }
    // No spread: a frame can hold more records than a call can take arguments.
    for (const record of frame.records) channel.waiting.push(record);
    if (!this.#syncing) this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const epoch = this.#epochMs ?? 0;
    const { store } = this;
    const taken = this.#channels.map((channel) => {
      const cleared = channel.chan === CHAN.rx ? this.#cleared.rx : this.#cleared.tx;
      const records = channel.waiting.filter((r) => r.seq >= channel.next && r.seq > cleared);
      const losses = channel.losses;
      channel.waiting = [];
      channel.losses = [];
      const last = records[records.length - 1];
      if (last) channel.next = last.seq + 1;
      return { channel, records, losses, at: 0 };
    });
    for (;;) {
      let best: (typeof taken)[number] | undefined;
      for (const one of taken) {
        const record = one.records[one.at];
        if (record && (!best || record.t < (best.records[best.at]?.t ?? 0))) best = one;
      }
      const record = best?.records[best.at];
      if (!best || !record) break;
      best.at++;
      const loss = best.losses[0];
      if (loss && record.seq >= loss.before) {
        store.mark(MARK.loss, epoch + record.t, loss.count);
        best.losses.shift();
      }
      store.append(lineOf(record, best.channel.chan, epoch));
    }
    for (const { channel, losses } of taken) channel.losses.unshift(...losses);
    store.setPartials(this.#channels.flatMap((c) => c.open ? [lineOf(c.open, c.chan, epoch)] : []));
    for (const { channel, records } of taken) {
      for (const listener of this.#listeners) listener(records, channel.chan, channel.open);
    }
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#changed) listener();
  }
}

const lineOf = (r: WireRecord, chan: 0 | 1, epoch: number): NewLine => ({
  chan,
  wall: epoch + r.t,
  seq: r.seq,
  flags: r.flags & ~WIRE_PARTIAL,
  raw: r.raw,
  bytes: r.bytes,
});

/** A line of the readable session log. Frames are hex pairs there. */
function fromDisk(line: { wallMs: number; dir: "rx" | "tx" | "none"; text: string; continued?: true }): NewLine {
  const bytes = unescapeRow(line.text);
  return {
    chan: line.dir === "tx" ? CHAN.tx : CHAN.rx,
    wall: line.wallMs,
    seq: 0,
    flags: DIRECTIONS[line.dir] | sourceFlag("none") | (line.continued ? FLAG.continued : 0),
    raw: bytes.length,
    bytes,
  };
}

// ── Feeds by pane ────────────────────────────────────────────────────────────────────────────────────────────────────

/** A feed outlives its view this long: switching to the terminal and back loses nothing. */
const LINGER_MS = 60_000;
const feeds = new Map<string, { feed: LineFeed; users: number; timer: ReturnType<typeof setTimeout> | undefined }>();

/** The feed of these channels; to be given back with the second of the pair. */
export function takeFeed(
  link: Connection,
  options: FeedOptions,
  epochMs: number | undefined,
): { feed: LineFeed; release: () => void } {
  const key = `${options.rx}\n${options.tx ?? ""}`;
  let held = feeds.get(key);
  if (!held) feeds.set(key, held = { feed: new LineFeed(link, options, epochMs), users: 0, timer: undefined });
  clearTimeout(held.timer);
  held.users++;
  const one = held;
  return {
    feed: one.feed,
    release: () => {
      if (--one.users > 0) return;
      one.timer = setTimeout(() => {
        feeds.delete(key);
        one.feed.close();
      }, LINGER_MS);
    },
  };
}
