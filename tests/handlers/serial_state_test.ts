import assert from "node:assert/strict";
import { wslRefusal } from "../../src/bench/panes.ts";
import { MemoryDriver } from "../../src/drivers/serial/memory.ts";
import { paneState } from "../../tools/device/serial.ts";
import { memoryRig, ptyRig, until } from "../rigs/bench.ts";
import { refused } from "../rigs/refusals.ts";
import { skipped } from "../rigs/skip.ts";

Deno.test("a fresh start has the pane main, closed, with every field of the contract [C132]", async () => {
  await using rig = await memoryRig();
  const { output, text } = await rig.call("serial_get_state");
  assert.equal(output.pane, "main");
  assert.equal(output.isConnected, false);
  assert.equal(output.status, "closed");
  assert.equal(output.portName, "");
  assert.deepEqual(output.panes, ["main"]);
  assert.deepEqual(output.logChannels, { rx: "serial:main:rx", tx: "serial:main:tx" });
  const names =
    "pane isConnected portName port baud viewMode lineEnding sendAs dataBits stopBits parity dtr rts autoScroll " +
    "autoReconnect lineNum timestamp echo terminalMode lineBuf advOpen outputLines outputBytes historyCount panes " +
    "portOptions logChannels";
  for (const name of names.split(" ")) assert.ok(name in output, `${name} is missing`);
  assert.deepEqual(Object.keys(output).sort(), Object.keys(paneState.shape).sort());
  assert.ok(text.length <= 600 && text.includes("No port to choose"), text);
});

Deno.test("an unknown pane is refused with the panes that are there and the next free name [C133]", async () => {
  await using rig = await memoryRig();
  const error = await refused(rig.call("serial_get_state", { pane: "extra-9" }));
  assert.match(error.message, /extra-9/);
  assert.match(error.message, /main/);
  await refused(rig.call("serial_set_baud", { pane: "extra-9", baud: 9600 }));
  // Reading the next free one does not make it either.
  await refused(rig.call("serial_get_state", { pane: "extra-1" }));
  assert.deepEqual((await rig.call("serial_get_state")).output.panes, ["main"]);
});

Deno.test("a write to the next free name makes the pane, up to sixteen", async () => {
  await using rig = await memoryRig();
  const write = await refused(rig.call("serial_set_baud", { pane: "extra-2", baud: 9600 }));
  assert.match(write.message, /extra-1/);
  for (let n = 1; n <= 15; n++) await rig.call("serial_set_baud", { pane: `extra-${n}`, baud: 9600 });
  const { panes } = (await rig.call("serial_get_state", { pane: "extra-15" })).output;
  assert.equal(panes.length, 16);
  assert.deepEqual(panes.slice(0, 3), ["main", "extra-1", "extra-2"]);
  await refused(rig.call("serial_set_baud", { pane: "extra-16", baud: 9600 }));
  await rig.bench.panes.remove("extra-3");
  await rig.call("serial_set_baud", { pane: "extra-3", baud: 9600 });
});

Deno.test("a read never makes a WSL pane, and away from Windows the refusal says why [C134] [C135]", async () => {
  await using rig = await memoryRig();
  for (const pane of ["wsl", "wsl-x1"]) {
    const error = await refused(rig.call("serial_get_state", { pane }));
    assert.equal(error.message, wslRefusal());
    await refused(rig.call("serial_open", { pane }));
  }
  assert.match(wslRefusal("linux"), /only on Windows/);
  assert.match(wslRefusal("darwin"), /only on Windows/);
  assert.match(wslRefusal("windows"), /not built yet/);
  assert.deepEqual((await rig.call("serial_get_state")).output.panes, ["main"]);
});

Deno.test("a port that another pane holds is offered as in use, and is not in use for its own pane [C136]", async () => {
  await using rig = await ptyRig({ ports: 2 });
  const [a, b] = rig.devices.map((d) => d.path);
  await rig.call("serial_set_baud", { pane: "extra-1", baud: 9600 });
  await rig.call("serial_open", { port: a });
  const inUse = async (pane: string) => {
    const { portOptions } = (await rig.call("serial_get_state", { pane })).output;
    return new Map(portOptions.map((o) => [o.value, o.inUse]));
  };
  const other = await inUse("extra-1");
  assert.equal(other.get(a ?? ""), true);
  assert.equal(other.get(b ?? ""), false);
  assert.equal((await inUse("main")).get(a ?? ""), false);
  await rig.call("serial_close");
  assert.equal((await inUse("extra-1")).get(a ?? ""), false);
});

Deno.test("a port that another program holds is offered as in use", async () => {
  const driver = new MemoryDriver();
  await using rig = await memoryRig({ driver });
  const device = driver.plug({ path: "/dev/ttyUSB0" });
  device.faults.heldBy = "minicom (pid 4711)";
  const { portOptions } = (await rig.call("serial_get_state")).output;
  assert.deepEqual(portOptions.map(({ value, inUse }) => ({ value, inUse })), [{ value: "/dev/ttyUSB0", inUse: true }]);
});

Deno.test({
  name: "the values to choose are device paths of this system [C137]" +
    skipped(Deno.build.os === "windows", "needs PTYs"),
  ignore: Deno.build.os === "windows",
  fn: async () => {
    await using rig = await ptyRig();
    const { portOptions } = (await rig.call("serial_get_state")).output;
    const values = portOptions.map((o) => o.value);
    assert.ok(values.includes(rig.device.path));
    for (const value of values) assert.ok(value.startsWith("/"), value);
    for (const option of portOptions) assert.notEqual(option.label, "");
    // Every one that the driver lists is there, under the name that opens it.
    for (const info of await rig.driver.list()) assert.ok(info.path.startsWith("/dev/") && values.includes(info.path));
  },
});

Deno.test("a port that is not offered is refused with the real ones, and nothing changes [C139]", async () => {
  const driver = new MemoryDriver();
  await using rig = await memoryRig({ driver });
  driver.plug({ path: "/dev/ttyUSB0" });
  driver.plug({ path: "/dev/ttyUSB1" });
  for (const call of ["serial_select_port", "serial_open"] as const) {
    const error = await refused(rig.call(call, { port: "COM99" }));
    assert.match(error.message, /COM99/);
    assert.match(error.message, /\/dev\/ttyUSB0, \/dev\/ttyUSB1/);
  }
  assert.equal((await rig.call("serial_get_state")).output.port, "");
});

Deno.test("choosing an offered port says what was chosen before [C140]", async () => {
  await using rig = await ptyRig({ ports: 2 });
  const [a, b] = rig.devices.map((d) => d.path);
  const first = await rig.call("serial_select_port", { port: a });
  assert.deepEqual(first.output, { pane: "main", applied: [{ name: "port", ok: true, from: "", to: a }] });
  const second = await rig.call("serial_select_port", { port: b });
  assert.deepEqual(second.output.applied, [{ name: "port", ok: true, from: a, to: b }]);
  assert.equal((await rig.call("serial_get_state")).output.port, b);
  assert.match(second.text, /serial_open/);
});

Deno.test("choosing another port while open changes nothing that is open", async () => {
  await using rig = await ptyRig({ ports: 2 });
  const [a, b] = rig.devices.map((d) => d.path);
  await rig.call("serial_open", { port: a });
  const { text } = await rig.call("serial_select_port", { port: b });
  assert.match(text, /still open/);
  const { output } = await rig.call("serial_get_state");
  assert.deepEqual([output.isConnected, output.portName, output.port], [true, a, b]);
});

Deno.test("the list of ports names each with three names and no more, and opens none [C308] [C131]", async () => {
  const driver = new MemoryDriver();
  await using rig = await memoryRig({ driver });
  const empty = await rig.call("serial_list_ports");
  assert.equal(empty.output.count, 0);
  assert.match(empty.text, /No serial port/);
  const device = driver.plug({
    path: "/dev/ttyUSB0",
    kind: "usb",
    vendorId: "1a86",
    productId: "7523",
    product: "USB Serial",
  });
  for (let n = 1; n <= 40; n++) driver.plug({ path: `/dev/ttyACM${n}`, product: "A board with a long name" });
  const { output, text } = await rig.call("serial_list_ports");
  assert.equal(output.count, 41);
  assert.deepEqual(output.ports[0], {
    portName: "/dev/ttyUSB0",
    friendlyName: "USB Serial (/dev/ttyUSB0)",
    productName: "USB Serial",
  });
  assert.ok(text.includes("/dev/ttyUSB0") && text.length <= 600 && / \(\d+ more\)$/.test(text), text);
  assert.deepEqual(device.record, []);
});

Deno.test("panes and their settings outlive the program", async () => {
  const folder = await Deno.makeTempDir({ prefix: "fieldbench-bench-" });
  try {
    {
      await using rig = await ptyRig({ folder });
      await rig.call("serial_select_port", { port: rig.device.path });
      await rig.call("serial_set_baud", { pane: "extra-1", baud: 74880 });
      await rig.call("serial_set_frame", { pane: "extra-1", dataBits: "7", parity: "even", stopBits: "2" });
      await rig.call("serial_set_lines", { pane: "extra-1", dtr: false });
      await rig.call("serial_set_display", {
        pane: "extra-1",
        viewMode: "hex",
        lineEnding: "lf",
        autoReconnect: false,
      });
      rig.bench.panes.need("extra-1").setPacing({ charMs: 2, lineMs: 50 });
      rig.bench.panes.need("extra-1").setLabel("Modem");
    }
    await using rig = await memoryRig({ folder });
    const main = (await rig.call("serial_get_state")).output;
    assert.equal(main.port, `${folder}/port-1`);
    const extra = (await rig.call("serial_get_state", { pane: "extra-1" })).output;
    assert.deepEqual(extra.panes, ["main", "extra-1"]);
    assert.deepEqual(
      [extra.baud, extra.dataBits, extra.parity, extra.stopBits, extra.dtr, extra.viewMode, extra.lineEnding],
      [74880, "7", "even", "2", false, "hex", "lf"],
    );
    assert.equal(extra.autoReconnect, false);
    const { settings } = rig.bench.panes.need("extra-1");
    assert.deepEqual([settings.charDelayMs, settings.lineDelayMs, settings.label], [2, 50, "Modem"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a pane that a person closed is gone after a restart, and its port is free", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem1" });
  await using rig = await memoryRig({ driver });
  await rig.call("serial_open", { pane: "extra-1", port: "mem1" });
  await rig.bench.panes.remove("extra-1");
  assert.equal(device.port, undefined);
  await refused(rig.call("serial_get_state", { pane: "extra-1" }));
  await until(async () => {
    const text = await Deno.readTextFile(`${rig.folder}/config.json`).catch(() => "{}");
    return JSON.parse(text).panes?.main && !JSON.parse(text).panes["extra-1"];
  }, "the configuration without the pane");
});

Deno.test("one bad setting in the kept panes costs only that setting", async () => {
  await using rig = await memoryRig({
    config: {
      panes: { main: { baud: 57600, label: 7, identity: { kind: "usb" }, port: "/dev/ttyUSB9", future: true } },
    },
  });
  const { output } = await rig.call("serial_get_state");
  assert.deepEqual([output.baud, output.port], [57600, "/dev/ttyUSB9"]);
  await rig.call("serial_set_baud", { baud: 9600 });
  await rig.bench.close();
  const kept = JSON.parse(await Deno.readTextFile(`${rig.folder}/config.json`)).panes.main;
  assert.deepEqual([kept.baud, kept.future], [9600, true]);
});

Deno.test("a write asks the page to show its pane, a read does not", async () => {
  await using rig = await memoryRig();
  const shown: string[] = [];
  rig.bench.panes.shown.on(({ pane }) => shown.push(pane));
  await rig.call("serial_set_baud", { baud: 9600, pane: "extra-1" });
  await rig.call("serial_get_state", { pane: "extra-1" });
  await rig.call("serial_get_history", { pane: "extra-1" });
  await rig.call("serial_get_output", { pane: "extra-1" });
  assert.deepEqual(shown, ["extra-1"]);
  await rig.call("serial_clear");
  assert.deepEqual(shown, ["extra-1", "main"]);
});
