import { setImmediate } from "node:timers";
import { type LineSettings, type ModemLines, type OpenOptions, PortError, type SerialPort } from "../port.ts";
import { decodeDcb, encodeDcb, frameHint } from "./dcb.ts";
import { CHUNK, type CommDevice, ESCAPE, MODEM, PURGE, type Transfer } from "./device.ts";
import { isFailure, portError, win32OfStatus } from "./errors.ts";

/** How long a driver may take to end cancelled transfers before the handle is closed under them. */
const CANCEL_GRACE_MS = 1000;
/** How long `close` waits for bytes that the driver took and has not sent yet. */
const LINGER_MS = 100;
const LINGER_STEP_MS = 5;
/** After this long without a turn of the event loop a read gives it one: data may be there at every call. */
const BUSY_SLICE_MS = 4;
/** Reads in a row that end with nothing: a hung-up port under some drivers. */
const EMPTY_READS_MAX = 50;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Sets up a device that was just opened: a question that only a serial port answers, then frame and lines, then what
 * came before is thrown away if asked for. Throws {@link PortError} and leaves closing to the caller.
 */
export function configure(device: CommDevice, options: OpenOptions): void {
  const dcb = encodeDcb(device.getState("probe"), options);
  try {
    device.setState(dcb);
  } catch (error) {
    if (!(error instanceof PortError) || error.kind !== "unsupported") throw error;
    const { baudRate, dataBits, parity, stopBits } = options;
    throw new PortError(
      "unsupported",
      `${device.path} does not do ${baudRate} baud, ${dataBits} data bits, parity ${parity}, ${stopBits} stop bits: ` +
        `${frameHint(options)} (${error.message})`,
      { cause: error },
    );
  }
  // Ends the error state that a program before us may have left, in which a driver refuses every transfer.
  device.queues();
  if (options.flush) device.purge(PURGE.txAbort | PURGE.rxAbort | PURGE.txClear | PURGE.rxClear);
}

/** A serial port over an open and configured communications device. */
export class WindowsPort implements SerialPort {
  readonly path: string;
  readonly #device: CommDevice;
  readonly #onClosed: () => void;
  #reading = false;
  #writes: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  /** As set last; what `lines()` reports where the driver cannot tell. */
  #set: { dtr: boolean; rts: boolean };
  #lastTurn = performance.now();
  /** Of `cancelWrite`: a write that began before the newest one ends. */
  #cancels = 0;

  constructor(device: CommDevice, onClosed: () => void = () => {}) {
    this.#device = device;
    this.path = device.path;
    this.#onClosed = onClosed;
    const { dtr, rts } = decodeDcb(device.getState("io"));
    this.#set = { dtr, rts };
  }

  get isOpen(): boolean {
    return this.#closing === undefined;
  }

  settings(): LineSettings {
    this.#needOpen();
    return decodeDcb(this.#device.getState("io")).settings;
  }

  /**
   * One byte first: with no time limits set, a read ends when it has all that it asked for, so it waits for that byte
   * for ever. Then exactly what the driver holds, which comes at once. The usual way of short time limits
   * (`MAXDWORD`, `MAXDWORD`, n) is not known to every driver, nor to Wine.
   */
  async read(buffer: Uint8Array<ArrayBuffer>): Promise<number> {
    this.#needOpen();
    if (buffer.length === 0) return 0;
    if (this.#reading) throw new PortError("io", `A read of ${this.path} is under way already`);
    this.#reading = true;
    try {
      for (let empty = 0; await this.#readOnce(1) === 0; empty++) {
        if (empty >= EMPTY_READS_MAX) throw new PortError("lost", `${this.path} was lost: it hung up`);
        await pause(1);
      }
      buffer.set(this.#device.readBuffer.subarray(0, 1));
      const more = await this.#readRest(buffer.length - 1);
      buffer.set(this.#device.readBuffer.subarray(0, more), 1);
      return 1 + more;
    } finally {
      this.#reading = false;
    }
  }

  async #readOnce(length: number): Promise<number> {
    const started = performance.now();
    const transfer = await this.#device.read(length);
    // A wait for data was a turn of the event loop; data that was there already was not.
    if (performance.now() - started > 1) this.#lastTurn = performance.now();
    return this.#bytesOf(transfer, "read from");
  }

  /** What the driver holds beyond the first byte. A failure here shows up again at the next read: the byte counts. */
  async #readRest(room: number): Promise<number> {
    let bytes = 0;
    try {
      const length = Math.min(this.#device.queues().inQueue, room, CHUNK);
      if (length > 0) bytes = await this.#readOnce(length);
    } catch (error) {
      if (!(error instanceof PortError) || error.kind === "canceled") throw error;
    }
    if (performance.now() - this.#lastTurn > BUSY_SLICE_MS) {
      await turn();
      this.#lastTurn = performance.now();
    }
    return bytes;
  }

  write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const cancels = this.#cancels;
    const done = this.#writes.then(() => this.#writeAll(bytes, cancels));
    this.#writes = done.catch(() => {});
    return done;
  }

  cancelWrite(): void {
    this.#cancels++;
    if (this.isOpen) this.#device.cancelWrite();
  }

  async #writeAll(bytes: Uint8Array, cancels: number): Promise<void> {
    let written = 0;
    const needWanted = () => {
      this.#needOpen();
      if (cancels !== this.#cancels) throw new PortError("canceled", `the write to ${this.path} was canceled`);
    };
    try {
      while (written < bytes.length) {
        needWanted();
        const transfer = await this.#device.write(bytes.subarray(written, written + CHUNK));
        // Also of a transfer that failed: what went, went.
        written += transfer.bytes;
        if (written >= bytes.length && !isFailure(transfer.status)) return;
        // Before the status is looked at: a transfer that we ended is no device that went away.
        needWanted();
        if (this.#bytesOf(transfer, "write to") === 0) {
          throw new PortError("io", `Cannot write to ${this.path}: the driver took nothing`);
        }
      }
    } catch (error) {
      if (error instanceof PortError) error.bytesWritten = written;
      throw error;
    }
  }

  setBaudRate(baudRate: number): void {
    this.#needOpen();
    this.#device.setBaudRate(baudRate);
  }

  setLines(lines: { dtr?: boolean; rts?: boolean }): void {
    this.#needOpen();
    if (lines.rts !== undefined) {
      this.#device.escape(lines.rts ? ESCAPE.setRts : ESCAPE.clearRts);
      this.#set.rts = lines.rts;
    }
    if (lines.dtr !== undefined) {
      this.#device.escape(lines.dtr ? ESCAPE.setDtr : ESCAPE.clearDtr);
      this.#set.dtr = lines.dtr;
    }
  }

  lines(): ModemLines {
    this.#needOpen();
    const status = this.#device.modemStatus();
    const { dtr, rts } = this.#device.outputLines() ?? this.#set;
    return {
      cts: (status & MODEM.cts) !== 0,
      dsr: (status & MODEM.dsr) !== 0,
      dcd: (status & MODEM.dcd) !== 0,
      ri: (status & MODEM.ri) !== 0,
      dtr,
      rts,
    };
  }

  setBreak(on: boolean): void {
    this.#needOpen();
    this.#device.escape(on ? ESCAPE.setBreak : ESCAPE.clearBreak);
  }

  pending(): number {
    if (!this.isOpen) return 0;
    try {
      return this.#device.queues().outQueue;
    } catch {
      return 0;
    }
  }

  flush(): void {
    this.#needOpen();
    // Without the abort bits: the read that waits goes on waiting.
    this.#device.purge(PURGE.txClear | PURGE.rxClear);
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    await this.#device.cancel(CANCEL_GRACE_MS);
    try {
      const deadline = performance.now() + LINGER_MS;
      while (this.#device.queues().outQueue > 0 && performance.now() < deadline) await pause(LINGER_STEP_MS);
      // Or closing the handle may wait until the driver has sent everything, with flow control for ever. Not when all is
      // sent: under Wine it would take from a PTY's reader what was written to it.
      if (this.#device.queues().outQueue > 0) this.#device.purge(PURGE.txAbort | PURGE.txClear);
    } catch {
      // The device is gone: nothing left to send or to throw away.
    }
    await this.#device.close();
    this.#onClosed();
  }

  #needOpen(): void {
    if (!this.isOpen) throw new PortError("canceled", `${this.path} is closed`);
  }

  /**
   * The bytes of a transfer that went well. A transfer that was cancelled though we did not close was ended by the
   * driver, as `usbser.sys` does when the device is unplugged.
   */
  #bytesOf({ status, bytes }: Transfer, call: string): number {
    if (!this.isOpen) throw new PortError("canceled", `${this.path} was closed`);
    if (!isFailure(status)) return bytes;
    throw portError(call, this.path, win32OfStatus(status), "io");
  }
}
