import type { SimDevice } from "./device.ts";

/** Sends back what it receives, byte for byte. */
export const echoDevice = (): SimDevice => ({
  step: (input) => Uint8Array.from(input),
  next: () => undefined,
});
