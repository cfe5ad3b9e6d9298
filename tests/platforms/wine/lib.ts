/** What the checks under Wine share: an open port on a device of `device.ts`, and reading by count, line and silence. */
import { windowsDriver } from "../../../src/drivers/serial/windows/driver.ts";
import { type OpenOptions, PortError, type SerialPort } from "../../../src/drivers/serial/port.ts";

export const driver = windowsDriver();
/** The port of the checks, and eight more. */
export const PORT = "COM5";
export const MORE_PORTS = Array.from({ length: 8 }, (_, i) => `COM${21 + i}`);

export const encode = (text: string) => new TextEncoder().encode(text);
export const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Bytes without a command of the device among them. */
export function pattern(length: number): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + (i >> 8)) & 255);
  if (length > 0) bytes[0] = 1;
  return bytes;
}

export const open = (options: Partial<OpenOptions> = {}): Promise<SerialPort> =>
  driver.open({
    path: PORT,
    baudRate: 115_200,
    dataBits: 8,
    stopBits: 1,
    parity: "none",
    dtr: "high",
    rts: "high",
    flush: true,
    ...options,
  });

/** Opens, runs and closes whatever happens. */
export async function withPort(run: (port: SerialPort) => Promise<void>, options: Partial<OpenOptions> = {}) {
  const port = await open(options);
  try {
    await run(port);
  } finally {
    await port.close();
  }
}

/** Opens once the device is back after a hang-up. */
export async function openAgain(deadlineMs = 5000): Promise<SerialPort> {
  for (const start = performance.now();;) {
    try {
      return await open();
    } catch (error) {
      if (performance.now() - start > deadlineMs) throw error;
      await pause(20);
    }
  }
}

export async function readCount(port: SerialPort, count: number): Promise<Uint8Array<ArrayBuffer>> {
  const all = new Uint8Array(count);
  const buffer = new Uint8Array(65_536);
  for (let got = 0; got < count;) {
    const n = await port.read(buffer.subarray(0, Math.min(buffer.length, count - got)));
    all.set(buffer.subarray(0, n), got);
    got += n;
  }
  return all;
}

export async function readLine(port: SerialPort): Promise<string> {
  let text = "";
  const buffer = new Uint8Array(4096);
  while (!text.endsWith("\n")) text += decode(buffer.subarray(0, await port.read(buffer)));
  return text.trim();
}

/** The error that something ends with; an AssertionError-like failure when it does not end with one. */
export async function errorOf(work: Promise<unknown>): Promise<PortError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof PortError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

/** A figure for docs/platforms.md. */
export const report = (name: string, value: unknown) => console.log(`figure: ${name}: ${JSON.stringify(value)}`);
