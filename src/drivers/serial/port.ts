export type DataBits = 5 | 6 | 7 | 8;
export type StopBits = 1 | 1.5 | 2;
export type Parity = "none" | "even" | "odd" | "mark" | "space";
/** What to do with a modem line when a port is opened: set it, or touch nothing. */
export type LineAtOpen = "high" | "low" | "leave";

/** Line settings: asked for, or read back from the driver. */
export interface LineSettings {
  /** Bits a second, 110 to 4,000,000. */
  baudRate: number;
  dataBits: DataBits;
  stopBits: StopBits;
  parity: Parity;
}

/** What is needed to know a physical device again, also under another name. */
export interface PortIdentity {
  vendorId?: string;
  productId?: string;
  serialNumber?: string;
  /** Where it is plugged in: the USB topology, such as `1-2.3:1.0`. */
  location?: string;
  /** USB interface number, for adapters with several ports. */
  interfaceNumber?: string;
}

export interface PortInfo extends PortIdentity {
  /** What to open: `/dev/ttyUSB0`, `COM3`, `/dev/cu.usbserial-1`. */
  path: string;
  kind: "usb" | "platform" | "virtual";
  /** For people: product and path, never empty. */
  friendlyName: string;
  /** As the device calls itself; empty when it does not. */
  product: string;
  manufacturer?: string;
}

export interface ModemLines {
  cts: boolean;
  dsr: boolean;
  dcd: boolean;
  ri: boolean;
  dtr: boolean;
  rts: boolean;
}

export interface OpenOptions extends LineSettings {
  path: string;
  dtr: LineAtOpen;
  rts: LineAtOpen;
  /** Throw away what the driver holds from before; false on a reconnect, so that a device's first words are kept. */
  flush: boolean;
}

export type PortErrorKind = "in_use" | "not_found" | "no_permission" | "not_a_port" | "unsupported" | "lost" | "io";

/** Every failure of a driver. `disconnect` and `canceled` are what `@serialport/stream` looks at. */
export class PortError extends Error {
  override name = "PortError";
  readonly kind: PortErrorKind | "canceled";
  readonly disconnect: boolean;
  readonly canceled: boolean;
  /** Of a write: how many bytes the driver took before it ended. */
  bytesWritten = 0;
  /** Of `in_use`: who holds the port, when that can be found, as `name (pid 123)`. */
  holder: string | undefined;
  constructor(kind: PortErrorKind | "canceled", message: string, options: { cause?: unknown; holder?: string } = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.disconnect = kind === "lost";
    this.canceled = kind === "canceled";
    this.holder = options.holder;
  }
}

/**
 * An open port. `stream_binding.ts` makes it a binding port of `@serialport/stream`. Every method throws
 * {@link PortError}; after `close()` reads and writes under way end with kind `canceled`, and a hang-up (unplugged)
 * ends them with kind `lost` at once.
 */
export interface SerialPort {
  readonly path: string;
  /** Line settings as the driver has them now (read back, not remembered). */
  settings(): LineSettings;
  readonly isOpen: boolean;
  /** Waits for at least one byte and gives how many were put at the start of `buffer`. Yields to the event loop also in a flood. */
  read(buffer: Uint8Array<ArrayBuffer>): Promise<number>;
  /** All bytes are with the driver when it resolves; on any error `bytesWritten` of the error says how many went. */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /**
   * Ends every write under way with kind `canceled`; `bytesWritten` of the error says how many bytes went, and nothing
   * more of them does. The port stays open. Does nothing when no write is under way or the port is closed.
   */
  cancelWrite(): void;
  /** Changes the rate of an open port; touches no modem line. `settings()` tells what the driver made of it. */
  setBaudRate(baudRate: number): void;
  /** Only the lines that are named change. Kind `unsupported` on a port without modem lines (PTY). */
  setLines(lines: { dtr?: boolean; rts?: boolean }): void;
  lines(): ModemLines;
  /** Holds the line in the break state, or releases it; touches no modem line. A no-op on a PTY. */
  setBreak(on: boolean): void;
  /** Bytes that the driver took and has not sent yet, where it can tell; else 0. */
  pending(): number;
  /** Throws away what waits in the driver, both ways. */
  flush(): void;
  /** Ends at once also while a write is blocked; what the driver has not sent by then is given a moment, then discarded. */
  close(): Promise<void>;
}

/** Serial ports of one kind of system. */
export interface SerialDriver {
  /** Ports that are there now, in a stable order; opens none. Never throws. */
  list(): Promise<PortInfo[]>;
  /** Cheap; changes whenever the set of ports changes. For noticing hot-plug within a second. */
  fingerprint(): string;
  open(options: OpenOptions): Promise<SerialPort>;
  /** Whether another process or pane holds the port now, and who, as far as it can be found without opening it. */
  holder(path: string): string | undefined;
}
