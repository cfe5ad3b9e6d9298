import assert from "node:assert/strict";
import { LIMITS } from "../../tools/mod.ts";
import type { Control } from "../../src/core/page_protocol.ts";
import { isObject } from "../../src/mcp/protocol.ts";
import { until } from "../rigs/bench.ts";
import type { Json, RawMcp } from "../rigs/mcp_client.ts";
import { pageRig } from "../rigs/page.ts";
import { control } from "../rigs/page_client.ts";

const CONTROLS: Control[] = [
  control("serial.conn.start", { label: "Start" }),
  control("serial.conn.baud", { kind: "number", value: 115200, min: 110, max: 4_000_000 }),
  control("serial.send.send", { label: "Send", enabled: false, disabledReason: "the port is closed" }),
  control("serial.send.text", { kind: "text", value: "" }),
  control("serial.send.ending", {
    kind: "select",
    value: "crlf",
    options: ["crlf", "lf"].map((value) => ({ value, label: value.toUpperCase() })),
  }),
  control("serial.view.echo", { kind: "toggle", value: true }),
  control("ble.scan.start", { panel: "ble" }),
  control("mcp.server.resetToken", { panel: "mcp", personOnly: true }),
  control("serial.rule.run", { tool: "test_danger" }),
];
const ON = { expose: { autoControlTools: true } };

async function setup(mcp: Json, controls = CONTROLS) {
  const rig = await pageRig({ mcp });
  const page = await rig.page(controls);
  const agent = await rig.agent();
  await until(() => rig.hub.bridge.controls().length > 0, "the controls arrived");
  return { rig, page, agent, [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose]() };
}

/** All pages of tools/list: the sizes of the pages and the tools. */
async function listed(agent: RawMcp): Promise<{ sizes: number[]; tools: Json[] }> {
  const sizes: number[] = [];
  const tools: Json[] = [];
  let cursor: unknown;
  do {
    const { json, text } = await agent.request("tools/list", cursor === undefined ? {} : { cursor });
    const { result } = json;
    assert.ok(isObject(result) && Array.isArray(result["tools"]), text);
    sizes.push(result["tools"].length);
    tools.push(...result["tools"]);
    cursor = result["nextCursor"];
  } while (cursor !== undefined);
  return { sizes, tools };
}
const ctl = (tools: Json[]) => tools.filter((t) => String(t["name"]).startsWith("ctl_"));
const names = (tools: Json[]) => ctl(tools).map((t) => String(t["name"]));

async function errorOf(agent: RawMcp, name: string, args: unknown): Promise<{ code: unknown; text: string }> {
  const { json, text } = await agent.call(name, args);
  if (isObject(json["error"])) return { code: json["error"]["code"], text: String(json["error"]["message"]) };
  const { result } = json;
  assert.ok(isObject(result) && result["isError"] === true && isObject(result["structuredContent"]), text);
  const { error } = result["structuredContent"];
  assert.ok(isObject(error));
  return { code: error["code"], text: JSON.stringify(result["content"]) };
}

Deno.test("by default no control is a tool [C077]", async () => {
  await using s = await setup({});
  const { sizes, tools } = await listed(s.agent);
  assert.equal(sizes.length, 1);
  assert.deepEqual(names(tools), []);
  assert.equal((await errorOf(s.agent, "ctl_serial_conn_start", {})).code, -32602);
  const status = await s.agent.ok("mcp_status");
  assert.equal(status["toolCount"], status["builtinToolCount"]);
});

Deno.test("switched on, there is a tool for each button, input and select, and none for what is dangerous or a person's [C078] [C089]", async () => {
  await using s = await setup(ON);
  assert.deepEqual(names((await listed(s.agent)).tools), [
    "ctl_ble_scan_start",
    "ctl_serial_conn_baud",
    "ctl_serial_conn_start",
    "ctl_serial_send_ending",
    "ctl_serial_send_send",
    "ctl_serial_send_text",
    "ctl_serial_view_echo",
  ]);
  const status = await s.agent.ok("mcp_status");
  assert.equal(Number(status["toolCount"]) - Number(status["builtinToolCount"]), 7);
});

Deno.test("built-in tools come first and whole, then control tools by fifty, each once [C071]", async () => {
  await using s = await setup(ON, Array.from({ length: 120 }, (_, i) => control(`serial.many.c${i}`)));
  const { sizes, tools } = await listed(s.agent);
  assert.deepEqual(sizes.slice(1), [50, 50, 20]);
  assert.equal(names(tools.slice(0, sizes[0])).length, 0);
  assert.equal(new Set(names(tools)).size, 120);
  const { json } = await s.agent.request("tools/list", { cursor: "ctl:x" });
  assert.ok(isObject(json["error"]) && json["error"]["code"] === -32602);
});

Deno.test("a control tool takes what its control takes [C081]", async () => {
  await using s = await setup(ON);
  const { tools } = await listed(s.agent);
  const valueOf = (name: string) => {
    const schema = tools.find((t) => t["name"] === name)?.["inputSchema"];
    assert.ok(isObject(schema) && schema["additionalProperties"] === false && isObject(schema["properties"]), name);
    const { value } = schema["properties"];
    assert.ok(isObject(value));
    return value;
  };
  assert.equal(valueOf("ctl_serial_view_echo")["type"], "boolean");
  assert.deepEqual([valueOf("ctl_serial_conn_baud")["type"], valueOf("ctl_serial_conn_baud")["minimum"]], [
    "number",
    110,
  ]);
  assert.deepEqual(valueOf("ctl_serial_send_ending")["enum"], ["crlf", "lf"]);
  assert.equal(valueOf("ctl_serial_send_text")["type"], "string");
});

Deno.test("a control that cannot be used says why in its tool's description [C082]", async () => {
  await using s = await setup(ON);
  const { tools } = await listed(s.agent);
  assert.match(String(tools.find((t) => t["name"] === "ctl_serial_send_send")?.["description"]), /the port is closed/);
});

Deno.test("of 500 controls 400 are tools [C083]", async () => {
  await using s = await setup(ON, Array.from({ length: 500 }, (_, i) => control(`serial.many.c${i}`)));
  assert.equal(names((await listed(s.agent)).tools).length, LIMITS.maxCtlTools);
});

Deno.test("namespaces leave only the panels that are named [C084]", async () => {
  await using s = await setup({ expose: { autoControlTools: true, namespaces: ["ble"] } });
  assert.deepEqual(names((await listed(s.agent)).tools), ["ctl_ble_scan_start"]);
});

Deno.test("clients hear when the set of control tools has changed, and only then [C085]", async () => {
  await using s = await setup(ON);
  const stream = await s.agent.listen();
  s.rig.clients.push({ close: () => stream.cancel() });
  let heard = 0;
  s.rig.hub.controlTools.onChange(() => heard++);
  const said = async (controls: Control[]) => {
    s.page.setControls(controls);
    await s.page.call("app_info");
  };
  await said(CONTROLS.map((c) => c.path === "serial.send.send" ? { ...c, enabled: true, disabledReason: null } : c));
  await said([...CONTROLS].reverse());
  assert.equal(heard, 0, "the same set in another state and order is no change");
  await said([...CONTROLS, control("serial.extra-1.start")]);
  assert.equal(heard, 1);
  const message = await stream.message();
  assert.equal(message["method"], "notifications/tools/list_changed");
  await said(CONTROLS);
  assert.equal(heard, 2);
  assert.equal((await stream.message())["method"], "notifications/tools/list_changed");
  assert.equal(names((await listed(s.agent)).tools).length, 7);
});

Deno.test("a person switches control tools on and off, at once and kept", async () => {
  await using s = await setup({});
  await s.page.act("server.setControlTools", { on: true, namespaces: ["ble"] });
  assert.deepEqual(names((await listed(s.agent)).tools), ["ctl_ble_scan_start"]);
  assert.deepEqual(s.rig.settings.value.expose.namespaces, ["ble"]);
  await s.page.act("server.setControlTools", { on: false });
  assert.deepEqual(names((await listed(s.agent)).tools), []);
});

Deno.test("a call of a select's tool changes the control by its event and answers as ui_set does [C086]", async () => {
  await using s = await setup(ON);
  const output = await s.agent.ok("ctl_serial_send_ending", { value: "lf" });
  assert.deepEqual(output, {
    results: [{ path: "serial.send.ending", ok: true, from: "crlf", to: "lf" }],
    effects: [{ path: "serial.send.ending", from: "crlf", to: "lf" }],
  });
  assert.deepEqual(s.page.controls.get("serial.send.ending")?.events, ["change"]);
  await s.agent.ok("ctl_serial_conn_start", {});
  await s.agent.ok("ctl_serial_conn_start", { value: true });
  assert.deepEqual(s.page.controls.get("serial.conn.start")?.events, ["click", "click"]);
  for (
    const [name, args, said] of [
      ["ctl_serial_send_ending", { value: "cr" }, /crlf, lf/],
      ["ctl_serial_send_ending", {}, /crlf, lf/],
      ["ctl_serial_conn_baud", { value: "9600" }, /number/],
      ["ctl_serial_conn_baud", { value: 5 }, /110/],
      ["ctl_serial_view_echo", { value: 1 }, /true or false/],
      ["ctl_serial_view_echo", { value: true, more: 1 }, /"more".*value/],
      ["ctl_serial_conn_start", { value: false }, /true/],
      ["ctl_serial_nope_x", {}, /Unknown tool/],
    ] as const
  ) {
    const error = await errorOf(s.agent, name, args);
    assert.equal(error.code, -32602, name);
    assert.match(error.text, said);
  }
});

Deno.test("with the page closed the tools are still listed and a call says that there is no page [C087]", async () => {
  await using s = await setup(ON);
  await s.page.close();
  await until(() => s.rig.hub.pages === 0, "the page is gone");
  assert.equal((await errorOf(s.agent, "ctl_serial_conn_start", {})).code, -32006);
  assert.equal((await errorOf(s.agent, "ctl_serial_never_seen", {})).code, -32006);
});

Deno.test("a control tool that is refused counts against the rate and is recorded like any call", async () => {
  await using s = await setup({ ...ON, rateLimitPerMin: 4 });
  assert.equal((await errorOf(s.agent, "ctl_serial_conn_baud", { value: 5 })).code, -32602);
  assert.equal((await errorOf(s.agent, "ctl_serial_view_echo", [])).code, -32602);
  await s.page.close();
  await until(() => s.rig.hub.pages === 0, "the page is gone");
  assert.equal((await errorOf(s.agent, "ctl_serial_never_seen", {})).code, -32006);
  assert.equal((await errorOf(s.agent, "ctl_serial_conn_start", {})).code, -32006);
  assert.equal((await errorOf(s.agent, "ctl_serial_conn_baud", { value: 5 })).code, -32000);
  const next = await s.rig.agent();
  const { calls } = await next.ok("mcp_calls");
  assert.ok(Array.isArray(calls));
  assert.deepEqual(calls.map((c) => [c.tool, c.ok, c.args]), [
    ["ctl_serial_conn_baud", false, { value: 5 }],
    ["ctl_serial_view_echo", false, []],
    ["ctl_serial_never_seen", false, {}],
    ["ui_click", false, { path: "serial.conn.start" }],
  ]);
  const of = await next.ok("mcp_calls", { tool: "ctl_serial_conn_baud" });
  assert.equal(of["returned"], 1);
});

Deno.test("read-only mode is told before the missing page: policy comes first", async () => {
  await using s = await setup({ expose: { autoControlTools: true, readOnly: true } });
  await s.page.close();
  await until(() => s.rig.hub.pages === 0, "the page is gone");
  assert.equal((await errorOf(s.agent, "ctl_serial_conn_start", {})).code, -32007);
});

Deno.test("read-only mode refuses control tools [C088]", async () => {
  await using s = await setup(ON);
  await s.page.act("server.setReadOnly", { on: true });
  assert.equal((await errorOf(s.agent, "ctl_serial_view_echo", { value: false })).code, -32007);
  assert.deepEqual(s.page.controls.get("serial.view.echo")?.events, []);
});
