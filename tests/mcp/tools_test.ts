import assert from "node:assert/strict";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { isObject } from "../../src/mcp/protocol.ts";
import { listTools } from "../../src/mcp/tool_list.ts";
import { LIMITS, type ToolRow, TOOLS } from "../../tools/mod.ts";
import type { ControlTool, ControlTools } from "../../src/handlers/page_bridge.ts";
import { MemoryDriver } from "../../src/drivers/serial/memory.ts";
import { startApp, TOKEN } from "../rigs/app.ts";
import { connect, errorOf, type Json, RawMcp, resultOf, SseClient, structured, textOf } from "../rigs/mcp_client.ts";
import { callAll, sampleArgs } from "../rigs/sample_args.ts";

const ROWS: readonly ToolRow[] = TOOLS;

Deno.test("every listed tool has a fit name, a description and a closed object schema [C073] [C074]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const { tools } = resultOf((await client.request("tools/list")).json);
  assert.ok(Array.isArray(tools) && tools.length >= TOOLS.length);
  for (const tool of tools) {
    assert.match(tool.name, /^[A-Za-z0-9_-]{1,64}$/);
    assert.ok(tool.description.length > 0, tool.name);
    assert.equal(tool.inputSchema.type, "object");
    assert.equal(tool.inputSchema.additionalProperties, false);
    assert.ok(!("$schema" in tool.inputSchema));
    assert.equal(typeof tool.annotations.readOnlyHint, "boolean");
    const row = rig.gate.rows().find((r) => r.name === tool.name);
    assert.equal(tool.annotations.readOnlyHint, row?.access === "read");
    for (const [name, property] of Object.entries(tool.inputSchema.properties)) {
      assert.ok(isObject(property), name);
      assert.ok("type" in property || "enum" in property || "anyOf" in property, `${tool.name}.${name}`);
      assert.ok(!Array.isArray(property["type"]), `${tool.name}.${name}`);
    }
  }
});

Deno.test("the whole list costs an agent less than 6,000 tokens, the slim profile less than 400 [C075]", async () => {
  const list = listTools(TOOLS);
  const needed = list.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  assert.ok(countTokens(JSON.stringify(needed)) < 6000);
  // Everything that goes over the wire, for all 54 tools, pro rata for those that are not there yet.
  assert.ok(countTokens(JSON.stringify(list)) * 54 / list.length < 8000);
  await using rig = await startApp();
  for (const path of ["/mcp?profile=slim", "/mcp?profile=slim&x=1"]) {
    const client = new RawMcp(rig.origin, TOKEN, path);
    await client.initialize();
    const { tools } = resultOf((await client.request("tools/list")).json);
    assert.ok(Array.isArray(tools) && tools.length >= 4);
    const tokens = countTokens(JSON.stringify(tools));
    assert.ok(tokens < 400, `${tokens} tokens`);
    // What is not listed can still be called.
    assert.equal((await client.ok("app_info"))["name"], "fieldbench");
  }
  const all = new RawMcp(rig.origin, TOKEN, "/mcp?profile=all");
  await all.initialize();
  const { tools } = resultOf((await all.request("tools/list")).json);
  assert.ok(Array.isArray(tools) && tools.length >= TOOLS.length);
});

Deno.test("--tools slim makes the slim profile the one that clients see by themselves", async () => {
  await using rig = await startApp({ parts: { toolProfile: "slim" } });
  const client = await connect(rig.origin, TOKEN);
  const { tools } = resultOf((await client.request("tools/list")).json);
  assert.ok(Array.isArray(tools) && tools.length < 10);
  assert.equal(errorOf((await client.request("tools/list", { cursor: "ctl:0" })).json)["code"], -32602);
});

Deno.test("mcp_status and mcp_limits count the tools, and mcp_limits has every number of the table [C076] [C306]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const [status, limits] = [await client.ok("mcp_status"), await client.ok("mcp_limits")];
  for (const  of of[status, limits]) {
    assert.deepEqual([of["toolCount"], of["builtinToolCount"]], [TOOLS.length, TOOLS.length]);
  }
  const reported: Json = { ...limits };
  assert.deepEqual(limits, { ...LIMITS, rateLimitPerMin: 0, toolCount: TOOLS.length, builtinToolCount: TOOLS.length });
  assert.deepEqual(status["limits"], limits);
  const contract = [
    "maxSessions",
    "sessionQueue",
    "heartbeatSecs",
    "maxBodyBytes",
    "maxUiSetItems",
    "maxSendChars",
    "toolsPage",
    "idleTimeoutSecs",
    "rateLimitPerMin",
    "protocolVersion",
    "protocolFallback",
    "logMaxLineBytes",
    "logTotalCapBytes",
    "logMaxChannels",
    "maxQuickCmdItems",
    "maxQuickCmdLabelChars",
    "maxQuickCmdValueChars",
    "maxQuickCmdFileBytes",
    "maxQuickCmdTimeoutMs",
    "maxQuickCmdRetry",
    "maxQuickCmdExpectChars",
    "maxBleWriteChars",
    "maxAdbWriteChars",
    "maxAdbCols",
    "maxAdbRows",
    "maxAdbReadLines",
  ];
  for (const key of contract) assert.ok(key in limits, key);
  const values = {
    maxSessions: 4,
    sessionQueue: 256,
    heartbeatSecs: 15,
    maxBodyBytes: 1048576,
    toolsPage: 50,
    idleTimeoutSecs: 1800,
    maxSendChars: 65536,
    logMaxLineBytes: 8192,
    logTotalCapBytes: 16777216,
    logMaxChannels: 64,
    protocolVersion: "2025-11-25",
    protocolFallback: "2024-11-05",
  };
  for (const [key, value] of Object.entries(values)) assert.equal(reported[key], value, key);
});

Deno.test("the rate limit of the contract is 60, and the flag and the settings can change it", async () => {
  for (
    const [config, flag, expected] of [[{}, undefined, 60], [{ rateLimitPerMin: 5 }, undefined, 5], [
      { rateLimitPerMin: 5 },
      0,
      0,
    ]] as const
  ) {
    await using rig = await startApp({ config, rateLimitPerMin: flag });
    assert.equal((await (await connect(rig.origin, TOKEN)).ok("mcp_limits"))["rateLimitPerMin"], expected);
  }
});

/** Tools of a page's controls, in the test's hands. */
class FakeControls implements ControlTools {
  count = 0;
  #listener = () => {};
  list(): ControlTool[] {
    return Array.from({ length: this.count }, (_, i) => ({
      name: `ctl_${i}`,
      title: `Control ${i}`,
      description: "A control.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    }));
  }
  resolve(name: string) {
    return name === "ctl_7" ? { tool: "ui_click" as const, args: { path: "serial.conn.open" } } : undefined;
  }
  onChange(listener: () => void) {
    this.#listener = listener;
    return () => this.#listener = () => {};
  }
  change(count: number) {
    this.count = count;
    this.#listener();
  }
}

Deno.test("tools of controls follow the built-in ones by 50 a page, and a change is told [C071]", async () => {
  const controls = new FakeControls();
  await using rig = await startApp({ parts: { controlTools: controls } });
  const client = await connect(rig.origin, TOKEN);
  const stream = await client.listen();
  controls.change(120);
  assert.equal((await stream.message())["method"], "notifications/tools/list_changed");
  const pages: string[][] = [];
  let cursor: unknown;
  do {
    const { tools, nextCursor } = resultOf(
      (await client.request("tools/list", cursor === undefined ? {} : { cursor })).json,
    );
    assert.ok(Array.isArray(tools) && pages.length < 10);
    pages.push(tools.map((t) => t.name));
    cursor = nextCursor;
  } while (cursor !== undefined);
  assert.deepEqual(pages[0], rig.gate.rows().map((r) => r.name));
  assert.deepEqual(pages.slice(1).map((p) => p.length), [50, 50, 20]);
  assert.deepEqual(pages.slice(1).flat(), controls.list().map((t) => t.name));
  for (const bad of ["ctl:120", "ctl:7", "ctl:-50", "ctl:", "ctl:x", "ctl:0x10"]) {
    assert.equal(errorOf((await client.request("tools/list", { cursor: bad })).json)["code"], -32602, bad);
  }
  // A call of one is the call of ui_click that it stands for; there is no page here.
  const { json } = await client.call("ctl_7");
  assert.match(textOf(json), /^-32006: /);
  await stream.cancel();
});

Deno.test("structured content is an object with names in camelCase, and the text says the data [C125] [C126] [C127]", async () => {
  const driver = new MemoryDriver();
  driver.plug({ path: "/dev/ttyUSB7" });
  await using rig = await startApp({ driver });
  const answers = await callAll(await connect(rig.origin, TOKEN));
  for (const [name, json] of answers) {
    const result = resultOf(json);
    assert.ok(isObject(result["structuredContent"]) || isObject(json["error"]), `${name}: ${JSON.stringify(json)}`);
    if (json["error"]) continue;
    assert.ok(textOf(json).length > 0, name);
    checkNames(result["structuredContent"], name);
  }
  assert.match(textOf(answers.get("serial_list_ports") ?? {}), /ttyUSB7/);
  assert.match(textOf(answers.get("app_info") ?? {}), /fieldbench 0\.0\.0-test .* pid \d+/);
});

/** Keys that are data (names of tools and channels), not fields. */
const BY_NAME: ReadonlySet<string> = new Set([
  "toolCalls",
  "byTool",
  "sessionToolCalls",
  "monitors",
  "args",
  "result",
  "settings",
]);

function checkNames(value: unknown, where: string): void {
  if (Array.isArray(value)) return value.forEach((v, i) => checkNames(v, `${where}[${i}]`));
  if (!isObject(value)) return;
  for (const [key, v] of Object.entries(value)) {
    assert.match(key, /^[a-z][A-Za-z0-9]*$/, `${where}.${key}`);
    if (!BY_NAME.has(key)) checkNames(v, `${where}.${key}`);
  }
}

Deno.test("an old spelling of an argument has the effect of the new one, which wins when both are given [C129]", async () => {
  await using rig = await startApp();
  for (const text of ["Alpha", "beta", "ALPHA"]) rig.bench.hub.log("app", "info", text);
  const client = await connect(rig.origin, TOKEN);
  const same = async (name: string, old: Json, now: Json, both: Json) => {
    const expected = await client.ok(name, now);
    assert.deepEqual(await client.ok(name, old), expected);
    assert.deepEqual(await client.ok(name, both), expected);
  };
  await same("log_tail", { channel: "app", since_seq: 2 }, { channel: "app", sinceSeq: 2 }, {
    channel: "app",
    sinceSeq: 2,
    since_seq: 0,
  });
  const search = { channel: "app", pattern: "alpha" };
  await same("log_search", { ...search, case_sensitive: true }, { ...search, caseSensitive: true }, {
    ...search,
    caseSensitive: true,
    case_sensitive: false,
  });
  await client.call("test_fail");
  const only = async (args: Json) => {
    const { calls } = await client.ok("mcp_calls", { tool: "test_fail", ...args });
    assert.ok(Array.isArray(calls));
    return calls.length;
  };
  assert.deepEqual([
    await only({ ok_only: false }),
    await only({ ok_only: true }),
    await only({ okOnly: true, ok_only: false }),
  ], [1, 0, 0]);
});

Deno.test("format text has its body once, in the content; structured content has the metadata only [C128]", async () => {
  await using rig = await startApp();
  rig.bench.hub.log("app", "info", "a line that is looked for");
  const client = await connect(rig.origin, TOKEN);
  const { json } = await client.call("log_tail", { channel: "app", format: "text" });
  assert.match(textOf(json), /a line that is looked for/);
  assert.ok(!JSON.stringify(structured(json)).includes("looked for"));
  assert.equal(structured(json)["lines"], undefined);
  const output = (await client.call("serial_get_output", { format: "text" })).json;
  assert.equal(structured(output)["items"], undefined);
  const md = (await client.call("mcp_calls", { format: "md" })).json;
  assert.equal(structured(md)["calls"], undefined);
  assert.match(textOf(md), /\| log_tail \|/);
});

Deno.test("serial_list_ports has exactly the three names of a port and no more [C131] [C308]", async () => {
  const driver = new MemoryDriver();
  driver.plug({ path: "/dev/ttyUSB7" });
  await using rig = await startApp({ driver });
  const client = await connect(rig.origin, TOKEN);
  const { json } = await client.call("serial_list_ports");
  const { count, ports } = structured(json);
  assert.ok(Array.isArray(ports));
  assert.equal(count, ports.length);
  for (const port of ports) assert.deepEqual(Object.keys(port).sort(), ["friendlyName", "portName", "productName"]);
  assert.ok(ports.some((p) => p.portName === "/dev/ttyUSB7"));
  assert.match(textOf(json), /\/dev\/ttyUSB7/);
  assert.equal((await client.ok("serial_get_state"))["isConnected"], false);
});

Deno.test("a port value, pane or channel that is not there is -32602 with the real ones [C095]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const refused = async (name: string, args: Json, real: RegExp) => {
    const error = errorOf((await client.call(name, args)).json);
    assert.equal(error["code"], -32602, name);
    assert.match(String(error["message"]), real);
  };
  await refused("serial_get_state", { pane: "nope" }, /main/);
  await refused("log_tail", { channel: "nope" }, /serial:main:rx/);
  await refused("log_search", { channel: "nope", pattern: "x" }, /serial:main:rx/);
  await refused("log_clear", { channel: "nope" }, /serial:main:rx/);
  await refused("mcp_calls", { tool: "nope" }, /tools\/list/);
});

Deno.test("a bad regular expression is -32602 with the reason [C096]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const error = errorOf((await client.call("log_search", { pattern: "[unclosed", regex: true })).json);
  assert.equal(error["code"], -32602);
  assert.match(String(error["message"]), /unterminated|class|regular/i);
});

Deno.test("sending on a closed pane is a result with isError, a reason and what to call [C097] [C177]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const { json } = await client.call("serial_send", { data: "AT" });
  assert.equal(json["error"], undefined);
  assert.equal(resultOf(json)["isError"], true);
  assert.match(textOf(json), /^-32006: .*serial_open/s);
  const error = structured(json)["error"];
  assert.ok(isObject(error));
  assert.deepEqual([error["code"], error["reason"]], [-32006, "not_open"]);
});

Deno.test("without a page the page's tools fail with -32006 no_page; the others work [C098]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  for (const name of ["ui_list", "ui_describe", "ui_get", "ui_set", "ui_click"] as const) {
    const row = ROWS.find((r) => r.name === name);
    assert.ok(row);
    const { json } = await client.call(name, sampleArgs(row));
    assert.equal(resultOf(json)["isError"], true, name);
    assert.match(textOf(json), /^-32006: No page is open/);
    const error = structured(json)["error"];
    assert.ok(isObject(error) && error["reason"] === "no_page");
  }
  await client.ok("ui_get_state");
});

Deno.test("over SSE the same tools answer the same", async () => {
  await using rig = await startApp();
  const http = await connect(rig.origin, TOKEN);
  const sse = await SseClient.open(rig.origin, TOKEN);
  await sse.initialize();
  for (
    const [name, args] of [["serial_get_state", {}], ["log_tail", { channel: "app" }], ["nope", {}], ["serial_send", {
      data: "x",
    }]] as const
  ) {
    const a = (await http.call(name, args)).json;
    const b = await sse.request("tools/call", { name, arguments: args });
    assert.deepEqual([a["result"], a["error"]], [b["result"], b["error"]]);
  }
  await sse.close();
});
