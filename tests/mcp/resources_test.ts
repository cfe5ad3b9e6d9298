import assert from "node:assert/strict";
import { isObject } from "../../src/mcp/protocol.ts";
import { startApp, TOKEN } from "../rigs/app.ts";
import { connect, errorOf, EventReader, type Json, RawMcp, resultOf } from "../rigs/mcp_client.ts";
import { MemoryDriver } from "../../src/drivers/serial/memory.ts";
import { until } from "../rigs/until.ts";

Deno.test("log channels are resources that can be listed and read as text", async () => {
  await using rig = await startApp();
  rig.bench.hub.log("app", "warn", "brown-out at 3.1 V");
  const client = await connect(rig.origin, TOKEN);
  const { resources } = resultOf((await client.request("resources/list")).json);
  assert.ok(Array.isArray(resources));
  assert.deepEqual(resources.map((r) => r.name), rig.bench.hub.names());
  assert.ok(resources.every((r) => r.uri === `fieldbench://log/${r.name}`));
  const { contents } = resultOf((await client.request("resources/read", { uri: "fieldbench://log/app" })).json);
  assert.ok(Array.isArray(contents) && contents.length === 1);
  assert.equal(contents[0].mimeType, "text/plain");
  assert.match(contents[0].text, /brown-out at 3\.1 V/);
  const escaped = await client.request("resources/read", { uri: "fieldbench://log/serial%3Amain%3Arx" });
  assert.ok(resultOf(escaped.json)["contents"]);
  const { resourceTemplates } = resultOf((await client.request("resources/templates/list")).json);
  assert.ok(Array.isArray(resourceTemplates));
  assert.equal(resourceTemplates[0].uriTemplate, "fieldbench://log/{channel}");
});

Deno.test("an unknown resource is -32602, and reading one is not counted as a tool call", async () => {
  await using rig = await startApp({ rateLimitPerMin: 1 });
  const client = await connect(rig.origin, TOKEN);
  for (
    const uri of [
      "fieldbench://log/nope",
      "fieldbench://other/app",
      "file:///etc/passwd",
      "fieldbench://log/%E0%A4%A",
      "",
    ]
  ) {
    for (const method of ["resources/read", "resources/subscribe"]) {
      assert.equal(errorOf((await client.request(method, { uri })).json)["code"], -32602, `${method} ${uri}`);
    }
  }
  for (let i = 0; i < 3; i++) {
    assert.ok((await client.request("resources/read", { uri: "fieldbench://log/app" })).json["result"]);
  }
  assert.ok((await client.call("app_info")).json["result"]);
});

Deno.test("a subscriber hears of new lines once a tick, and of nothing after it left", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const stream = await client.listen();
  const uri = "fieldbench://log/app";
  rig.app.endpoints.tick();
  assert.deepEqual(resultOf((await client.request("resources/subscribe", { uri })).json), {});
  for (let i = 0; i < 100; i++) rig.bench.hub.log("app", "info", `line ${i}`);
  rig.bench.hub.log("error", "info", "not subscribed");
  rig.app.endpoints.tick();
  rig.app.endpoints.tick();
  assert.deepEqual(await stream.message(), {
    jsonrpc: "2.0",
    method: "notifications/resources/updated",
    params: { uri },
  });
  await client.request("resources/unsubscribe", { uri });
  rig.bench.hub.log("app", "info", "unheard");
  rig.app.endpoints.tick();
  // Nothing came in between: the next message is the one of the tool list.
  rig.app.endpoints.toolsChanged();
  assert.equal((await stream.message())["method"], "notifications/tools/list_changed");
  await stream.cancel();
});

Deno.test("a new channel changes the list of resources", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const stream = await client.listen();
  rig.app.endpoints.tick();
  await client.ok("serial_set_baud", { baud: 9600, pane: "extra-1" });
  rig.app.endpoints.tick();
  assert.equal((await stream.message())["method"], "notifications/resources/list_changed");
  const { resources } = resultOf((await client.request("resources/list")).json);
  assert.match(JSON.stringify(resources), /serial:extra-1:rx/);
  await stream.cancel();
});

Deno.test("in the modern era resources are followed with subscriptions/listen", async () => {
  await using rig = await startApp();
  const client = new RawMcp(rig.origin, TOKEN);
  const uri = "fieldbench://log/app";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { notifications: { resourceSubscriptions: [uri] }, _meta: meta };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params });
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" };
  const reader = new EventReader(await client.open(body, { headers }));
  assert.match(JSON.stringify(await reader.message()), /acknowledged/);
  await until(() => rig.app.endpoints.subscriptions === 1);
  rig.app.endpoints.tick();
  rig.bench.hub.log("app", "info", "a line");
  rig.bench.hub.log("error", "info", "another");
  rig.app.endpoints.tick();
  const told = await reader.message();
  assert.equal(told["method"], "notifications/resources/updated");
  assert.match(JSON.stringify(told["params"]), /fieldbench:\/\/log\/app/);
  await reader.cancel();
});

Deno.test("prompts are listed, filled in, and refused with what is missing", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const { prompts } = resultOf((await client.request("prompts/list")).json);
  assert.ok(Array.isArray(prompts));
  assert.deepEqual(prompts.map((p) => p.name), ["watch_port", "find_baud"]);
  const textOf = async (name: string, args?: Json) =>
    JSON.stringify(resultOf((await client.request("prompts/get", { name, arguments: args })).json)["messages"]);
  assert.match(await textOf("watch_port"), /serial pane \\"main\\"/);
  assert.match(await textOf("watch_port", { pane: "extra-1" }), /serial:extra-1:rx/);
  assert.match(await textOf("find_baud", { port: "COM7", probe: "AT" }), /COM7.*serial_send/s);
  // Every tool that a prompt names is there.
  const names = new Set(rig.gate.rows().map((r) => r.name));
  for (const text of [await textOf("watch_port"), await textOf("find_baud", { port: "COM7" })]) {
    for (const name of text.match(/\b(serial|log|mcp)_[a-z_]+/g) ?? []) assert.ok(names.has(name), name);
  }
  const missing = errorOf((await client.request("prompts/get", { name: "find_baud" })).json);
  assert.equal(missing["code"], -32602);
  assert.match(String(missing["message"]), /missing argument "port"/);
  assert.equal(errorOf((await client.request("prompts/get", { name: "nope" })).json)["code"], -32602);
});

Deno.test("arguments are completed with channels, panes and ports", async () => {
  const driver = new MemoryDriver();
  for (const path of ["/dev/ttyUSB0", "/dev/ttyUSB1", "/dev/ttyACM0"]) driver.plug({ path });
  await using rig = await startApp({ driver });
  const client = await connect(rig.origin, TOKEN);
  const complete = async (ref: Json, name: string, value: string) => {
    const { completion } = resultOf(
      (await client.request("completion/complete", { ref, argument: { name, value } })).json,
    );
    assert.ok(isObject(completion) && Array.isArray(completion["values"]));
    return completion["values"];
  };
  const template = { type: "ref/resource", uri: "fieldbench://log/{channel}" };
  assert.deepEqual(await complete(template, "channel", "serial:main"), ["serial:main:rx", "serial:main:tx"]);
  assert.deepEqual(await complete(template, "channel", ":rx"), ["adb:rx", "ble:rx", "serial:main:rx"]);
  assert.deepEqual(await complete({ type: "ref/prompt", name: "watch_port" }, "pane", "m"), ["main"]);
  const ports = await complete({ type: "ref/prompt", name: "find_baud" }, "port", "/dev/ttyUSB");
  assert.deepEqual(ports.toSorted(), ["/dev/ttyUSB0", "/dev/ttyUSB1"]);
  assert.deepEqual(await complete({ type: "ref/prompt", name: "find_baud" }, "nope", ""), []);
});
