import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { PortError, type SerialPort } from "../../src/drivers/serial/port.ts";
import { failureOf, openPair, openPort, openPty, randomBytes, readExactly } from "../rigs/pty.ts";

interface Use {
  descriptors: number;
  threads: number;
  rss: number;
}

Deno.test("opening and closing a port 1,000 times leaks no descriptor, thread or memory", async () => {
  // In a process of its own: other tests of this one open files and start threads meanwhile.
  const path = new URL("reopen_many.ts", import.meta.url).pathname;
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), { args: ["run", "-A", path] }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  const { before, after }: { before: Use; after: Use } = JSON.parse(new TextDecoder().decode(stdout));
  // Under load the runtime opens a socket pair and starts some pool threads of its own late; a leak would be a thousand.
  assert.ok(after.descriptors <= before.descriptors + 8, `${before.descriptors} → ${after.descriptors} descriptors`);
  assert.ok(after.threads <= before.threads + 8, `${before.threads} → ${after.threads} threads`);
  const grown = (after.rss - before.rss) / 1e6;
  assert.ok(grown < 16, `${grown} MB`);
});

Deno.test("a peer that dies and comes back 100 times is lost and found again each time [SO04]", async () => {
  const folder = await Deno.makeTempDir();
  const link = `${folder}/device`;
  for (let round = 0; round < 100; round++) {
    const pty = openPty();
    await Deno.symlink(pty.path, link);
    await pty.write(new TextEncoder().encode(`boot ${round % 10}`));
    const port = await openPort(link);
    assert.equal(Buffer.from(await readExactly(port, 6)).toString(), `boot ${round % 10}`);
    const read = failureOf(port.read(new Uint8Array(16)));
    await pty.close();
    const error = await read;
    assert.ok(error instanceof PortError && error.kind === "lost", String(error));
    await port.close();
    await Deno.remove(link);
  }
  await Deno.remove(folder);
});

Deno.test("eight ports at once at full speed lose nothing", async () => {
  const bytes = randomBytes(2_000_000);
  const pairs = await Promise.all(Array.from({ length: 4 }, () => openPair()));
  const paths = pairs.flatMap(({ a, b }) => [a, b]);
  const ports = await Promise.all(paths.map((path) => openPort(path)));
  const move = async (port: SerialPort, index: number) => {
    const mine = bytes.subarray(index * 1000);
    const theirs = bytes.subarray((index ^ 1) * 1000);
    const [got] = await Promise.all([readExactly(port, theirs.length), port.write(mine)]);
    assert.ok(Buffer.compare(got, theirs) === 0, `port ${index}`);
  };
  await Promise.all(ports.map(move));
  await Promise.all(ports.map((port) => port.close()));
  await Promise.all(pairs.map((pair) => pair.close()));
});
