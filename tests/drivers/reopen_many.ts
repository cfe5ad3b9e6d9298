/** Child of reopen_test.ts: opens and closes a port 1,000 times, a read and a write under way, and prints what it used. */
import { failureOf, openPort, openPty } from "../rigs/pty.ts";

const count = (folder: string): number => Array.from(Deno.readDirSync(folder)).length;

const use = () => ({
  descriptors: count("/proc/self/fd"),
  threads: count("/proc/self/task"),
  rss: Deno.memoryUsage().rss,
});

const pty = openPty();
const block = new Uint8Array(64);

const round = async () => {
  const port = await openPort(pty.path);
  const read = failureOf(port.read(new Uint8Array(16)));
  const received = pty.read(block);
  await port.write(block.subarray(0, 3));
  await received;
  await port.close();
  await read;
};

const rounds = async (times: number) => {
  for (let done = 0; done < times; done++) await round();
};

// The runtime's thread pool, its heap and the compiler's output settle first.
await rounds(200);
const before = use();
await rounds(1000);
console.log(JSON.stringify({ before, after: use() }));
await pty.close();
