/** A simulated device: bytes in, bytes out. It has no timers and reads no clock: whoever runs it does that. */
export interface SimDevice {
  /** Takes what was received since the last call (may be nothing) and gives what is sent now. `now`: ms, monotonic. */
  step(input: Uint8Array, now: number): Uint8Array<ArrayBuffer>;
  /** ms until `step` is to be called again even without input; undefined: only with input. */
  next(now: number): number | undefined;
}

export const SIM_NAMES = ["at-modem", "nmea", "echo", "flood"] as const;
export type SimName = (typeof SIM_NAMES)[number];

export const NOTHING = new Uint8Array(0);
const encoder = new TextEncoder();
export const encode = (text: string): Uint8Array<ArrayBuffer> => (text === "" ? NOTHING : encoder.encode(text));
