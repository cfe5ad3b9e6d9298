import assert from "node:assert/strict";
import { MemoryDriver } from "../../src/drivers/serial/memory.ts";
import { memoryRig, ptyRig } from "../rigs/bench.ts";
import { fails, refused } from "../rigs/refusals.ts";

/** A device with modem lines, open in pane main. */
const openDevice = async (options: Partial<Parameters<MemoryDriver["plug"]>[0]> = {}) => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem1", ...options });
  const rig = await memoryRig({ driver });
  await rig.call("serial_open", { port: "mem1" });
  return Object.assign(rig, { device });
};

Deno.test("the lowest and the highest baud rate are accepted [C144]", async () => {
  await using rig = await memoryRig();
  for (const baud of [110, 4_000_000]) {
    const { output } = await rig.call("serial_set_baud", { baud });
    assert.equal(output.applied[0]?.to, baud);
    assert.equal((await rig.call("serial_get_state")).output.baud, baud);
  }
});

Deno.test("a baud rate out of range, as text or broken is refused, and nothing changes [C145]", async () => {
  await using rig = await memoryRig();
  for (const baud of [109, 4_000_001, "9600", 9600.5, null, -1]) {
    await refused(rig.call("serial_set_baud", { baud }));
    await refused(rig.call("serial_open", { baud, port: "x" }));
  }
  assert.equal((await rig.call("serial_get_state")).output.baud, 115200);
});

Deno.test("an odd baud rate is really set on a port, and read back [C146]", async () => {
  await using rig = await ptyRig();
  await rig.call("serial_set_baud", { baud: 74880 });
  const { output } = await rig.call("serial_open", { port: rig.device.path });
  assert.equal(output.state.actualBaud, 74880);
  for (const baud of [250_000, 3_000_000, 110]) {
    const { applied } = (await rig.call("serial_set_baud", { baud })).output;
    assert.deepEqual(applied, [{ name: "baud", ok: true, from: applied[0]?.from ?? null, to: baud }]);
    assert.equal((await rig.call("serial_get_state")).output.actualBaud, baud);
  }
});

Deno.test("a rate that the driver changes is told: at open, while open, and in the log [C146] [SO06]", async () => {
  await using rig = await openDevice({
    readBack: (asked) => ({ ...asked, baudRate: Math.min(asked.baudRate, 115_200) }),
  });
  const { output } = await rig.call("serial_set_baud", { baud: 250_000 });
  const [entry] = output.applied;
  assert.deepEqual([entry?.ok, entry?.from, entry?.to], [false, 115_200, 115_200]);
  assert.match(entry?.error ?? "", /250000 asked, the driver set 115200/);
  const state = (await rig.call("serial_get_state")).output;
  assert.deepEqual([state.baud, state.actualBaud], [250_000, 115_200]);
  assert.match(state.statusText, /250000 asked, 115200 set/);
  await rig.call("serial_close");
  const opened = await rig.call("serial_open");
  assert.match(opened.output.note ?? "", /baud rate 250000 asked, 115200 set/);
  assert.match(rig.lines("app").join("\n"), /baud rate 250000 asked, 115200 set/);
});

Deno.test("the frame format needs at least one argument [C147]", async () => {
  await using rig = await memoryRig();
  await refused(rig.call("serial_set_frame", {}));
});

Deno.test("the frame format of a closed pane is set, an entry for each argument [C148]", async () => {
  await using rig = await memoryRig();
  const { output, text } = await rig.call("serial_set_frame", { dataBits: "7", parity: "even", stopBits: "2" });
  assert.deepEqual(output.applied, [
    { name: "dataBits", ok: true, from: "8", to: "7" },
    { name: "stopBits", ok: true, from: "1", to: "2" },
    { name: "parity", ok: true, from: "none", to: "even" },
  ]);
  const state = (await rig.call("serial_get_state")).output;
  assert.deepEqual([state.dataBits, state.parity, state.stopBits], ["7", "even", "2"]);
  assert.match(text, /parity none → even/);
});

Deno.test("a frame format that is none is refused [C149]", async () => {
  await using rig = await memoryRig();
  for (const args of [{ dataBits: "9" }, { parity: "mark" }, { stopBits: "1.5" }, { dataBits: "4" }]) {
    await refused(rig.call("serial_set_frame", args));
  }
});

Deno.test("the frame format of an open port is not touched: close first [C150]", async () => {
  await using rig = await openDevice();
  const before = rig.device.record.length;
  const error = await fails(rig.call("serial_set_frame", { dataBits: "7" }), "disabled");
  assert.match(`${error.message} ${error.hint}`, /serial_close/);
  assert.equal((await rig.call("serial_get_state")).output.dataBits, "8");
  assert.equal(rig.device.record.length, before);
});

Deno.test("DTR off and on are exactly two transitions [C151]", async () => {
  await using rig = await openDevice();
  const before = rig.device.record.length;
  const off = await rig.call("serial_set_lines", { dtr: false });
  assert.deepEqual(off.output.applied, [{ name: "dtr", ok: true, from: true, to: false }]);
  assert.equal((await rig.call("serial_get_state")).output.dtr, false);
  await rig.call("serial_set_lines", { dtr: true });
  const calls = rig.device.record.slice(before).map((c) => [c.call, "on" in c ? c.on : undefined]);
  assert.deepEqual(calls, [["dtr", false], ["dtr", true]]);
});

Deno.test("levels set on a closed pane are kept, and are what the open sets", async () => {
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem1" });
  await using rig = await memoryRig({ driver });
  const { output } = await rig.call("serial_set_lines", { dtr: false, rts: true });
  assert.deepEqual(output.applied.map((a) => [a.name, a.ok, a.to]), [["dtr", true, false], ["rts", true, true]]);
  assert.deepEqual(device.record, []);
  await rig.call("serial_open", { port: "mem1" });
  assert.deepEqual(device.outputs, { dtr: false, rts: true, break: false });
});

Deno.test("a virtual port says that it has no modem lines [C152]", async () => {
  await using rig = await ptyRig();
  await rig.call("serial_open", { port: rig.device.path });
  const error = await fails(rig.call("serial_set_lines", { dtr: false }), "unsupported");
  assert.match(error.message, /no modem lines/);
  assert.match(error.message, /DTR/);
  // A refused level is not kept for the next open either.
  assert.equal((await rig.call("serial_get_state")).output.dtr, true);
});

Deno.test("setting lines or switches needs at least one argument [C153] [C154]", async () => {
  await using rig = await memoryRig();
  await refused(rig.call("serial_set_lines", {}));
  await refused(rig.call("serial_set_lines", { pane: "main" }));
  await refused(rig.call("serial_set_display", {}));
});

Deno.test("each of the ten switches can be set and is reported [C155]", async () => {
  await using rig = await memoryRig();
  const check = async (args: Record<string, string | boolean>) => {
    const { applied } = (await rig.call("serial_set_display", args)).output;
    const state = new Map(Object.entries((await rig.call("serial_get_state")).output));
    for (const [name, value] of Object.entries(args)) {
      const entry = applied.find((a) => a.name === name);
      assert.deepEqual([entry?.ok, entry?.to, entry?.skipped, state.get(name)], [true, value, undefined, value], name);
    }
  };
  for (const on of [true, false, true]) {
    await check({ terminalMode: false, echo: on, lineNum: on, timestamp: on, autoScroll: on });
    await check({ autoReconnect: on, advOpen: on });
    await check({ terminalMode: true, lineBuf: on });
  }
  for (const viewMode of ["hex", "text"]) await check({ viewMode });
  for (const lineEnding of ["lf", "cr", "none", "crlf"]) await check({ lineEnding });
});

Deno.test("in terminal mode line numbers, timestamps and echo are skipped, not failed [C156]", async () => {
  await using rig = await memoryRig();
  await rig.call("serial_set_display", { terminalMode: true });
  const before = (await rig.call("serial_get_state")).output;
  const { output, text } = await rig.call("serial_set_display", {
    lineNum: !before.lineNum,
    timestamp: !before.timestamp,
    echo: !before.echo,
  });
  for (const entry of output.applied) assert.deepEqual([entry.ok, entry.skipped, entry.from], [true, true, entry.to]);
  assert.equal(output.applied.length, 3);
  assert.match(text, /skipped/);
  assert.deepEqual((await rig.call("serial_get_state")).output, before);
});

Deno.test("outside terminal mode the line buffer is skipped [C157]", async () => {
  await using rig = await memoryRig();
  const { applied } = (await rig.call("serial_set_display", { lineBuf: true })).output;
  assert.deepEqual(applied, [{ name: "lineBuf", ok: true, from: false, to: false, skipped: true }]);
  assert.equal((await rig.call("serial_get_state")).output.lineBuf, false);
});

Deno.test("in terminal mode the line buffer is set, also in the call that switches it on [C158]", async () => {
  await using rig = await memoryRig();
  const { applied } = (await rig.call("serial_set_display", { lineBuf: true, terminalMode: true })).output;
  assert.deepEqual(applied.map((a) => [a.name, a.ok, a.to, a.skipped]), [
    ["terminalMode", true, true, undefined],
    ["lineBuf", true, true, undefined],
  ]);
  await rig.call("serial_set_display", { lineBuf: false });
  const again = await rig.call("serial_set_display", { lineBuf: true });
  assert.equal(again.output.applied[0]?.to, true);
});

Deno.test("mark, space and 1.5 stop bits: set as asked, or refused with the reason; read back and told [SO06]", async () => {
  const driver = new MemoryDriver();
  driver.plug({ path: "full" });
  driver.plug({
    path: "plain",
    refuses: ({ parity, stopBits }) =>
      stopBits === 1.5
        ? "no 1.5 stop bits"
        : parity === "mark" || parity === "space"
        ? `no ${parity} parity`
        : undefined,
  });
  driver.plug({ path: "silent", readBack: (asked) => ({ ...asked, parity: "none", dataBits: 8 }) });
  await using rig = await memoryRig({ driver });
  const pane = rig.bench.panes.need();
  for (const parity of ["none", "odd", "even", "mark", "space"] as const) {
    for (const stopBits of [1, 1.5, 2] as const) {
      await rig.call("serial_close");
      pane.setFrame({ parity, stopBits, dataBits: 7 });
      const asked = { parity, stopBits: `${stopBits}`, dataBits: "7" };

      const full = (await rig.call("serial_open", { port: "full" })).output;
      assert.deepEqual(pane.link.current?.port.settings(), { baudRate: 115200, dataBits: 7, parity, stopBits });
      assert.equal(full.note, undefined);
      assert.deepEqual(
        { parity: full.state.parity, stopBits: full.state.stopBits, dataBits: full.state.dataBits },
        asked,
      );
      await rig.call("serial_close");

      const told = stopBits === 1.5 ? "1.5 stop bits" : parity === "mark" || parity === "space" ? `no ${parity}` : "";
      const plain = rig.call("serial_open", { port: "plain" });
      if (told === "") await plain;
      else assert.ok((await fails(plain, "unsupported")).message.includes(told));
      await rig.call("serial_close");

      const silent = (await rig.call("serial_open", { port: "silent" })).output;
      assert.match(silent.note ?? "", /7 data bits asked, 8 set/);
      if (parity !== "none") assert.match(silent.state.statusText, new RegExp(`parity ${parity} asked, none set`));
    }
  }
});

Deno.test("a virtual port that drops parity and 7 bits is told, never silent [SO06]", async () => {
  await using rig = await ptyRig();
  await rig.call("serial_set_frame", { dataBits: "7", parity: "even" });
  const { output } = await rig.call("serial_open", { port: rig.device.path });
  assert.match(output.note ?? "", /7 data bits asked, 8 set/);
  assert.match(output.note ?? "", /parity even asked, none set/);
  assert.match(rig.lines("app").join("\n"), /parity even asked, none set/);
});
