import assert from "node:assert/strict";
import { PortError } from "../../src/drivers/serial/port.ts";
import { FdChannel } from "../../src/drivers/serial/unix/fd_channel.ts";
import { cString, libc } from "../../src/drivers/serial/unix/libc.ts";
import { failureOf, openPair, openPort, openPty, randomBytes, readExactly, withPair } from "../rigs/pty.ts";

const text = (value: string) => new TextEncoder().encode(value);

const portError = (error: unknown): PortError => {
  assert.ok(error instanceof PortError, String(error));
  return error;
};

Deno.test("any baud rate is set as typed and read back from the driver [SO06]", async () => {
  const pty = openPty();
  for (const baudRate of [110, 9600, 74_880, 123_456, 250_000, 3_000_000, 4_000_000]) {
    const port = await openPort(pty.path, { baudRate });
    assert.equal(port.settings().baudRate, baudRate, "at open");
    port.setBaudRate(baudRate + 1);
    assert.equal(port.settings().baudRate, baudRate + 1, "while open");
    await port.close();
  }
  await pty.close();
});

Deno.test("settings that a PTY does not keep show in what is read back, not in what was asked [SO06]", async () => {
  const pty = openPty();
  const port = await openPort(pty.path, { dataBits: 7, parity: "even", stopBits: 2 });
  assert.deepEqual(port.settings(), { baudRate: 115_200, dataBits: 8, stopBits: 2, parity: "none" });
  await port.close();
  await pty.close();
});

Deno.test("1.5 stop bits and a parity that the driver drops are refused with the reason [SO06]", async () => {
  const pty = openPty();
  for (
    const [options, reason] of [
      [{ stopBits: 1.5 }, /1\.5 stop bits/],
      [{ parity: "mark" }, /no mark parity/],
      [{ parity: "space" }, /no space parity/],
    ] as const
  ) {
    const error = portError(await failureOf(openPort(pty.path, options)));
    assert.equal(error.kind, "unsupported");
    assert.match(error.message, reason);
  }
  const port = await openPort(pty.path);
  await port.close();
  await pty.close();
});

Deno.test("a PTY has no modem lines: any choice opens it, asking for lines says unsupported, break does nothing", async () => {
  const pty = openPty();
  const port = await openPort(pty.path, { dtr: "low", rts: "high" });
  assert.throws(() => port.lines(), (error) => portError(error).kind === "unsupported");
  assert.throws(() => port.setLines({ dtr: true }), (error) => portError(error).kind === "unsupported");
  port.setBreak(true);
  port.setBreak(false);
  await port.close();
  await pty.close();
});

Deno.test("what waits from before an open is kept or thrown away as asked", async () => {
  const pty = openPty();
  await pty.write(text("first words"));
  const kept = await openPort(pty.path, { flush: false });
  assert.equal(new TextDecoder().decode(await readExactly(kept, 11)), "first words");
  await kept.close();
  await pty.write(text("old"));
  const fresh = await openPort(pty.path, { flush: true });
  await pty.write(text("new"));
  assert.equal(new TextDecoder().decode(await readExactly(fresh, 3)), "new");
  await fresh.close();
  await pty.close();
});

Deno.test("a hang-up ends a waiting read as lost at once, and every later call too [SO04]", async () => {
  const pty = openPty();
  const port = await openPort(pty.path);
  const read = failureOf(port.read(new Uint8Array(16)));
  const write = failureOf(port.write(randomBytes(1_000_000)));
  const started = performance.now();
  await pty.close();
  const [readError, writeError] = [portError(await read), portError(await write)];
  const took = performance.now() - started;
  assert.equal(readError.kind, "lost");
  assert.equal(readError.disconnect, true);
  assert.equal(writeError.kind, "lost");
  assert.ok(writeError.bytesWritten > 0 && writeError.bytesWritten < 1_000_000, String(writeError.bytesWritten));
  assert.ok(took < 1000, `${took} ms`);
  assert.throws(() => port.settings(), (error) => portError(error).kind === "lost");
  assert.equal(portError(await failureOf(port.write(text("x")))).kind, "lost");
  await port.close();
});

Deno.test("close ends a waiting read as canceled, and later calls as well", async () => {
  const pty = openPty();
  const port = await openPort(pty.path);
  const read = failureOf(port.read(new Uint8Array(16)));
  await port.close();
  const error = portError(await read);
  assert.equal(error.kind, "canceled");
  assert.equal(error.canceled, true);
  assert.equal(port.isOpen, false);
  assert.throws(() => port.settings(), (later) => portError(later).kind === "canceled");
  assert.equal(portError(await failureOf(port.read(new Uint8Array(1)))).kind, "canceled");
  assert.equal(portError(await failureOf(port.write(text("x")))).kind, "canceled");
  assert.equal(port.pending(), 0);
  await port.close();
  await pty.close();
});

Deno.test("close ends within a second while a write is blocked; the error tells how many bytes went [SO10]", async () => {
  const pty = openPty();
  const bytes = randomBytes(1_000_000);
  const port = await openPort(pty.path);
  const write = failureOf(port.write(bytes));
  const queued = failureOf(port.write(text("never sent")));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const started = performance.now();
  await port.close();
  const took = performance.now() - started;
  assert.ok(took < 1000, `${took} ms`);
  const error = portError(await write);
  assert.equal(error.kind, "canceled");
  assert.ok(error.bytesWritten > 0 && error.bytesWritten < bytes.length, String(error.bytesWritten));
  assert.equal(portError(await queued).bytesWritten, 0);
  // The count is true: exactly so many bytes are there for the peer, and then the next user's.
  const next = await openPort(pty.path);
  const received = readExactly(pty, error.bytesWritten + 3);
  await next.write(text("end"));
  const got = await received;
  assert.deepEqual(got.subarray(0, error.bytesWritten), bytes.subarray(0, error.bytesWritten));
  assert.equal(new TextDecoder().decode(got.subarray(error.bytesWritten)), "end");
  await next.close();
  await pty.close();
});

Deno.test("a blocked write can be canceled: it tells what went, the port stays open and goes on from there [SO10]", async () => {
  const pty = openPty();
  const port = await openPort(pty.path);
  port.cancelWrite(); // nothing under way: nothing happens
  const bytes = randomBytes(1_000_000);
  const writing = failureOf(port.write(bytes));
  const queued = failureOf(port.write(text("never")));
  await new Promise((resolve) => setTimeout(resolve, 50));
  port.cancelWrite();
  const error = portError(await writing);
  assert.equal(error.kind, "canceled");
  assert.ok(error.bytesWritten > 0 && error.bytesWritten < bytes.length, String(error.bytesWritten));
  assert.deepEqual([portError(await queued).kind, portError(await queued).bytesWritten], ["canceled", 0]);
  assert.equal(port.isOpen, true);
  const received = readExactly(pty, error.bytesWritten + 3);
  await port.write(text("end"));
  const got = await received;
  assert.deepEqual(got.subarray(0, error.bytesWritten), bytes.subarray(0, error.bytesWritten));
  assert.equal(new TextDecoder().decode(got.subarray(error.bytesWritten)), "end");
  // A read that waits is not touched.
  const reading = readExactly(port, 2);
  port.cancelWrite();
  await pty.write(text("ok"));
  assert.equal(new TextDecoder().decode(await reading), "ok");
  await port.close();
  port.cancelWrite();
  await pty.close();
});

Deno.test("a blocked port does not hold up another one [SO10]", () =>
  withPair(async (a, b) => {
    const pty = openPty();
    const blocked = await openPort(pty.path);
    const write = failureOf(blocked.write(randomBytes(1_000_000)));
    for (let round = 0; round < 50; round++) {
      await a.write(text("ping"));
      assert.equal(new TextDecoder().decode(await readExactly(b, 4)), "ping");
    }
    await blocked.close();
    assert.equal(portError(await write).kind, "canceled");
    await pty.close();
  }));

Deno.test("writes that overlap arrive whole and in order", () =>
  withPair(async (a, b) => {
    const blocks = Array.from({ length: 20 }, (_, index) => new Uint8Array(30_000).fill(index));
    const all = readExactly(b, 20 * 30_000);
    await Promise.all(blocks.map((block) => a.write(block)));
    const got = await all;
    for (const [index, block] of blocks.entries()) {
      assert.deepEqual(got.subarray(index * 30_000, (index + 1) * 30_000), block, `block ${index}`);
    }
  }));

Deno.test("the event loop gets its turn in a flood of reads and of writes that never have to wait", async () => {
  // A device without an end: read(2) and write(2) always succeed, so that only the channel's own pauses let others in.
  for (const [path, move] of [["/dev/zero", "read"], ["/dev/null", "write"]] as const) {
    const channel = new FdChannel(libc.open(cString(path), libc.abi.O_RDWR), path);
    const block = new Uint8Array(1_000_000);
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    let moved = 0;
    while (turns < 10 && moved < 5000) {
      await channel[move](block);
      moved++;
    }
    clearInterval(timer);
    assert.ok(turns >= 10, `${move}: ${turns} turns in ${moved} MB`);
    await channel.stop();
    libc.close(channel.fd);
  }
});

Deno.test("a pair under fixed names keeps working when an end is closed and opened again", async () => {
  const folder = await Deno.makeTempDir();
  const links = { a: `${folder}/left`, b: `${folder}/right` };
  await Deno.symlink("/nowhere", links.a);
  const pair = await openPair({ links });
  assert.deepEqual({ a: pair.a, b: pair.b }, links);
  const b = await openPort(links.b);
  for (let round = 0; round < 10; round++) {
    const a = await openPort(links.a);
    await a.write(text(`hello ${round}`));
    assert.equal(new TextDecoder().decode(await readExactly(b, 7)), `hello ${round}`);
    await b.write(text("answer"));
    assert.equal(new TextDecoder().decode(await readExactly(a, 6)), "answer");
    await a.close();
  }
  await b.close();
  await pair.close();
  assert.deepEqual(Array.from(Deno.readDirSync(folder)), []);
  await Deno.remove(folder);
});

Deno.test("a pair does not replace a file that is no link", async () => {
  const folder = await Deno.makeTempDir();
  const links = { a: `${folder}/left`, b: `${folder}/right` };
  await Deno.writeTextFile(links.b, "precious");
  assert.ok(await failureOf(openPair({ links })) instanceof Deno.errors.AlreadyExists);
  assert.deepEqual(Array.from(Deno.readDirSync(folder), (entry) => entry.name), ["right"]);
  await Deno.remove(folder, { recursive: true });
});
