import { type LineSettings, type ModemLines, type OpenOptions, PortError, type SerialPort } from "./port.ts";
import type { PortIdentity, PortInfo, SerialDriver } from "./port.ts";
import { ByteQueue } from "./memory_queue.ts";

/*
 * Serial ports of this process alone: the written-down fake of the tests, for what a PTY lacks (modem lines, parity,
 * break, identity, faults), and the virtual port of `--demo` on Windows. What it claims about real drivers is checked
 * against a real 16550 and FTDI in tests/hardware.
 */

type Bytes = Uint8Array<ArrayBuffer>;

type ControlBody =
  | { readonly call: "open"; readonly settings: LineSettings }
  | { readonly call: "dtr" | "rts" | "break"; readonly on: boolean }
  | { readonly call: "baud"; readonly baudRate: number }
  | { readonly call: "flush" | "close" };

/** One control call that reached the driver. `t` is ms of `performance.now()`. */
export type ControlCall = { readonly t: number } & ControlBody;

/** Levels that the device drives. */
export type InputLines = Pick<ModemLines, "cts" | "dsr" | "dcd" | "ri">;

export interface MemoryDeviceOptions extends PortIdentity {
  /** The name to open; anything, such as `mem1`, `COM7` or a path. */
  path: string;
  kind?: PortInfo["kind"];
  product?: string;
  manufacturer?: string;
  /** False: as a PTY, which has none (kind `unsupported`). */
  modemLines?: boolean;
  /** Says why it refuses these settings (kind `unsupported`), or nothing. Default: takes all. */
  refuses?: (asked: LineSettings) => string | undefined;
  /** What the driver makes of the settings, in silence. Default: what was asked. */
  readBack?: (asked: LineSettings) => LineSettings;
}

/** Switchable at any time; each holds until it is taken back. */
export interface MemoryFaults {
  /** Another program has the port: open fails with `in_use` naming it. */
  heldBy?: string | undefined;
  /** Open fails with this. */
  openError?: PortError | undefined;
  /** Open waits for this; {@link NEVER} for good. */
  openWaits?: Promise<void> | undefined;
  /** Close waits for this; until it is done the port stays held. */
  closeWaits?: Promise<void> | undefined;
}

/** For faults: never settles. */
export const NEVER: Promise<void> = new Promise(() => {});

/** The end of the device: for a script that plays it. */
export interface MemoryPeer {
  /** As `SerialPort.read`: what was sent to the device. Ends with kind `canceled` when the device is disposed. */
  read(buffer: Bytes): Promise<number>;
  /** Takes all that was sent to the device by now; at once, perhaps nothing. */
  take(): Bytes;
  /**
   * Sends to the computer; waits while the port is open and 64 KiB are unread. With the port closed 4 KiB are kept (as
   * the chip and the driver do), with the device unplugged nothing; what is over is lost and counted in `lostBytes`.
   */
  write(bytes: Bytes): Promise<void>;
  readonly lostBytes: number;
}

const KEPT_WHILE_CLOSED = 4096;
const UNREAD_LIMIT = 65_536;

/** A device that can be plugged in, opened, unplugged and plugged in again under another name. */
export class MemoryDevice {
  /** Every control call, oldest first. */
  readonly record: ControlCall[] = [];
  readonly faults: MemoryFaults = {};
  readonly inputs: InputLines = { cts: true, dsr: true, dcd: false, ri: false };
  readonly peer: MemoryPeer;
  /** As the driver last set them. (Linux raises DTR and RTS at every open; that is not imitated.) */
  readonly outputs = { dtr: false, rts: false, break: false };
  /** Nothing unless it is plugged in. */
  path: string | undefined;
  /** The open port, if any. */
  port: MemoryPort | undefined;
  readonly options: MemoryDeviceOptions;
  /** @internal What the port reads. */
  readonly toPort = new ByteQueue();
  /** @internal What the port wrote. */
  readonly toPeer = new ByteQueue();
  /** @internal How many more bytes it takes. */
  room = Infinity;
  /** @internal Changes of `room`. */
  roomChanged = Promise.withResolvers<void>();
  #lostBytes = 0;
  readonly #changed: () => void;

  /** @internal Use {@link MemoryDriver.plug}. */
  constructor(options: MemoryDeviceOptions, changed: () => void) {
    this.options = options;
    this.path = options.path;
    this.#changed = changed;
    const lostBytes = () => this.#lostBytes;
    this.peer = {
      read: (buffer) => this.toPeer.read(buffer),
      take: () => this.toPeer.take(),
      write: (bytes) => this.#send(bytes),
      get lostBytes() {
        return lostBytes();
      },
    };
  }

  /** Pulls the plug: an open port ends with kind `lost`, the name goes from the list. */
  unplug(): void {
    this.path = undefined;
    this.port?.hangUp();
    this.port = undefined;
    this.toPort.take();
    this.#changed();
  }

  /** Plugs it in again, under its first name or another one. The lines start low. */
  replug(path: string = this.options.path): void {
    this.path = path;
    this.outputs.dtr = this.outputs.rts = this.outputs.break = false;
    this.#changed();
  }

  /** Takes so many more bytes, then blocks the writer. `Infinity` lets everything through. */
  takeOnly(bytes: number): void {
    this.room = bytes;
    const before = this.roomChanged;
    this.roomChanged = Promise.withResolvers();
    before.resolve();
  }

  /** Ends the peer's reads with kind `canceled`, as `unplug()` does with the port's. */
  dispose(): void {
    this.unplug();
    this.toPeer.fail(new PortError("canceled", `${this.options.path} was disposed of`));
  }

  /** @internal */
  note(call: ControlBody): void {
    this.record.push({ t: performance.now(), ...call });
  }

  async #send(bytes: Bytes): Promise<void> {
    if (this.path === undefined) {
      this.#lostBytes += bytes.length;
      return;
    }
    while (this.port !== undefined && this.toPort.length >= UNREAD_LIMIT) await this.toPort.changed();
    const room = this.port === undefined ? Math.max(0, KEPT_WHILE_CLOSED - this.toPort.length) : bytes.length;
    this.toPort.push(bytes.subarray(0, room));
    this.#lostBytes += Math.max(0, bytes.length - room);
  }
}

/** An open {@link MemoryDevice}. See {@link SerialPort} for the methods. */
export class MemoryPort implements SerialPort {
  readonly path: string;
  readonly #device: MemoryDevice;
  #asked: LineSettings;
  #end: PortError | undefined;
  #closing: Promise<void> | undefined;
  #cancels = 0;

  /** @internal Use {@link MemoryDriver.open}. */
  constructor(device: MemoryDevice, options: OpenOptions) {
    const { path, dtr, rts, flush, ...settings } = options;
    this.path = path;
    this.#device = device;
    this.#asked = settings;
    device.note({ call: "open", settings });
    if (device.options.modemLines !== false) {
      this.setLines({
        ...(dtr !== "leave" && { dtr: dtr === "high" }),
        ...(rts !== "leave" && { rts: rts === "high" }),
      });
    }
    if (flush) this.flush();
  }

  get isOpen(): boolean {
    return this.#closing === undefined && this.#end?.kind !== "canceled";
  }

  settings(): LineSettings {
    this.#requireOpen();
    return this.#device.options.readBack?.(this.#asked) ?? { ...this.#asked };
  }

  async read(buffer: Bytes): Promise<number> {
    for (;;) {
      this.#requireOpen();
      const count = this.#device.toPort.shift(buffer);
      if (count > 0) return count;
      await this.#device.toPort.changed();
    }
  }

  async write(bytes: Bytes): Promise<void> {
    const device = this.#device;
    const cancels = this.#cancels;
    let written = 0;
    try {
      for (;;) {
        this.#requireOpen();
        if (cancels !== this.#cancels) throw new PortError("canceled", `the write to ${this.path} was canceled`);
        const count = Math.min(device.room, bytes.length - written);
        device.toPeer.push(bytes.subarray(written, written + count));
        device.room -= count;
        written += count;
        if (written === bytes.length) return;
        await device.roomChanged.promise;
      }
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      // One error ends several calls; each caller gets its own count.
      const own = new PortError(error.kind, error.message);
      own.bytesWritten = written;
      throw own;
    }
  }

  cancelWrite(): void {
    this.#cancels++;
    // Writes that wait look again.
    this.#device.takeOnly(this.#device.room);
  }

  setBaudRate(baudRate: number): void {
    this.#requireOpen();
    const asked = { ...this.#asked, baudRate };
    refuse(this.#device, asked);
    this.#asked = asked;
    this.#device.note({ call: "baud", baudRate });
  }

  setLines(lines: { dtr?: boolean; rts?: boolean }): void {
    this.#requireOpen();
    this.#requireModemLines();
    for (const call of ["dtr", "rts"] as const) {
      const on = lines[call];
      if (on === undefined) continue;
      this.#device.outputs[call] = on;
      this.#device.note({ call, on });
    }
  }

  lines(): ModemLines {
    this.#requireOpen();
    this.#requireModemLines();
    const { dtr, rts } = this.#device.outputs;
    return { ...this.#device.inputs, dtr, rts };
  }

  setBreak(on: boolean): void {
    this.#requireOpen();
    this.#device.outputs.break = on;
    this.#device.note({ call: "break", on });
  }

  pending(): number {
    return 0;
  }

  flush(): void {
    this.#requireOpen();
    this.#device.toPort.take();
    this.#device.note({ call: "flush" });
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    const device = this.#device;
    this.#finish(new PortError("canceled", `${this.path} was closed`));
    if (device.outputs.break) {
      device.outputs.break = false;
      device.note({ call: "break", on: false });
    }
    await device.faults.closeWaits;
    device.note({ call: "close" });
    if (device.port === this) device.port = undefined;
  }

  /** @internal The device was unplugged. */
  hangUp(): void {
    this.#finish(new PortError("lost", `${this.path} is gone: unplugged`));
  }

  #finish(error: PortError): void {
    if (this.#end?.kind === "canceled") return;
    this.#end = error;
    // Reads and writes that wait look again, and find the end.
    this.#device.toPort.wake();
    this.#device.takeOnly(this.#device.room);
  }

  #requireOpen(): void {
    if (this.#end) throw this.#end;
  }

  #requireModemLines(): void {
    if (this.#device.options.modemLines === false) {
      throw new PortError("unsupported", `${this.path} has no modem lines`);
    }
  }
}

const refuse = (device: MemoryDevice, asked: LineSettings): void => {
  const reason = device.options.refuses?.(asked);
  if (reason !== undefined) throw new PortError("unsupported", `${device.options.path}: ${reason}`);
};

/** A driver whose ports are objects of this process. */
export class MemoryDriver implements SerialDriver {
  readonly #devices = new Set<MemoryDevice>();
  #changes = 0;

  /** A new device, plugged in. */
  plug(options: MemoryDeviceOptions): MemoryDevice {
    const device = new MemoryDevice(options, () => this.#changes++);
    this.#devices.add(device);
    this.#changes++;
    return device;
  }

  list(): Promise<PortInfo[]> {
    const ports: PortInfo[] = [];
    for (const { path, options } of this.#devices) {
      if (path === undefined) continue;
      const { modemLines: _modemLines, refuses: _refuses, readBack: _readBack, ...info } = options;
      const product = info.product ?? "";
      const friendlyName = `${product || "Virtual port"} (${path})`;
      ports.push({ ...info, path, product, friendlyName, kind: info.kind ?? "virtual" });
    }
    return Promise.resolve(ports);
  }

  fingerprint(): string {
    return String(this.#changes);
  }

  async open(options: OpenOptions): Promise<SerialPort> {
    await this.#find(options.path)?.faults.openWaits;
    const device = this.#find(options.path);
    if (device === undefined) {
      throw new PortError("not_found", `${options.path} is not there; check the cable and the name`);
    }
    if (device.faults.openError) throw device.faults.openError;
    const holder = this.holder(options.path);
    if (holder !== undefined) {
      throw new PortError("in_use", `${options.path} is in use: held by ${holder}; close it there first`, { holder });
    }
    const { path: _path, dtr: _dtr, rts: _rts, flush: _flush, ...settings } = options;
    refuse(device, settings);
    const port = new MemoryPort(device, options);
    device.port = port;
    return port;
  }

  holder(path: string): string | undefined {
    const device = this.#find(path);
    if (device?.faults.heldBy !== undefined) return device.faults.heldBy;
    return device?.port === undefined ? undefined : `fieldbench (pid ${Deno.pid})`;
  }

  #find(path: string): MemoryDevice | undefined {
    for (const device of this.#devices) if (device.path === path) return device;
    return undefined;
  }
}
