import { type Abi, DARWIN, LINUX } from "./abi.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * What the driver needs of the C library. Every call gives the C result (below 0: see {@link errno}, which must be read
 * before the next call). The `Async` ones run on a thread of the runtime's pool: their errno cannot be known.
 */
export interface Libc {
  readonly abi: Abi;
  /** Of the last synchronous call that failed on this thread. */
  errno(): number;
  open(path: Bytes, flags: number): number;
  close(fd: number): number;
  closeAsync(fd: number): Promise<number>;
  read(fd: number, into: Bytes, count: number): number;
  write(fd: number, from: Bytes, count: number): number;
  /** ioctl with a pointer argument. */
  ioctl(fd: number, request: number, argument: Bytes): number;
  /** ioctl without an argument. */
  ioctlPlain(fd: number, request: number): number;
  flock(fd: number, operation: number): number;
  tcflush(fd: number, queue: number): number;
  tcgetattr(fd: number, into: Bytes): number;
  tcsetattr(fd: number, when: number, from: Bytes): number;
  pipe(fds: Bytes): number;
  pollAsync(fds: Bytes, count: number, timeoutMs: number): Promise<number>;
  posixOpenpt(flags: number): number;
  grantpt(fd: number): number;
  unlockpt(fd: number): number;
  ptsname(fd: number): string | undefined;
}

/*
 * Sizes are declared 32 bits wide although size_t and ssize_t are 64: 64-bit FFI values become bigint and leave V8's
 * fast path; no call here moves 2 GiB, and writing a 32-bit register clears its upper half on x86_64 and arm64.
 */
const COMMON = {
  close: { parameters: ["i32"], result: "i32" },
  closeAsync: { name: "close", parameters: ["i32"], result: "i32", nonblocking: true },
  read: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  write: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  flock: { parameters: ["i32", "i32"], result: "i32" },
  tcflush: { parameters: ["i32", "i32"], result: "i32" },
  tcgetattr: { parameters: ["i32", "buffer"], result: "i32" },
  tcsetattr: { parameters: ["i32", "i32", "buffer"], result: "i32" },
  pipe: { parameters: ["buffer"], result: "i32" },
  pollAsync: { name: "poll", parameters: ["buffer", "u32", "i32"], result: "i32", nonblocking: true },
  posix_openpt: { parameters: ["i32"], result: "i32" },
  grantpt: { parameters: ["i32"], result: "i32" },
  unlockpt: { parameters: ["i32"], result: "i32" },
  // Not ptsname: its answer lies in a buffer that all threads share, and tests run in several.
  ptsname_r: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  // The third, variadic argument (a mode) is only read when a file is created, which never happens here.
  open: { parameters: ["buffer", "i32"], result: "i32" },
} as const;

const IOCTL = {
  ioctl: { parameters: ["i32", "u32", "buffer"], result: "i32" },
  ioctlPlain: { name: "ioctl", parameters: ["i32", "u32"], result: "i32" },
} as const;

/**
 * arm64 macOS passes variadic arguments on the stack, and Deno's FFI knows no variadic functions: six dummies fill the
 * remaining argument registers, so that the real argument is the ninth and lands where ioctl looks for it.
 */
const IOCTL_DARWIN_ARM64 = {
  ioctl: {
    parameters: ["i32", "u32", "usize", "usize", "usize", "usize", "usize", "usize", "buffer"],
    result: "i32",
  },
  ioctlPlain: { name: "ioctl", parameters: ["i32", "u32"], result: "i32" },
} as const;

const openLibrary = (abi: Abi) => {
  const errnoFunction = { errno: { name: abi.errnoSymbol, parameters: [], result: "pointer" } } as const;
  if (abi === DARWIN && Deno.build.arch === "aarch64") {
    const { symbols } = Deno.dlopen(abi.library, { ...COMMON, ...IOCTL_DARWIN_ARM64, ...errnoFunction });
    return {
      symbols,
      ioctl: (fd: number, request: number, argument: Bytes) =>
        symbols.ioctl(fd, request, 0n, 0n, 0n, 0n, 0n, 0n, argument),
    };
  }
  const { symbols } = Deno.dlopen(abi.library, { ...COMMON, ...IOCTL, ...errnoFunction });
  return { symbols, ioctl: symbols.ioctl };
};

const load = (): Libc => {
  const abi = Deno.build.os === "darwin" ? DARWIN : LINUX;
  const { symbols, ioctl } = openLibrary(abi);
  // errno lives at one address a thread, and synchronous calls all run on this one.
  const errnoAddress = symbols.errno();
  if (errnoAddress === null) throw new Error("the C library has no errno");
  const errnoView = new Deno.UnsafePointerView(errnoAddress);
  return {
    abi,
    errno: () => errnoView.getInt32(),
    open: symbols.open,
    close: symbols.close,
    closeAsync: symbols.closeAsync,
    read: symbols.read,
    write: symbols.write,
    ioctl,
    ioctlPlain: symbols.ioctlPlain,
    flock: symbols.flock,
    tcflush: symbols.tcflush,
    tcgetattr: symbols.tcgetattr,
    tcsetattr: symbols.tcsetattr,
    pipe: symbols.pipe,
    pollAsync: symbols.pollAsync,
    posixOpenpt: symbols.posix_openpt,
    grantpt: symbols.grantpt,
    unlockpt: symbols.unlockpt,
    ptsname(fd) {
      const name = new Uint8Array(128);
      if (symbols.ptsname_r(fd, name, name.length) !== 0) return undefined;
      return new TextDecoder().decode(name.subarray(0, name.indexOf(0)));
    },
  };
};

/** The C library of this process. Loaded when the module is, so that no single port or test is charged with it. */
export const libc: Libc = load();

const encoder = new TextEncoder();
/** A zero-terminated copy for a `char *` parameter. */
export const cString = (text: string): Bytes => encoder.encode(text + "\0");

/** A C `int` that a call reads or fills in. */
export class IntCell {
  readonly bytes: Bytes = new Uint8Array(4);
  readonly #view = new DataView(this.bytes.buffer);
  get value(): number {
    return this.#view.getInt32(0, true);
  }
  set value(value: number) {
    this.#view.setInt32(0, value, true);
  }
}
