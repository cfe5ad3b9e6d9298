import assert from "node:assert/strict";
import { type OpenOptions, PortError } from "../../src/drivers/serial/port.ts";
import { decodeDcb, encodeDcb, newDcb } from "../../src/drivers/serial/windows/dcb.ts";
import { CHUNK, type CommDevice, ESCAPE, MODEM, type Transfer } from "../../src/drivers/serial/windows/device.ts";
import { type Phase, portError } from "../../src/drivers/serial/windows/errors.ts";
import { configure, WindowsPort } from "../../src/drivers/serial/windows/port.ts";
import { GROUP_SIZE, type WaitCalls, Waiter } from "../../src/drivers/serial/windows/wait.ts";

const OPTIONS: OpenOptions = {
  path: "COM3",
  baudRate: 9600,
  dataBits: 8,
  stopBits: 1,
  parity: "none",
  dtr: "high",
  rts: "low",
  flush: true,
};

/** NTSTATUS of a transfer that was cancelled, by us or by a driver whose device went away. */
const STATUS_CANCELLED = 0xc000_0120;

/** A device in memory: bytes to read, a limit on what it takes, and a record of every control call. */
class ScriptedDevice implements CommDevice {
  readonly path = "COM3";
  readonly readBuffer = new Uint8Array(CHUNK);
  readonly calls: string[] = [];
  readonly taken: number[] = [];
  input: number[] = [];
  /** How many bytes it takes before a write blocks. */
  room = Infinity;
  modem = 0;
  tellsOutputs = true;
  refusesSettings = false;
  #dcb = newDcb();
  #waiting: { read?: (end: Transfer) => void; write?: (end: Transfer) => void } = {};
  #written = 0;

  getState(phase: Phase) {
    if (phase === "probe") this.calls.push("probe");
    return this.#dcb.slice();
  }
  setState(dcb: Uint8Array<ArrayBuffer>) {
    if (this.refusesSettings) throw portError("set the frame of", this.path, 87, "settings");
    this.calls.push("setState");
    this.#dcb = dcb;
  }
  setBaudRate(baudRate: number) {
    this.calls.push(`setBaudRate ${baudRate}`);
    const { settings, dtr, rts } = decodeDcb(this.#dcb);
    const line = (up: boolean) => up ? "high" : "low";
    this.#dcb = encodeDcb(this.#dcb, { ...settings, baudRate, dtr: line(dtr), rts: line(rts) });
  }
  escape(code: number) {
    this.calls.push(`escape ${code}`);
  }
  modemStatus() {
    return this.modem;
  }
  outputLines() {
    return this.tellsOutputs ? { dtr: true, rts: true } : undefined;
  }
  queues() {
    return { inQueue: this.input.length, outQueue: 0 };
  }
  purge(bits: number) {
    this.calls.push(`purge ${bits}`);
  }
  read(length: number): Promise<Transfer> {
    this.calls.push(`read ${length}`);
    if (this.input.length >= length) {
      this.readBuffer.set(this.input.splice(0, length));
      return Promise.resolve({ status: 0, bytes: length });
    }
    return new Promise((resolve) => this.#waiting.read = resolve);
  }
  write(bytes: Uint8Array): Promise<Transfer> {
    const fits = Math.min(bytes.length, this.room);
    this.room -= fits;
    this.taken.push(...bytes.subarray(0, fits));
    if (fits === bytes.length) return Promise.resolve({ status: 0, bytes: fits });
    this.#written = fits;
    return new Promise((resolve) => this.#waiting.write = resolve);
  }
  /** Ends what is under way, as a driver does. */
  end(status: number) {
    const { read, write } = this.#waiting;
    this.#waiting = {};
    read?.({ status, bytes: 0 });
    write?.({ status, bytes: this.#written });
  }
  cancelWrite() {
    const { write } = this.#waiting;
    delete this.#waiting.write;
    write?.({ status: STATUS_CANCELLED, bytes: this.#written });
  }
  cancel() {
    this.calls.push("cancel");
    this.end(STATUS_CANCELLED);
    return Promise.resolve();
  }
  close() {
    this.calls.push("close");
    return Promise.resolve();
  }
}

async function errorOf(work: Promise<unknown>): Promise<PortError> {
  const error = await work.then(() => undefined, (reason: unknown) => reason);
  assert(error instanceof PortError, String(error));
  return error;
}

const bytes = (length: number) => new Uint8Array(length).fill(7);

Deno.test("windows: opening asks first, sets once, and throws away old bytes only when asked to", () => {
  for (const flush of [true, false]) {
    const device = new ScriptedDevice();
    configure(device, { ...OPTIONS, flush });
    assert.deepEqual(device.calls, ["probe", "setState", ...(flush ? ["purge 15"] : [])]);
    const state = decodeDcb(device.getState("io"));
    assert.deepEqual([state.settings.baudRate, state.dtr, state.rts], [9600, true, false]);
  }
});

Deno.test("windows: settings that the driver refuses are unsupported, with the rule they break", () => {
  const device = new ScriptedDevice();
  device.refusesSettings = true;
  assert.throws(() => configure(device, { ...OPTIONS, stopBits: 1.5 }), (error) => {
    assert(error instanceof PortError);
    assert.equal(error.kind, "unsupported");
    assert.match(error.message, /1\.5 stop bits go with 5 data bits only/);
    return true;
  });
});

Deno.test("windows: a read takes one byte and then what the driver holds, within the buffer", async () => {
  const device = new ScriptedDevice();
  const port = new WindowsPort(device);
  device.input = [1, 2, 3, 4, 5];
  const buffer = new Uint8Array(4);
  assert.equal(await port.read(buffer), 4);
  assert.deepEqual([...buffer], [1, 2, 3, 4]);
  assert.equal(await port.read(buffer), 1);
  assert.equal(buffer[0], 5);
  assert.deepEqual(device.calls, ["read 1", "read 3", "read 1"]);
  assert.equal(await port.read(new Uint8Array(0)), 0);
  await port.close();
});

Deno.test("windows: a flood of reads that never wait leaves turns for timers", async () => {
  const device = new ScriptedDevice();
  const port = new WindowsPort(device);
  let fired = false;
  setTimeout(() => fired = true, 1);
  const buffer = new Uint8Array(16);
  for (const start = performance.now(); !fired && performance.now() - start < 5000;) {
    device.input = [1, 2, 3];
    await port.read(buffer);
  }
  assert.equal(fired, true);
  await port.close();
});

Deno.test("windows: a transfer cancelled without our close is a lost device, and with it is canceled", async () => {
  for (const ours of [false, true]) {
    const device = new ScriptedDevice();
    device.room = 10;
    const port = new WindowsPort(device);
    const reading = errorOf(port.read(new Uint8Array(8)));
    const writing = errorOf(port.write(bytes(100)));
    const queued = errorOf(port.write(bytes(1)));
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (ours) await port.close();
    else device.end(STATUS_CANCELLED);
    const expected = ours ? "canceled" : "lost";
    assert.equal((await reading).kind, expected);
    const error = await writing;
    assert.equal(error.kind, expected);
    assert.equal(error.bytesWritten, 10);
    if (!ours) device.end(STATUS_CANCELLED);
    assert.equal((await queued).bytesWritten, 0);
    await port.close();
  }
});

Deno.test("windows: a write can be canceled; it is no lost device, and the port goes on", async () => {
  const device = new ScriptedDevice();
  device.room = 10;
  const port = new WindowsPort(device);
  port.cancelWrite();
  const writing = errorOf(port.write(bytes(100)));
  const queued = errorOf(port.write(bytes(1)));
  await new Promise((resolve) => setTimeout(resolve, 0));
  port.cancelWrite();
  const error = await writing;
  assert.deepEqual([error.kind, error.bytesWritten], ["canceled", 10]);
  assert.deepEqual([(await queued).kind, (await queued).bytesWritten], ["canceled", 0]);
  device.room = Infinity;
  await port.write(bytes(3));
  assert.equal(device.taken.length, 13);
  await port.close();
});

Deno.test("windows: a port that hung up and reads as empty for ever is lost", async () => {
  const device = new ScriptedDevice();
  device.read = () => Promise.resolve({ status: 0, bytes: 0 });
  const port = new WindowsPort(device);
  assert.equal((await errorOf(port.read(new Uint8Array(8)))).kind, "lost");
  await port.close();
});

Deno.test("windows: a long write goes in pieces, whole and in order, and counts them when it fails", async () => {
  const device = new ScriptedDevice();
  const port = new WindowsPort(device);
  const data = Uint8Array.from({ length: CHUNK * 2 + 5 }, (_, i) => i & 255);
  await Promise.all([port.write(data), port.write(Uint8Array.of(1, 2, 3))]);
  assert.deepEqual(device.taken, [...data, 1, 2, 3]);
  device.room = CHUNK + 100;
  const failing = errorOf(port.write(data));
  await new Promise((resolve) => setTimeout(resolve, 0));
  device.end(0xc000_009d);
  const error = await failing;
  assert.equal(error.kind, "lost");
  assert.equal(error.bytesWritten, CHUNK + 100);
  await port.close();
});

Deno.test("windows: only the named line moves, and a new rate or a break moves none", async () => {
  const device = new ScriptedDevice();
  const port = new WindowsPort(device);
  port.setLines({ dtr: false });
  port.setLines({ rts: true });
  port.setBaudRate(250_000);
  port.setBreak(true);
  port.setBreak(false);
  assert.deepEqual(device.calls, [
    `escape ${ESCAPE.clearDtr}`,
    `escape ${ESCAPE.setRts}`,
    "setBaudRate 250000",
    `escape ${ESCAPE.setBreak}`,
    `escape ${ESCAPE.clearBreak}`,
  ]);
  assert.equal(port.settings().baudRate, 250_000);
  await port.close();
});

Deno.test("windows: DTR and RTS are the driver's word, or what was set last where it has none", async () => {
  const device = new ScriptedDevice();
  configure(device, OPTIONS);
  const port = new WindowsPort(device);
  device.modem = MODEM.cts | MODEM.ri;
  assert.deepEqual(port.lines(), { cts: true, dsr: false, dcd: false, ri: true, dtr: true, rts: true });
  device.tellsOutputs = false;
  assert.deepEqual([port.lines().dtr, port.lines().rts], [true, false]);
  port.setLines({ dtr: false, rts: true });
  assert.deepEqual([port.lines().dtr, port.lines().rts], [false, true]);
  await port.close();
});

Deno.test("windows: closing waits while the driver sends, and throws away what it never sends", async () => {
  const stuck = new ScriptedDevice();
  stuck.queues = () => ({ inQueue: 0, outQueue: 5 });
  await new WindowsPort(stuck).close();
  assert.deepEqual(stuck.calls, ["cancel", "purge 5", "close"]);
  const slow = new ScriptedDevice();
  let left = 2;
  slow.queues = () => ({ inQueue: 0, outQueue: left > 0 ? left-- : 0 });
  await new WindowsPort(slow).close();
  assert.deepEqual(slow.calls, ["cancel", "close"]);
});

Deno.test("windows: closing cancels and closes, once, frees the port, and takes back nothing that was sent", async () => {
  const device = new ScriptedDevice();
  let freed = 0;
  const port = new WindowsPort(device, () => freed++);
  await Promise.all([port.close(), port.close()]);
  await port.close();
  assert.deepEqual(device.calls, ["cancel", "close"]);
  assert.equal(freed, 1);
  assert.equal(port.isOpen, false);
  assert.equal(port.pending(), 0);
  for (const call of [() => port.settings(), () => port.lines(), () => port.setBreak(true), () => port.flush()]) {
    assert.throws(call, (error) => error instanceof PortError && error.kind === "canceled");
  }
});

/** Events that a test fires by hand. A wake-up that nobody waits for is kept, as an auto-reset event does. */
class ScriptedEvents implements WaitCalls {
  readonly waits: { handles: bigint[]; end: (ok: boolean) => void }[] = [];
  readonly #fired = new Set<bigint>();
  #next = 1000n;
  createWake() {
    return this.#next++;
  }
  setEvent(event: bigint) {
    const at = this.waits.findIndex(({ handles }) => handles.includes(event));
    if (at >= 0) this.waits.splice(at, 1)[0]?.end(true);
    else this.#fired.add(event);
  }
  waitAny(handles: BigUint64Array<ArrayBuffer>): Promise<boolean> {
    const all = [...handles];
    const fired = all.find((handle) => this.#fired.delete(handle));
    if (fired !== undefined) return Promise.resolve(true);
    return new Promise((resolve) => this.waits.push({ handles: all, end: resolve }));
  }
}

const item = (event: bigint) => {
  const made = { event, over: false, done: () => made.over };
  return made;
};

Deno.test("windows: transfers share a waiting thread for each 63, and none is used without one", async () => {
  const events = new ScriptedEvents();
  const waiter = new Waiter(events);
  const items = Array.from({ length: GROUP_SIZE + 7 }, (_, i) => item(BigInt(i + 1)));
  const waits = items.map((each) => waiter.wait(each));
  assert.equal(waiter.threads, 2);
  // The last first: the thread that waited for the first ones has to be told of it.
  for (const [i, each] of [...items.entries()].reverse()) {
    each.over = true;
    events.setEvent(each.event);
    await waits[i];
  }
  for (let i = 0; i < 10 && waiter.threads > 0; i++) await Promise.resolve();
  assert.equal(waiter.threads, 0);
  assert.equal(events.waits.length, 0);
});

Deno.test("windows: a wait that the system refuses is asked again, and the transfer still ends", async () => {
  const events = new ScriptedEvents();
  const waiter = new Waiter(events);
  const one = item(1n);
  const wait = waiter.wait(one);
  one.over = true;
  events.waits.shift()?.end(false);
  await wait;
  await Promise.resolve();
  assert.equal(waiter.threads, 0);
});
