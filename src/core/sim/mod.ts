import { atModem } from "./at_modem.ts";
import type { SimDevice, SimName } from "./device.ts";
import { echoDevice } from "./echo.ts";
import { floodDevice } from "./flood.ts";
import { nmeaDevice } from "./nmea.ts";

export { SIM_NAMES, type SimDevice, type SimName } from "./device.ts";

export interface SimOptions {
  /** Lines a second of `flood`. */
  rate: number;
  /** Time of day at the start, ms since 1970. */
  wallMs: number;
}

/** A simulated device of this name. */
export function simDevice(name: SimName, options: SimOptions): SimDevice {
  switch (name) {
    case "at-modem":
      return atModem();
    case "nmea":
      return nmeaDevice(options.wallMs);
    case "echo":
      return echoDevice();
    case "flood":
      return floodDevice(options.rate);
  }
}
