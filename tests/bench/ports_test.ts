import assert from "node:assert/strict";
import { join } from "node:path";
import { expandGlob } from "../../src/bench/port_globs.ts";
import { describeWanted, findPort, wantedOf } from "../../src/bench/port_match.ts";
import { type PortChange, Ports } from "../../src/bench/ports.ts";
import { MemoryDriver } from "../../src/drivers/serial/memory.ts";
import type { PortInfo } from "../../src/drivers/serial/port.ts";
import { until } from "../rigs/bench.ts";

const usb = (path: string, more: Partial<PortInfo> = {}): PortInfo => ({
  path,
  kind: "usb",
  friendlyName: `Adapter (${path})`,
  product: "Adapter",
  vendorId: "0403",
  productId: "6001",
  ...more,
});
const other = (path: string, kind: PortInfo["kind"]): PortInfo => ({ path, kind, friendlyName: path, product: "" });

Deno.test("a device is known again by what it is, never by a name that another one has now", () => {
  const cases: { is: string; chosen: PortInfo; now: PortInfo[]; found: string | "none" | "several" }[] = [
    { is: "same name", chosen: usb("a", { serialNumber: "1" }), now: [usb("a", { serialNumber: "1" })], found: "a" },
    { is: "new name", chosen: usb("a", { serialNumber: "1" }), now: [usb("b", { serialNumber: "1" })], found: "b" },
    {
      is: "new socket",
      chosen: usb("a", { serialNumber: "1", location: "1-1" }),
      now: [usb("b", { serialNumber: "1", location: "2-4" })],
      found: "b",
    },
    {
      is: "other serial",
      chosen: usb("a", { serialNumber: "1" }),
      now: [usb("a", { serialNumber: "2" })],
      found: "none",
    },
    { is: "serial gone", chosen: usb("a", { serialNumber: "1" }), now: [usb("a")], found: "none" },
    {
      is: "case of a serial number counts",
      chosen: usb("a", { serialNumber: "ab" }),
      now: [usb("a", { serialNumber: "AB" })],
      found: "none",
    },
    {
      is: "case of the ids does not",
      chosen: usb("a", { serialNumber: "1", vendorId: "10C4" }),
      now: [usb("b", { serialNumber: "1", vendorId: "10c4" })],
      found: "b",
    },
    {
      is: "second port of the same adapter",
      chosen: usb("a", { serialNumber: "1", interfaceNumber: "00" }),
      now: [
        usb("a", { serialNumber: "1", interfaceNumber: "01" }),
        usb("b", { serialNumber: "1", interfaceNumber: "00" }),
      ],
      found: "b",
    },
    { is: "same socket", chosen: usb("a", { location: "1-1" }), now: [usb("b", { location: "1-1" })], found: "b" },
    { is: "other socket", chosen: usb("a", { location: "1-1" }), now: [usb("a", { location: "1-2" })], found: "none" },
    {
      is: "same socket, but one with a serial number",
      chosen: usb("a", { location: "1-1" }),
      now: [usb("a", { location: "1-1", serialNumber: "9" })],
      found: "none",
    },
    {
      is: "same socket, other model",
      chosen: usb("a", { location: "1-1" }),
      now: [usb("a", { location: "1-1", productId: "6010" })],
      found: "none",
    },
    {
      is: "twins, one in the same socket",
      chosen: usb("a", { serialNumber: "0001", location: "1-1" }),
      now: [usb("b", { serialNumber: "0001", location: "1-2" }), usb("c", { serialNumber: "0001", location: "1-1" })],
      found: "c",
    },
    {
      is: "twins, both elsewhere",
      chosen: usb("a", { serialNumber: "0001", location: "1-1" }),
      now: [usb("b", { serialNumber: "0001", location: "1-2" }), usb("c", { serialNumber: "0001", location: "1-3" })],
      found: "several",
    },
    { is: "on board", chosen: other("ttyS0", "platform"), now: [other("ttyS0", "platform")], found: "ttyS0" },
    { is: "on board, gone", chosen: other("ttyS0", "platform"), now: [other("ttyS1", "platform")], found: "none" },
    { is: "USB under an on-board name", chosen: other("x", "platform"), now: [usb("x")], found: "none" },
    { is: "configured", chosen: other("/tmp/v", "virtual"), now: [other("/tmp/v", "virtual")], found: "/tmp/v" },
  ];
  for (const { is, chosen, now, found } of cases) {
    const match = findPort(wantedOf(chosen), now);
    assert.equal(match.found === "one" ? match.port.path : match.found, found, is);
  }
});

Deno.test("the words for a lost device name what it is known by", () => {
  assert.match(describeWanted(wantedOf(usb("a", { serialNumber: "S7" }))), /0403:6001, serial number S7/);
  assert.match(describeWanted(wantedOf(usb("a", { location: "1-2" }))), /same socket, 1-2/);
  assert.equal(describeWanted(wantedOf(other("/tmp/v", "virtual"))), "/tmp/v");
});

const inFolder = async (use: (folder: string) => Promise<void>) => {
  const folder = await Deno.makeTempDir({ prefix: "fieldbench-ports-" });
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};

Deno.test("a pattern of a configured port stands for what is there now", () =>
  inFolder(async (folder) => {
    await Deno.mkdir(join(folder, "one"));
    await Deno.mkdir(join(folder, "two"));
    for (const name of ["tty1", "tty2", "tty10", "ttyA", ".tty9", "b+c"]) {
      await Deno.writeTextFile(join(folder, "one", name), "");
    }
    await Deno.writeTextFile(join(folder, "two", "tty1"), "");
    await Deno.symlink(join(folder, "nowhere"), join(folder, "one", "ttyX"));
    const named = (pattern: string) => expandGlob(join(folder, pattern)).map((p) => p.slice(folder.length + 1));
    assert.deepEqual(named("one/tty?"), ["one/tty1", "one/tty2", "one/ttyA"], "a link that leads nowhere is not there");
    assert.deepEqual(named("one/tty*"), ["one/tty1", "one/tty10", "one/tty2", "one/ttyA"]);
    assert.deepEqual(named("one/tty[12]"), ["one/tty1", "one/tty2"]);
    assert.deepEqual(named("one/tty[!12]"), ["one/ttyA"]);
    assert.deepEqual(named("one/.tty*"), ["one/.tty9"]);
    assert.deepEqual(named("one/b+c"), ["one/b+c"]);
    assert.deepEqual(named("*/tty1"), ["one/tty1", "two/tty1"]);
    assert.deepEqual(named("one/tty[1"), []);
    assert.deepEqual(named("three/*"), []);
    // The maker of PTYs lies among them: to open it is to make another one.
    await Deno.writeTextFile(join(folder, "two", "ptmx"), "");
    assert.deepEqual(named("two/*"), ["two/tty1"]);
    assert.deepEqual(named("one/missing"), []);
  }));

/** Ports over the fake, closed at the end, with the log lines that they wrote. */
const withPorts = async (
  options: Partial<ConstructorParameters<typeof Ports>[0]>,
  use: (ports: Ports, log: string[], driver: MemoryDriver) => Promise<void>,
) => {
  const driver = new MemoryDriver();
  const log: string[] = [];
  const ports = new Ports({ driver, log: (_level, text) => log.push(text), ...options });
  try {
    await use(ports, log, driver);
  } finally {
    await ports.close();
  }
};

Deno.test("configured ports are listed with their label, and a label for a known port keeps its identity", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "v1"), "");
    await withPorts({
      extra: [
        { label: "Modem", path: join(folder, "v*") },
        { label: "", path: join(folder, "v1") },
        { label: "My adapter", path: "/dev/ttyUSB0" },
        { label: "Gone", path: join(folder, "gone") },
      ],
    }, async (ports, _log, driver) => {
      driver.plug({ kind: "usb", path: "/dev/ttyUSB0", serialNumber: "1", vendorId: "0403", productId: "6001" });
      const list = await ports.list();
      assert.equal(list[0]?.friendlyName, "My adapter (/dev/ttyUSB0)");
      assert.deepEqual(list.map((p) => [p.path, p.kind]), [["/dev/ttyUSB0", "usb"], [join(folder, "v1"), "virtual"]]);
      assert.equal(list[0]?.serialNumber, "1");
      for (const p of list) assert.notEqual(p.friendlyName, "");
      assert.match(list[1]?.friendlyName ?? "", /Modem|v1/);
      assert.equal(ports.wasSeen(join(folder, "gone")), true, "a configured name is known though it is gone");
      assert.equal(ports.wasSeen("/dev/else"), false);
    });
  }));

Deno.test("the system's stable name of a device is a value too, and leads to the device behind it", () =>
  inFolder(async (folder) => {
    const byIdFolder = join(folder, "by-id");
    await Deno.mkdir(byIdFolder);
    const real = join(folder, "ttyUSB0");
    await Deno.writeTextFile(real, "");
    const name = join(byIdFolder, "usb-FTDI_1-if00");
    await Deno.symlink("../ttyUSB0", name);
    await withPorts({ byIdFolder }, async (ports, _log, driver) => {
      driver.plug({ kind: "usb", path: real, serialNumber: "1", vendorId: "0403", productId: "6001" });
      const found = await ports.resolve(name);
      assert.equal(found?.info.path, real);
      assert.deepEqual([found?.wanted.path, found?.wanted.serialNumber], [name, "1"]);
      const offered = (await ports.choices(name)).map((c) => c.value);
      assert.deepEqual(offered, [real, name]);
      assert.deepEqual((await ports.choices()).map((c) => c.value), [real]);
      assert.equal(await ports.resolve(join(byIdFolder, "usb-none")), undefined);
    });
  }));

Deno.test("a port that is plugged or pulled is noticed within a second, told and logged", async () => {
  await withPorts({}, async (ports, log, driver) => {
    const changes: PortChange[] = [];
    ports.onChange((change) => changes.push(change));
    const plugged = performance.now();
    const device = driver.plug({ kind: "usb", path: "/dev/ttyUSB0", product: "CP2102", serialNumber: "1" });
    await until(() => changes.length === 1, "plugged in");
    assert.ok(performance.now() - plugged < 5000);
    assert.deepEqual(changes[0]?.added.map((p) => p.path), ["/dev/ttyUSB0"]);
    device.unplug();
    await until(() => changes.length === 2, "unplugged");
    assert.deepEqual(changes[1]?.removed.map((p) => p.path), ["/dev/ttyUSB0"]);
    assert.deepEqual(log, [
      "plugged in: CP2102 (/dev/ttyUSB0)",
      "unplugged: CP2102 (/dev/ttyUSB0)",
    ]);
    assert.deepEqual(await ports.list(), []);
  });
});

Deno.test("a configured link is watched: a port that appears behind it, or behind a pattern, is told", () =>
  inFolder(async (folder) => {
    await withPorts({ extra: [{ label: "V", path: join(folder, "v*") }] }, async (ports) => {
      const changes: PortChange[] = [];
      ports.onChange((change) => changes.push(change));
      await Deno.writeTextFile(join(folder, "one"), "");
      await Deno.writeTextFile(join(folder, "two"), "");
      await Deno.symlink("one", join(folder, "v1"));
      await until(() => changes.some((c) => c.added.some((p) => p.path === join(folder, "v1"))), "the link appears");
      const before = changes.length;
      await Deno.remove(join(folder, "v1"));
      await Deno.symlink("two", join(folder, "v1"));
      await until(() => changes.length > before, "the link leads elsewhere");
    });
  }));

Deno.test("no look at the ports is ever further apart than 700 ms", async () => {
  let looks = 0;
  const driver = new MemoryDriver();
  const fingerprint = driver.fingerprint.bind(driver);
  driver.fingerprint = () => (looks++, fingerprint());
  await withPorts({ driver, pollMs: 60_000 }, async () => {
    await until(() => looks >= 4, "four looks");
  });
});
