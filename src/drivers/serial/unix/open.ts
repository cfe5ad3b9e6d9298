import { type LineAtOpen, type OpenOptions, PortError } from "../port.ts";
import { EACCES, EBUSY, EINTR, ENOENT, LOCK_EX, LOCK_NB } from "./abi.ts";
import { linuxHolder, linuxLockHolder } from "./holder_linux.ts";
import { cString, IntCell, libc } from "./libc.ts";
import { line } from "./line.ts";
import { driveLinesAtOpen, UnixPort } from "./port.ts";
import { inUse, isHangUp, openError } from "./sys_error.ts";

const onLinux = Deno.build.os === "linux";

const levels = (dtr: LineAtOpen, rts: LineAtOpen): { dtr?: boolean; rts?: boolean } => ({
  ...(dtr !== "leave" && { dtr: dtr === "high" }),
  ...(rts !== "leave" && { rts: rts === "high" }),
});

/**
 * Only a character device is opened at all: opening something else can have effects of its own (a named pipe wakes its
 * reader). Nor is a port that another program has locked: the kernel raises DTR and RTS at every open, also at one that
 * is refused afterwards, and that would reset the board that the other program talks to.
 */
const check = (path: string): void => {
  let stat: Deno.FileInfo;
  try {
    stat = Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      throw openError(path, ENOENT, "stat");
    }
    if (error instanceof Deno.errors.PermissionDenied) throw openError(path, EACCES, "stat");
    throw new PortError("io", `${path} cannot be looked at`, { cause: error });
  }
  if (!stat.isCharDevice) throw new PortError("not_a_port", `${path} is not a serial port`);
  const holder = onLinux ? linuxLockHolder(path) : undefined;
  if (holder !== undefined) throw inUse(path, holder);
};

const openFile = (path: string): number => {
  const { O_RDWR, O_NOCTTY, O_NONBLOCK, O_CLOEXEC } = libc.abi;
  for (;;) {
    const fd = libc.open(cString(path), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) return fd;
    const errno = libc.errno();
    if (errno === EBUSY) throw inUse(path, holderOf(path)); // TIOCEXCL of another program
    if (errno !== EINTR) throw openError(path, errno, "open");
  }
};

const holderOf = (path: string): string | undefined => onLinux ? linuxHolder(path, { fresh: true }) : undefined;

const noDevice = (path: string): PortError =>
  new PortError("not_found", `${path} has no device behind it: just unplugged, or a name without a chip`);

/** Linux opens ttyS names without a chip and takes settings for them; only the modem lines tell (EIO). */
const requireDevice = (fd: number, path: string): void => {
  const answer = libc.ioctl(fd, libc.abi.TIOCMGET, new IntCell().bytes);
  if (answer < 0 && isHangUp(libc.errno())) throw noDevice(path);
};

/**
 * Opens a port for this process alone. Not awaited on another thread although open(2) of a slow adapter can take some
 * ms: the lines must take the levels that were asked for at once, not when the event loop comes round.
 */
export const openPort = (options: OpenOptions): UnixPort => {
  const { path } = options;
  check(path);
  line.refuse(path, options);
  const fd = openFile(path);
  try {
    // The lock first: the lines of a port that someone else holds are not ours to set. It costs a microsecond.
    if (libc.flock(fd, LOCK_EX | LOCK_NB) < 0) {
      const errno = libc.errno();
      throw errno === libc.abi.EAGAIN ? inUse(path, holderOf(path)) : openError(path, errno, "flock");
    }
    driveLinesAtOpen(fd, path, levels(options.dtr, options.rts));
    requireDevice(fd, path);
    line.apply({ fd, path }, options);
    // flock binds those who ask; TIOCEXCL binds everyone but root. Only both keep a port to ourselves.
    libc.ioctlPlain(fd, libc.abi.TIOCEXCL);
    if (options.flush) libc.tcflush(fd, libc.abi.TCIOFLUSH);
  } catch (error) {
    libc.close(fd);
    throw error instanceof PortError && error.kind === "lost" ? noDevice(path) : error;
  }
  return new UnixPort(fd, path);
};
