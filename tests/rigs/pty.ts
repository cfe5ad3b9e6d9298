/** Virtual ports for tests: PTYs of this process, opened with the real driver. */
import { openPair, openPty, type Pair, type Pty } from "../../src/drivers/serial/pty.ts";
import { systemDriver } from "../../src/drivers/serial/mod.ts";
import type { LineSettings, OpenOptions, SerialPort } from "../../src/drivers/serial/port.ts";

export { openPair, openPty, type Pair, type Pty } from "../../src/drivers/serial/pty.ts";

type Bytes = Uint8Array<ArrayBuffer>;

export const LINE_8N1: LineSettings = { baudRate: 115_200, dataBits: 8, stopBits: 1, parity: "none" };

/** 115200 8N1, lines left alone, nothing thrown away, unless said otherwise. */
export const openOptions = (path: string, options: Partial<OpenOptions> = {}): OpenOptions => ({
  ...LINE_8N1,
  dtr: "leave",
  rts: "leave",
  flush: false,
  ...options,
  path,
});

const driver = systemDriver();

/** Opens a path with the driver of this system. */
export const openPort = (path: string, options: Partial<OpenOptions> = {}): Promise<SerialPort> =>
  driver.open(openOptions(path, options));

/** A pair with both ends open; all of it is closed when `use` has ended, also by an error. */
export const withPair = async (
  use: (a: SerialPort, b: SerialPort, pair: Pair) => Promise<void>,
): Promise<void> => {
  const pair = await openPair();
  try {
    const [a, b] = await Promise.all([openPort(pair.a), openPort(pair.b)]);
    try {
      await use(a, b, pair);
    } finally {
      await Promise.all([a.close(), b.close()]);
    }
  } finally {
    await pair.close();
  }
};

/** A PTY under a name of its own, as an adapter has one: one that has only its number is not waited for when it is lost. */
export const openNamedPty = (): Pty => {
  const pty = openPty();
  const folder = Deno.makeTempDirSync({ prefix: "fieldbench-pty-" });
  const path = `${folder}/port`;
  Deno.symlinkSync(pty.path, path);
  const close = async () => {
    await pty.close();
    await Deno.remove(folder, { recursive: true });
  };
  return { ...pty, path, close };
};

/** Exactly `count` bytes. */
export const readExactly = async (
  from: { read(buffer: Bytes): Promise<number> },
  count: number,
): Promise<Bytes> => {
  const all = new Uint8Array(count);
  for (let at = 0; at < count;) at += await from.read(all.subarray(at));
  return all;
};

/** Random bytes of any length (`crypto.getRandomValues` stops at 64 KiB). */
export const randomBytes = (count: number): Bytes => {
  const all = new Uint8Array(count);
  for (let at = 0; at < count; at += 65_536) crypto.getRandomValues(all.subarray(at, at + 65_536));
  return all;
};

/** Looks every few ms until `check` gives something; throws after a generous time. */
export const eventually = async <T>(
  what: string,
  check: () => T | undefined | false | null | Promise<T | undefined | false | null>,
  deadlineMs = 20_000,
): Promise<T> => {
  const until = performance.now() + deadlineMs;
  for (;;) {
    const found = await check();
    if (found !== undefined && found !== false && found !== null) return found;
    if (performance.now() > until) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

/** The error that a promise ends with; throws when it does not fail. */
export const failureOf = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("was expected to fail");
};
