import assert from "node:assert/strict";
import { isObject } from "../../src/mcp/protocol.ts";
import { startApp, TOKEN } from "../rigs/app.ts";
import { connect, EventReader, type HttpAnswer, type Json, RawMcp } from "../rigs/mcp_client.ts";
import { writeAll } from "../rigs/raw_http.ts";
import { until } from "../rigs/until.ts";
import { LIMITS } from "../../tools/mod.ts";

const VERSION = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const headersFor = (method: string, params: Json) => ({
  "mcp-protocol-version": VERSION,
  "mcp-method": method,
  ...(typeof params["name"] === "string" && { "mcp-name": params["name"] }),
  ...(typeof params["uri"] === "string" && { "mcp-name": params["uri"] }),
});
const bodyOf = (id: unknown, method: string, params: Json = {}, meta: Json = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: { ...META, ...meta } } });

function modern(
  client: RawMcp,
  method: string,
  params: Json = {},
  headers: Record<string, string> = {},
): Promise<HttpAnswer> {
  return client.raw(bodyOf(1, method, params), { headers: { ...headersFor(method, params), ...headers } });
}
const call = (client: RawMcp, name: string, args: Json = {}) => modern(client, "tools/call", { name, arguments: args });
const resultOf = (a: HttpAnswer): Json => isObject(a.json["result"]) ? a.json["result"] : {};
const codeOf = (a: HttpAnswer): unknown => isObject(a.json["error"]) ? a.json["error"]["code"] : undefined;

Deno.test("the modern era needs no handshake and takes no session: discover, list and call", async () => {
  await using rig = await startApp();
  const client = new RawMcp(rig.origin, TOKEN);
  const found = await modern(client, "server/discover");
  assert.equal(found.status, 200);
  assert.equal(found.headers.get("mcp-session-id"), null);
  assert.deepEqual(resultOf(found)["supportedVersions"], [VERSION]);
  const list = resultOf(await modern(client, "tools/list"));
  assert.ok(Array.isArray(list["tools"]));
  assert.deepEqual(list["tools"].map((t) => t.name), rig.gate.rows().map((r) => r.name));
  const info = resultOf(await call(client, "app_info"));
  assert.ok(isObject(info["structuredContent"]));
  assert.equal(info["structuredContent"]["name"], "fieldbench");
  assert.equal(rig.app.endpoints.sessions, 0);
});

Deno.test("errors are the same in the modern era: they come out of one gate", async () => {
  await using rig = await startApp();
  const client = new RawMcp(rig.origin, TOKEN);
  const old = await connect(rig.origin, TOKEN);
  for (
    const [name, args] of [["nope", {}], ["test_echo", {}], ["test_echo", { text: 5 }], ["test_throw", {}], [
      "test_danger",
      {},
    ], ["test_fail", {}]] as const
  ) {
    const [a, b] = [await call(client, name, args), await old.call(name, args)];
    if (b.json["error"]) assert.deepEqual(a.json["error"], b.json["error"], name);
    else assert.deepEqual(resultOf(a)["structuredContent"], resultOf(b)["structuredContent"], name);
  }
  assert.equal(codeOf(await modern(client, "nope/nope")), -32601);
});

Deno.test("all modern requests of a token share one rate", async () => {
  await using rig = await startApp({ rateLimitPerMin: 3, gateNow: () => 0 });
  const clients = [new RawMcp(rig.origin, TOKEN), new RawMcp(rig.origin, TOKEN)];
  const codes = [];
  for (let i = 0; i < 4; i++) {
    codes.push(codeOf(await call(clients[i % 2] ?? new RawMcp(rig.origin, TOKEN), "app_info")));
  }
  assert.deepEqual(codes, [undefined, undefined, undefined, -32000]);
});

Deno.test("what does not fit together in the modern era is 400 with what is supported", async () => {
  await using rig = await startApp();
  const client = new RawMcp(rig.origin, TOKEN);
  const future = await client.raw(
    JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/list",
      params: { _meta: { ...META, "io.modelcontextprotocol/protocolVersion": "2027-01-01" } },
    }),
    { headers: { "mcp-protocol-version": "2027-01-01", "mcp-method": "tools/list" } },
  );
  assert.equal(future.status, 400);
  assert.match(future.text, /2026-07-28/);
  assert.equal((await modern(client, "tools/list", {}, { "mcp-method": "tools/call" })).status, 400);
  assert.equal((await client.raw(bodyOf(1, "tools/list"))).status, 400);
  const noEnvelope = await client.raw('{"jsonrpc":"2.0","id":1,"method":"tools/list"}', {
    headers: headersFor("tools/list", {}),
  });
  assert.equal(noEnvelope.status, 400);
  const batch = await client.raw(`[${bodyOf(1, "tools/list")}]`, { headers: { "mcp-protocol-version": VERSION } });
  assert.equal(batch.status, 400);
});

Deno.test("progress and cancellation by going away work in the modern era", async () => {
  await using rig = await startApp();
  const client = new RawMcp(rig.origin, TOKEN);
  const params = { name: "test_slow", arguments: { steps: 2, ms: 1 } };
  const reader = new EventReader(
    await client.open(bodyOf(1, "tools/call", params, { progressToken: "p" }), {
      headers: headersFor("tools/call", params),
    }),
  );
  assert.equal((await reader.message())["method"], "notifications/progress");
  assert.equal((await reader.message())["method"], "notifications/progress");
  assert.equal((await reader.message())["id"], 1);
  await reader.cancel();
  const abort = new AbortController();
  const slow = { name: "test_slow", arguments: {} };
  const gone = client.open(bodyOf(2, "tools/call", slow), {
    headers: headersFor("tools/call", slow),
    signal: abort.signal,
  });
  await until(() => rig.tools.running === 1);
  abort.abort();
  await assert.rejects(gone);
  await until(() => rig.tools.aborted === 1);
});

Deno.test("subscriptions/listen tells of a changed tool list", async () => {
  await using rig = await startApp();
  const client = new RawMcp(rig.origin, TOKEN);
  const body = bodyOf(9, "subscriptions/listen", { notifications: { toolsListChanged: true } });
  const reader = new EventReader(await client.open(body, { headers: headersFor("subscriptions/listen", {}) }));
  assert.match(JSON.stringify(await reader.message()), /acknowledged/);
  rig.app.endpoints.toolsChanged();
  assert.equal((await reader.message())["method"], "notifications/tools/list_changed");
  await reader.cancel();
});

Deno.test("there are so many event streams of subscribers and no more; one that ends makes room", async () => {
  await using rig = await startApp();
  const client = new RawMcp(rig.origin, TOKEN);
  const listen = () =>
    client.open(bodyOf(9, "subscriptions/listen", { notifications: { toolsListChanged: true } }), {
      headers: headersFor("subscriptions/listen", {}),
    });
  // What is refused for its form takes no place.
  for (let i = 0; i < LIMITS.maxListeners; i++) {
    const wrong = await modern(client, "subscriptions/listen", { notifications: 5 });
    assert.ok(wrong.status === 400 || codeOf(wrong) !== undefined, wrong.text);
  }
  const all = await Promise.all(Array.from({ length: LIMITS.maxListeners + 5 }, listen));
  const open = all.filter((r) => r.status === 200);
  assert.equal(open.length, LIMITS.maxListeners);
  for (const refused of all.filter((r) => r.status !== 200)) {
    assert.equal(refused.status, 429);
    assert.match(await refused.text(), /event streams/);
  }
  await open.pop()?.body?.cancel();
  await until(() => rig.app.endpoints.subscriptions === LIMITS.maxListeners - 1);
  const again = await listen();
  assert.equal(again.status, 200);
  for (const r of [...open, again]) await r.body?.cancel();
});

Deno.test("a subscriber that never reads is cut off too", async () => {
  await using rig = await startApp({ tuning: { heartbeatMs: 200 } });
  const client = new RawMcp(rig.origin, TOKEN);
  const body = bodyOf(9, "subscriptions/listen", { notifications: { toolsListChanged: true } });
  const socket = await Deno.connect({ hostname: "127.0.0.1", port: rig.listening.port });
  const head = Object.entries({
    ...client.headers,
    ...headersFor("subscriptions/listen", {}),
    host: `127.0.0.1:${rig.listening.port}`,
    "content-length": String(body.length),
  })
    .map(([k, v]) => `${k}: ${v}\r\n`).join("");
  await writeAll(socket, new TextEncoder().encode(`POST /mcp HTTP/1.1\r\n${head}\r\n${body}`));
  await until(() => rig.app.endpoints.subscriptions === 1);
  const begun = performance.now();
  while (rig.app.endpoints.subscriptions > 0) {
    for (let i = 0; i < 2000; i++) rig.app.endpoints.toolsChanged();
    await client.raw("{}");
    assert.ok(performance.now() - begun < 60_000, "never cut off");
  }
  assert.ok(rig.server.dropped > 0);
  socket.close();
});

Deno.test("with the transport switched to SSE the modern era is off too", async () => {
  await using rig = await startApp({ config: { server: { transport: "sse" } } });
  assert.equal((await modern(new RawMcp(rig.origin, TOKEN), "server/discover")).status, 404);
});

Deno.test("a plain call, which takes the short way, is answered exactly as one that takes the long way", async () => {
  await using rig = await startApp({ parts: { now: () => 1_000_000 } });
  const client = new RawMcp(rig.origin, TOKEN);
  const cases: [string, unknown][] = [
    ["app_info", {}],
    ["test_echo", { text: "a" }],
    ["test_echo", {}],
    ["test_echo", { text: "a", nope: 1 }],
    ["test_fail", {}],
    ["test_throw", {}],
    ["test_bad_output", {}],
    ["test_danger", {}],
    ["serial_send", { data: "x" }],
    ["nope", {}],
    ["app_info", []],
    ["app_info", undefined],
  ];
  for (const [name, args] of cases) {
    const params = { name, ...(args !== undefined && { arguments: args }) };
    const headers = headersFor("tools/call", params);
    const short = await client.raw(bodyOf("id", "tools/call", params), { headers });
    const long = await client.raw(bodyOf("id", "tools/call", params, { "example.com/more": 1 }), { headers });
    assert.deepEqual([short.status, short.json], [long.status, long.json], name);
    assert.equal(short.headers.get("content-type"), long.headers.get("content-type"));
  }
});

Deno.test("a modern call that lasts becomes a stream with heartbeats, on both ways", async () => {
  let now = 0;
  await using rig = await startApp({ tuning: { now: () => now } });
  const client = new RawMcp(rig.origin, TOKEN);
  const params = { name: "test_slow", arguments: {} };
  for (const meta of [{}, { "example.com/more": 1 }]) {
    const call = client.open(bodyOf(4, "tools/call", params, meta), { headers: headersFor("tools/call", params) });
    await until(() => rig.tools.running === 1);
    now += 14_500;
    rig.app.endpoints.tick();
    const reader = new EventReader(await call);
    assert.equal(await reader.block(), ": keepalive");
    rig.tools.release();
    const answer = await reader.message();
    assert.equal(answer["id"], 4);
    assert.match(JSON.stringify(answer), /"waited":true.*"resultType":"complete"/);
    assert.equal(await reader.block(), undefined);
    await until(() => rig.tools.running === 0);
  }
});

Deno.test("the end of the server ends modern calls under way", async () => {
  const rig = await startApp();
  const client = new RawMcp(rig.origin, TOKEN);
  const params = { name: "test_slow", arguments: {} };
  const calls = [{}, { "example.com/more": 1 }].map((meta) =>
    client.open(bodyOf(4, "tools/call", params, meta), { headers: headersFor("tools/call", params) })
      .then((r) => r.text(), () => "gone")
  );
  await until(() => rig.tools.running === 2);
  await rig[Symbol.asyncDispose]();
  await Promise.all(calls);
  assert.equal(rig.tools.aborted, 2);
});
