import { PortError } from "../port.ts";
import { EINTR, POLLIN, POLLOUT } from "./abi.ts";
import { libc } from "./libc.ts";
import { reactor, RELEASED } from "./reactor.ts";
import { callError, canceled, isHangUp, lost, writeCanceled } from "./sys_error.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * So many bytes may move by system calls alone; then the next call goes through the poll thread, so that timers,
 * sockets and other ports get their turn in a flood. At 64 KiB this costs about 1 % and bounds the pause to some ms.
 */
const BREATH_BYTES = 65_536;

/** Reads and writes of a non-blocking tty descriptor: a port, or the master of a PTY. */
export class FdChannel {
  readonly fd: number;
  readonly #path: string;
  #open = true;
  #readSinceWait = 0;
  #writtenSinceWait = 0;
  #writes: Promise<void> | undefined;
  #writeBlocked = false;
  /** Of `cancelWrite`: a write that began before the newest one ends. */
  #cancels = 0;

  constructor(fd: number, path: string) {
    this.fd = fd;
    this.#path = path;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** A write waits for room at this moment. */
  get writeBlocked(): boolean {
    return this.#writeBlocked;
  }

  /** As {@link SerialPort.read}. */
  async read(buffer: Bytes): Promise<number> {
    if (this.#readSinceWait >= BREATH_BYTES) await this.#data();
    for (;;) {
      this.#requireOpen();
      const first = libc.read(this.fd, buffer, buffer.length);
      if (first > 0) return this.#fill(buffer, first);
      // A raw line (VMIN 1) has no end of file: 0 bytes is how the kernel says that it was hung up.
      if (first === 0) throw lost(this.#path);
      const errno = libc.errno();
      if (errno === libc.abi.EAGAIN) await this.#data();
      else if (errno !== EINTR) throw this.#failure(errno, "read");
    }
  }

  /** A tty gives at most 4 KiB a call: take what else is there now. An error shows again in the next call. */
  #fill(buffer: Bytes, first: number): number {
    let filled = first;
    while (filled < buffer.length) {
      const more = libc.read(this.fd, buffer.subarray(filled), buffer.length - filled);
      if (more <= 0) break;
      filled += more;
    }
    this.#readSinceWait += filled;
    return filled;
  }

  /** As {@link SerialPort.write}. Writes that overlap are done one after the other. */
  write(bytes: Bytes): Promise<void> {
    const before = this.#writes;
    const cancels = this.#cancels;
    const run = () => this.#writeAll(bytes, cancels);
    const mine = before === undefined ? run() : before.then(run, run);
    this.#writes = mine;
    const forget = () => {
      if (this.#writes === mine) this.#writes = undefined;
    };
    mine.then(forget, forget);
    return mine;
  }

  /** As {@link SerialPort.cancelWrite}. */
  cancelWrite(): void {
    this.#cancels++;
    reactor.endWaits(this.fd, POLLOUT);
  }

  async #writeAll(bytes: Bytes, cancels: number): Promise<void> {
    let written = 0;
    try {
      while (written < bytes.length) {
        this.#requireOpen();
        if (cancels !== this.#cancels) throw writeCanceled(this.#path);
        if (this.#writtenSinceWait >= BREATH_BYTES) {
          await this.#room();
          continue;
        }
        const count = libc.write(this.fd, bytes.subarray(written), bytes.length - written);
        if (count > 0) {
          written += count;
          this.#writtenSinceWait += count;
          continue;
        }
        const errno = count < 0 ? libc.errno() : libc.abi.EAGAIN;
        if (errno === libc.abi.EAGAIN) await this.#room();
        else if (errno !== EINTR) throw this.#failure(errno, "write");
      }
    } catch (error) {
      if (error instanceof PortError) error.bytesWritten = written;
      throw error;
    }
  }

  async #data(): Promise<void> {
    this.#readSinceWait = 0;
    await this.#ready(POLLIN);
  }

  async #room(): Promise<void> {
    this.#writtenSinceWait = 0;
    this.#writeBlocked = true;
    try {
      await this.#ready(POLLOUT);
    } finally {
      this.#writeBlocked = false;
    }
  }

  /** Ends what is under way with kind `canceled`; the descriptor itself stays open, and is no longer polled. */
  async stop(): Promise<void> {
    this.#open = false;
    await reactor.release(this.fd);
  }

  async #ready(events: number): Promise<void> {
    this.#requireOpen();
    if (await reactor.wait(this.fd, events) !== RELEASED) return;
    throw this.#open ? writeCanceled(this.#path) : canceled(this.#path);
  }

  #requireOpen(): void {
    if (!this.#open) throw canceled(this.#path);
  }

  #failure(errno: number, call: string): PortError {
    return isHangUp(errno) ? lost(this.#path) : callError(this.#path, errno, call);
  }
}
