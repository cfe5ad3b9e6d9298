import { type OpenOptions, PortError, type PortInfo, type SerialDriver, type SerialPort } from "../port.ts";
import { openDevice } from "./device.ts";
import { configure, WindowsPort } from "./port.ts";
import { deviceName, fingerprintOf, portsFrom } from "./ports.ts";
import { readSerialComm } from "./registry.ts";
import { readDevices } from "./setup_api.ts";
import { type Win32, win32 } from "./win32.ts";

/** Ports that this process has open or is opening, upper case: Windows would only say that someone has them. */
const ours = new Set<string>();

const holderText = () => `this program (pid ${Deno.pid})`;

class WindowsDriver implements SerialDriver {
  readonly #win: Win32;

  constructor(win: Win32) {
    this.#win = win;
  }

  // deno-lint-ignore require-await -- the interface is asynchronous; here the calls take a few milliseconds
  async list(): Promise<PortInfo[]> {
    try {
      return portsFrom(readDevices(this.#win), this.#serialComm());
    } catch {
      return [];
    }
  }

  fingerprint(): string {
    return fingerprintOf(this.#serialComm());
  }

  async open(options: OpenOptions): Promise<SerialPort> {
    const { path } = options;
    const name = deviceName(path);
    if (name === undefined) throw new PortError("not_a_port", `${path} is not the name of a port (such as COM3)`);
    const key = name.toUpperCase();
    if (ours.has(key)) {
      const holder = holderText();
      throw new PortError("in_use", `${path} is open already in ${holder}`, { holder });
    }
    ours.add(key);
    try {
      const device = await openDevice(this.#win, path, name);
      try {
        configure(device, options);
        device.prepare();
        return new WindowsPort(device, () => ours.delete(key));
      } catch (error) {
        await device.close();
        throw error;
      }
    } catch (error) {
      ours.delete(key);
      throw this.#refine(error, key);
    }
  }

  /**
   * Only what this process holds. Windows tells no cheap way who else holds a port: listing the handles of every
   * process needs administrator rights and may hang on some handles. Another program's hold shows when opening.
   */
  holder(path: string): string | undefined {
    return ours.has((deviceName(path) ?? "").toUpperCase()) ? holderText() : undefined;
  }

  #serialComm(): Map<string, string> {
    return readSerialComm(this.#win);
  }

  /**
   * What a failure means also depends on whether a serial driver has announced the port. Access denied to something
   * that none has announced is about permission, not about another opener. And what one has announced is a port:
   * when it does not answer like one, its device is away.
   */
  #refine(error: unknown, key: string): unknown {
    if (!(error instanceof PortError)) return error;
    const announced = [...this.#serialComm().keys()].some((name) => name.toUpperCase() === key);
    if (error.kind === "in_use" && !announced) {
      return new PortError("no_permission", `Cannot open ${key}: access denied`, { cause: error });
    }
    if (error.kind === "not_a_port" && announced) {
      return new PortError("not_found", `Cannot open ${key}: its device does not answer`, { cause: error });
    }
    return error;
  }
}

/** The serial ports of Windows, by FFI. Opens the DLLs it needs; throws on another system. */
export function windowsDriver(): SerialDriver {
  return new WindowsDriver(win32());
}
