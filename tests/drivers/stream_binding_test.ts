import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { SerialPortStream } from "@serialport/stream";
import { MemoryDriver } from "../../src/drivers/serial/memory.ts";
import { systemDriver } from "../../src/drivers/serial/mod.ts";
import { bindingFor } from "../../src/drivers/serial/stream_binding.ts";
import { eventually, failureOf, openPair, openPty, randomBytes } from "../rigs/pty.ts";

const openStream = async (path: string) => {
  const stream = new SerialPortStream({ binding: bindingFor(systemDriver()), path, baudRate: 115_200 });
  await once(stream, "open");
  return stream;
};

const closeStream = (stream: SerialPortStream) =>
  new Promise<void>((resolve, reject) => stream.close((error) => error ? reject(error) : resolve()));

const collect = (stream: SerialPortStream, count: number): Promise<Buffer> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    stream.on("data", (chunk: Buffer) => {
      chunks.push(Buffer.from(chunk));
      length += chunk.length;
      if (length >= count) resolve(Buffer.concat(chunks));
    });
  });

Deno.test("the unmodified SerialPortStream moves a megabyte each way over a pair of PTYs", async () => {
  const pair = await openPair();
  const [a, b] = await Promise.all([openStream(pair.a), openStream(pair.b)]);
  const there = Buffer.from(randomBytes(1_000_000));
  const back = Buffer.from(randomBytes(1_000_000));
  const atB = collect(b, there.length);
  const atA = collect(a, back.length);
  a.write(there);
  b.write(back);
  assert.ok((await atB).equals(there), "a to b");
  assert.ok((await atA).equals(back), "b to a");
  await new Promise<void>((resolve, reject) => a.drain((error) => error ? reject(error) : resolve()));
  a.update({ baudRate: 74_880 });
  await eventually("the new rate is read back", async () => (await a.port?.getBaudRate())?.baudRate === 74_880);
  await Promise.all([closeStream(a), closeStream(b)]);
  await pair.close();
});

Deno.test("SerialPortStream closes as disconnected when the other end goes", async () => {
  const pty = openPty();
  const stream = await openStream(pty.path);
  stream.resume();
  const closed = once(stream, "close");
  await pty.close();
  const [error] = await closed;
  assert.equal(error.disconnected, true);
});

Deno.test("a blocked write of SerialPortStream does not hold up its close [SO10]", async () => {
  const pty = openPty();
  const stream = await openStream(pty.path);
  stream.on("error", () => {});
  stream.write(Buffer.alloc(1_000_000));
  await eventually("the stream is writing", () => stream.writableLength > 0);
  await closeStream(stream);
  await pty.close();
});

Deno.test("the stream's control calls reach the port, and flow control is refused instead of left out", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem", product: "Board", vendorId: "0403", location: "1-2" });
  const binding = bindingFor(driver);
  assert.deepEqual((await binding.list()).map(({ path, vendorId, locationId }) => ({ path, vendorId, locationId })), [
    { path: "mem", vendorId: "0403", locationId: "1-2" },
  ]);
  const port = await binding.open({ path: "mem", baudRate: 9600, parity: "even", dataBits: 7, dtr: "low" });
  assert.deepEqual(device.outputs, { dtr: false, rts: false, break: false });
  await port.set({ dtr: true, rts: true, brk: true });
  assert.deepEqual(device.outputs, { dtr: true, rts: true, break: true });
  device.inputs.cts = false;
  assert.deepEqual(await port.get(), { cts: false, dsr: true, dcd: false });
  await port.flush();
  await port.close();
  await assert.rejects(binding.open({ path: "mem", baudRate: 9600, rtscts: true }), /rtscts/);
  assert.match(String(await failureOf(binding.open({ path: "mem", baudRate: 9600, parity: "any" }))), /parity/);
});
