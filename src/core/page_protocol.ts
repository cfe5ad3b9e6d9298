/**
 * The conversation between the server and a page over one WebSocket (`GET /page/stream`): types and the binary codec.
 * Pure and without zod at run time, so that the page imports it as it is; the server checks with `page_schema.ts`.
 *
 * JSON text frames both ways; log lines travel as binary frames. Request ids are chosen by the page, 1 to 2^32-1, and
 * shared by call, do, fetch, find, older and sync. All times `t` are ms of the server's monotonic clock; `hello` gives
 * `epochMs`, so that wall time = epochMs + t.
 */
import type { z } from "zod";
import type { paneState } from "../../tools/device/serial.ts";
import type {
  actionInputs,
  ActionName,
  CommandKind,
  commandResults,
  control,
  controlValue,
  pageMessage,
} from "./page_schema.ts";

export type { ActionName, CommandKind } from "./page_schema.ts";
export type PageMessage = z.input<typeof pageMessage>;
export type Control = z.infer<typeof control>;
export type ControlValue = z.infer<typeof controlValue>;
export type ActionArgs<A extends ActionName> = z.input<(typeof actionInputs)[A]>;
export type CommandResult<K extends CommandKind> = z.input<(typeof commandResults)[K]>;
export type SetResult = CommandResult<"set">["results"][number];
export type Effect = CommandResult<"set">["effects"][number];
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

// ── State ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export type LineAtOpen = "high" | "low" | "leave";

/** A pane: what `serial_get_state` tells, and what only the page shows. */
export type PaneView = z.infer<typeof paneState> & {
  /** Name that a person gave it; empty: none. */
  label: string;
  linesAtOpen: { dtr: LineAtOpen; rts: LineAtOpen };
  pacing: { charMs: number; lineMs: number };
  /** All ever, not since the view was cleared. */
  counters: { rxBytes: number; txBytes: number; rxLines: number; txLines: number; dropped: number };
  /** `t` when it was opened; null while closed. */
  openSince: number | null;
  /** While `lost`: the device that is waited for, in words. */
  lostDevice: string | null;
  /** A paced text or a file on its way, in bytes. */
  sending: { done: number; total: number } | null;
  /** Lines up to these seq are before the last clear: not shown. */
  clearedSeq: { rx: number; tx: number };
};

export interface PortView {
  /** What `serial_select_port` takes. */
  value: string;
  friendlyName: string;
  kind: "usb" | "platform" | "virtual";
  product: string;
  inUse: boolean;
  /** Pane or program that holds it, when known. */
  holder: string | null;
  vendorId: string | null;
  productId: string | null;
  serialNumber: string | null;
}

export interface ChannelView {
  /** As in binary frames; never reused for another name. */
  id: number;
  name: string;
  lines: number;
  bytes: number;
  /** null: empty. */
  seqFrom: number | null;
  seqTo: number | null;
  dropped: number;
  /** Lines erased on purpose (`log_clear`), ever: when it grows, what the page holds before `seqFrom` is to go too. */
  cleared: number;
  warnOrError: number;
  /** Lines a second, over the last seconds. */
  rate: number;
}

export interface ServerView {
  version: string;
  os: string;
  /** Tokens masked; the real ones only through `server.connectInfo`. */
  urlMasked: string;
  streamableUrlMasked: string;
  sessions: number;
  readOnly: boolean;
  paused: boolean;
  askPerson: boolean;
  controlTools: boolean;
  transport: "both" | "http" | "sse";
  /** An agent is connected, or called within the last minute. */
  hasAgents: boolean;
  /** Where the session logs of all panes are on this computer; empty when none are kept. */
  logFolder: string;
}

/** A call in the live list; `ms` and `ok` are null while it runs. */
export interface CallView {
  id: number;
  /** Client name and the beginning of its session. */
  who: string;
  kind: "agent" | "cli" | "page";
  tool: string;
  argsShort: string;
  /** `t` */
  startedAt: number;
  ms: number | null;
  ok: boolean | null;
  /** Of a failed call: its text, short. */
  error: string | null;
  /** What it changed: `baud 9600 → 115200`. */
  effects: string[];
}

/** A dangerous call that waits for a person's yes. */
export interface AskView {
  askId: number;
  who: string;
  tool: string;
  argsShort: string;
  consequence: string;
  /** `t` */
  askedAt: number;
  /** `t` at which it counts as no. */
  endsAt: number;
}

export interface PageState {
  panes: PaneView[];
  ports: PortView[];
  channels: ChannelView[];
  server: ServerView;
  /** Newest last, at most 200. */
  calls: CallView[];
  asks: AskView[];
  /** Page settings by key, as saved with `ui.save`. */
  settings: { [key: string]: Json };
}

/** What `server.connectInfo` answers. With the real token: for copy buttons, never for the state. */
export interface ConnectInfo {
  streamableUrl: string;
  sseUrl: string;
  token: string;
  /** Ready to paste, a client each. `language` is for display: json, toml, sh. */
  clients: { id: string; name: string; where: string; language: "json" | "toml" | "sh"; snippet: string }[];
}

/** Answer of `find`: per channel the matching lines, ascending. */
export interface FindResult {
  channels: { channel: string; total: number; seqs: number[] }[];
  total: number;
  /** Not all positions are given (over 20,000); the newest are. */
  truncated: boolean;
}

/** Answer of `older`: lines from the session log on disk, oldest first. */
export interface OlderResult {
  /** `text` is escaped so that it can be undone (`\\`, `\r`, `\xNN`); `continued`: goes on in the line before. */
  lines: { wallMs: number; dir: "rx" | "tx" | "none"; text: string; continued?: true }[];
  /** For the next request; null: that was the beginning. */
  cursor: string | null;
}

/** Answer of each action. */
export interface ActionOutputs {
  "pane.add": { pane: string };
  "pane.sendFile": { bytes: number };
  "server.connectInfo": ConnectInfo;
  /**
   * Ends the cookie of this page too, and all other pages: the page gets its new cookie with a fetch of
   * `/devices?token=<new token>` (it need not leave the document for that).
   */
  "server.resetToken": ConnectInfo;
  /** Same origin; answers with Content-Disposition: attachment. */
  "log.saveAs": { url: string; name: string };
}
export type ActionOutput<A extends ActionName> = A extends keyof ActionOutputs ? ActionOutputs[A]
  : Record<string, never>;

// ── Server → page ────────────────────────────────────────────────────────────────────────────────────────────────────

export interface WireError {
  code: number;
  message: string;
  reason?: string;
  hint?: string;
  data?: Record<string, unknown>;
}

export type Command =
  | { type: "command"; id: number; kind: "list" }
  | { type: "command"; id: number; kind: "describe" | "get"; path: string }
  | { type: "command"; id: number; kind: "set"; items: readonly { path: string; value: ControlValue }[] }
  | { type: "command"; id: number; kind: "click"; path: string }
  /** Bring this pane to the front. */
  | { type: "command"; id: number; kind: "show"; pane: string };

export type ServerMessage =
  /** First, and again after each reconnect. `pageId` is this connection's. */
  | { type: "hello"; version: string; pageId: number; epochMs: number; now: number; state: PageState }
  /** Only the parts that changed; at most 10 a second. */
  | { type: "state" } & Partial<PageState>
  | { type: "answer"; id: number; ok: true; output: unknown; text: string }
  | { type: "answer"; id: number; ok: false; error: WireError }
  | { type: "progress"; id: number; done: number; total?: number; message?: string }
  /** Answer to `want`: the channel's id and the first seq that will come. `unknown`: no such channel (yet). */
  | { type: "following"; channel: string; channelId: number; fromSeq: number }
  | { type: "unknown"; channel: string }
  /** Lines were lost to the view because the ring was faster: the next frame starts at `nextSeq`. */
  | { type: "skipped"; channel: string; count: number; nextSeq: number }
  /** A message of the page was refused (a bug of the page): shown in its console. */
  | { type: "refused"; message: string }
  | Command;

// ── Binary ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** First byte of a binary frame. */
export const FRAME_KIND = {
  /** Server → page: new lines of a channel. */
  lines: 1,
  /** Server → page: the answer to `fetch`. */
  fetched: 2,
  /** Page → server: part of a file; u8 kind, 3 bytes zero, u32 request id, bytes. Empty: the end. */
  chunk: 3,
} as const;

/** Set in a record's flags on the wire only: the line has no end yet. It comes last and is replaced by the next frame. */
export const WIRE_PARTIAL = 1 << 14;

/** Little-endian: u8 kind, u8 zero, u16 channelId, u32 request id (0 in `lines`), f64 firstSeq, u32 count. */
export const FRAME_HEADER_BYTES = 20;
/** f64 t, u32 raw, u16 flags, u16 length, then the bytes. */
export const RECORD_HEADER_BYTES = 16;

/** One line as in a ring; `bytes` is a view into the frame. */
export interface WireRecord {
  seq: number;
  t: number;
  /** As in `line.ts`, and {@link WIRE_PARTIAL}. */
  flags: number;
  /** Its real size in bytes, also when it was cut. */
  raw: number;
  bytes: Uint8Array;
}

export interface LineFrame {
  kind: "lines" | "fetched";
  channelId: number;
  requestId: number;
  /** Seq of the first record; with no record: the next seq of the channel. */
  firstSeq: number;
  records: WireRecord[];
}

/**
 * Builds one frame in a buffer that it keeps. After a `lines` frame the open line of the channel is the partial record
 * at its end, or none.
 */
export class FrameWriter {
  #buffer: Uint8Array<ArrayBuffer>;
  #view: DataView;
  #at = FRAME_HEADER_BYTES;
  #count = 0;
  constructor(initialBytes = 65_536) {
    this.#buffer = new Uint8Array(initialBytes);
    this.#view = new DataView(this.#buffer.buffer);
  }
  /** Bytes of the frame so far. */
  get size(): number {
    return this.#at;
  }
  get count(): number {
    return this.#count;
  }
  start(kind: "lines" | "fetched", channelId: number, firstSeq: number, requestId = 0): void {
    this.#at = FRAME_HEADER_BYTES;
    this.#count = 0;
    this.#view.setUint8(0, FRAME_KIND[kind]);
    this.#view.setUint8(1, 0);
    this.#view.setUint16(2, channelId, true);
    this.#view.setUint32(4, requestId, true);
    this.#view.setFloat64(8, firstSeq, true);
  }
  add(t: number, flags: number, raw: number, bytes: Uint8Array): void {
    this.#room(RECORD_HEADER_BYTES + bytes.length);
    const v = this.#view;
    const at = this.#at;
    v.setFloat64(at, t, true);
    v.setUint32(at + 8, raw, true);
    v.setUint16(at + 12, flags, true);
    v.setUint16(at + 14, bytes.length, true);
    this.#buffer.set(bytes, at + RECORD_HEADER_BYTES);
    this.#at = at + RECORD_HEADER_BYTES + bytes.length;
    this.#count++;
  }
  /** A copy of the frame, to be sent. */
  finish(): Uint8Array<ArrayBuffer> {
    this.#view.setUint32(16, this.#count, true);
    return this.#buffer.slice(0, this.#at);
  }
  #room(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const bigger = new Uint8Array(Math.max(this.#buffer.length * 2, this.#at + bytes));
    bigger.set(this.#buffer.subarray(0, this.#at));
    this.#buffer = bigger;
    this.#view = new DataView(bigger.buffer);
  }
}

/** Reads a `lines` or `fetched` frame; undefined when it is none or is cut short. */
export function readLineFrame(data: ArrayBuffer | Uint8Array): LineFrame | undefined {
  const buf = data instanceof Uint8Array ? data : new Uint8Array(data);
  if (buf.length < FRAME_HEADER_BYTES) return undefined;
  const v = new DataView(buf.buffer, buf.byteOffset, buf.byteLength);
  const kind = v.getUint8(0);
  if (kind !== FRAME_KIND.lines && kind !== FRAME_KIND.fetched) return undefined;
  const firstSeq = v.getFloat64(8, true);
  const count = v.getUint32(16, true);
  const records: WireRecord[] = [];
  let at = FRAME_HEADER_BYTES;
  for (let i = 0; i < count; i++) {
    if (at + RECORD_HEADER_BYTES > buf.length) return undefined;
    const end = at + RECORD_HEADER_BYTES + v.getUint16(at + 14, true);
    if (end > buf.length) return undefined;
    records.push({
      seq: firstSeq + i,
      t: v.getFloat64(at, true),
      raw: v.getUint32(at + 8, true),
      flags: v.getUint16(at + 12, true),
      bytes: buf.subarray(at + RECORD_HEADER_BYTES, end),
    });
    at = end;
  }
  return {
    kind: kind === FRAME_KIND.lines ? "lines" : "fetched",
    channelId: v.getUint16(2, true),
    requestId: v.getUint32(4, true),
    firstSeq,
    records,
  };
}

const CHUNK_HEADER_BYTES = 8;

/** Part of a file on its way from the page; at most 65,536 bytes each, and not more than 262,144 ahead of `progress`. */
export function writeChunk(requestId: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(CHUNK_HEADER_BYTES + bytes.length);
  out[0] = FRAME_KIND.chunk;
  new DataView(out.buffer).setUint32(4, requestId, true);
  out.set(bytes, CHUNK_HEADER_BYTES);
  return out;
}

export function readChunk(data: ArrayBuffer): { requestId: number; bytes: Uint8Array<ArrayBuffer> } | undefined {
  if (data.byteLength < CHUNK_HEADER_BYTES) return undefined;
  const v = new DataView(data);
  if (v.getUint8(0) !== FRAME_KIND.chunk) return undefined;
  return { requestId: v.getUint32(4, true), bytes: new Uint8Array(data, CHUNK_HEADER_BYTES) };
}
