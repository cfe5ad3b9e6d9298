/** Serial tools over the wire: sections 8 to 11 of the checks. */
import assert from "node:assert/strict";
import { paneState } from "../../tools/device/serial.ts";
import { until } from "../rigs/bench.ts";
import type { Json } from "../rigs/mcp_client.ts";
import { arrayIn, startWire } from "./rig.ts";
import { skipped } from "../rigs/skip.ts";

const unix = Deno.build.os !== "windows";

Deno.test({ name: "serial tools on the wire" + skipped(!unix, "needs PTYs and signals"), ignore: !unix }, async (t) => {
  await using wire = await startWire();
  const { ok, refused, fails } = wire;
  const state = async (pane = "main") => (await ok("serial_get_state", { pane })).output;
  const applied = async (tool: string, args: Json) => arrayIn((await ok(tool, args)).output, "applied");

  await t.step("a fresh start: pane main, not connected, every field there [C132]", async () => {
    const { output } = await ok("serial_get_state");
    assert.deepEqual([output["pane"], output["isConnected"], output["panes"]], ["main", false, ["main"]]);
    assert.deepEqual(Object.keys(output).sort(), Object.keys(paneState.shape).sort());
  });

  await t.step("a pane that is not there is refused with those that are, and a read makes none [C133]", async () => {
    for (const tool of ["serial_get_state", "serial_get_output", "serial_get_history", "serial_set_baud"]) {
      const args = { pane: "extra-9", ...(tool === "serial_set_baud" && { baud: 9600 }) };
      assert.match(await refused(tool, args), /No pane extra-9\. Panes: main, or extra-1/);
    }
    assert.match(await refused("serial_get_state", { pane: "extra-1" }), /Panes: main/);
    assert.ok((await refused("serial_get_state", { pane: "x".repeat(100_000) })).length < 1000);
    assert.deepEqual((await state())["panes"], ["main"]);
  });

  await t.step("WSL panes exist on Windows only, and the refusal says so [C135]", async () => {
    for (const pane of ["wsl", "wsl-x1"]) assert.match(await refused("serial_get_state", { pane }), /only on Windows/);
  });

  await t.step("a port that is not offered is refused with those that are [C139]", async () => {
    const message = await refused("serial_select_port", { port: "COM99" });
    for (const { value } of arrayIn(await state(), "portOptions")) assert.ok(message.includes(String(value)), message);
    assert.ok(message.includes(wire.a));
    assert.equal((await state())["port"], "");
    assert.ok((await refused("serial_select_port", { port: "x".repeat(100_000) })).length < 1000);
  });

  await t.step("the lowest and the highest baud rate are taken [C144]", async () => {
    for (const baud of [110, 4_000_000, 74_880]) {
      await ok("serial_set_baud", { baud });
      assert.equal((await state())["baud"], baud);
    }
  });

  await t.step("other rates and other types are refused, and change nothing [C145]", async () => {
    for (const baud of [109, 4_000_001, "9600", 9600.5, null, -1]) {
      assert.match(await refused("serial_set_baud", { baud }), /baud/);
    }
    await refused("serial_set_baud");
    assert.equal((await state())["baud"], 74_880);
  });

  await t.step("a frame needs at least one part [C147]", async () => {
    assert.match(await refused("serial_set_frame"), /at least one of: dataBits, stopBits, parity/);
  });

  await t.step("three parts set are three entries [C148]", async () => {
    const entries = await applied("serial_set_frame", { dataBits: "7", parity: "even", stopBits: "2" });
    assert.deepEqual(entries.map((e) => [e["name"], e["ok"], e["from"], e["to"]]), [
      ["dataBits", true, "8", "7"],
      ["stopBits", true, "1", "2"],
      ["parity", true, "none", "even"],
    ]);
    const { dataBits, stopBits, parity } = await state();
    assert.deepEqual([dataBits, stopBits, parity], ["7", "2", "even"]);
    await ok("serial_set_frame", { dataBits: "8", parity: "none", stopBits: "1" });
  });

  await t.step("parts that do not exist are refused [C149]", async () => {
    for (const bad of [{ dataBits: "9" }, { dataBits: "4" }, { parity: "mark" }, { stopBits: "1.5" }, { parity: 1 }]) {
      await refused("serial_set_frame", bad);
    }
  });

  await t.step("lines and display need at least one argument [C153] [C154]", async () => {
    assert.match(await refused("serial_set_lines"), /at least one of: dtr, rts/);
    assert.match(await refused("serial_set_display"), /at least one of/);
  });

  await t.step("each of the ten switches can be set and is read back [C155]", async () => {
    const before = await state();
    const switches: [name: string, values: unknown[]][] = [
      ["viewMode", ["hex", "text"]],
      ["lineEnding", ["lf", "cr", "none", "crlf"]],
      ["terminalMode", [true, false]],
      ...["echo", "lineNum", "timestamp", "autoScroll", "autoReconnect", "advOpen"].map(
        (name): [string, unknown[]] => [name, [!before[name], before[name]]],
      ),
    ];
    for (const [name, values] of switches) {
      for (const to of values) {
        const [entry] = await applied("serial_set_display", { [name]: to });
        assert.deepEqual([entry?.["name"], entry?.["ok"], entry?.["to"]], [name, true, to]);
        assert.equal((await state())[name], to, name);
      }
    }
  });

  await t.step(
    "in terminal mode line numbers, times and echo are passed over, and lineBuf is set [C156] [C158]",
    async () => {
      await ok("serial_set_display", { terminalMode: true });
      const entries = await applied("serial_set_display", {
        lineNum: true,
        timestamp: false,
        echo: false,
        lineBuf: true,
      });
      assert.deepEqual(entries.map((e) => [e["name"], e["ok"], e["skipped"]]), [
        ["echo", true, true],
        ["lineNum", true, true],
        ["timestamp", true, true],
        ["lineBuf", true, undefined],
      ]);
      assert.equal((await state())["lineBuf"], true);
    },
  );

  await t.step("outside terminal mode lineBuf is passed over [C157]", async () => {
    await ok("serial_set_display", { terminalMode: false });
    const [entry] = await applied("serial_set_display", { lineBuf: false });
    assert.deepEqual([entry?.["ok"], entry?.["skipped"]], [true, true]);
    assert.equal((await state())["lineBuf"], true);
  });

  await t.step("a send on a closed pane fails and names serial_open [C177]", async () => {
    const { text, error } = await fails("serial_send", { data: "AT" });
    assert.deepEqual([error["code"], error["reason"]], [-32006, "not_open"]);
    assert.match(text, /serial_open/);
    assert.equal((await state())["historyCount"], 0);
  });

  await t.step("nothing received yet is an empty answer with a note, no error [C185]", async () => {
    const { output } = await ok("serial_get_output");
    assert.deepEqual([output["count"], output["items"]], [0, []]);
    assert.match(String(output["note"]), /serial_open/);
  });

  await t.step("bad hex is refused whole, with the column; nothing is sent [C176]", async () => {
    await wire.openBoth();
    for (const [data, column] of [["0G", 2], ["123", 1], ["01 02 4Z", 8], ["0x", 1]] as const) {
      assert.match(await refused("serial_send", { data, mode: "hex" }), new RegExp(`column ${column}`), data);
    }
    assert.equal((await state())["outputBytes"], 0);
    await ok("serial_send", { data: "0x01, 2 0A", mode: "hex" });
    await until(async () => (await state("extra-1"))["outputBytes"] === 3, "the good one went");
  });

  await t.step("65,536 characters go whole, one more is refused [C178]", async () => {
    const before = Number((await state("extra-1"))["outputBytes"]);
    const data = "ü€".repeat(32_768);
    const bytes = new TextEncoder().encode(data).length;
    const { output } = await ok("serial_send", { data, mode: "text", lineEnding: "none" });
    assert.equal(output["bytes"], bytes);
    await until(async () => (await state("extra-1"))["outputBytes"] === before + bytes, "all of it at the far end");
    assert.match(await refused("serial_send", { data: `${data}x` }), /65,?536/);
    assert.equal((await state())["outputBytes"], before + bytes);
  });
});
