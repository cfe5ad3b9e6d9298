/** Numbers of the kernel interface that differ between Linux and macOS. */
export interface Abi {
  readonly library: string;
  readonly errnoSymbol: string;
  readonly O_RDWR: number;
  readonly O_NOCTTY: number;
  readonly O_NONBLOCK: number;
  readonly O_CLOEXEC: number;
  readonly EAGAIN: number;
  /** Queue selectors of tcflush(3). */
  readonly TCIFLUSH: number;
  readonly TCOFLUSH: number;
  readonly TCIOFLUSH: number;
  readonly TIOCEXCL: number;
  readonly TIOCNXCL: number;
  readonly TIOCOUTQ: number;
  readonly TIOCMGET: number;
  readonly TIOCMBIS: number;
  readonly TIOCMBIC: number;
  readonly TIOCSBRK: number;
  readonly TIOCCBRK: number;
  readonly FIOCLEX: number;
  readonly FIONBIO: number;
}

/** asm-generic: x86_64, arm64 and riscv64 (not MIPS, PowerPC or SPARC). Source: linux/include/uapi/asm-generic. */
export const LINUX: Abi = {
  library: "libc.so.6",
  errnoSymbol: "__errno_location",
  O_RDWR: 2,
  O_NOCTTY: 0o400,
  O_NONBLOCK: 0o4000,
  O_CLOEXEC: 0o2000000,
  EAGAIN: 11,
  TCIFLUSH: 0,
  TCOFLUSH: 1,
  TCIOFLUSH: 2,
  TIOCEXCL: 0x540c,
  TIOCNXCL: 0x540d,
  TIOCOUTQ: 0x5411,
  TIOCMGET: 0x5415,
  TIOCMBIS: 0x5416,
  TIOCMBIC: 0x5417,
  TIOCSBRK: 0x5427,
  TIOCCBRK: 0x5428,
  FIOCLEX: 0x5451,
  FIONBIO: 0x5421,
};

/** Unproved: written to xnu's sys/ttycom.h, sys/fcntl.h and sys/errno.h, never run. */
export const DARWIN: Abi = {
  library: "/usr/lib/libSystem.B.dylib",
  errnoSymbol: "__error",
  O_RDWR: 2,
  O_NOCTTY: 0x20000,
  O_NONBLOCK: 4,
  O_CLOEXEC: 0x1000000,
  EAGAIN: 35,
  TCIFLUSH: 1,
  TCOFLUSH: 2,
  TCIOFLUSH: 3,
  TIOCEXCL: 0x2000740d,
  TIOCNXCL: 0x2000740e,
  TIOCOUTQ: 0x40047473,
  TIOCMGET: 0x4004746a,
  TIOCMBIS: 0x8004746c,
  TIOCMBIC: 0x8004746b,
  TIOCSBRK: 0x2000747b,
  TIOCCBRK: 0x2000747a,
  FIOCLEX: 0x20006601,
  FIONBIO: 0x8004667e,
};

/** Numbers that both systems share. */
export const EPERM = 1;
export const ENOENT = 2;
export const EINTR = 4;
export const EIO = 5;
export const ENXIO = 6;
export const EACCES = 13;
export const EBUSY = 16;
export const ENODEV = 19;
export const ENOTDIR = 20;
export const EISDIR = 21;
export const EINVAL = 22;
export const EMFILE = 24;
export const ENOTTY = 25;

export const LOCK_EX = 2;
export const LOCK_NB = 4;
export const LOCK_UN = 8;

export const POLLIN = 1;
export const POLLOUT = 4;

/** Modem lines in TIOCMGET, TIOCMBIS and TIOCMBIC; the same on both systems. */
export const TIOCM = { DTR: 0x2, RTS: 0x4, CTS: 0x20, DCD: 0x40, RI: 0x80, DSR: 0x100 } as const;
