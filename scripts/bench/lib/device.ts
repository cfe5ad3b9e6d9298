/**
 * A device on a PTY in a process of its own, so that it never shares a thread with what is measured.
 *
 *     device.ts flood BYTES     waits for a line on standard input, then sends BYTES of numbered 60-byte lines
 *     device.ts rate BYTES_A_SECOND SECONDS   the same, paced in slices of 10 ms
 *     device.ts echo            sends back what it gets
 *
 * Prints the path first; after a flood, the time that it took.
 */
import { openPty } from "../../../src/drivers/serial/pty.ts";

const [mode, amount, seconds] = Deno.args;
const pty = await openPty();
console.log(pty.path);

/** Numbered lines of 60 bytes, line end included. */
function lines(from: number, count: number): Uint8Array<ArrayBuffer> {
  let text = "";
  for (let i = from; i < from + count; i++) {
    text += `line ${String(i).padStart(9, "0")} the quick brown fox jumps over`.padEnd(58, ".") + "\r\n";
  }
  return new TextEncoder().encode(text);
}

async function go(): Promise<void> {
  await Deno.stdin.read(new Uint8Array(16));
}

if (mode === "echo") {
  const buffer = new Uint8Array(4096);
  for (;;) await pty.write(buffer.slice(0, await pty.read(buffer)));
} else if (mode === "flood") {
  const total = Number(amount) / 60;
  await go();
  const t0 = performance.now();
  for (let n = 0; n < total; n += 1000) await pty.write(lines(n, Math.min(1000, total - n)));
  console.log(Math.round(performance.now() - t0));
  await Deno.stdin.read(new Uint8Array(16)); // stay until the reader is done: a hang-up would discard what it has not read
} else if (mode === "rate") {
  const perSlice = Math.round(Number(amount) / 100 / 60);
  await go();
  const t0 = performance.now();
  for (let slice = 0; slice < Number(seconds) * 100; slice++) {
    await pty.write(lines(slice * perSlice, perSlice));
    const wait = t0 + (slice + 1) * 10 - performance.now();
    if (wait > 0) await new Promise((r) => setTimeout(r, wait));
  }
  console.log(Math.round(performance.now() - t0));
  await Deno.stdin.read(new Uint8Array(16));
} else throw new Error("flood, rate or echo");
Deno.exit(0);
