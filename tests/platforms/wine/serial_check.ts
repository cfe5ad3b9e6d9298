/** The Windows serial driver against a device on PTYs, run by deno.exe under Wine: see `rig.sh`. */
import assert from "node:assert/strict";
import { PortError } from "../../../src/drivers/serial/port.ts";
import { WIN32_OF_STATUS } from "../../../src/drivers/serial/windows/errors.ts";
import { sharedWaiter } from "../../../src/drivers/serial/windows/device.ts";
import { win32 } from "../../../src/drivers/serial/windows/win32.ts";
import {
  decode,
  driver,
  encode,
  errorOf,
  MORE_PORTS,
  open,
  openAgain,
  pattern,
  pause,
  PORT,
  readCount,
  readLine,
  report,
  withPort,
} from "./lib.ts";

Deno.test("it is Windows as far as the program can tell", () => {
  assert.equal(Deno.build.os, "windows");
  report("deno", Deno.version.deno);
});

Deno.test("every NTSTATUS of the table is translated as Windows itself does", () => {
  const { RtlNtStatusToDosError } = win32().ntdll;
  const ours = Object.entries(WIN32_OF_STATUS).map(([status, code]) => [Number(status).toString(16), code]);
  const theirs = Object.keys(WIN32_OF_STATUS).map((status) => [
    Number(status).toString(16),
    RtlNtStatusToDosError(Number(status)),
  ]);
  assert.deepEqual(ours, theirs);
});

Deno.test("the fingerprint names the ports that Windows knows", () => {
  const fingerprint = driver.fingerprint();
  for (const port of [PORT, ...MORE_PORTS]) assert.match(fingerprint, new RegExp(`(^|;)${port}=`));
  assert.equal(driver.fingerprint(), fingerprint);
});

Deno.test("what is not there, is no port, or is no name of a port is told apart", async () => {
  assert.equal((await errorOf(open({ path: "COM77" }))).kind, "not_found");
  const nul = await errorOf(open({ path: "NUL" }));
  report("open of NUL", nul.message);
  assert.equal(nul.kind, "not_a_port");
  assert.equal((await errorOf(open({ path: "C:\\windows\\win.ini" }))).kind, "not_a_port");
  assert.equal((await errorOf(open({ path: "" }))).kind, "not_a_port");
});

Deno.test("a port that this program has open is in use and its holder is named", async () => {
  assert.equal(driver.holder(PORT), undefined);
  await withPort(async () => {
    const error = await errorOf(open({ path: `\\\\.\\${PORT.toLowerCase()}` }));
    assert.equal(error.kind, "in_use");
    assert.match(error.holder ?? "", new RegExp(`pid ${Deno.pid}`));
    assert.match(driver.holder(PORT) ?? "", new RegExp(`pid ${Deno.pid}`));
  });
  assert.equal(driver.holder(PORT), undefined);
});

Deno.test("the settings are read back, and the device sees any baud rate", async () => {
  await withPort(async (port) => {
    assert.deepEqual(port.settings(), { baudRate: 115_200, dataBits: 8, stopBits: 1, parity: "none" });
    for (const baudRate of [110, 74_880, 123_456, 1_000_000, 4_000_000]) {
      port.setBaudRate(baudRate);
      assert.equal(port.settings().baudRate, baudRate);
      await port.write(encode("!settings\n"));
      assert.equal(JSON.parse(await readLine(port)).baudRate, baudRate);
    }
  });
});

Deno.test("frames that a PTY cannot keep, as this system answers them", async () => {
  for (
    const frame of [
      { dataBits: 7, parity: "even", stopBits: 1 },
      { dataBits: 5, parity: "none", stopBits: 1.5 },
      { dataBits: 8, parity: "none", stopBits: 1.5 },
      { dataBits: 8, parity: "mark", stopBits: 2 },
      { dataBits: 8, parity: "space", stopBits: 1 },
    ] as const
  ) {
    try {
      await withPort((port) => Promise.resolve(report(JSON.stringify(frame), port.settings())), frame);
    } catch (error) {
      assert(error instanceof PortError, String(error));
      assert.equal(error.kind, "unsupported", error.message);
      report(JSON.stringify(frame), error.message);
    }
  }
});

Deno.test("a PTY without modem lines says so or keeps quiet, and a break is no error", async () => {
  await withPort((port) => {
    port.setBreak(true);
    port.setBreak(false);
    for (
      const [name, call] of [["lines", () => port.lines()], ["setLines", () => port.setLines({ dtr: true })]] as const
    ) {
      try {
        report(name, call() ?? "done");
      } catch (error) {
        assert(error instanceof PortError && error.kind === "unsupported", String(error));
        report(name, error.message);
      }
    }
    assert.equal(port.pending(), 0);
    port.flush();
    return Promise.resolve();
  });
});

Deno.test("one byte to 1 MB come back byte for byte, in order", async () => {
  await withPort(async (port) => {
    await port.write(new Uint8Array(0));
    await port.write(encode("h"));
    assert.equal(decode(await readCount(port, 1)), "h");
    const out = pattern(1 << 20);
    const start = performance.now();
    const [back] = await Promise.all([readCount(port, out.length), port.write(out)]);
    report("echo of 1 MB, MB/s", +(out.length / 1e3 / (performance.now() - start)).toFixed(2));
    assert.deepEqual(back, out);
    const parts = Array.from({ length: 20 }, (_, i) => pattern(1000).fill(65 + i));
    await Promise.all(parts.map((part) => port.write(part)));
    assert.deepEqual(await readCount(port, 20_000), Uint8Array.from(parts.flatMap((part) => [...part])));
  });
});

Deno.test("the time of a round trip of 8 bytes", async () => {
  await withPort(async (port) => {
    const times: number[] = [];
    for (let i = 0; i < 300; i++) {
      const start = performance.now();
      await port.write(new Uint8Array(8).fill(i & 31));
      await readCount(port, 8);
      times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    const at = (part: number) => +(times[Math.floor(times.length * part)] ?? 0).toFixed(2);
    report("round trip of 8 bytes, ms", { p50: at(0.5), p99: at(0.99) });
  });
});

Deno.test("in a flood of 4 MB nothing is lost and timers still fire", async () => {
  await withPort(async (port) => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    await port.write(encode(`!flood ${4 << 20}\n`));
    const start = performance.now();
    const bytes = await readCount(port, 4 << 20);
    const ms = performance.now() - start;
    clearInterval(timer);
    report("flood in, MB/s", +(bytes.length / 1e3 / ms).toFixed(2));
    const bad = bytes.findIndex((byte, i) => byte !== ((i * 7) & 255));
    assert.equal(bad, -1);
    report("timer of 5 ms in a flood, mean ms", +(ms / ticks).toFixed(1));
    assert(ticks > 10, `${ticks} ticks in ${ms} ms`);
  });
});

Deno.test("a read waits for ever without holding the program up", async () => {
  await withPort(async (port) => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    const reading = port.read(new Uint8Array(64));
    await pause(1200);
    clearInterval(timer);
    assert(ticks > 20, `${ticks} ticks`);
    assert.equal((await errorOf(port.read(new Uint8Array(8)))).kind, "io");
    await port.write(encode("late\n"));
    assert((await reading) > 0);
  });
});

Deno.test("flush takes what waits, and the read that waits goes on", async () => {
  await withPort(async (port) => {
    await port.write(encode("old"));
    await pause(200);
    port.flush();
    const reading = readCount(port, 3);
    await pause(50);
    port.flush();
    await port.write(encode("new"));
    assert.equal(decode(await reading), "new");
  });
});

Deno.test("what a device says while the port is closed is kept or thrown away at open, as asked", async () => {
  for (const flush of [false, true]) {
    const first = await open();
    await first.write(encode("!later 300 first words\n"));
    await first.close();
    await pause(600);
    const second = await open({ flush });
    await second.write(encode("|"));
    let text = "";
    while (!text.endsWith("|")) text += decode(await readCount(second, 1));
    assert.equal(text, flush ? "|" : "first words|");
    await second.close();
  }
});

Deno.test("what was written is with the device also when the port is closed at once", async () => {
  for (let i = 0; i < 20; i++) {
    const first = await open();
    await first.write(encode(`!later 20 ${i}.`));
    await first.close();
    await withPort(async (port) => assert.equal(decode(await readCount(port, `${i}.`.length)), `${i}.`), {
      flush: false,
    });
  }
});

Deno.test("close ends a waiting read at once, as canceled", async () => {
  const port = await open();
  const reading = errorOf(port.read(new Uint8Array(64)));
  await pause(100);
  const start = performance.now();
  await port.close();
  report("close while reading, ms", Math.round(performance.now() - start));
  assert.equal((await reading).kind, "canceled");
  assert.equal(port.isOpen, false);
  assert.equal((await errorOf(port.read(new Uint8Array(1)))).kind, "canceled");
  assert.equal((await errorOf(port.write(encode("x")))).kind, "canceled");
  await port.close();
});

Deno.test("a blocked write is canceled at once, tells how many bytes went, and the port goes on", async () => {
  const port = await open();
  await port.write(encode("!hold 2000\n"));
  await pause(100);
  const writing = errorOf(port.write(pattern(300_000)));
  await pause(300);
  const start = performance.now();
  port.cancelWrite();
  const error = await writing;
  const ms = Math.round(performance.now() - start);
  report("cancel of a blocked write", { ms, bytesWritten: error.bytesWritten });
  assert.equal(error.kind, "canceled");
  assert(error.bytesWritten > 0 && error.bytesWritten < 300_000);
  assert(ms < 1000);
  assert.equal(port.isOpen, true);
  await pause(2200);
  await port.close();
});

Deno.test("close ends a blocked write at once, which tells how many bytes went", async () => {
  const port = await open();
  await port.write(encode("!hold 2000\n"));
  await pause(100);
  const writing = errorOf(port.write(pattern(300_000)));
  const queued = errorOf(port.write(encode("never")));
  await pause(300);
  const start = performance.now();
  await port.close();
  const ms = Math.round(performance.now() - start);
  const error = await writing;
  report("close while a write is blocked", { ms, bytesWritten: error.bytesWritten });
  assert.equal(error.kind, "canceled");
  assert(error.bytesWritten > 0 && error.bytesWritten < 300_000);
  assert.equal((await queued).bytesWritten, 0);
  assert(ms < 1000);
  await pause(2200);
});

Deno.test("an unplugged device ends a waiting read as lost, and comes back under the same name 20 times", async () => {
  const times: number[] = [];
  let port = await open();
  for (let i = 0; i < 20; i++) {
    await port.write(encode("ping"));
    assert.equal(decode(await readCount(port, 4)), "ping");
    const reading = errorOf(readCount(port, 1));
    await port.write(encode("!hangup 50\n"));
    const start = performance.now();
    const error = await reading;
    times.push(performance.now() - start);
    assert.equal(error.kind, "lost", error.message);
    if (i === 0) report("message when unplugged", error.message);
    await port.close();
    port = await openAgain();
  }
  await port.close();
  report("unplugged to lost, ms at most", Math.round(Math.max(...times)));
});

Deno.test("while the device is away its port is not found, though Windows still has the name", async () => {
  const port = await open();
  const reading = errorOf(port.read(new Uint8Array(8)));
  await port.write(encode("!hangup 1000\n"));
  assert.equal((await reading).kind, "lost");
  await port.close();
  assert.match(driver.fingerprint(), new RegExp(`${PORT}=`));
  assert.equal((await errorOf(open())).kind, "not_found");
  await (await openAgain()).close();
});

Deno.test("an unplugged device ends a blocked write as lost, with how many bytes went", async () => {
  const port = await open();
  await port.write(encode("!hold-hangup 400\n"));
  await pause(100);
  const error = await errorOf(port.write(pattern(300_000)));
  report("blocked write, unplugged", { message: error.message, bytesWritten: error.bytesWritten });
  assert.equal(error.kind, "lost");
  assert(error.bytesWritten > 0 && error.bytesWritten < 300_000);
  const start = performance.now();
  await port.close();
  assert(performance.now() - start < 1500);
  await (await openAgain()).close();
});

Deno.test("eight more ports at once, 256 kB each way, on one waiting thread", async () => {
  const ports = await Promise.all(MORE_PORTS.map((path) => open({ path })));
  const out = pattern(1 << 18);
  let threads = 0;
  const timer = setInterval(() => threads = Math.max(threads, sharedWaiter(win32()).threads), 20);
  const start = performance.now();
  await Promise.all(ports.map(async (port) => {
    const [back] = await Promise.all([readCount(port, out.length), port.write(out)]);
    assert.deepEqual(back, out);
  }));
  clearInterval(timer);
  report("eight ports, MB/s in all", +(8 * out.length / 1e3 / (performance.now() - start)).toFixed(2));
  assert.equal(threads, 1);
  await Promise.all(ports.map((port) => port.close()));
});

Deno.test("130 transfers wait on three threads, and each ends when its own event fires", async () => {
  const { kernel32 } = win32();
  const items = Array.from({ length: 130 }, () => {
    const item = { event: kernel32.CreateEventW(null, 1, 0, null), over: false, done: () => item.over };
    return item;
  });
  const waiter = sharedWaiter(win32());
  let ended = 0;
  const waits = items.map((item) => waiter.wait(item).then(() => ended++));
  assert.equal(waiter.threads, 3);
  for (const [i, item] of [...items.entries()].reverse()) {
    item.over = true;
    kernel32.SetEvent(item.event);
    await waits[i];
    assert.equal(ended, items.length - i);
  }
  for (const item of items) kernel32.CloseHandle(item.event);
});

Deno.test("300 times open and close leave no handle behind", async () => {
  // Handle tables give out the lowest free value: a new handle is higher by what was left open since.
  const { CreateEventW, CloseHandle } = win32().kernel32;
  const nextHandle = () => {
    const handle = CreateEventW(null, 1, 0, null);
    CloseHandle(handle);
    return Number(handle);
  };
  const cycle = async () => {
    const port = await open();
    const reading = errorOf(port.read(new Uint8Array(8)));
    await port.close();
    await reading;
  };
  for (let i = 0; i < 20; i++) await cycle();
  const before = nextHandle();
  const start = performance.now();
  for (let i = 0; i < 300; i++) await cycle();
  report("open and close, ms", +((performance.now() - start) / 300).toFixed(1));
  report("next handle before and after", [before, nextHandle()]);
  // A handle counts four.
  assert(nextHandle() <= before + 16);
});
