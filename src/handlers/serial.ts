import { count } from "../core/count.ts";
import { LIMITS } from "../../tools/limits.ts";
import type { Bench } from "../bench/bench.ts";
import { outputPage } from "../bench/log_pages.ts";
import type { Pane } from "../bench/pane.ts";
import type { Applied, DataBits, StopBits } from "../bench/pane_settings.ts";
import { nameOf } from "../bench/port_match.ts";
import { type BenchError, failed } from "../core/errors.ts";
import { parseHex } from "../core/hex_input.ts";
import { FLAG } from "../core/line.ts";
import { renderText } from "../core/text.ts";
import type { HandlersOf } from "./types.ts";

export type SerialTool =
  | "serial_list_ports"
  | "serial_get_state"
  | "serial_select_port"
  | "serial_set_baud"
  | "serial_set_frame"
  | "serial_set_lines"
  | "serial_set_display"
  | "serial_open"
  | "serial_close"
  | "serial_send"
  | "serial_clear"
  | "serial_get_history"
  | "serial_get_output";

/** What was sent is told back up to this length: an answer must not cost what the sending did. */
const MAX_ECHO_CHARS = 2000;
const DEFAULT_HISTORY = 20;

const DATA_BITS: Readonly<Record<string, DataBits>> = { "5": 5, "6": 6, "7": 7, "8": 8 };
const STOP_BITS: Readonly<Record<string, StopBits>> = { "1": 1, "2": 2 };

/** The serial tools over the bench. */
export const serialHandlers = (bench: Bench): HandlersOf<SerialTool> => {
  const { panes, ports, hub } = bench;
  const writing = (name: string | undefined): Pane => panes.need(name, { create: true });

  return {
    serial_list_ports: async () => {
      const found = await ports.list();
      const list = found.map((p) => ({
        portName: p.path,
        friendlyName: p.friendlyName,
        productName: p.product,
      }));
      const text = list.length === 0
        ? "No serial port. Plug an adapter in, or see serial_get_state for configured ones."
        : items(`${list.length} ${list.length === 1 ? "port" : "ports"}:`, found.map(nameOf));
      return { output: { count: list.length, ports: list }, text };
    },

    serial_get_state: async ({ pane }) => {
      const state = await bench.state(pane);
      const options = state.portOptions.map((o) => `${o.value}${o.inUse ? " (in use)" : ""}`);
      const next = state.isConnected
        ? "Next: serial_send, serial_get_output."
        : state.status === "lost"
        ? "It connects again by itself; serial_close ends the waiting."
        : options.length === 0
        ? "No port to choose: plug one in."
        : "Next: serial_open.";
      const frame = `${state.dataBits}${state.parity.charAt(0).toUpperCase()}${state.stopBits}`;
      const head = `${state.pane}: ${state.statusText}. Port ${state.port || "none"}, ${state.baud} ${frame}, ` +
        `${count(state.outputLines, "line")}. Panes: ${state.panes.join(", ")}. ${next} Ports:`;
      return { output: state, text: items(head, options.length === 0 ? ["none"] : options) };
    },

    serial_select_port: async ({ port, pane: name }) => {
      const pane = writing(name);
      const applied = [await pane.selectPort(port)];
      const open = pane.link.current?.info.path;
      const next = open === undefined
        ? "Next: serial_open."
        : open === port
        ? "It is open."
        : `${open} is still open: serial_open switches.`;
      return { output: { pane: pane.name, applied }, text: brief(`${told(pane, applied)} ${next}`) };
    },

    serial_set_baud: ({ baud, pane: name }) => {
      const pane = writing(name);
      const applied = [pane.setBaud(baud)];
      const next = pane.link.current ? "It is in force." : "Next: serial_open.";
      return { output: { pane: pane.name, applied }, text: brief(`${told(pane, applied)} ${next}`) };
    },

    serial_set_frame: ({ dataBits, stopBits, parity, pane: name }) => {
      const pane = writing(name);
      const applied = pane.setFrame({
        dataBits: dataBits && DATA_BITS[dataBits],
        stopBits: stopBits && STOP_BITS[stopBits],
        parity,
      });
      return { output: { pane: pane.name, applied }, text: brief(`${told(pane, applied)} Next: serial_open.`) };
    },

    serial_set_lines: ({ dtr, rts, pane: name }) => {
      const pane = writing(name);
      const applied = pane.setLines({ dtr, rts });
      const when = pane.link.current ? "" : " Kept; set when the port is opened.";
      return { output: { pane: pane.name, applied }, text: brief(`${told(pane, applied)}${when}`) };
    },

    serial_set_display: ({ pane: name, ...changes }) => {
      const pane = writing(name);
      const applied = pane.setDisplay(changes);
      return { output: { pane: pane.name, applied }, text: brief(told(pane, applied)) };
    },

    serial_open: async ({ port, baud, pane: name }) => {
      const pane = writing(name);
      const note = await pane.open({ port, baud });
      const state = await bench.state(pane.name);
      // Between the open and here it may have been lost: then the answer must not say that it is connected.
      if (!state.isConnected) throw lostAtOnce(pane);
      const more = note === undefined || state.statusText.endsWith(note) ? "" : ` ${note}.`;
      return {
        output: { pane: pane.name, connected: true, state, ...(note !== undefined && { note }) },
        text: brief(`${pane.name} is open: ${state.statusText}.${more} Next: serial_send, serial_get_output.`),
      };
    },

    serial_close: async ({ pane: name }) => {
      const pane = writing(name);
      const before = pane.link.statusText;
      const was = pane.link.status;
      const closed = await pane.close();
      const note = closed ? was === "lost" ? `no longer waiting (${before})` : undefined : "it was closed already";
      const state = await bench.state(pane.name);
      return {
        output: { pane: pane.name, connected: false, state, ...(note !== undefined && { note }) },
        text: brief(`${pane.name} is closed${note ? `: ${note}` : `; ${before} is released`}.`),
      };
    },

    serial_send: async ({ data, mode, lineEnding, pane: name }, { caller, signal, progress }) => {
      const pane = writing(name);
      const sent = await pane.send({ data, mode, lineEnding }, { src: caller.src, signal, progress });
      const echo = cut(sent.mode === "hex" ? normalHex(data) : data, MAX_ECHO_CHARS);
      return {
        output: { pane: pane.name, sent: true, mode: sent.mode, bytes: sent.bytes, data: echo },
        text: brief(
          `${pane.name} sent ${count(sent.bytes, "byte")} (${sent.mode}): ${JSON.stringify(cut(echo, 200))}. ` +
            "Next: serial_get_output.",
        ),
      };
    },

    serial_clear: async ({ pane: name }) => {
      const pane = writing(name);
      await pane.clear();
      const { rx, tx } = pane.log.channels;
      return {
        output: { pane: pane.name, cleared: true, outputLines: pane.log.shown.lines },
        text: brief(
          `${pane.name}: view and session files emptied. ${rx} and ${tx} keep their lines (log_clear erases them).`,
        ),
      };
    },

    serial_get_history: ({ limit, pane: name }) => {
      const pane = panes.need(name);
      const { history } = pane.output;
      const list = history.newest(Math.min(limit ?? DEFAULT_HISTORY, LIMITS.maxHistoryRead));
      const text = list.length === 0 ? `Nothing sent from ${pane.name} yet. Next: serial_send.` : items(
        `${list.length} of ${history.count} sent from ${pane.name}, newest first:`,
        list.map((t) => JSON.stringify(t)),
      );
      return {
        output: { pane: pane.name, total: history.count, items: list, truncated: list.length < history.count },
        text,
      };
    },

    serial_get_output: ({ pane: name, direction, lines, format }) => {
      const pane = panes.need(name);
      const rx = hub.find(pane.log.channels.rx);
      const tx = hub.find(pane.log.channels.tx);
      if (!rx || !tx) {
        throw failed("full", `The log has no room for the channels of ${pane.name}.`, "See log_channels.");
      }
      const isConnected = pane.link.status === "open";
      return outputPage(hub, { pane: pane.name, isConnected, rx, tx }, { direction, lines, format });
    },
  };
};

const cut = (text: string, most: number): string => text.length <= most ? text : `${text.slice(0, most - 1)}…`;

const brief = (text: string): string => cut(text, LIMITS.maxSummaryChars);

/** A head and as many whole items as fit; then how many more there are. */
const items = (head: string, list: readonly string[]): string => {
  const room = LIMITS.maxSummaryChars - 16;
  let text = cut(head, room);
  for (const [at, item] of list.entries()) {
    const more = `${at === 0 ? " " : ", "}${at === 0 ? cut(item, Math.max(1, room - text.length - 1)) : item}`;
    if (text.length + more.length > room) return `${text} (${list.length - at} more)`;
    text += more;
  }
  return `${text}.`;
};

const told = (pane: Pane, applied: readonly Applied[]): string => {
  const each = applied.map(({ name, ok, from, to, skipped, error }) =>
    skipped
      ? `${name} skipped: has no effect ${pane.settings.terminalMode ? "in" : "outside"} terminal mode`
      : ok
      ? `${name} ${from === "" ? "none" : from} → ${to}`
      : `${name} failed: ${error ?? "unknown"}`
  );
  return `${pane.name}: ${each.join("; ")}.`;
};

const normalHex = (data: string): string => {
  const parsed = parseHex(data);
  return "bytes" in parsed ? renderText(parsed.bytes, FLAG.frame) : data;
};

const lostAtOnce = (pane: Pane): BenchError =>
  failed(
    "lost",
    `${pane.name} was open and is not any more: ${pane.link.statusText}.`,
    "See serial_get_state; the device may restart when it is opened.",
  );
