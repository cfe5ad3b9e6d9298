import type { z } from "zod";
import type { paneState } from "../../tools/device/serial.ts";
import type { PaneView } from "../core/page_protocol.ts";
import type { Pane } from "./pane.ts";
import { describeWanted } from "./port_match.ts";

export type PaneState = z.infer<typeof paneState>;
/** A value that a pane may choose, and whether another pane or program holds it. */
export type PortOption = PaneState["portOptions"][number] & { holder: string | undefined };

const actualBaud = (pane: Pane): number | null => {
  try {
    return pane.link.current?.port.settings().baudRate ?? null;
  } catch {
    // It was lost this moment.
    return null;
  }
};

/** Everything about a pane, as `serial_get_state` tells it. */
export const stateOf = (pane: Pane, panes: string[], options: readonly PortOption[]): PaneState => {
  const { settings, link, log } = pane;
  const { dtr, rts } = pane.lines;
  const shown = log.shown;
  return {
    pane: pane.name,
    isConnected: link.status === "open",
    status: link.status,
    statusText: link.statusText,
    portName: link.current?.info.path ?? "",
    port: settings.port,
    baud: settings.baudRate,
    actualBaud: actualBaud(pane),
    viewMode: settings.viewMode,
    lineEnding: settings.lineEnding,
    sendAs: settings.sendAs,
    dataBits: `${settings.dataBits}`,
    stopBits: `${settings.stopBits}`,
    parity: settings.parity,
    dtr,
    rts,
    autoScroll: settings.autoScroll,
    autoReconnect: settings.autoReconnect,
    lineNum: settings.lineNum,
    timestamp: settings.timestamp,
    echo: settings.echo,
    terminalMode: settings.terminalMode,
    lineBuf: settings.lineBuf,
    advOpen: settings.advOpen,
    outputLines: shown.lines,
    outputBytes: shown.bytes,
    historyCount: pane.output.history.count,
    panes,
    portOptions: options.map(({ value, label, inUse }) => ({ value, label, inUse })),
    logChannels: log.channels,
  };
};

/** The same with what only the page shows. */
export const viewOf = (pane: Pane, panes: string[], options: readonly PortOption[]): PaneView => {
  const { settings, link, log } = pane;
  const waits = link.waitsFor;
  return {
    ...stateOf(pane, panes, options),
    label: settings.label,
    linesAtOpen: { dtr: settings.dtr, rts: settings.rts },
    pacing: { charMs: settings.charDelayMs, lineMs: settings.lineDelayMs },
    counters: { ...log.counters, dropped: log.dropped },
    openSince: link.current?.since ?? null,
    lostDevice: waits ? describeWanted(waits) : null,
    sending: pane.output.sending ?? null,
    clearedSeq: log.clearedSeq,
  };
};
