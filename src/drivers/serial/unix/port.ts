import { type LineSettings, type ModemLines, PortError, type SerialPort } from "../port.ts";
import { LOCK_UN, TIOCM } from "./abi.ts";
import { FdChannel } from "./fd_channel.ts";
import { IntCell, libc } from "./libc.ts";
import { line } from "./line.ts";
import { ioctlInt } from "./reactor.ts";
import { callError, canceled } from "./sys_error.ts";

/** What the driver took and has not sent is given this long at close, in ms. */
const LINGER_MS = 300;
const LINGER_STEP_MS = 10;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Sets and clears modem lines. Lowering comes first: after open both are high, so only that is a real change. */
export const driveLines = (fd: number, path: string, lines: { dtr?: boolean; rts?: boolean }): void => {
  const mask = (level: boolean) => (lines.dtr === level ? TIOCM.DTR : 0) | (lines.rts === level ? TIOCM.RTS : 0);
  const drive = (request: number, bits: number) => {
    if (bits === 0) return;
    const cell = new IntCell();
    cell.value = bits;
    if (libc.ioctl(fd, request, cell.bytes) < 0) throw callError(path, libc.errno(), "setting DTR and RTS");
  };
  drive(libc.abi.TIOCMBIC, mask(false));
  drive(libc.abi.TIOCMBIS, mask(true));
};

/** A port of Linux or macOS that is open. See {@link SerialPort} for the methods. */
export class UnixPort implements SerialPort {
  readonly path: string;
  readonly #fd: number;
  readonly #channel: FdChannel;
  #breakOn = false;
  #closing: Promise<void> | undefined;

  /** Takes over the descriptor. */
  constructor(fd: number, path: string) {
    this.#fd = fd;
    this.path = path;
    this.#channel = new FdChannel(fd, path);
  }

  get isOpen(): boolean {
    return this.#channel.isOpen;
  }

  settings(): LineSettings {
    return line.read(this.#handle());
  }

  read(buffer: Uint8Array<ArrayBuffer>): Promise<number> {
    return this.#channel.read(buffer);
  }

  write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#channel.write(bytes);
  }

  cancelWrite(): void {
    this.#channel.cancelWrite();
  }

  setBaudRate(baudRate: number): void {
    line.setBaudRate(this.#handle(), baudRate);
  }

  setLines(lines: { dtr?: boolean; rts?: boolean }): void {
    driveLines(this.#handle().fd, this.path, lines);
  }

  lines(): ModemLines {
    const cell = new IntCell();
    if (libc.ioctl(this.#handle().fd, libc.abi.TIOCMGET, cell.bytes) < 0) {
      throw callError(this.path, libc.errno(), "reading the modem lines");
    }
    const bits = cell.value;
    return {
      cts: (bits & TIOCM.CTS) !== 0,
      dsr: (bits & TIOCM.DSR) !== 0,
      dcd: (bits & TIOCM.DCD) !== 0,
      ri: (bits & TIOCM.RI) !== 0,
      dtr: (bits & TIOCM.DTR) !== 0,
      rts: (bits & TIOCM.RTS) !== 0,
    };
  }

  setBreak(on: boolean): void {
    const request = on ? libc.abi.TIOCSBRK : libc.abi.TIOCCBRK;
    if (libc.ioctlPlain(this.#handle().fd, request) < 0) throw callError(this.path, libc.errno(), "break");
    this.#breakOn = on;
  }

  pending(): number {
    return this.isOpen ? ioctlInt(this.#fd, libc.abi.TIOCOUTQ) ?? 0 : 0;
  }

  flush(): void {
    if (libc.tcflush(this.#handle().fd, libc.abi.TCIOFLUSH) < 0) throw callError(this.path, libc.errno(), "flush");
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    const fd = this.#fd;
    const blocked = this.#channel.writeBlocked;
    await this.#channel.stop();
    if (this.#breakOn) libc.ioctlPlain(fd, libc.abi.TIOCCBRK);
    if (!blocked) await this.#linger();
    // close(2) of a real UART waits up to 30 s for output that CTS or XOFF holds up. Nothing is thrown away when
    // nothing waits: on a PTY this call would eat what the other end has not read yet.
    if ((ioctlInt(fd, libc.abi.TIOCOUTQ) ?? 0) > 0) libc.tcflush(fd, libc.abi.TCOFLUSH);
    // Explicitly: a child process that inherited the descriptor, or a slow close, must not keep the port locked.
    libc.flock(fd, LOCK_UN);
    libc.ioctlPlain(fd, libc.abi.TIOCNXCL);
    await libc.closeAsync(fd);
  }

  async #linger(): Promise<void> {
    const until = performance.now() + LINGER_MS;
    while ((ioctlInt(this.#fd, libc.abi.TIOCOUTQ) ?? 0) > 0 && performance.now() < until) await sleep(LINGER_STEP_MS);
  }

  #handle(): { fd: number; path: string } {
    if (!this.isOpen) throw canceled(this.path);
    return { fd: this.#fd, path: this.path };
  }
}

/** A port without modem lines (a PTY) is opened all the same, whatever was asked of DTR and RTS. */
export const driveLinesAtOpen = (fd: number, path: string, lines: { dtr?: boolean; rts?: boolean }): void => {
  try {
    driveLines(fd, path, lines);
  } catch (error) {
    if (!(error instanceof PortError && error.kind === "unsupported")) throw error;
  }
};
