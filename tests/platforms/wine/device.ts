/**
 * A device under test on PTYs, for a serial driver that runs in another program (under Wine). Runs on Linux:
 *
 *     deno run -A tests/platforms/wine/device.ts FOLDER/a FOLDER/b …
 *
 * makes a PTY for each path, a symbolic link to its slave there, and prints `ready`. Each echoes what it gets, except
 * for a chunk that begins with a command line:
 *
 * - `!settings` answers with the line settings of the PTY as JSON and a line feed;
 * - `!flood N` sends N bytes of the pattern `i * 7 mod 256`;
 * - `!later MS TEXT` sends TEXT after MS milliseconds;
 * - `!hold MS` does not read for MS milliseconds, so that a writer blocks;
 * - `!hangup MS` unplugs the PTY, and plugs a new one in at the same link after MS milliseconds;
 * - `!hold-hangup MS` as both: stops reading at once and unplugs after MS, back after another MS.
 */
import { openPty, type Pty } from "../../../src/drivers/serial/pty.ts";
import { cString, libc } from "../../../src/drivers/serial/unix/libc.ts";
import { line } from "../../../src/drivers/serial/unix/line.ts";
import { PortError } from "../../../src/drivers/serial/port.ts";

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const encode = (text: string) => new TextEncoder().encode(text);

function settingsOf(path: string): string {
  const { O_RDWR, O_NOCTTY, O_NONBLOCK } = libc.abi;
  const fd = libc.open(cString(path), O_RDWR | O_NOCTTY | O_NONBLOCK);
  try {
    return JSON.stringify(line.read({ fd, path }));
  } finally {
    libc.close(fd);
  }
}

function plug(at: string): Pty {
  const pty = openPty();
  try {
    Deno.removeSync(at);
  } catch {
    // Not there yet.
  }
  Deno.symlinkSync(pty.path, at);
  return pty;
}

/** Answers one chunk. A number when the device is to hang up: how many ms it stays away. */
async function answer(pty: Pty, chunk: Uint8Array<ArrayBuffer>): Promise<number | undefined> {
  const text = chunk[0] === 0x21 && chunk.length < 200 ? new TextDecoder().decode(chunk).trim() : "";
  const [, command, ms = "0", rest = ""] = /^!([a-z-]+)(?: (\d+))?(?: (.*))?$/.exec(text) ?? [];
  const number = Number(ms);
  switch (command) {
    case "settings":
      await pty.write(encode(settingsOf(pty.path) + "\n"));
      return undefined;
    case "flood":
      await pty.write(Uint8Array.from({ length: number }, (_, i) => (i * 7) & 255));
      return undefined;
    case "later":
      await pause(number);
      await pty.write(encode(rest));
      return undefined;
    case "hold":
      await pause(number);
      return undefined;
    case "hangup":
      return number;
    case "hold-hangup":
      await pause(number);
      return number;
    default:
      await pty.write(chunk);
      return undefined;
  }
}

/** Answers until told to hang up; how many ms to stay away. */
async function converse(pty: Pty): Promise<number> {
  const buffer = new Uint8Array(65_536);
  for (;;) {
    const count = await pty.read(buffer);
    const goneMs = await answer(pty, buffer.slice(0, count));
    if (goneMs !== undefined) return goneMs;
  }
}

async function serve(at: string): Promise<void> {
  for (;;) {
    const pty = plug(at);
    try {
      const goneMs = await converse(pty);
      Deno.removeSync(at);
      await pty.close();
      await pause(goneMs);
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      console.error(`${at}: ${error.message}`);
      await pty.close();
    }
  }
}

const running = Deno.args.map(serve);
console.log("ready");
await Promise.all(running);
