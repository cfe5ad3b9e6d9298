import type { LogHub } from "../bench/log_hub.ts";
import { FrameWriter, type ServerMessage, WIRE_PARTIAL } from "../core/page_protocol.ts";
import type { LineRing } from "../core/ring.ts";

/** The part of a socket that a stream of lines needs. */
export interface LineOut {
  /** Bytes that wait to go, in the socket and, when the page tells, in the page. */
  readonly backlog: number;
  send(message: ServerMessage): void;
  sendBytes(bytes: Uint8Array<ArrayBuffer>): void;
}

/** Held back while more than this waits for the page. */
const MAX_BACKLOG = 1024 * 1024;
/** Most that one tick sends, all channels together, so that a flood in one pane delays no other thing for long. */
const TICK_BYTES = 512 * 1024;
const FRAME_BYTES = 128 * 1024;
/** What waits for a slow page never gets less than this, nor is it slow when no more waits. */
const LEAST_BACKLOG = 128 * 1024;
/** Lines that wait longer than this make what may wait less, ms: the echo of a key waits behind them. */
const SLOW_MS = 150;
/** A channel with no more than so many lines to send is sent even behind a flood in another. */
const FEW_LINES = 32;
const FEW_BYTES = 8 * 1024;
/** While lines keep coming they are sent together this often, ms; the first one after a pause goes at once. */
const BATCH_MS = 30;
/** Most that one `fetch` is answered with. */
const FETCH_BYTES = 1024 * 1024;

/** Numbers for channel names in binary frames: given once, the same for all pages. */
export class ChannelIds {
  readonly #ids = new Map<string, number>();
  of(name: string): number {
    let id = this.#ids.get(name);
    if (id === undefined) this.#ids.set(name, id = this.#ids.size + 1);
    return id;
  }
}

interface Follow {
  readonly name: string;
  /** Seq of the next line to send; undefined until the channel is there. */
  next: number | undefined;
  readonly from: number | "tail";
  /** Of the open line as it was last sent: seq and length; empty: none. */
  open: string;
  dropped: number;
}

/**
 * Lines of the channels that one page follows. Reads the rings at its own pace, so a slow page never holds a driver
 * up: what the ring dropped meanwhile is told as skipped.
 */
export class LineStream {
  readonly #hub: LogHub;
  readonly #ids: ChannelIds;
  readonly #out: LineOut;
  readonly #follows = new Map<string, Follow>();
  readonly #frame = new FrameWriter();
  /** The channel that goes first in the next tick, so that each has its turn. */
  #turn = 0;
  #sentAt = -Infinity;
  /** How much may wait for this page now. */
  #room = MAX_BACKLOG;
  #slowAt = -Infinity;
  #total = 0;
  /** What was sent and perhaps not dealt with: all bytes up to then, and when. */
  readonly #sent: { total: number; at: number }[] = [];

  constructor(hub: LogHub, ids: ChannelIds, out: LineOut) {
    this.#hub = hub;
    this.#ids = ids;
    this.#out = out;
  }

  want(name: string, from: number | "tail"): void {
    const follow: Follow = { name, next: undefined, from, open: "", dropped: 0 };
    this.#follows.set(name, follow);
    if (!this.#begin(follow)) this.#out.send({ type: "unknown", channel: name });
  }

  unwant(name: string): void {
    this.#follows.delete(name);
  }

  /** Sends what is new, within the bounds. True while there is something to do: lines went, or more of them wait. */
  tick(): boolean {
    const now = this.#hub.now();
    if (now - this.#sentAt < BATCH_MS) return true;
    const follows = [...this.#follows.values()];
    let left = Math.min(TICK_BYTES, this.#roomNow(now));
    let busy = false;
    for (let i = 0; i < follows.length; i++) {
      const follow = follows[(this.#turn + i) % follows.length];
      if (!follow) continue;
      const full = left <= 0 || this.#out.backlog > this.#room;
      if (full && !(this.#out.backlog <= MAX_BACKLOG && this.#hasFew(follow))) {
        busy = true;
        continue;
      }
      const sent = this.#advance(follow, full ? FEW_BYTES : left);
      left -= sent;
      if (sent > 0) {
        this.#sentAt = now;
        busy = true;
      }
      if (left <= 0) this.#turn = (this.#turn + i + 1) % follows.length;
    }
    return busy;
  }

  /** Answers a `fetch`: what the ring still holds from there on. False for an unknown channel. */
  fetch(requestId: number, name: string, fromSeq: number, count: number): boolean {
    const ring = this.#hub.find(name)?.ring;
    if (!ring) return false;
    const first = Math.max(fromSeq, ring.firstSeq);
    this.#frame.start("fetched", this.#ids.of(name), first, requestId);
    this.#fill(ring, first, first + count - 1, FETCH_BYTES);
    this.#send(this.#frame.finish());
    return true;
  }

  /** Bytes that may go now. A page that takes its time is sent less at once, so that nothing waits long in it. */
  #roomNow(now: number): number {
    const { backlog } = this.#out;
    const taken = this.#total - backlog;
    while (this.#sent[0] && this.#sent[0].total <= taken) this.#sent.shift();
    const waited = backlog > LEAST_BACKLOG / 2 ? now - (this.#sent[0]?.at ?? now) : 0;
    if (waited > SLOW_MS && now - this.#slowAt > SLOW_MS) {
      this.#slowAt = now;
      this.#room = Math.max(LEAST_BACKLOG, this.#room / 2);
    } else if (waited < SLOW_MS / 2) this.#room = Math.min(MAX_BACKLOG, this.#room + LEAST_BACKLOG / 4);
    return this.#room - backlog;
  }

  #hasFew(follow: Follow): boolean {
    const ring = this.#hub.find(follow.name)?.ring;
    return ring !== undefined && follow.next !== undefined && ring.lastSeq - follow.next < FEW_LINES;
  }

  #send(bytes: Uint8Array<ArrayBuffer>): void {
    this.#total += bytes.length;
    this.#sent.push({ total: this.#total, at: this.#hub.now() });
    this.#out.sendBytes(bytes);
  }

  #begin(follow: Follow): boolean {
    const ring = this.#hub.find(follow.name)?.ring;
    if (!ring) return false;
    const next = ring.lastSeq + 1;
    follow.next = follow.from === "tail" ? next : Math.min(follow.from, next);
    follow.dropped = ring.dropped;
    // What was gone before the page asked is no loss of this stream.
    if (follow.next < ring.firstSeq) follow.next = ring.firstSeq;
    const channelId = this.#ids.of(follow.name);
    this.#out.send({ type: "following", channel: follow.name, channelId, fromSeq: follow.next });
    return true;
  }

  /** Gives about how many bytes went. */
  #advance(follow: Follow, budget: number): number {
    if (follow.next === undefined && !this.#begin(follow)) return 0;
    const channel = this.#hub.find(follow.name);
    if (!channel || follow.next === undefined) return 0;
    const ring = channel.ring;
    const gap = ring.firstSeq - follow.next;
    if (gap > 0) {
      // A gap that the ring did not count as dropped was erased on purpose.
      const lost = Math.min(gap, ring.dropped - follow.dropped);
      follow.next = ring.firstSeq;
      if (lost > 0) {
        this.#out.send({ type: "skipped", channel: follow.name, count: lost, nextSeq: follow.next });
      }
    }
    follow.dropped = ring.dropped;
    let sent = 0;
    while (follow.next <= ring.lastSeq && sent < budget) {
      const first = follow.next;
      this.#frame.start("lines", this.#ids.of(follow.name), first);
      follow.next = this.#fill(ring, first, ring.lastSeq, Math.min(FRAME_BYTES, budget - sent));
      // The open line belongs to the newest frame only.
      if (follow.next > ring.lastSeq) follow.open = this.#addOpen(channel);
      else follow.open = "";
      sent += this.#flush();
    }
    if (sent > 0 || follow.next <= ring.lastSeq) return sent;
    const open = channel.open();
    const key = open ? `${open.seq}:${open.bytes.length}` : "";
    if (key === follow.open) return 0;
    this.#frame.start("lines", this.#ids.of(follow.name), follow.next);
    follow.open = this.#addOpen(channel);
    return this.#flush();
  }

  #addOpen(channel: { open(): { seq: number; t: number; flags: number; raw: number; bytes: Uint8Array } | undefined }) {
    const open = channel.open();
    if (!open) return "";
    this.#frame.add(open.t, open.flags | WIRE_PARTIAL, open.raw, open.bytes);
    return `${open.seq}:${open.bytes.length}`;
  }

  /** Adds records until the frame holds `maxBytes` (one at least); gives the seq after the last. */
  #fill(ring: LineRing, from: number, to: number, maxBytes: number): number {
    let next = from;
    const frame = this.#frame;
    ring.scan(from, to, (seq, t, flags, raw, bytes, start, end) => {
      frame.add(t, flags, raw, bytes.subarray(start, end));
      next = seq + 1;
      return frame.size < maxBytes;
    });
    return next;
  }

  #flush(): number {
    const bytes = this.#frame.finish();
    this.#send(bytes);
    return bytes.length;
  }
}
