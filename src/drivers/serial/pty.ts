import { PortError } from "./port.ts";
import type { Pty } from "./unix/pty.ts";

export type { Pty } from "./unix/pty.ts";

// Loaded with this module, and only where there is such a C library.
const unix = Deno.build.os === "windows" ? undefined : await import("./unix/pty.ts");

/**
 * A PTY: its master end in this process, its slave a path that any program can open as a serial port. It has no modem
 * lines, keeps no parity or 7 data bits, and keeps any baud rate. Throws `PortError`, kind `unsupported` on Windows.
 */
export const openPty = (): Pty => {
  if (unix === undefined) {
    throw new PortError(
      "unsupported",
      "Windows has no PTYs: there is no virtual port to open; use a pair of com0com, or --demo",
    );
  }
  return unix.openPty();
};

/** Two paths joined like a null-modem cable. */
export interface Pair {
  readonly a: string;
  readonly b: string;
  /** Hangs both ends up and removes the links. */
  close(): Promise<void>;
}

export interface PairOptions {
  /** Symbolic links to make to the two ends, so that their paths are known beforehand; a link that is there is replaced. */
  links?: { a: string; b: string };
}

const BUFFER_BYTES = 65_536;

/** Moves bytes one way until an end closes. One buffer: the next read waits for the write, which keeps back-pressure. */
const pump = async (from: Pty, to: Pty): Promise<void> => {
  const buffer = new Uint8Array(BUFFER_BYTES);
  try {
    for (;;) {
      const count = await from.read(buffer);
      await to.write(buffer.subarray(0, count));
    }
  } catch (error) {
    // Closed: that is how a pump ends. The slaves are kept open, so that a user who leaves does not end it.
    if (!(error instanceof PortError)) throw error;
  }
};

const link = async (target: string, at: string): Promise<void> => {
  await unlink(at);
  await Deno.symlink(target, at);
};

/** Removes a link, and never anything else that happens to have the name. */
const unlink = async (at: string): Promise<void> => {
  try {
    if ((await Deno.lstat(at)).isSymlink) await Deno.remove(at);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
};

/**
 * Two PTYs bridged in this process. Either end can be closed and opened again at any time; what is written while the
 * other end is closed waits there, up to about 20 kB, and then blocks the writer.
 */
export const openPair = async (options: PairOptions = {}): Promise<Pair> => {
  const a = openPty();
  const b = openPty();
  const { links } = options;
  const pumps = [pump(a, b), pump(b, a)];
  const close = async () => {
    await Promise.all([a.close(), b.close(), ...pumps]);
    if (links) await Promise.all([unlink(links.a), unlink(links.b)]);
  };
  if (links) {
    try {
      await link(a.path, links.a);
      await link(b.path, links.b);
    } catch (error) {
      await close();
      throw error;
    }
  }
  let closing: Promise<void> | undefined;
  return { a: links?.a ?? a.path, b: links?.b ?? b.path, close: () => closing ??= close() };
};
