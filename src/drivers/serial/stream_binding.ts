import type { Buffer } from "node:buffer";
import type {
  BindingInterface,
  BindingPortInterface,
  OpenOptions as StreamOpenOptions,
  PortInfo as StreamPortInfo,
  PortStatus,
  SetOptions,
  UpdateOptions,
} from "@serialport/bindings-interface";
import {
  type LineAtOpen,
  type OpenOptions,
  type Parity,
  PortError,
  type SerialDriver,
  type SerialPort,
} from "./port.ts";

/** Beside the options of serialport: what to do with DTR and RTS (default: leave) and with old bytes (default: discard). */
export interface BindingOpenOptions extends StreamOpenOptions {
  dtr?: LineAtOpen;
  rts?: LineAtOpen;
  flush?: boolean;
}

const PARITIES: readonly Parity[] = ["none", "even", "odd", "mark", "space"];

const parityOf = (name: string): Parity => {
  const found = PARITIES.find((parity) => parity === name);
  if (found === undefined) throw new PortError("unsupported", `parity is one of ${PARITIES.join(", ")}, not ${name}`);
  return found;
};

const complete = (options: BindingOpenOptions): Required<StreamOpenOptions> => ({
  path: options.path,
  baudRate: options.baudRate,
  dataBits: options.dataBits ?? 8,
  lock: options.lock ?? true,
  stopBits: options.stopBits ?? 1,
  parity: options.parity ?? "none",
  rtscts: options.rtscts ?? false,
  xon: options.xon ?? false,
  xoff: options.xoff ?? false,
  xany: options.xany ?? false,
  hupcl: options.hupcl ?? false,
});

/** Refused rather than passed over: a line that was to be held up and is not loses bytes. */
const refuseFlowControl = (options: Required<StreamOpenOptions>): void => {
  const asked = (["rtscts", "xon", "xoff", "xany", "hupcl"] as const).find((name) => options[name]);
  if (asked) throw new PortError("unsupported", `${options.path}: ${asked} is not offered by this driver`);
};

/** The same memory; Node's types allow shared memory under a Buffer, which a driver could not hand to the system. */
const bytesOf = (buffer: Buffer, offset = 0, length = buffer.length - offset): Uint8Array<ArrayBuffer> => {
  const memory = buffer.buffer;
  if (!(memory instanceof ArrayBuffer)) throw new TypeError("a buffer over shared memory cannot be used with a port");
  return new Uint8Array(memory, buffer.byteOffset + offset, length);
};

const DRAIN_STEP_MS = 5;

class BindingPort implements BindingPortInterface {
  readonly openOptions: Required<StreamOpenOptions>;
  readonly #port: SerialPort;
  #write: Promise<void> = Promise.resolve();

  constructor(port: SerialPort, options: Required<StreamOpenOptions>) {
    this.#port = port;
    this.openOptions = options;
  }

  get isOpen(): boolean {
    return this.#port.isOpen;
  }

  close(): Promise<void> {
    return this.#port.close();
  }

  async read(buffer: Buffer, offset: number, length: number): Promise<{ buffer: Buffer; bytesRead: number }> {
    return { buffer, bytesRead: await this.#port.read(bytesOf(buffer, offset, length)) };
  }

  write(buffer: Buffer): Promise<void> {
    this.#write = this.#port.write(bytesOf(buffer));
    return this.#write;
  }

  // The driver's control calls are synchronous; `async` makes their errors rejections, as the interface wants.
  // deno-lint-ignore require-await
  async update({ baudRate }: UpdateOptions): Promise<void> {
    this.#port.setBaudRate(baudRate);
  }

  // deno-lint-ignore require-await
  async set({ dtr, rts, brk }: SetOptions): Promise<void> {
    if (dtr !== undefined || rts !== undefined) {
      this.#port.setLines({ ...(dtr !== undefined && { dtr }), ...(rts !== undefined && { rts }) });
    }
    if (brk !== undefined) this.#port.setBreak(brk);
  }

  // deno-lint-ignore require-await
  async get(): Promise<PortStatus> {
    const { cts, dsr, dcd } = this.#port.lines();
    return { cts, dsr, dcd };
  }

  // deno-lint-ignore require-await
  async getBaudRate(): Promise<{ baudRate: number }> {
    return { baudRate: this.#port.settings().baudRate };
  }

  // deno-lint-ignore require-await
  async flush(): Promise<void> {
    this.#port.flush();
  }

  async drain(): Promise<void> {
    await this.#write;
    while (this.#port.isOpen && this.#port.pending() > 0) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_STEP_MS));
    }
  }
}

/**
 * A driver as a binding for `SerialPortStream` of `@serialport/stream`. Note that the stream's `set()` always names DTR,
 * RTS and break; call the driver's port itself to move one line alone.
 */
export const bindingFor = (
  driver: SerialDriver,
): BindingInterface<BindingPortInterface, BindingOpenOptions, StreamPortInfo> => ({
  async list() {
    const ports = await driver.list();
    return ports.map((port) => ({
      path: port.path,
      manufacturer: port.manufacturer,
      serialNumber: port.serialNumber,
      pnpId: undefined,
      locationId: port.location,
      productId: port.productId,
      vendorId: port.vendorId,
    }));
  },

  async open(options) {
    const full = complete(options);
    refuseFlowControl(full);
    const asked: OpenOptions = {
      path: full.path,
      baudRate: full.baudRate,
      dataBits: full.dataBits,
      stopBits: full.stopBits,
      parity: parityOf(full.parity),
      dtr: options.dtr ?? "leave",
      rts: options.rts ?? "leave",
      flush: options.flush ?? true,
    };
    return new BindingPort(await driver.open(asked), full);
  },
});
