import assert from "node:assert/strict";
import { startApp, TOKEN } from "../rigs/app.ts";
import { connect, errorOf, EventReader, type Json, resultOf, SseClient } from "../rigs/mcp_client.ts";
import { until } from "../rigs/until.ts";
import { LIMITS } from "../../tools/mod.ts";

const call = (id: unknown, name: string, args: Json = {}, meta?: Json) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: args, ...(meta && { _meta: meta }) },
  });

Deno.test("twenty calls at once in one session: each answer goes to its id [C381]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => client.call("test_echo", { text: `n${i}` }, { id: i % 2 ? i : `id-${i}` })),
  );
  for (const [i, { json }] of answers.entries()) {
    assert.equal(json["id"], i % 2 ? i : `id-${i}`);
    assert.deepEqual(resultOf(json)["structuredContent"], { text: `n${i}`, count: 0 });
  }
});

Deno.test("an id that is in flight twice is answered twice", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const slow = client.call("test_slow", {}, { id: 5 });
  await until(() => rig.tools.running === 1);
  const quick = await client.call("test_echo", { text: "second" }, { id: 5 });
  assert.deepEqual([quick.json["id"], resultOf(quick.json)["isError"]], [5, undefined]);
  assert.match(quick.text, /second/);
  rig.tools.release();
  assert.match((await slow).text, /"waited":true/);
});

Deno.test("progress turns the answer into a stream, for clients that take one and asked for it", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const response = await client.open(call(7, "test_slow", { steps: 3, ms: 1 }, { progressToken: "p" }));
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const reader = new EventReader(response);
  for (let i = 1; i <= 3; i++) {
    const { method, params } = await reader.message();
    assert.equal(method, "notifications/progress");
    assert.deepEqual(params, { progressToken: "p", progress: i, total: 3, message: `step ${i}` });
  }
  assert.equal((await reader.message())["id"], 7);
  assert.equal(await reader.block(), undefined);
  for (
    const [meta, accept] of [[undefined, "application/json, text/event-stream"], [
      { progressToken: 1 },
      "application/json",
    ]] as const
  ) {
    const plain = await client.raw(call(8, "test_slow", { steps: 2, ms: 1 }, meta), { headers: { accept } });
    assert.equal(plain.headers.get("content-type"), "application/json");
    assert.match(plain.text, /"waited":true/);
  }
});

Deno.test("a cancelled call is aborted, its POST ends with nothing, and the session goes on", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const slow = client.call("test_slow", {}, { id: 41 });
  const other = client.call("test_slow", {}, { id: "41" });
  await until(() => rig.tools.running === 2);
  assert.equal((await client.notify("notifications/cancelled", { requestId: 41, reason: "no longer" })).status, 202);
  const ended = await slow;
  assert.deepEqual([ended.status, ended.text], [202, ""]);
  await until(() => rig.tools.aborted === 1);
  assert.equal(rig.tools.running, 1);
  await client.notify("notifications/cancelled", { requestId: 999 });
  await client.notify("notifications/cancelled", {});
  await client.notify("notifications/cancelled");
  rig.tools.release();
  assert.match((await other).text, /"waited":true/);
  assert.equal((await client.request("ping")).status, 200);
});

Deno.test("a cancelled call that had become a stream ends its stream", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const reader = new EventReader(await client.open(call(3, "test_slow", { steps: 1 }, { progressToken: 1 })));
  assert.equal((await reader.message())["method"], "notifications/progress");
  await client.notify("notifications/cancelled", { requestId: 3 });
  assert.equal(await reader.block(), undefined);
  await until(() => rig.tools.aborted === 1);
});

Deno.test("a client that goes away aborts its calls, as JSON and as a stream, and over SSE", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const abort = new AbortController();
  const json = client.call("test_slow", {}, { signal: abort.signal });
  const stream = await client.open(call(2, "test_slow", { steps: 1 }, { progressToken: 1 }), { signal: abort.signal });
  await until(() => rig.tools.running === 2);
  abort.abort();
  await assert.rejects(json);
  await assert.rejects(stream.text());
  await until(() => rig.tools.aborted === 2 && rig.tools.running === 0);
  assert.equal((await client.request("ping")).status, 200);
  const sse = await SseClient.open(rig.origin, TOKEN);
  await sse.initialize();
  await sse.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "test_slow" } });
  await until(() => rig.tools.running === 1);
  await sse.close();
  await until(() => rig.tools.aborted === 3 && rig.app.endpoints.sessions === 1);
});

Deno.test("DELETE while a call is under way answers that call, aborts it and is 204", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const slow = client.call("test_slow", {}, { id: 6 });
  await until(() => rig.tools.running === 1);
  assert.equal((await client.delete()).status, 204);
  const ended = await slow;
  assert.deepEqual([ended.json["id"], errorOf(ended.json)], [6, { code: -32000, message: "session closed" }]);
  await until(() => rig.tools.aborted === 1);
});

Deno.test("over SSE a cancelled call is aborted and gets no answer", async () => {
  await using rig = await startApp();
  const sse = await SseClient.open(rig.origin, TOKEN);
  await sse.initialize();
  await sse.post({ jsonrpc: "2.0", id: "x", method: "tools/call", params: { name: "test_slow" } });
  await until(() => rig.tools.running === 1);
  await sse.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "x" } });
  await until(() => rig.tools.aborted === 1);
  assert.deepEqual((await sse.request("ping"))["result"], {});
  assert.deepEqual(sse.notifications, []);
  await sse.close();
});

Deno.test("a batch is answered as one on 2025-03-26, counted entry by entry, and refused later", async () => {
  await using rig = await startApp({ rateLimitPerMin: 2, gateNow: () => 0 });
  const old = await connect(rig.origin, TOKEN, "2025-03-26");
  const before = rig.server.requests;
  const batch = `[${call(1, "test_echo", { text: "a" })},{"jsonrpc":"2.0","method":"notifications/x"},${
    call("2", "test_fail")
  },${call(3, "test_echo", { text: "c" })}]`;
  const answer = await old.raw(batch);
  assert.equal(rig.server.requests - before, 4);
  const list: unknown = answer.json["batch"];
  assert.ok(Array.isArray(list));
  assert.deepEqual(new Set(list.map((m) => m.id)), new Set([1, "2", 3]));
  assert.equal(list.find((m) => m.id === "2").result.isError, true);
  assert.equal(list.find((m) => m.id === 3).error.code, -32000);
  const onlyNotifications = await old.raw('[{"jsonrpc":"2.0","method":"notifications/x"}]');
  assert.deepEqual([onlyNotifications.status, onlyNotifications.text], [202, ""]);
  const handshake = '{"jsonrpc":"2.0","id":9,"method":"initialize","params":{}}';
  for (
    const bad of [
      "[]",
      `[${call(1, "app_info")},5]`,
      `[${Array(LIMITS.maxBatch + 1).fill(call(1, "app_info")).join(",")}]`,
      `[${call(1, "app_info")},${handshake}]`,
    ]
  ) {
    const refused = await old.raw(bad);
    assert.deepEqual([refused.status, errorOf(refused.json)["code"]], [400, -32600]);
  }
  const newer = await connect(rig.origin, TOKEN, "2025-06-18");
  const refused = await newer.raw(batch);
  assert.deepEqual([refused.status, errorOf(refused.json)["code"], refused.json["id"]], [400, -32600, null]);
  assert.match(refused.text, /2025-06-18/);
});

Deno.test("a batch that takes long becomes a stream with all its answers", async () => {
  let now = 0;
  await using rig = await startApp({ tuning: { now: () => now } });
  const client = await connect(rig.origin, TOKEN, "2025-03-26");
  const response = client.open(`[${call(1, "test_echo", { text: "a" })},${call(2, "test_slow")}]`);
  await until(() => rig.tools.running === 1);
  now += 14_500;
  rig.app.endpoints.tick();
  const reader = new EventReader(await response);
  assert.equal((await reader.message())["id"], 1);
  rig.tools.release();
  assert.equal((await reader.message())["id"], 2);
  assert.equal(await reader.block(), undefined);
});

Deno.test("a bug inside a tool is -32603 that says it was logged; the connection lives and the next call works [C101]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const answer = await client.call("test_throw", { message: `boom ${TOKEN}` }, { id: 12 });
  assert.deepEqual([answer.status, answer.json["id"]], [200, 12]);
  assert.deepEqual(errorOf(answer.json), {
    code: -32603,
    message: 'Internal error in test_throw. It was written to the log channel "error".',
  });
  assert.ok(!/\.ts|at |TypeError|boom/.test(answer.text));
  const found = await client.ok("log_search", { channel: "error", pattern: "boom" });
  assert.match(JSON.stringify(found), /test_throw/);
  assert.ok(!JSON.stringify(found).includes(TOKEN));
  assert.match((await client.call("test_echo", { text: "next" })).text, /next/);
});

Deno.test("a failing tool is a result with isError, the code first in the text, and a reason for programs [C103]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const { json } = await client.call("test_fail");
  assert.deepEqual(json["result"], {
    isError: true,
    content: [{ type: "text", text: "-32006: Pane main is not open. Open it with serial_open." }],
    structuredContent: {
      error: { code: -32006, reason: "not_open", hint: "Open it with serial_open.", data: { bytes: 3 } },
    },
  });
});

Deno.test("an unknown tool, and tools/call without a name, are -32602 [C093] [C094]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const unknown = await client.call("serial_opne", {}, { id: 3 });
  assert.deepEqual([unknown.status, unknown.json["id"], errorOf(unknown.json)["code"]], [200, 3, -32602]);
  for (
    const params of [{}, { arguments: {} }, { name: 5 }, { name: "app_info", arguments: [] }, {
      name: "app_info",
      arguments: "x",
    }, undefined]
  ) {
    const answer = await client.request("tools/call", params);
    assert.equal(errorOf(answer.json)["code"], -32602, JSON.stringify(params));
  }
});

Deno.test("tools/list has every tool of the table on its first page, and a cursor is -32602 (32 of the 54 names: the others come later) [C070] [C072] [MC07]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const seen: string[] = [];
  let cursor: unknown;
  for (let page = 0; page < 10; page++) {
    const { json } = await client.request("tools/list", cursor === undefined ? {} : { cursor });
    const { tools, nextCursor } = resultOf(json);
    assert.ok(Array.isArray(tools));
    seen.push(...tools.map((t) => t.name));
    cursor = nextCursor;
    if (page === 0) assert.equal(nextCursor, undefined);
    if (nextCursor === undefined) break;
  }
  assert.equal(new Set(seen).size, seen.length);
  assert.deepEqual(seen, rig.gate.rows().map((r) => r.name));
  for (const bad of ["nonsense", "", "50"]) {
    const answer = await client.request("tools/list", { cursor: bad });
    assert.equal(errorOf(answer.json)["code"], -32602);
  }
});
