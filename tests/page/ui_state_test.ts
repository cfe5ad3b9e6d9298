import assert from "node:assert/strict";
import { uiHandlers } from "../../src/handlers/ui.ts";
import { NO_BRIDGE } from "../../src/handlers/page_bridge.ts";
import type { SeenDevice } from "../../src/handlers/ui_state.ts";
import { isObject } from "../../src/mcp/protocol.ts";
import type { InputOf } from "../../tools/mod.ts";
import { pageRig } from "../rigs/page.ts";

const context = {
  caller: { kind: "agent", session: "t", src: "ai" },
  signal: new AbortController().signal,
  progress: () => {},
} as const;

const devices = Array.from({ length: 45 }, (_, i): SeenDevice => ({
  mac: `AA:${String(i).padStart(2, "0")}`,
  name: `Peer ${i}`,
  rssi: -40 - i,
  paired: false,
  selected: i === 3,
}));

/** Sections over a bench that has what this version has not yet. */
async function sections(input: InputOf<"ui_get_state">, os = "linux") {
  const handlers = uiHandlers(NO_BRIDGE, {
    monitors: () => ({ main: { port: "mem1", baud: 9600 }, "extra-1": { port: "" } }),
    settings: () => ({ theme: "dark", accent: "teal", language: "zh", layout: { side: true } }),
    ble: () => ({ scanning: true, selected: "AA:03", devices }),
    os,
  });
  return (await handlers.ui_get_state(input, context)).output;
}

Deno.test("with no page the saved state is told all the same [C339]", async () => {
  await using rig = await pageRig();
  const agent = await rig.agent();
  await rig.bench.panes.need("extra-1", { create: true });
  const output = await agent.ok("ui_get_state");
  assert.deepEqual(Object.keys(output).sort(), ["ble", "monitors", "serial", "theme", "window", "wsl"]);
  assert.ok(isObject(output["serial"]) && isObject(output["monitors"]));
  assert.equal(output["serial"]["baud"], 115200);
  assert.deepEqual(Object.keys(output["monitors"]), ["main", "extra-1"]);
});

Deno.test("what the page saves is the theme and window of the state", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  await page.act("ui.save", { key: "theme", value: "light" });
  await page.act("ui.save", { key: "layout", value: { side: false } });
  const agent = await rig.agent();
  assert.deepEqual(await agent.ok("ui_get_state", { section: "theme" }), { theme: { theme: "light" } });
  assert.deepEqual(await agent.ok("ui_get_state", { section: "window" }), { window: { layout: { side: false } } });
});

Deno.test("each section gives that part only, an unknown one is refused [C340]", async () => {
  for (const section of ["serial", "wsl", "ble", "bleDevices", "wslDevices", "theme", "window", "monitors"] as const) {
    assert.deepEqual(Object.keys(await sections({ section })), [section]);
  }
  assert.deepEqual(await sections({ section: "serial" }), { serial: { port: "mem1", baud: 9600 } });
  assert.deepEqual((await sections({ section: "theme" })).theme, { theme: "dark", accent: "teal", language: "zh" });
  assert.deepEqual((await sections({ section: "window" })).window, { layout: { side: true } });
  await using rig = await pageRig();
  const agent = await rig.agent();
  const { json } = await agent.call("ui_get_state", { section: "nope" });
  assert.ok(isObject(json["error"]));
  assert.match(String(json["error"]["message"]), /bleDevices, wslDevices/);
});

Deno.test("45 scanned devices: page two of twenty, and a limit out of range is refused [C341]", async () => {
  const { bleDevices } = await sections({ section: "bleDevices", limit: 20, offset: 20 });
  assert.deepEqual(bleDevices, {
    scanning: true,
    total: 45,
    devices: devices.slice(20, 40),
    hasMore: true,
    nextOffset: 40,
  });
  const rest = (await sections({ section: "bleDevices", limit: 20, offset: 40 })).bleDevices;
  assert.ok(isObject(rest) && rest["hasMore"] === false && !("nextOffset" in rest));
  await using rig = await pageRig();
  const agent = await rig.agent();
  for (const limit of [0, 201]) {
    const { json } = await agent.call("ui_get_state", { section: "bleDevices", limit });
    assert.ok(isObject(json["error"]) && json["error"]["code"] === -32602);
  }
  const { json } = await agent.call("ui_get_state", { section: "serial", limit: 5 });
  assert.ok(isObject(json["error"]) && json["error"]["code"] === -32602);
});

Deno.test("the ble section holds the first ten devices [C342]", async () => {
  const { ble } = await sections({ section: "ble" });
  assert.deepEqual(ble, {
    selected: "AA:03",
    scanning: true,
    scanResult: { total: 45, devices: devices.slice(0, 10) },
  });
});

Deno.test("elsewhere than on Windows no USB device can be mapped into WSL, and the answer says why [C343]", async () => {
  const { wslDevices } = await sections({ section: "wslDevices" });
  assert.ok(wslDevices);
  assert.equal(wslDevices["count"], 0);
  assert.match(String(wslDevices["mapUnavailableReason"]), /only on Windows/);
  for (const field of ["wslRunning", "targetDistro", "panelOpened", "mapped", "devices", "note"]) {
    assert.ok(field in wslDevices, field);
  }
});
