import assert from "node:assert/strict";
import { type ControlCall, type MemoryDevice, MemoryDriver, NEVER } from "../../src/drivers/serial/memory.ts";
import { type LineAtOpen, type LineSettings, type Parity, PortError } from "../../src/drivers/serial/port.ts";
import { eventually, failureOf, LINE_8N1, openOptions } from "../rigs/pty.ts";

const text = (value: string) => new TextEncoder().encode(value);
const CHOICES: readonly LineAtOpen[] = ["high", "low", "leave"];

const lineCalls = (device: MemoryDevice): string[] =>
  device.record
    .filter((call): call is ControlCall & { call: "dtr" | "rts"; on: boolean } =>
      call.call === "dtr" || call.call === "rts"
    )
    .map(({ call, on }) => `${call} ${on ? "high" : "low"}`);

const portError = (error: unknown): PortError => {
  assert.ok(error instanceof PortError, String(error));
  return error;
};

Deno.test("no modem line moves from open to close beyond the choice of the user, in all nine cases [SO01]", async () => {
  for (const dtr of CHOICES) {
    for (const rts of CHOICES) {
      const driver = new MemoryDriver();
      const device = driver.plug({ path: "mem" });
      const expected = [
        ...(dtr === "leave" ? [] : [`dtr ${dtr}`]),
        ...(rts === "leave" ? [] : [`rts ${rts}`]),
      ];
      for (let round = 1; round <= 2; round++) {
        const port = await driver.open(openOptions("mem", { dtr, rts }));
        port.setBaudRate(9600);
        port.setBreak(true);
        port.setBreak(false);
        await port.write(text("x"));
        await port.close();
        const all = Array.from({ length: round }, () => expected).flat();
        assert.deepEqual(lineCalls(device), all, `dtr ${dtr}, rts ${rts}, opened ${round} times`);
      }
      const order = device.record.slice(0, 1 + expected.length).map((call) => call.call);
      assert.deepEqual(order[0], "open", "the lines are driven straight after open");
      assert.ok(order.slice(1).every((call) => call === "dtr" || call === "rts"), order.join());
    }
  }
});

Deno.test("setting one modem line leaves the other as it is, and the device's own lines are read", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem" });
  const port = await driver.open(openOptions("mem", { dtr: "low", rts: "high" }));
  device.inputs.cts = false;
  device.inputs.ri = true;
  port.setLines({ dtr: true });
  assert.deepEqual(port.lines(), { cts: false, dsr: true, dcd: false, ri: true, dtr: true, rts: true });
  port.setLines({ rts: false });
  assert.deepEqual(lineCalls(device), ["dtr low", "rts high", "dtr high", "rts low"]);
  await port.close();
});

Deno.test("a break lasts as long as it is held, is timed, and another port goes on receiving [SO07]", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem" });
  const other = driver.plug({ path: "other" });
  const port = await driver.open(openOptions("mem"));
  const second = await driver.open(openOptions("other"));
  port.setBreak(true);
  assert.equal(device.outputs.break, true);
  await other.peer.write(text("meanwhile"));
  const buffer = new Uint8Array(64);
  assert.equal(await second.read(buffer), "meanwhile".length);
  await new Promise((resolve) => setTimeout(resolve, 20));
  port.setBreak(false);
  const [on, off] = device.record.filter((call) => call.call === "break");
  assert.ok(on && off);
  assert.ok(off.t - on.t >= 19, `${off.t - on.t} ms`);
  assert.equal(device.outputs.break, false);
  port.setBreak(true);
  await port.close();
  assert.equal(device.outputs.break, false, "close releases a break that is still held");
  await second.close();
});

Deno.test("settings are taken, refused with the reason, or read back as the driver made them [SO06]", async () => {
  const parities: readonly Parity[] = ["none", "even", "odd", "mark", "space"];
  const driver = new MemoryDriver();
  driver.plug({ path: "full" });
  driver.plug({
    path: "poor",
    refuses: ({ parity, stopBits }) => {
      if (stopBits === 1.5) return "no 1.5 stop bits";
      return parity === "mark" || parity === "space" ? `no ${parity} parity` : undefined;
    },
  });
  driver.plug({ path: "pty", readBack: (asked) => ({ ...asked, parity: "none", dataBits: 8 }) });
  for (const parity of parities) {
    for (const stopBits of [1, 1.5, 2] as const) {
      const asked: LineSettings = { ...LINE_8N1, dataBits: 7, parity, stopBits };
      const full = await driver.open(openOptions("full", asked));
      assert.deepEqual(full.settings(), asked);
      await full.close();
      const pty = await driver.open(openOptions("pty", asked));
      assert.deepEqual(pty.settings(), { ...asked, parity: "none", dataBits: 8 });
      await pty.close();
      const refused = stopBits === 1.5 || parity === "mark" || parity === "space";
      if (refused) {
        const error = portError(await failureOf(driver.open(openOptions("poor", asked))));
        assert.equal(error.kind, "unsupported");
        assert.match(error.message, /1\.5 stop bits|(mark|space) parity/);
        assert.equal(driver.holder("poor"), undefined);
      } else {
        await (await driver.open(openOptions("poor", asked))).close();
      }
    }
  }
});

Deno.test("a blocked write ends at close with how many bytes went [SO10]", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem" });
  const port = await driver.open(openOptions("mem"));
  device.takeOnly(5);
  const write = failureOf(port.write(text("123456789")));
  await port.close();
  const error = portError(await write);
  assert.equal(error.kind, "canceled");
  assert.equal(error.bytesWritten, 5);
  assert.equal(new TextDecoder().decode(device.peer.take()), "12345");
});

Deno.test("a blocked write can be canceled; the port stays open [SO10]", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem" });
  const port = await driver.open(openOptions("mem"));
  port.cancelWrite();
  device.takeOnly(5);
  const writing = failureOf(port.write(new Uint8Array(20)));
  port.cancelWrite();
  const error = portError(await writing);
  assert.deepEqual([error.kind, error.bytesWritten], ["canceled", 5]);
  device.takeOnly(Infinity);
  await port.write(new Uint8Array(3));
  assert.equal(device.peer.take().length, 8);
  await port.close();
});

Deno.test("a device that takes bytes again lets the blocked write go on", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem" });
  const port = await driver.open(openOptions("mem"));
  device.takeOnly(2);
  const write = port.write(text("abcdef"));
  assert.equal(new TextDecoder().decode(device.peer.take()), "ab");
  device.takeOnly(Infinity);
  await write;
  assert.equal(new TextDecoder().decode(device.peer.take()), "cdef");
  await port.close();
});

Deno.test("unplugging ends reads and writes as lost; the same device comes back under another name [SO04]", async () => {
  const driver = new MemoryDriver();
  const identity = { vendorId: "0403", productId: "6001", serialNumber: "A1", location: "1-2:1.0" };
  const device = driver.plug({ path: "ttyUSB0", product: "FT232R", ...identity });
  const before = driver.fingerprint();
  const port = await driver.open(openOptions("ttyUSB0"));
  const read = failureOf(port.read(new Uint8Array(8)));
  device.takeOnly(1);
  const write = failureOf(port.write(text("xyz")));
  device.unplug();
  assert.equal(portError(await read).kind, "lost");
  const writeError = portError(await write);
  assert.equal(writeError.kind, "lost");
  assert.equal(writeError.bytesWritten, 1);
  assert.deepEqual(await driver.list(), []);
  assert.notEqual(driver.fingerprint(), before);
  assert.equal(portError(await failureOf(driver.open(openOptions("ttyUSB0")))).kind, "not_found");
  await port.close();

  device.replug("ttyUSB3");
  const [found] = await driver.list();
  assert.deepEqual(found, {
    ...identity,
    path: "ttyUSB3",
    kind: "virtual",
    product: "FT232R",
    friendlyName: "FT232R (ttyUSB3)",
  });
  await device.peer.write(text("boot"));
  const again = await driver.open(openOptions("ttyUSB3", { flush: false }));
  const buffer = new Uint8Array(16);
  assert.equal(new TextDecoder().decode(buffer.subarray(0, await again.read(buffer))), "boot");
  await again.close();
});

Deno.test("what waits from before is thrown away only when that was asked for", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem" });
  await device.peer.write(text("old"));
  const port = await driver.open(openOptions("mem", { flush: true }));
  await device.peer.write(text("new"));
  const buffer = new Uint8Array(16);
  assert.equal(new TextDecoder().decode(buffer.subarray(0, await port.read(buffer))), "new");
  await port.close();
});

Deno.test("a port that is held is refused and its holder named [SO03]", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem" });
  device.faults.heldBy = "minicom (pid 42)";
  const error = portError(await failureOf(driver.open(openOptions("mem"))));
  assert.equal(error.kind, "in_use");
  assert.equal(error.holder, "minicom (pid 42)");
  device.faults.heldBy = undefined;
  const port = await driver.open(openOptions("mem"));
  assert.equal(portError(await failureOf(driver.open(openOptions("mem")))).kind, "in_use");
  await port.close();
  assert.equal(driver.holder("mem"), undefined);
});

Deno.test("an open and a close that never settle can be staged", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem" });
  const port = await driver.open(openOptions("mem"));
  device.faults.closeWaits = NEVER;
  device.faults.openWaits = NEVER;
  let settled = false;
  const settle = () => settled = true;
  void port.close().then(settle, settle);
  void driver.open(openOptions("mem")).then(settle, settle);
  assert.equal(port.isOpen, false);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(settled, false);
  assert.ok(driver.holder("mem"), "held until it is really closed");
});

Deno.test("a scripted device answers what is sent to it, and slow readers hold it up", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem", modemLines: false });
  const script = (async () => {
    const buffer = new Uint8Array(64);
    for (;;) await device.peer.write(buffer.slice(0, await device.peer.read(buffer)));
  })();
  const stopped = failureOf(script);
  const port = await driver.open(openOptions("mem", { dtr: "high" }));
  assert.throws(() => port.lines(), (error) => portError(error).kind === "unsupported");
  await port.write(text("ping"));
  const buffer = new Uint8Array(64);
  assert.equal(new TextDecoder().decode(buffer.subarray(0, await port.read(buffer))), "ping");

  const big = new Uint8Array(65_536);
  await device.peer.write(big);
  let sent = false;
  const more = device.peer.write(big).then(() => sent = true);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(sent, false);
  await port.read(big);
  await eventually("the second block is taken", () => sent);
  await more;
  await port.close();
  device.dispose();
  assert.equal(portError(await stopped).kind, "canceled");
});
