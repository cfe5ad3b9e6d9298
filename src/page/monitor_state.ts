import type { Pane } from "../bench/pane.ts";

/** A pane's saved settings as `ui_get_state` gives them: flat, in the words of `serial_get_state`. */
export function monitorOf({ settings }: Pane): Record<string, unknown> {
  const { wanted, baudRate, dtr, rts, charDelayMs, lineDelayMs, dataBits, stopBits, ...rest } = settings;
  return {
    ...rest,
    baud: baudRate,
    dataBits: String(dataBits),
    stopBits: String(stopBits),
    linesAtOpen: { dtr, rts },
    pacing: { charMs: charDelayMs, lineMs: lineDelayMs },
    device: wanted === undefined ? null : { ...wanted },
  };
}
