import { PortError } from "../port.ts";
import { FdChannel } from "./fd_channel.ts";
import { cString, IntCell, libc } from "./libc.ts";
import { line } from "./line.ts";

/** The master end of a PTY whose slave can be opened as a port. */
export interface Pty {
  /** The slave: what to open. */
  readonly path: string;
  /** As `SerialPort.read`: what a user of the slave wrote. */
  read(buffer: Uint8Array<ArrayBuffer>): Promise<number>;
  /** As `SerialPort.write`. Blocks once about 20 kB wait that nobody reads. */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Hangs the slave up: whoever has it open sees kind `lost`. */
  close(): Promise<void>;
}

const failure = (call: string): PortError => new PortError("io", `no PTY to be had: ${call}, errno ${libc.errno()}`);

/** A new PTY in raw mode. Throws `PortError` when the system has none left. */
export const openPty = (): Pty => {
  const { O_RDWR, O_NOCTTY, O_NONBLOCK, O_CLOEXEC, FIOCLEX, FIONBIO } = libc.abi;
  const master = libc.posixOpenpt(O_RDWR | O_NOCTTY);
  if (master < 0) throw failure("posix_openpt");
  // By ioctl, because macOS takes no other flags in posix_openpt, and fcntl is variadic.
  const on = new IntCell();
  on.value = 1;
  libc.ioctl(master, FIONBIO, on.bytes);
  libc.ioctlPlain(master, FIOCLEX);
  if (libc.grantpt(master) < 0 || libc.unlockpt(master) < 0) {
    const error = failure("unlockpt");
    libc.close(master);
    throw error;
  }
  const path = libc.ptsname(master);
  // Kept open all the time: otherwise the master reads EIO whenever no user has the slave open, and the settings
  // would fall back to a cooked terminal that echoes.
  const slave = path === undefined ? -1 : libc.open(cString(path), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (path === undefined || slave < 0) {
    const error = failure("opening the slave");
    libc.close(master);
    throw error;
  }
  line.apply({ fd: slave, path }, { baudRate: 115_200, dataBits: 8, stopBits: 1, parity: "none" });
  const channel = new FdChannel(master, path);
  let closing: Promise<void> | undefined;
  const close = async () => {
    await channel.stop();
    libc.close(slave);
    libc.close(master);
  };
  return {
    path,
    read: (buffer) => channel.read(buffer),
    write: (bytes) => channel.write(bytes),
    close: () => closing ??= close(),
  };
};
