/** The Windows driver as a binding of `@serialport/stream`, run by deno.exe under Wine: see `rig.sh`. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { SerialPortStream } from "@serialport/stream";
import { bindingFor } from "../../../src/drivers/serial/stream_binding.ts";
import { driver, openAgain, pattern, pause, PORT, report } from "./lib.ts";

const binding = bindingFor(driver);

async function openStream() {
  const stream = new SerialPortStream({ binding, path: PORT, baudRate: 115_200 });
  await once(stream, "open");
  return stream;
}

const closeStream = (stream: SerialPortStream) =>
  new Promise<void>((resolve, reject) => stream.close((error) => error ? reject(error) : resolve()));

Deno.test("1 MB through the stream comes back byte for byte", async () => {
  const stream = await openStream();
  const out = Buffer.from(pattern(1 << 20));
  const parts: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let got = 0;
  stream.on("data", (part: Buffer) => {
    parts.push(part);
    got += part.length;
    if (got >= out.length) resolve();
  });
  const start = performance.now();
  stream.write(out);
  await promise;
  report("echo of 1 MB through the stream, MB/s", +(out.length / 1e3 / (performance.now() - start)).toFixed(2));
  assert.equal(Buffer.compare(Buffer.concat(parts), out), 0);
  await closeStream(stream);
});

Deno.test("update changes the rate, and a missing port is an error of open", async () => {
  const stream = await openStream();
  await new Promise<void>((resolve, reject) =>
    stream.update({ baudRate: 250_000 }, (error) => error ? reject(error) : resolve())
  );
  assert.equal(stream.port?.isOpen, true);
  assert.deepEqual(await stream.port?.getBaudRate(), { baudRate: 250_000 });
  await closeStream(stream);
  const missing = new SerialPortStream({ binding, path: "COM77", baudRate: 9600, autoOpen: false });
  const error = await new Promise<Error | null>((resolve) => missing.open(resolve));
  assert.match(error?.message ?? "", /COM77/);
});

Deno.test("an unplugged device closes the stream as disconnected", async () => {
  const stream = await openStream();
  stream.on("data", () => {});
  const closed = once(stream, "close");
  stream.write("!hangup 50\n");
  const [error] = await closed;
  report("close event", { disconnected: error?.disconnected, message: error?.message });
  assert.equal(error?.disconnected, true);
  assert.equal(stream.isOpen, false);
  await pause(0);
  await (await openAgain()).close();
});
