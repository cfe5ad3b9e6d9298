/**
 * Runs inside the machine, on a real kernel with a 16550 at ttyS1 and an FTDI adapter at ttyUSB0. It reports each check
 * as a line `@result {…}`, asks the host for something with `@host …`, and says `@note …` for facts worth keeping.
 */
import { systemDriver } from "../../src/drivers/serial/mod.ts";
import {
  type DataBits,
  type LineAtOpen,
  type LineSettings,
  type OpenOptions,
  type Parity,
  PortError,
  type SerialPort,
} from "../../src/drivers/serial/port.ts";
import { TIOCM } from "../../src/drivers/serial/unix/abi.ts";
import { cString, IntCell, libc } from "../../src/drivers/serial/unix/libc.ts";

const UART = "/dev/ttyS1";
const FTDI = "/dev/ttyUSB0";
const driver = systemDriver();

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
const host = (request: string) => console.log(`@host ${request}`);
const note = (fact: string) => console.log(`@note ${fact}`);
const text = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes);
const bytes = (value: string) => new TextEncoder().encode(value);

const expect = (what: string, actual: unknown, wanted: unknown) => {
  if (!same(actual, wanted)) throw new Error(`${what}: ${JSON.stringify(actual)}, not ${JSON.stringify(wanted)}`);
};

const check = async (name: string, body: () => Promise<void>) => {
  const started = performance.now();
  const result = await body().then(() => undefined, (error) => String(error));
  const ms = Math.round(performance.now() - started);
  console.log(`@result ${JSON.stringify({ name, ok: result === undefined, detail: result ?? "", ms })}`);
};

const open = (path: string, options: Partial<OpenOptions> = {}): Promise<SerialPort> =>
  driver.open({
    baudRate: 115_200,
    dataBits: 8,
    stopBits: 1,
    parity: "none",
    dtr: "leave",
    rts: "leave",
    flush: true,
    ...options,
    path,
  });

const using = async (port: SerialPort, body: () => Promise<void>) => {
  try {
    await body();
  } finally {
    await port.close();
  }
};

const kindOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(() => "no error", (error) => error instanceof PortError ? error.kind : String(error));

const eventually = async <T>(what: string, find: () => Promise<T | undefined>): Promise<T> => {
  const until = performance.now() + 30_000;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() > until) throw new Error(`never happened: ${what}`);
    await sleep(20);
  }
};

const readUntil = async (port: SerialPort, enough: (all: string) => boolean): Promise<string> => {
  const buffer = new Uint8Array(256);
  let all = "";
  while (!enough(all)) all += text(buffer.subarray(0, await port.read(buffer)));
  return all;
};

/** A second descriptor of the 16550 for what the driver does not offer: loop mode and the error counters. */
const sideDoor = (path = UART) => {
  const { O_RDWR, O_NOCTTY, O_NONBLOCK } = libc.abi;
  const fd = libc.open(cString(path), O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) throw new Error(`no side door, errno ${libc.errno()}`);
  const TIOCMSET = 0x5418;
  const TIOCGICOUNT = 0x545d;
  return {
    setModem(bits: number) {
      const cell = new IntCell();
      cell.value = bits;
      if (libc.ioctl(fd, TIOCMSET, cell.bytes) < 0) throw new Error(`TIOCMSET, errno ${libc.errno()}`);
    },
    /** struct serial_icounter_struct: cts, dsr, rng, dcd, rx, tx, frame, overrun, parity, brk, … (int each). */
    breaks(): number {
      const counters = new Uint8Array(80);
      if (libc.ioctl(fd, TIOCGICOUNT, counters) < 0) throw new Error(`TIOCGICOUNT, errno ${libc.errno()}`);
      return new DataView(counters.buffer).getInt32(36, true);
    },
    /** Whether the kernel would drop the lines at the last close, and so raise them again at the next open. */
    dropsAtClose(): boolean {
      const TCGETS2 = 0x802c542a;
      const HUPCL = 0o2000;
      const termios = new Uint8Array(44);
      if (libc.ioctl(fd, TCGETS2, termios) < 0) throw new Error(`TCGETS2, errno ${libc.errno()}`);
      return (new DataView(termios.buffer).getUint32(8, true) & HUPCL) !== 0;
    },
    close: () => void libc.close(fd),
  };
};

await check("both chips are listed, the adapter with VID, PID, serial number and place", async () => {
  const ports = await driver.list();
  expect("paths", ports.map((port) => port.path), ["/dev/ttyS0", UART, FTDI]);
  const uart = ports.find((port) => port.path === UART);
  expect("16550", [uart?.kind, uart?.friendlyName], ["platform", `Serial port (${UART})`]);
  const ftdi = ports.find((port) => port.path === FTDI);
  expect("kind and ids", [ftdi?.kind, ftdi?.vendorId, ftdi?.productId], ["usb", "0403", "6001"]);
  if (!ftdi?.product || !ftdi.serialNumber || !ftdi.manufacturer) throw new Error(JSON.stringify(ftdi));
  expect("place", [/^\d+-\d+:1\.0$/.test(ftdi.location ?? ""), ftdi.interfaceNumber], [true, "00"]);
  note(`the adapter is listed as ${JSON.stringify(ftdi)}`);
});

await check(
  "a name without a chip, a missing one and a device that is no tty are refused for what they are",
  async () => {
    for (const dtr of ["leave", "high"] satisfies LineAtOpen[]) {
      expect("/dev/ttyS2", await kindOf(open("/dev/ttyS2", { dtr })), "not_found");
    }
    expect("/dev/ttyS99", await kindOf(open("/dev/ttyS99")), "not_found");
    expect("/dev/zero", await kindOf(open("/dev/zero")), "not_a_port");
  },
);

for (const path of [UART, FTDI]) {
  const chip = path === UART ? "16550" : "FTDI";

  await check(`${chip}: 7E2 is set and read back [SO06]`, async () => {
    const asked: LineSettings = { baudRate: 9600, dataBits: 7, stopBits: 2, parity: "even" };
    const port = await open(path, asked);
    await using(port, () => Promise.resolve(expect("settings", port.settings(), asked)));
  });

  await check(`${chip}: every parity, data and stop bits is read back as asked, or refused [SO06]`, async () => {
    const refused = new Set<string>();
    for (const parity of ["none", "even", "odd", "mark", "space"] satisfies Parity[]) {
      for (const dataBits of [5, 6, 7, 8] satisfies DataBits[]) {
        for (const stopBits of [1, 2] as const) {
          const asked: LineSettings = { baudRate: 9600, dataBits, stopBits, parity };
          const name = `${dataBits}${parity[0]?.toUpperCase()}${stopBits}`;
          try {
            const port = await open(path, asked);
            const got = port.settings();
            await port.close();
            if (!same(got, asked)) refused.add(`${name} reads back as ${JSON.stringify(got)}`);
          } catch (error) {
            if (!(error instanceof PortError && error.kind === "unsupported")) throw error;
            refused.add(`${name} is refused`);
          }
        }
      }
    }
    // An FTDI chip has no 6 data bits: its driver makes 5 of them, and says so.
    const strange = Array.from(refused).filter((frame) => path === UART || !frame.startsWith("6"));
    expect("frames that are not kept", strange, []);
    if (path === FTDI) expect("frames of 6 data bits that are not kept", refused.size, 10);
    expect("1.5 stop bits", await kindOf(open(path, { stopBits: 1.5 })), "unsupported");
  });

  await check(`${chip}: DTR and RTS at open are as chosen, and nothing else moves them [SO01]`, async () => {
    for (const dtr of ["high", "low", "leave"] satisfies LineAtOpen[]) {
      for (const rts of ["high", "low", "leave"] satisfies LineAtOpen[]) {
        const port = await open(path, { dtr, rts });
        await using(port, async () => {
          // The kernel itself raises both at open, before anyone can say anything: "leave" shows that.
          const wanted = [dtr !== "low", rts !== "low"];
          const now = () => [port.lines().dtr, port.lines().rts];
          expect(`after open with ${dtr}/${rts}`, now(), wanted);
          port.setBaudRate(9600);
          port.setBreak(true);
          port.setBreak(false);
          port.flush();
          await port.write(bytes("x"));
          expect(`later with ${dtr}/${rts}`, now(), wanted);
          port.setLines({ dtr: dtr === "low" });
          expect("after DTR alone", now(), [dtr === "low", rts !== "low"]);
          port.setLines({ rts: rts === "low" });
          expect("after RTS alone", now(), [dtr === "low", rts === "low"]);
        });
      }
    }
  });

  await check(
    `${chip}: a close does not drop the lines, so that the next open need not raise them [SO01]`,
    async () => {
      const door = sideDoor(path);
      const port = await open(path, { dtr: "low", rts: "low" });
      const next = await using(port, () => {
        expect("HUPCL", door.dropsAtClose(), false);
        return Promise.resolve();
      }).then(() => open(path, { dtr: "high", rts: "low" }));
      await using(next, () => Promise.resolve(expect("lines", [next.lines().dtr, next.lines().rts], [true, false])));
      expect("HUPCL later", door.dropsAtClose(), false);
      door.close();
    },
  );

  await check(`${chip}: a rate that the chip cannot do shows in what is read back [SO06]`, async () => {
    const port = await open(path, { baudRate: 115_200 });
    await using(port, () => {
      port.setBaudRate(250_000);
      // A 16550 divides 115200; above that Linux stays at the rate that the line had.
      expect("baud rate", port.settings().baudRate, path === UART ? 115_200 : 250_000);
      port.setBaudRate(9600);
      expect("after a change", port.settings().baudRate, 9600);
      return Promise.resolve();
    });
  });

  await check(
    `${chip}: a port that is open is refused to a second pane, and its lines stay as they are [SO03]`,
    async () => {
      const port = await open(path, { dtr: "low", rts: "low" });
      await using(port, async () => {
        expect("second open", await kindOf(open(path, { dtr: "high", rts: "high" })), "in_use");
        expect("lines", [port.lines().dtr, port.lines().rts], [false, false]);
      });
    },
  );

  await check(`${chip}: the last bytes before a close still go out`, async () => {
    const port = await open(path);
    await port.write(bytes(`goodbye from ${chip}\n`));
    await port.close();
    host(`expect ${path === UART ? "uart" : "ftdi"} goodbye from ${chip}`);
  });
}

await check("16550: in loop mode each line that is set comes back on its input, the other one stays", async () => {
  const door = sideDoor();
  const port = await open(UART);
  const LOOP = 0x8000;
  try {
    door.setModem(LOOP | TIOCM.DTR | TIOCM.RTS);
    const inputs = () => [port.lines().dsr, port.lines().cts];
    expect("both high", inputs(), [true, true]);
    port.setLines({ dtr: false });
    expect("DTR low", inputs(), [false, true]);
    port.setLines({ rts: false });
    expect("both low", inputs(), [false, false]);
    port.setLines({ dtr: true });
    expect("DTR high", inputs(), [true, false]);
    await port.write(bytes("loopback"));
    expect("data", await readUntil(port, (all) => all.length >= 8), "loopback");
  } finally {
    door.setModem(TIOCM.DTR | TIOCM.RTS);
    door.close();
    await port.close();
  }
});

await check("16550: a break is received as a NUL and counted once", async () => {
  const door = sideDoor();
  const port = await open(UART);
  await using(port, async () => {
    const before = door.breaks();
    host("break");
    expect("bytes", await readUntil(port, (all) => all.includes("CD")), "AB\0CD");
    expect("breaks", door.breaks() - before, 1);
  });
  door.close();
});

await check("16550: close ends within a second while a write is blocked, with the count [SO10]", async () => {
  const port = await open(UART);
  const block = new Uint8Array(2_000_000).fill(0x55);
  const write = port.write(block).then(() => undefined, (error) => error);
  // Nobody reads on the host: its socket fills up, then the chip stops.
  let last = -1;
  await eventually("the chip stops", async () => {
    const before = last;
    await sleep(1000);
    last = port.pending();
    return before === last && last > 0 ? true : undefined;
  });
  const started = performance.now();
  await port.close();
  const ms = Math.round(performance.now() - started);
  const error = await write;
  if (!(error instanceof PortError)) throw new Error("the write was not blocked");
  note(`16550: close with a blocked write took ${ms} ms, ${error.bytesWritten} bytes had gone`);
  expect("kind", error.kind, "canceled");
  if (ms > 1000 || error.bytesWritten <= 0 || error.bytesWritten >= block.length) {
    throw new Error(`${ms} ms, ${error.bytesWritten} bytes`);
  }
  const held = await open(UART);
  await held.write(new Uint8Array(1000)); // fits into the driver, and never leaves it
  expect("what waits", held.pending() > 0, true);
  const again = performance.now();
  await held.close();
  const lingered = Math.round(performance.now() - again);
  note(`16550: close with output that cannot leave took ${lingered} ms`);
  if (lingered > 1000) throw new Error(`${lingered} ms`);
  host("discard uart");
  await (await open(UART)).close();
});

const before = driver.fingerprint();
const adapter = await open(FTDI);
let unpluggedAt = 0;

await check("FTDI: data comes in, and unplugging ends the read as lost at once [SO04]", async () => {
  host("greet");
  expect("greeting", await readUntil(adapter, (all) => all.endsWith("\n")), "hello\n");
  const read = kindOf(adapter.read(new Uint8Array(16))).then((kind) => {
    unpluggedAt = performance.now();
    return kind;
  });
  host("unplug");
  expect("read", await read, "lost");
  expect("write", await kindOf(adapter.write(bytes("x"))), "lost");
  let lines = "no error";
  try {
    adapter.lines();
  } catch (error) {
    lines = error instanceof PortError ? error.kind : String(error);
  }
  expect("lines", lines, "lost");
  await adapter.close();
  const gone = async () => (await driver.list()).some((port) => port.path === FTDI) ? undefined : true;
  await eventually("the name goes", gone);
  note(`FTDI: the read ended ${Math.round(performance.now() - unpluggedAt)} ms before the name was seen gone`);
  expect("fingerprint changed", driver.fingerprint() !== before, true);
  expect("open", await kindOf(open(FTDI)), "not_found");
});

await check("FTDI: plugging it in again is seen, and it works as before [SO04]", async () => {
  host("plug");
  const found = await eventually(
    "the adapter comes back",
    async () => (await driver.list()).find((port) => port.vendorId === "0403"),
  );
  expect("fingerprint is a new one", driver.fingerprint() !== before, true);
  const again = await open(found.path, { flush: false });
  await using(again, async () => {
    host("greet");
    expect("greeting", await readUntil(again, (all) => all.endsWith("\n")), "hello\n");
  });
});

Deno.exit(0);
