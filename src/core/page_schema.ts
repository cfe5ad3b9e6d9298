/**
 * What a page may send, as zod schemas. Only the server parses with these; the page takes the types from
 * `page_protocol.ts`, so that zod is not part of what a browser loads.
 */
import { z } from "zod";
import { LIMITS } from "../../tools/limits.ts";

export const PANELS = ["serial", "wsl", "adb", "ble", "global", "mcp", "dialog"] as const;
export const CONTROL_KINDS = ["button", "toggle", "select", "text", "number", "checkbox", "range"] as const;

const pane = z.string().min(1).max(64);
const id = z.int().min(1).max(0xffff_ffff);
const path = z.string().min(1).max(512);
export const controlValue = z.union([z.string(), z.number(), z.boolean()]);

/** One control of the page, as it registered itself. */
export const control = z.strictObject({
  /** `<panel>.<group>.<name>`, such as `serial.conn.portSelect`; in a further pane the group carries its name. */
  path,
  kind: z.enum(CONTROL_KINDS),
  panel: z.enum(PANELS),
  group: z.string().max(64),
  label: z.string().max(200),
  enabled: z.boolean(),
  disabledReason: z.string().max(300).nullable(),
  /** As shown now, not as saved. Absent for a button. */
  value: controlValue.optional(),
  options: z.array(z.strictObject({ value: z.string(), label: z.string() })).max(1000).optional(),
  /** What it does, one sentence. */
  description: z.string().max(500).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  step: z.number().optional(),
  /** The tool that does the same. A control whose tool needs `confirm` is dropped by the server. */
  tool: z.string().max(64).optional(),
  /** Only a person may use it (token, read-only off, a yes to an ask): listed, never set or clicked by an agent. */
  personOnly: z.literal(true).optional(),
});

const setResult = z.strictObject({
  path,
  ok: z.boolean(),
  notFound: z.literal(true).optional(),
  /** It is there and cannot be used now; `error` says why. */
  disabled: z.literal(true).optional(),
  /** The value is none that it takes; `error` says why, `options` what it takes. */
  badValue: z.literal(true).optional(),
  error: z.string().max(1000).optional(),
  options: z.array(z.string()).max(1000).optional(),
  from: controlValue.nullable().optional(),
  to: controlValue.nullable().optional(),
  mapRequest: z.strictObject({ settled: z.boolean(), note: z.string().max(500).optional() }).optional(),
});
const effect = z.strictObject({ path, from: controlValue.nullable(), to: controlValue.nullable() });

/** What the page gives back for each kind of command. */
export const commandResults = {
  list: z.strictObject({ controls: z.array(control).max(5000) }),
  describe: control,
  get: control,
  set: z.strictObject({ results: z.array(setResult), effects: z.array(effect) }),
  click: z.strictObject({ results: z.array(setResult), effects: z.array(effect) }),
  show: z.strictObject({}),
} as const;
export type CommandKind = keyof typeof commandResults;

const level = z.enum(["high", "low", "leave"]);

/** What only a person does and no tool does: action → its arguments. */
export const actionInputs = {
  "pane.add": z.strictObject({}),
  "pane.close": z.strictObject({ pane }),
  "pane.setLabel": z.strictObject({ pane, label: z.string().max(64) }),
  /** Waits between characters and after lines, 0 to 10,000 ms. */
  "pane.setPacing": z.strictObject({
    pane,
    charMs: z.number().min(0).max(10_000),
    lineMs: z.number().min(0).max(10_000),
  }),
  "pane.setLinesAtOpen": z.strictObject({ pane, dtr: level.optional(), rts: level.optional() }),
  /** Holds the line in the break state, 1 to 5,000 ms (default 250). */
  "pane.sendBreak": z.strictObject({ pane, ms: z.int().min(1).max(5000).optional() }),
  "pane.setFrame": z.strictObject({
    pane,
    dataBits: z.enum(["5", "6", "7", "8"]).optional(),
    stopBits: z.enum(["1", "1.5", "2"]).optional(),
    parity: z.enum(["none", "odd", "even", "mark", "space"]).optional(),
  }),
  /** Key strokes of the terminal: sent as they are, no line ending, not kept in the history. */
  "pane.keys": z.strictObject({ pane, data: z.string().min(1).max(LIMITS.maxSendChars) }),
  /**
   * A file: the bytes follow as binary frames of kind `chunk` with this request's id, an empty one ends it. The answer
   * comes when all is sent; `progress` counts bytes sent; `cancel` stops within a line.
   */
  "pane.sendFile": z.strictObject({ pane, name: z.string().max(255), size: z.int().min(0).max(1_073_741_824) }),
  "ports.rescan": z.strictObject({}),
  "server.setReadOnly": z.strictObject({ on: z.boolean() }),
  "server.pauseAgents": z.strictObject({ on: z.boolean() }),
  "server.setTransport": z.strictObject({ transport: z.enum(["both", "http", "sse"]) }),
  "server.setControlTools": z.strictObject({ on: z.boolean(), namespaces: z.array(z.enum(PANELS)).optional() }),
  "server.resetToken": z.strictObject({}),
  "server.setAskPerson": z.strictObject({ on: z.boolean() }),
  "server.answerAsk": z.strictObject({ askId: z.int(), yes: z.boolean() }),
  "server.connectInfo": z.strictObject({}),
  /** A setting of the page (theme, accent, language, layout), kept in config.json. null removes it. */
  "ui.save": z.strictObject({
    key: z.string().regex(/^[a-zA-Z][a-zA-Z0-9_.-]{0,63}$/),
    value: z.json().refine((v) => JSON.stringify(v).length <= 16_384, "at most 16,384 characters"),
  }),
  /** Gives the address to download from: a channel of the log centre, or the session of a pane. */
  "log.saveAs": z.strictObject({
    channel: z.string().max(64).optional(),
    pane: pane.optional(),
    kind: z.enum(["text", "rx", "tx"]).optional(),
  }).refine((v) => (v.channel === undefined) !== (v.pane === undefined), "give channel or pane, one of them"),
} as const;
export type ActionName = keyof typeof actionInputs;

/** Every JSON message of a page. */
export const pageMessage = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("call"), id, tool: z.string().max(64), args: z.record(z.string(), z.unknown()) }),
  z.strictObject({ type: z.literal("do"), id, action: z.string().max(64), args: z.record(z.string(), z.unknown()) }),
  z.strictObject({ type: z.literal("cancel"), id }),
  z.strictObject({
    type: z.literal("want"),
    channel: z.string().max(64),
    /** `tail`: the next line that comes; what is before it is to be had with `fetch`. A second want moves the place. */
    from: z.union([z.int().min(1), z.literal("tail")]),
  }),
  z.strictObject({ type: z.literal("unwant"), channel: z.string().max(64) }),
  z.strictObject({
    type: z.literal("fetch"),
    id,
    channel: z.string().max(64),
    fromSeq: z.int().min(1),
    count: z.int().min(1).max(20_000),
  }),
  z.strictObject({
    type: z.literal("find"),
    id,
    channels: z.array(z.string().max(64)).max(LIMITS.logMaxChannels),
    pattern: z.string().min(1).max(LIMITS.maxSearchPatternChars),
    regex: z.boolean().optional(),
    caseSensitive: z.boolean().optional(),
  }),
  z.strictObject({
    type: z.literal("older"),
    id,
    pane,
    /** Time `t` of the oldest line that the page holds, or `cursor` of the last answer. */
    before: z.union([z.number(), z.string().max(300)]),
    /** With a time: how many lines of that same millisecond of wall time (floor) the page holds; default 1. */
    held: z.int().min(0).optional(),
    count: z.int().min(1).max(5000),
  }),
  /** Answered when the page has been sent the state as it is now. */
  z.strictObject({ type: z.literal("sync"), id }),
  z.strictObject({ type: z.literal("focus") }),
  z.strictObject({ type: z.literal("controls"), controls: z.array(control).max(5000) }),
  z.discriminatedUnion("ok", [
    z.strictObject({ type: z.literal("ack"), id, ok: z.literal(true), result: z.unknown() }),
    z.strictObject({
      type: z.literal("ack"),
      id,
      ok: z.literal(false),
      error: z.strictObject({ reason: z.enum(["not_found", "failed"]), message: z.string().max(1000) }),
    }),
  ]),
  /** Bytes of line frames that the page has dealt with since it connected; lets the server hold back for a slow page. */
  z.strictObject({ type: z.literal("taken"), bytes: z.number().min(0) }),
]);
