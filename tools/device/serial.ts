import { z } from "zod";
import { atLeastOneOf, tool } from "../define.ts";
import { LIMITS } from "../limits.ts";

const pane = z.string().optional().describe("Pane; default main. Others: extra-N");
const baud = z.int().min(LIMITS.minBaud).max(LIMITS.maxBaud);
export const lineEnding = z.enum(["crlf", "lf", "cr", "none"]);
export const viewMode = z.enum(["text", "hex"]);
export const dataBits = z.enum(["5", "6", "7", "8"]);
export const stopBits = z.enum(["1", "2"]);
export const parity = z.enum(["none", "odd", "even"]);

/** One entry of `applied`: what one argument did. `to` is what is really in force now. */
export const appliedEntry = z.strictObject({
  name: z.string(),
  ok: z.boolean(),
  from: z.union([z.string(), z.number(), z.boolean(), z.null()]),
  to: z.union([z.string(), z.number(), z.boolean(), z.null()]),
  skipped: z.literal(true).optional(),
  error: z.string().optional(),
});
const applied = z.strictObject({ pane: z.string(), applied: z.array(appliedEntry) });

/** Everything about a pane; the answer of `serial_get_state` and part of those of `serial_open` and `serial_close`. */
export const paneState = z.strictObject({
  pane: z.string(),
  /** Monitoring right now. */
  isConnected: z.boolean(),
  /** Finer than isConnected: `lost` waits for the same device to come back. */
  status: z.enum(["closed", "opening", "open", "lost", "closing"]),
  /** Why it is lost or what happened last, in words. */
  statusText: z.string(),
  /** Port in use while connected, else empty. */
  portName: z.string(),
  /** Port selected. */
  port: z.string(),
  /** Baud rate asked for. */
  baud: z.int(),
  /** Baud rate that the driver really set; null while closed. */
  actualBaud: z.int().nullable(),
  viewMode,
  lineEnding,
  sendAs: z.enum(["text", "hex"]),
  dataBits,
  /** `1.5`, `mark` and `space` can only be chosen on the page. */
  stopBits: z.enum(["1", "1.5", "2"]),
  parity: z.enum(["none", "odd", "even", "mark", "space"]),
  dtr: z.boolean(),
  rts: z.boolean(),
  autoScroll: z.boolean(),
  autoReconnect: z.boolean(),
  lineNum: z.boolean(),
  timestamp: z.boolean(),
  echo: z.boolean(),
  terminalMode: z.boolean(),
  lineBuf: z.boolean(),
  advOpen: z.boolean(),
  /** Lines and bytes received and sent since the view was last cleared. */
  outputLines: z.int(),
  outputBytes: z.int(),
  historyCount: z.int(),
  panes: z.array(z.string()),
  portOptions: z.array(z.strictObject({ value: z.string(), label: z.string(), inUse: z.boolean() })),
  logChannels: z.strictObject({ rx: z.string(), tx: z.string() }),
});

export const serialTools = [
  tool({
    name: "serial_list_ports",
    surface: "device",
    group: "Serial",
    access: "read",
    title: "List serial ports",
    description:
      "Serial ports of this computer; opens none. For what a pane may select, read portOptions in serial_get_state.",
    input: z.strictObject({}),
    output: z.strictObject({
      count: z.int(),
      ports: z.array(z.strictObject({ portName: z.string(), friendlyName: z.string(), productName: z.string() })),
    }),
    notes: "Host ports of any system, configured virtual ones too. Never those inside WSL.",
  }),
  tool({
    name: "serial_get_state",
    surface: "device",
    group: "Serial",
    access: "read",
    title: "State of a serial pane",
    description:
      "Everything about a serial pane: port, baud, frame, lines, switches, connected or not, selectable ports. Call first, then serial_open.",
    input: z.strictObject({ pane }),
    output: paneState,
    notes: "A read never creates a pane and never brings it to the front.",
  }),
  tool({
    name: "serial_select_port",
    surface: "device",
    group: "Serial",
    access: "write",
    title: "Select a port",
    description: "Choose the pane's port; take the value from portOptions in serial_get_state. Then serial_open.",
    input: z.strictObject({
      port: z.string().describe("Value from portOptions, e.g. COM3 or /dev/ttyUSB0"),
      pane,
    }),
    output: applied,
    lock: "pane",
  }),
  tool({
    name: "serial_set_baud",
    surface: "device",
    group: "Serial",
    access: "write",
    title: "Set the baud rate",
    description: "Set the pane's baud rate, also while open. Then serial_open.",
    input: z.strictObject({ baud: baud.describe("e.g. 115200"), pane }),
    output: applied,
    lock: "pane",
    limits: ["minBaud", "maxBaud"],
    notes: "While open, `to` is the rate that the driver really set.",
  }),
  tool({
    name: "serial_set_frame",
    surface: "device",
    group: "Serial",
    access: "write",
    title: "Set the frame format",
    description: "Set data bits, stop bits or parity; at least one. Only while disconnected: serial_close first.",
    input: z.strictObject({
      dataBits: dataBits.optional(),
      stopBits: stopBits.optional(),
      parity: parity.optional(),
      pane,
    }),
    output: applied,
    rule: atLeastOneOf("dataBits", "stopBits", "parity"),
    lock: "pane",
  }),
  tool({
    name: "serial_set_lines",
    surface: "device",
    group: "Serial",
    access: "write",
    title: "Set DTR and RTS",
    description: "Set DTR and RTS levels, e.g. to reset a board or enter its download mode; at least one.",
    input: z.strictObject({ dtr: z.boolean().optional(), rts: z.boolean().optional(), pane }),
    output: applied,
    rule: atLeastOneOf("dtr", "rts"),
    lock: "pane",
    notes: "On a closed pane the levels are stored and applied at open. A port without modem lines says so.",
  }),
  tool({
    name: "serial_set_display",
    surface: "device",
    group: "Serial",
    access: "write",
    title: "Set view and behaviour switches",
    description:
      "Set view and behaviour switches of a pane; at least one. A greyed-out switch answers skipped:true: do not retry.",
    input: z.strictObject({
      viewMode: viewMode.optional(),
      lineEnding: lineEnding.optional(),
      echo: z.boolean().optional(),
      lineNum: z.boolean().optional(),
      timestamp: z.boolean().optional(),
      autoScroll: z.boolean().optional(),
      autoReconnect: z.boolean().optional(),
      terminalMode: z.boolean().optional(),
      lineBuf: z.boolean().optional().describe("Whole-line send; terminal mode only"),
      advOpen: z.boolean().optional().describe("Advanced bar open"),
      pane,
    }),
    output: applied,
    rule: atLeastOneOf(
      "viewMode",
      "lineEnding",
      "echo",
      "lineNum",
      "timestamp",
      "autoScroll",
      "autoReconnect",
      "terminalMode",
      "lineBuf",
      "advOpen",
    ),
    lock: "pane",
    limits: ["hexFrameGapMs", "hexRowBytes"],
    notes:
      "skipped:true for lineNum, timestamp and echo in terminal mode, and for lineBuf outside it. In hex view the log records frames (ended by a silence or a full row) instead of lines.",
  }),
  tool({
    name: "serial_open",
    surface: "device",
    group: "Serial",
    access: "write",
    title: "Open the port",
    description:
      "Start monitoring, optionally choosing port and baud first; confirms within 6 s or says why. Then serial_send, serial_get_output.",
    input: z.strictObject({
      port: z.string().optional().describe("Choose this port first"),
      baud: baud.optional().describe("Set this rate first"),
      pane,
    }),
    output: z.strictObject({
      pane: z.string(),
      connected: z.literal(true),
      state: paneState,
      note: z.string().optional(),
    }),
    lock: "pane",
    limits: ["serialOpenWaitMs"],
    notes:
      "Idempotent with the same port and rate. While open, another port closes and opens again and another rate is set in place (no modem line moves); `note` tells old and new.",
  }),
  tool({
    name: "serial_close",
    surface: "device",
    group: "Serial",
    access: "write",
    title: "Close the port",
    description: "Stop monitoring and confirm that the port is released.",
    input: z.strictObject({ pane }),
    output: z.strictObject({
      pane: z.string(),
      connected: z.literal(false),
      state: paneState,
      note: z.string().optional(),
    }),
    limits: ["serialCloseWaitMs"],
  }),
  tool({
    name: "serial_send",
    surface: "device",
    group: "Serial",
    access: "write",
    title: "Send text or hex",
    description:
      "Send text or hex to an open pane; mode and lineEnding stay set. Read the reply with serial_get_output.",
    input: z.strictObject({
      data: z.string().max(LIMITS.maxSendChars).describe('Text, or hex such as "01 03 00 02"'),
      mode: z.enum(["text", "hex"]).optional().describe("Default: the pane's setting"),
      lineEnding: lineEnding.optional(),
      pane,
    }),
    output: z.strictObject({
      pane: z.string(),
      sent: z.literal(true),
      mode: z.enum(["text", "hex"]),
      bytes: z.int(),
      data: z.string(),
    }),
    lock: "pane",
    limits: ["maxSendChars", "deviceTimeoutMs"],
    notes:
      "The line ending is added in text mode only. `bytes` counts what was written, line ending included; `data` is what was sent (hex as pairs), cut at 2,000 characters. A failed send tells `bytesWritten`.",
  }),
  tool({
    name: "serial_clear",
    surface: "device",
    group: "Serial",
    access: "write",
    title: "Clear the view",
    description:
      "Empty the pane's view and truncate its session log files on disk. The log channel keeps its lines (log_clear).",
    input: z.strictObject({ pane }),
    output: z.strictObject({ pane: z.string(), cleared: z.literal(true), outputLines: z.int() }),
    lock: "pane",
  }),
  tool({
    name: "serial_get_history",
    surface: "device",
    group: "Serial",
    access: "read",
    title: "Send history",
    description: "What was sent from a pane lately, newest first; reuse it with serial_send.",
    input: z.strictObject({ limit: z.int().min(1).optional().describe("Default 20, max 200"), pane }),
    output: z.strictObject({ pane: z.string(), total: z.int(), items: z.array(z.string()), truncated: z.boolean() }),
    clamp: { limit: "maxHistoryRead" },
    limits: ["maxHistory"],
  }),
  tool({
    name: "serial_get_output",
    surface: "device",
    group: "Serial",
    access: "read",
    title: "What was received and sent",
    description:
      "What the device said and what was sent, merged by time; no channel name needed. format:text costs least.",
    input: z.strictObject({
      pane,
      direction: z.enum(["rx", "tx", "both"]).optional().describe("Default both"),
      lines: z.int().min(1).optional().describe("Default 50, max 2000"),
      format: z.enum(["json", "text"]).optional().describe("Default json"),
    }),
    output: z.strictObject({
      pane: z.string(),
      direction: z.enum(["rx", "tx", "both"]),
      format: z.enum(["json", "text"]),
      isConnected: z.boolean(),
      channels: z.strictObject({ rx: z.lazy(() => outputChannel), tx: z.lazy(() => outputChannel) }),
      count: z.int(),
      items: z.array(z.lazy(() => outputItem)).optional(),
      truncated: z.boolean(),
      note: z.string().optional(),
    }),
    clamp: { lines: "maxLogReadLines" },
    limits: ["maxAnswerTokens"],
    notes:
      "format text: a header line, then `[+ms] [rx|tx] text` a line, in the content text; structuredContent then has no items. nextSinceSeq of a channel goes on with log_tail. An open line (no line end yet) comes last with partial:true.",
  }),
] as const;

/** One direction of a pane as `serial_get_output` reports it. */
export const outputChannel = z.strictObject({
  channel: z.string(),
  count: z.int(),
  dropped: z.int(),
  mayBeIncomplete: z.boolean(),
  nextSinceSeq: z.int(),
});

/** One line as `serial_get_output` gives it; `hex` is there when `text` alone does not give the bytes back. */
export const outputItem = z.strictObject({
  seq: z.int(),
  /** ISO 8601, UTC. */
  ts: z.string(),
  dir: z.enum(["rx", "tx"]),
  src: z.enum(["ai", "ui", "none"]),
  text: z.string(),
  bytes: z.int(),
  hex: z.string().optional(),
  partial: z.literal(true).optional(),
  /** The line goes on in the next entry (longer than the cap). */
  continues: z.literal(true).optional(),
});
