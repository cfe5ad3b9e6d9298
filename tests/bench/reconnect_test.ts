import assert from "node:assert/strict";
import { MemoryDriver, NEVER } from "../../src/drivers/serial/memory.ts";
import type { LineAtOpen } from "../../src/drivers/serial/port.ts";
import { openPty } from "../../src/drivers/serial/pty.ts";
import { type BenchRig, holdFromOutside, memoryRig, ptyRig, until } from "../rigs/bench.ts";
import { fails } from "../rigs/refusals.ts";

const USB = { kind: "usb", vendorId: "1a86", productId: "7523" } as const;

const statusOf = (rig: BenchRig, pane = "main") => rig.bench.panes.need(pane).link.status;
const isStatus = (rig: BenchRig, status: string, pane = "main") =>
  until(() => statusOf(rig, pane) === status, `${pane} ${status}`);

Deno.test("a device that is pulled and plugged in again is connected again by itself, and seq goes on [C161] [SO04]", async () => {
  await using rig = await ptyRig();
  await rig.call("serial_open", { port: rig.device.path });
  await rig.device.write("before\nhalf");
  await until(() => rig.lines("serial:main:rx").includes("before"), "the first line");
  const node = rig.device.node;
  await rig.device.unplug();
  await isStatus(rig, "lost");
  const { output } = await rig.call("serial_get_state");
  assert.deepEqual([output.isConnected, output.portName], [false, ""]);
  assert.match(output.statusText, /waiting for .*port-1/);
  await fails(rig.call("serial_send", { data: "x" }), "not_open");

  // Somebody else gets the old device node, so that the device comes back with another one behind its name.
  const somebody = openPty();
  await rig.device.replug();
  // The peer speaks before anyone has opened the port again: nothing of it may be thrown away.
  await rig.device.write("first words\n");
  await isStatus(rig, "open");
  await somebody.close();
  assert.notEqual(rig.device.node, node);
  await rig.device.write("after\n");
  await until(() => rig.lines("serial:main:rx").includes("after"), "the line after");
  // The half line is a line of its own; one sequence runs through it all.
  assert.deepEqual(rig.lines("serial:main:rx"), ["before", "half", "first words", "after"]);
  const app = rig.lines("app").join("\n");
  assert.match(app, /lost .*waiting for/);
  assert.match(app, /open again/);
  assert.match(rig.lines("ui:sys").join("\n"), /open again/);
});

Deno.test("while a device is waited for, the state says that it comes back by itself", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem1" });
  await using rig = await memoryRig({ driver });
  await rig.call("serial_open", { port: "mem1" });
  device.unplug();
  await until(() => rig.bench.panes.need().link.status === "lost", "lost");
  const { text } = await rig.call("serial_get_state");
  assert.match(text, /It connects again by itself; serial_close ends the waiting\./);
});

Deno.test("a virtual port that has only a number is not waited for: the next program gets that number [SO04]", async () => {
  const pty = openPty();
  await using rig = await ptyRig({ extraPorts: [{ label: "bare", path: pty.path }] });
  await rig.call("serial_open", { port: pty.path });
  await pty.close();
  await isStatus(rig, "closed");
  const { text } = await rig.call("serial_get_state");
  assert.match(text, /was lost; .* --link/);
  // Whoever has the number now, it is not opened by itself.
  const next = Array.from({ length: 8 }, () => openPty());
  rig.bench.panes.poke();
  await new Promise((r) => setTimeout(r, 300));
  assert.equal(statusOf(rig), "closed");
  await Promise.all(next.map((other) => other.close()));
});

Deno.test("a link left over from a virtual port leads to whoever has its number now: only a link made anew is taken [SO04]", async () => {
  const pty = openPty();
  await using rig = await ptyRig();
  const link = `${rig.folder}/port-left`;
  await Deno.symlink(pty.path, link);
  await rig.call("serial_open", { port: link });
  await pty.close(); // as a kill -9 of its maker does: the link stays
  await isStatus(rig, "lost");
  // The lowest free numbers are given out: one of these has the old one, unless another program was faster.
  const others = Array.from({ length: 8 }, () => openPty());
  rig.bench.panes.poke();
  await new Promise((r) => setTimeout(r, 300));
  assert.equal(statusOf(rig), "lost");
  await Deno.remove(link);
  await Deno.symlink(others[7]?.path ?? "", link);
  await isStatus(rig, "open");
  await rig.call("serial_close");
  await Promise.all(others.map((other) => other.close()));
});

Deno.test("without automatic reconnect a lost device leaves the pane closed", async () => {
  await using rig = await ptyRig();
  await rig.call("serial_open", { port: rig.device.path });
  await rig.call("serial_set_display", { autoReconnect: false });
  await rig.device.unplug();
  await isStatus(rig, "closed");
  assert.match(rig.bench.panes.need().link.statusText, /lost/);
  await rig.device.replug();
  await rig.call("serial_open");
});

Deno.test("switching automatic reconnect off, or closing, ends the waiting", async () => {
  await using rig = await ptyRig();
  for (
    const end of [{ tool: "serial_close", args: {} }, {
      tool: "serial_set_display",
      args: { autoReconnect: false },
    }] as const
  ) {
    await rig.call("serial_open", { port: rig.device.path });
    await rig.device.unplug();
    await isStatus(rig, "lost");
    await rig.call(end.tool, end.args);
    await isStatus(rig, "closed");
    await rig.device.replug();
  }
  // Time enough for several tries, if there were any.
  await new Promise((r) => setTimeout(r, 300));
  assert.equal(statusOf(rig), "closed");
});

Deno.test("an open of a lost device that is still away says so and goes on waiting", async () => {
  await using rig = await ptyRig();
  await rig.call("serial_open", { port: rig.device.path });
  await rig.device.unplug();
  await isStatus(rig, "lost");
  await fails(rig.call("serial_open"), "no_device");
  assert.equal(statusOf(rig), "lost");
  await rig.device.replug();
  await isStatus(rig, "open");
});

Deno.test("a device that is taken by another program when it comes back is waited for, and who has it is told", async () => {
  await using rig = await ptyRig();
  await rig.call("serial_open", { port: rig.device.path });
  await rig.device.unplug();
  await isStatus(rig, "lost");
  // Held before the name is there, so that no try of ours comes first.
  const held = await holdBeforePlugged(rig);
  try {
    await until(() => /in use/.test(rig.bench.panes.need().link.statusText), "told who has it");
    assert.match(rig.bench.panes.need().link.statusText, new RegExp(`pid ${held.pid}`));
    assert.equal(statusOf(rig), "lost");
    const told = rig.lines("app").filter((l) => /in use/.test(l)).length;
    await new Promise((r) => setTimeout(r, 300));
    assert.equal(rig.lines("app").filter((l) => /in use/.test(l)).length, told, "told once, not at each try");
  } finally {
    await held.release();
  }
  await isStatus(rig, "open");
});

const holdBeforePlugged = async (rig: Awaited<ReturnType<typeof ptyRig>>) => {
  const held = Promise.withResolvers<Awaited<ReturnType<typeof holdFromOutside>>>();
  await rig.device.replug(async (node) => held.resolve(await holdFromOutside(node)));
  return await held.promise;
};

Deno.test("a USB device with a serial number is found again in another socket and under another name [SO04]", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({
    ...USB,
    path: "/dev/ttyUSB0",
    serialNumber: "A1",
    location: "1-1",
    interfaceNumber: "00",
  });
  await using rig = await memoryRig({ driver });
  await rig.call("serial_open", { port: "/dev/ttyUSB0" });
  await device.peer.write(new TextEncoder().encode("one\n"));
  await until(() => rig.lines("serial:main:rx").length === 1, "one");
  const begun = performance.now();
  device.unplug();
  await isStatus(rig, "lost");
  assert.match(rig.bench.panes.need().link.statusText, /1a86:7523, serial number A1/);
  // Its old name goes to a stranger meanwhile.
  const stranger = driver.plug({ ...USB, path: "/dev/ttyUSB0", serialNumber: "B2", location: "1-1" });
  await new Promise((r) => setTimeout(r, 200));
  assert.equal(statusOf(rig), "lost");
  device.replug("/dev/ttyUSB7");
  await device.peer.write(new TextEncoder().encode("two\n"));
  await isStatus(rig, "open");
  assert.ok(performance.now() - begun < 10_000);
  await until(() => rig.lines("serial:main:rx").length === 2, "two");
  assert.deepEqual(rig.lines("serial:main:rx"), ["one", "two"]);
  const { output } = await rig.call("serial_get_state");
  assert.deepEqual([output.portName, output.port], ["/dev/ttyUSB7", "/dev/ttyUSB7"]);
  assert.deepEqual(stranger.record, [], "the other device was not touched");
});

Deno.test("a USB device without serial number is found again only in the same socket", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ ...USB, path: "/dev/ttyUSB0", location: "1-2" });
  await using rig = await memoryRig({ driver });
  await rig.call("serial_open", { port: "/dev/ttyUSB0" });
  device.unplug();
  await isStatus(rig, "lost");
  const others = [
    driver.plug({ ...USB, path: "/dev/ttyUSB0", location: "1-3" }),
    driver.plug({ ...USB, path: "/dev/ttyUSB1", location: "1-2", serialNumber: "has one" }),
    driver.plug({ kind: "usb", vendorId: "0403", productId: "6001", path: "/dev/ttyUSB2", location: "1-2" }),
  ];
  await new Promise((r) => setTimeout(r, 300));
  assert.equal(statusOf(rig), "lost");
  device.replug("/dev/ttyUSB9");
  await isStatus(rig, "open");
  assert.equal(rig.bench.panes.need().link.current?.info.path, "/dev/ttyUSB9");
  for (const other of others) assert.deepEqual(other.record, []);
});

Deno.test("two devices with the same serial number are told apart by the socket, or none is taken", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ ...USB, path: "/dev/ttyUSB0", serialNumber: "0001", location: "1-1" });
  await using rig = await memoryRig({ driver });
  await rig.call("serial_open", { port: "/dev/ttyUSB0" });
  device.unplug();
  await isStatus(rig, "lost");
  const twins = [
    driver.plug({ ...USB, path: "/dev/ttyUSB3", serialNumber: "0001", location: "1-3" }),
    driver.plug({ ...USB, path: "/dev/ttyUSB4", serialNumber: "0001", location: "1-4" }),
  ];
  await until(() => /several devices/.test(rig.bench.panes.need().link.statusText), "told that it is not clear");
  assert.equal(statusOf(rig), "lost");
  device.replug("/dev/ttyUSB5");
  await isStatus(rig, "open");
  assert.equal(rig.bench.panes.need().link.current?.info.path, "/dev/ttyUSB5");
  for (const twin of twins) assert.deepEqual(twin.record, []);
});

Deno.test("after a restart the chosen device is opened under its new name, and never another one under the old", async () => {
  const driver = new MemoryDriver();
  const folder = await Deno.makeTempDir({ prefix: "fieldbench-bench-" });
  try {
    const device = driver.plug({ ...USB, path: "/dev/ttyUSB0", serialNumber: "A1" });
    {
      await using rig = await memoryRig({ driver, folder });
      await rig.call("serial_select_port", { port: "/dev/ttyUSB0" });
    }
    device.unplug();
    const other = driver.plug({ ...USB, path: "/dev/ttyUSB0", serialNumber: "B2" });
    await using rig = await memoryRig({ driver, folder });
    const error = await fails(rig.call("serial_open"), "no_device");
    assert.match(error.message, /A1.*is another one now/);
    assert.deepEqual(other.record, []);
    device.replug("/dev/ttyUSB1");
    const { output } = await rig.call("serial_open");
    assert.deepEqual([output.state.portName, output.state.port], ["/dev/ttyUSB1", "/dev/ttyUSB1"]);
    await rig.call("serial_close");
    // Asked for by name, the other one is what is meant.
    await rig.call("serial_open", { port: "/dev/ttyUSB0" });
    assert.ok(other.port);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a device that hangs at the reconnect is not opened a second time meanwhile", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ ...USB, path: "/dev/ttyUSB0", serialNumber: "A1" });
  await using rig = await memoryRig({ driver, timing: { openMs: 60, retryMs: 30 } });
  await rig.call("serial_open", { port: "/dev/ttyUSB0" });
  device.unplug();
  await isStatus(rig, "lost");
  let opens = 0;
  const open = driver.open.bind(driver);
  driver.open = (options) => (opens++, open(options));
  const gate = Promise.withResolvers<void>();
  device.faults.openWaits = gate.promise;
  device.replug();
  await until(() => /does not answer/.test(rig.bench.panes.need().link.statusText), "told");
  await new Promise((r) => setTimeout(r, 300));
  assert.equal(opens, 1);
  device.faults.openWaits = undefined;
  gate.resolve();
  await isStatus(rig, "open");
});

Deno.test("a driver that hangs at close after the loss does not end the waiting for the device", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ ...USB, path: "/dev/ttyUSB0", serialNumber: "A1" });
  await using rig = await memoryRig({ driver, timing: { retryMs: 30 } });
  await rig.call("serial_open", { port: "/dev/ttyUSB0" });
  const gate = Promise.withResolvers<void>();
  device.faults.closeWaits = gate.promise;
  device.unplug();
  await isStatus(rig, "lost");
  device.replug();
  gate.resolve();
  await isStatus(rig, "open");
  device.faults.closeWaits = NEVER;
  device.unplug();
  await isStatus(rig, "lost");
  device.faults.closeWaits = undefined;
});

Deno.test("DTR and RTS at open are as chosen, and nothing moves them at settings, loss or reconnect [SO01]", async () => {
  const choices: LineAtOpen[] = ["high", "low", "leave"];
  for (const dtr of choices) {
    for (const rts of choices) {
      const driver = new MemoryDriver();
      const device = driver.plug({ ...USB, path: "/dev/ttyUSB0", serialNumber: "A1" });
      await using rig = await memoryRig({ driver });
      const pane = rig.bench.panes.need();
      pane.setLinesAtOpen({ dtr, rts });
      const moves = () =>
        device.record.flatMap((c) => c.call === "dtr" || c.call === "rts" ? [`${c.call} ${c.on}`] : []);
      const chosen = [
        ...(dtr === "leave" ? [] : [`dtr ${dtr === "high"}`]),
        ...(rts === "leave" ? [] : [`rts ${rts === "high"}`]),
      ];
      await rig.call("serial_open", { port: "/dev/ttyUSB0" });
      assert.deepEqual(moves(), chosen, `open with ${dtr}, ${rts}`);
      await rig.call("serial_set_baud", { baud: 9600 });
      await rig.call("serial_open", { baud: 19200 });
      await rig.call("serial_set_display", { viewMode: "hex" });
      await rig.call("serial_send", { data: "AT" });
      await rig.call("serial_clear");
      assert.deepEqual(moves(), chosen, "settings");
      device.unplug();
      await isStatus(rig, "lost");
      device.replug();
      await isStatus(rig, "open");
      // The new life of the device gets the same choice once, set before anything else; no level goes to and fro.
      assert.deepEqual(moves(), [...chosen, ...chosen], "reconnect");
      await rig.call("serial_close");
      assert.deepEqual(moves(), [...chosen, ...chosen], "close");
      assert.equal(device.record.filter((c) => c.call === "flush").length, 1, "only the first open throws away");
    }
  }
});

Deno.test("levels that were set by hand are the same after a reconnect [SO01]", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ ...USB, path: "/dev/ttyUSB0", serialNumber: "A1" });
  await using rig = await memoryRig({ driver });
  await rig.call("serial_open", { port: "/dev/ttyUSB0" });
  await rig.call("serial_set_lines", { dtr: false });
  device.unplug();
  await isStatus(rig, "lost");
  const before = device.record.length;
  device.replug();
  await isStatus(rig, "open");
  const moves = device.record.slice(before).flatMap((c) => "on" in c ? [`${c.call} ${c.on}`] : []);
  assert.deepEqual(moves, ["dtr false", "rts true"]);
});

Deno.test("the peer dies and comes back a hundred times: each time connected again, and no line is lost", async () => {
  await using rig = await ptyRig();
  await rig.call("serial_open", { port: rig.device.path });
  const pane = rig.bench.panes.need();
  for (let life = 1; life <= 100; life++) {
    await rig.device.write(`life ${life}\n`);
    await until(() => rig.lines("serial:main:rx").includes(`life ${life}`), `life ${life}`);
    await rig.device.unplug();
    await isStatus(rig, "lost");
    await rig.device.replug();
    await isStatus(rig, "open");
    await rig.call("serial_send", { data: `back ${life}`, lineEnding: "lf" });
    await until(() => rig.device.text.includes(`back ${life}\n`), `answer of life ${life}`);
    rig.device.forget();
  }
  assert.deepEqual(rig.lines("serial:main:rx"), Array.from({ length: 100 }, (_, i) => `life ${i + 1}`));
  assert.equal(rig.hub.find("serial:main:rx")?.ring.firstSeq, 1);
  assert.equal(pane.link.status, "open");
});
