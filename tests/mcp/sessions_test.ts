import assert from "node:assert/strict";
import { isObject } from "../../src/mcp/protocol.ts";
import { LIMITS } from "../../tools/mod.ts";
import { startApp, TOKEN } from "../rigs/app.ts";
import { connect, EventReader, INITIALIZE, RawMcp, SseClient } from "../rigs/mcp_client.ts";

const auth = { authorization: `Bearer ${TOKEN}` };

Deno.test("initialize answers in the POST's own body with a session id [C001]", async () => {
  await using rig = await startApp();
  const client = new RawMcp(rig.origin, TOKEN);
  const answer = await client.initialize();
  assert.equal(answer.headers.get("content-type"), "application/json");
  assert.equal(rig.app.endpoints.sessions, 1);
});

Deno.test("the initialize answer names the server, the version and a tool list that may change [C029]", async () => {
  await using rig = await startApp();
  const { json } = await new RawMcp(rig.origin, TOKEN).initialize();
  const result = json["result"];
  assert.ok(isObject(result) && isObject(result["serverInfo"]) && isObject(result["capabilities"]));
  assert.equal(result["serverInfo"]["name"], "fieldbench");
  assert.equal(result["serverInfo"]["version"], "0.0.0-test");
  assert.deepEqual(result["capabilities"]["tools"], { listChanged: true });
  assert.match(String(result["instructions"]), /serial_get_state/);
});

Deno.test("a call is answered in the same response, and 202 with nothing goes to a notification [C002] [C003]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const answer = await client.call("app_info");
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/json");
  assert.match(answer.text, /"name":"fieldbench"/);
  const notified = await client.notify("notifications/initialized");
  assert.deepEqual([notified.status, notified.text], [202, ""]);
});

Deno.test("GET /mcp is a stream of server notifications, and a new one takes over from the old [C004]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const first = await client.listen();
  assert.equal(first.response.headers.get("content-type"), "text/event-stream");
  rig.app.endpoints.toolsChanged();
  assert.equal((await first.message())["method"], "notifications/tools/list_changed");
  const second = await client.listen();
  assert.equal(await first.block(), undefined);
  rig.app.endpoints.toolsChanged();
  assert.equal((await second.message())["method"], "notifications/tools/list_changed");
  await second.cancel();
});

Deno.test("GET /mcp without Accept for streams is refused with what to send", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const response = await fetch(`${rig.origin}/mcp`, { headers: { ...auth, "mcp-session-id": client.session } });
  assert.equal(response.status, 406);
  assert.match(await response.text(), /text\/event-stream/);
});

Deno.test("DELETE ends a session at once: 204, and 404 afterwards [C005] [C006]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  assert.equal(rig.app.endpoints.sessions, 1);
  const deleted = await client.delete();
  assert.deepEqual([deleted.status, deleted.text], [204, ""]);
  assert.equal(rig.app.endpoints.sessions, 0);
  const after = await client.request("ping");
  assert.equal(after.status, 404);
  assert.deepEqual(after.json, { error: "session not found" });
  assert.equal((await client.delete()).status, 404);
});

Deno.test("the first frame of GET /sse names the address to post to, with the token if it came that way [C007]", async () => {
  await using rig = await startApp();
  const sse = await SseClient.open(rig.origin, TOKEN);
  assert.match(sse.endpoint, new RegExp(`^/messages\\?sessionId=[0-9a-f-]{36}&token=${TOKEN}$`));
  await sse.close();
  const quiet = await SseClient.open(rig.origin, TOKEN, false);
  assert.match(quiet.endpoint, /^\/messages\?sessionId=[0-9a-f-]{36}$/);
  await quiet.close();
});

Deno.test("over SSE a POST is answered 202 and the results come on the stream by id [C008] [C009] [C022]", async () => {
  await using rig = await startApp();
  const sse = await SseClient.open(rig.origin, TOKEN);
  const agreed = await sse.initialize("2024-11-05");
  assert.ok(isObject(agreed["result"]));
  assert.equal(agreed["result"]["protocolVersion"], "2024-11-05");
  const [list, info] = await Promise.all([
    sse.request("tools/list"),
    sse.request("tools/call", { name: "app_info" }),
  ]);
  assert.match(JSON.stringify(list), /"app_info"/);
  assert.match(JSON.stringify(info), /"pid"/);
  await sse.close();
});

Deno.test("/messages of an unknown session is 404 and runs nothing; without one it is 400 [C010] [C011]", async () => {
  await using rig = await startApp();
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "test_danger", arguments: { confirm: true } },
  });
  const post = (query: string) =>
    fetch(`${rig.origin}/messages${query}`, {
      method: "POST",
      headers: { ...auth, "content-type": "application/json" },
      body,
    });
  const http = await connect(rig.origin, TOKEN);
  for (const id of [crypto.randomUUID(), http.session]) {
    const unknown = await post(`?sessionId=${id}`);
    assert.equal(unknown.status, 404);
    assert.deepEqual(await unknown.json(), { error: "session not found" });
  }
  const missing = await post("");
  assert.equal(missing.status, 400);
  assert.match(await missing.text(), /GET \/sse/);
  assert.deepEqual(rig.tools.runs, []);
});

Deno.test("both transports work side by side [C012]", async () => {
  await using rig = await startApp();
  const [http, sse] = await Promise.all([connect(rig.origin, TOKEN), SseClient.open(rig.origin, TOKEN)]);
  await sse.initialize();
  const [a, b] = await Promise.all([
    http.call("test_echo", { text: "a" }),
    sse.request("tools/call", { name: "test_echo", arguments: { text: "b" } }),
  ]);
  assert.match(a.text, /"text":"a"/);
  assert.match(JSON.stringify(b), /"text":"b"/);
  assert.equal(rig.app.endpoints.sessions, 2);
  await sse.close();
});

const statusOf = async (url: string, method: string) => {
  const response = await fetch(url, {
    method,
    headers: { ...auth, ...(method === "POST" && { "content-type": "application/json" }), accept: "text/event-stream" },
    ...(method === "POST" &&
      { body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE }) }),
  });
  await response.body?.cancel();
  return response.status;
};

Deno.test("with HTTP only, /sse and /messages are 404 [C013]", async () => {
  await using rig = await startApp({ config: { server: { transport: "http" } } });
  assert.equal(await statusOf(`${rig.origin}/sse`, "GET"), 404);
  assert.equal(await statusOf(`${rig.origin}/messages?sessionId=x`, "POST"), 404);
  assert.equal(await statusOf(`${rig.origin}/mcp`, "POST"), 200);
});

Deno.test("with SSE only, /mcp is 404 for every method [C014]", async () => {
  await using rig = await startApp({ config: { server: { transport: "sse" } } });
  for (const method of ["POST", "GET", "DELETE"]) assert.equal(await statusOf(`${rig.origin}/mcp`, method), 404);
  const sse = await SseClient.open(rig.origin, TOKEN);
  await sse.initialize();
  await sse.close();
});

Deno.test("a switch of the transport acts at once, without a restart, and is kept [C015]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  await rig.server.setTransport("sse");
  assert.equal((await client.request("ping")).status, 404);
  await rig.server.setTransport("http");
  assert.equal((await (await connect(rig.origin, TOKEN)).request("ping")).status, 200);
  assert.equal(await statusOf(`${rig.origin}/sse`, "GET"), 404);
  const saved: unknown = JSON.parse(await Deno.readTextFile(rig.settings.path));
  assert.ok(isObject(saved) && isObject(saved["server"]));
  assert.equal(saved["server"]["transport"], "http");
});

Deno.test("sessions and streams of a transport that is switched off end, and take no places any more", async () => {
  await using rig = await startApp();
  const http = await connect(rig.origin, TOKEN);
  const stream = await http.listen();
  await rig.server.setTransport("sse");
  rig.app.endpoints.tick();
  assert.equal(await stream.block(), undefined);
  assert.equal(rig.app.endpoints.sessions, 0);
  const sse = [];
  for (let i = 0; i < LIMITS.maxSessions; i++) sse.push(await SseClient.open(rig.origin, TOKEN));
  await rig.server.setTransport("http");
  rig.app.endpoints.tick();
  await Promise.all(sse.map((s) => s.done));
  assert.equal((await (await connect(rig.origin, TOKEN)).request("ping")).status, 200);
});

Deno.test("the old key streamableHttp: false still means SSE only [C016]", async () => {
  await using rig = await startApp({ config: { server: { streamableHttp: false } } });
  assert.equal(await statusOf(`${rig.origin}/mcp`, "POST"), 404);
  const sse = await SseClient.open(rig.origin, TOKEN);
  await sse.initialize();
  const status = await sse.request("tools/call", { name: "mcp_status" });
  assert.match(JSON.stringify(status), /"streamableHttp":false,"transport":"sse"/);
  await sse.close();
});

Deno.test("a known MCP-Protocol-Version passes, an absent one too, an unknown one is 400 with the list [C019] [C020] [C021]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  for (const version of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
    const known = await client.request("tools/list", {}, { headers: { "mcp-protocol-version": version } });
    assert.equal(known.status, 200, version);
  }
  assert.equal((await client.request("tools/list")).status, 200);
  for (const version of ["1999-01-01", "garbage"]) {
    const unknown = await client.request("tools/list", {}, { headers: { "mcp-protocol-version": version } });
    assert.equal(unknown.status, 400);
    for (const supported of ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]) {
      assert.ok(unknown.text.includes(supported), unknown.text);
    }
  }
});

Deno.test("each version that is asked for is agreed, and an unknown one is answered with our newest [C023]", async () => {
  await using rig = await startApp();
  const asked: [string, string][] = [
    ["2025-03-26", "2025-03-26"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["1999-01-01", "2025-11-25"],
    ["2099-01-01", "2025-11-25"],
  ];
  for (const [version, agreed] of asked) {
    const { json } = await new RawMcp(rig.origin, TOKEN).initialize(version);
    assert.ok(isObject(json["result"]));
    assert.equal(json["result"]["protocolVersion"], agreed);
  }
});

Deno.test("a request without a session is 400 and says to initialize [C024]", async () => {
  await using rig = await startApp();
  const client = new RawMcp(rig.origin, TOKEN);
  const answer = await client.request("tools/list");
  assert.equal(answer.status, 400);
  assert.match(answer.text, /initialize/);
  const get = await fetch(`${rig.origin}/mcp`, { headers: { ...auth, accept: "text/event-stream" } });
  assert.equal(get.status, 400);
  await get.body?.cancel();
});

Deno.test("broken JSON is -32700 with id null; what is no JSON-RPC is -32600 [C025] [C026]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const code = (json: Record<string, unknown>) => isObject(json["error"]) ? json["error"]["code"] : undefined;
  for (const body of ["{", "", "[1,", '{"jsonrpc":"2.0",}']) {
    const answer = await client.raw(body);
    assert.deepEqual([answer.status, code(answer.json), answer.json["id"]], [400, -32700, null], body);
  }
  const wrong: [unknown, unknown][] = [
    [{ id: 7, method: "ping" }, 7],
    [{ jsonrpc: "1.0", id: 7, method: "ping" }, 7],
    [{ jsonrpc: "2.0", id: 7 }, 7],
    [{ jsonrpc: "2.0", id: 7, method: 5 }, 7],
    [{ jsonrpc: "2.0", id: null, method: "ping" }, null],
    [{ jsonrpc: "2.0", id: {}, method: "ping" }, null],
    [{ jsonrpc: "2.0", id: 1.5, method: "ping" }, null],
    [{ jsonrpc: "2.0", id: 7, method: "ping", params: [] }, 7],
    [5, null],
    ["ping", null],
    [null, null],
  ];
  for (const [body, id] of wrong) {
    const answer = await client.raw(JSON.stringify(body));
    assert.deepEqual([answer.status, code(answer.json), answer.json["id"]], [400, -32600, id], JSON.stringify(body));
  }
  assert.equal((await client.request("ping")).status, 200);
});

Deno.test("an unknown method is -32601 and ping answers with nothing [C027] [C028]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const unknown = await client.request("tools/nope");
  assert.ok(isObject(unknown.json["error"]));
  assert.deepEqual([unknown.status, unknown.json["error"]["code"]], [200, -32601]);
  const ping = await client.request("ping");
  assert.deepEqual(ping.json["result"], {});
});

Deno.test("an idle stream carries a comment at least every 15 seconds, on both transports [C030]", async () => {
  let now = 0;
  await using rig = await startApp({ tuning: { now: () => now } });
  const client = await connect(rig.origin, TOKEN);
  const get = await client.listen();
  const sse = await fetch(`${rig.origin}/sse`, { headers: auth });
  const reader = sse.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.match((await reader?.read())?.value ?? "", /^event: endpoint/);
  for (let i = 0; i < 3; i++) {
    now += 14_000;
    rig.app.endpoints.tick();
    assert.equal(await get.block(), ": keepalive");
    assert.equal((await reader?.read())?.value, ": keepalive\n\n");
  }
  await get.cancel();
  await reader?.cancel();
});

Deno.test("a call that lasts becomes a stream with heartbeats before 15 seconds, for clients that take one [C380]", async () => {
  let now = 0;
  await using rig = await startApp({ tuning: { now: () => now } });
  const client = await connect(rig.origin, TOKEN);
  const call = client.open(
    JSON.stringify({ jsonrpc: "2.0", id: 9, method: "tools/call", params: { name: "test_slow" } }),
  );
  const plain = client.call("test_slow", {}, { headers: { accept: "application/json" } });
  while (rig.tools.running < 2) await new Promise((r) => setTimeout(r, 5));
  now += 14_500;
  rig.app.endpoints.tick();
  const response = await call;
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  assert.equal(response.headers.get("mcp-session-id"), client.session);
  const reader = new EventReader(response);
  for (let i = 0; i < 12; i++) {
    assert.equal(await reader.block(), ": keepalive");
    now += 14_500;
    rig.app.endpoints.tick();
  }
  rig.tools.release();
  const answer = await reader.message();
  assert.equal(answer["id"], 9);
  assert.match(JSON.stringify(answer), /"waited":true/);
  assert.equal(await reader.block(), undefined);
  const json = await plain;
  assert.equal(json.headers.get("content-type"), "application/json");
  assert.match(json.text, /"waited":true/);
});

Deno.test("other methods than those of a route are 405 with what is allowed", async () => {
  await using rig = await startApp();
  for (
    const [path, method, allow] of [
      ["/mcp", "PUT", "GET, POST, DELETE"],
      ["/sse", "POST", "GET"],
      ["/messages", "GET", "POST"],
      ["/status", "POST", "GET"],
      ["/healthz", "POST", "GET"],
    ] as const
  ) {
    const response = await fetch(rig.origin + path, { method, headers: auth });
    await response.body?.cancel();
    assert.deepEqual([response.status, response.headers.get("allow")], [405, allow], path);
  }
});
