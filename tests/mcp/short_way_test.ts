/**
 * `tools/call` of a session goes from the transport to the gate without the SDK. Here the same requests go both ways,
 * and every answer must be the same: with `extend` the engine takes the SDK's way, as the conformance suite does.
 */
import assert from "node:assert/strict";
import { type AppRig, startApp, TOKEN } from "../rigs/app.ts";
import { connect, EventReader, events, type RawMcp } from "../rigs/mcp_client.ts";
import { until } from "../rigs/until.ts";

interface Way {
  readonly rig: AppRig;
  readonly client: RawMcp;
}

/** One server that takes the short way, and one that takes the SDK's. */
async function bothWays(version?: string, parts: Parameters<typeof startApp>[0] = {}) {
  const start = async (options: Parameters<typeof startApp>[0]): Promise<Way> => {
    const rig = await startApp({ ...parts, ...options, parts: { now: () => 1_000_000 } });
    return { rig, client: await connect(rig.origin, TOKEN, version) };
  };
  const ways = [await start({}), await start({ tuning: { extend: () => {} } })] as const;
  return {
    ways,
    [Symbol.asyncDispose]: async () => {
      for (const { rig } of ways) await rig[Symbol.asyncDispose]();
    },
  };
}

/** What a client sees of an answer: nothing of it depends on the way. */
async function seen({ client }: Way, body: string, accept?: string) {
  const { status, headers, text } = await client.raw(body, accept === undefined ? {} : { headers: { accept } });
  const type = headers.get("content-type");
  assert.equal(headers.has("mcp-session-id"), status === 200);
  const parts = type?.startsWith("text/event-stream") ? events(text) : [text];
  return { status, type, messages: parts.map((p) => p === "" ? "" : JSON.parse(p)) };
}

const body = (params: unknown, id: unknown = 1) => JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });

const PARAMS: readonly unknown[] = [
  // Results.
  { name: "app_info" },
  { name: "app_info", arguments: {} },
  { name: "test_echo", arguments: { text: "ä\u0000\u2028😀" } },
  { name: "test_echo", arguments: { old_text: "a", count: 99 } },
  { name: "log_tail", arguments: { channel: "serial:main:rx", format: "text" } },
  { name: "mcp_limits", arguments: {} },
  // Failures of tools and of policy, and errors of the protocol.
  { name: "test_fail", arguments: {} },
  { name: "test_throw", arguments: { message: "[{}]" } },
  { name: "test_bad_output", arguments: {} },
  { name: "test_danger", arguments: {} },
  { name: "test_danger", arguments: { confirm: "true" } },
  { name: "serial_send", arguments: { data: "x" } },
  { name: "serial_open", arguments: { port: "/dev/nope" } },
  { name: "test_echo", arguments: {} },
  { name: "test_echo", arguments: { text: "a", nope: 1 } },
  // Unknown tools.
  { name: "nope" },
  { name: "serial_snd", arguments: {} },
  { name: "ctl_serial_conn_open", arguments: {} },
  { name: "", arguments: {} },
  { name: "__proto__", arguments: {} },
  { name: "x".repeat(500) },
  // Odd parameters.
  undefined,
  {},
  { arguments: {} },
  { name: 5, arguments: {} },
  { name: null },
  { name: ["app_info"] },
  { name: "app_info", arguments: null },
  { name: "app_info", arguments: [] },
  { name: "app_info", arguments: "{}" },
  { name: "app_info", arguments: 0 },
  { name: "app_info", more: 1 },
  { name: "app_info", task: { ttl: 60_000 } },
  { name: "app_info", task: 5 },
  { name: "app_info", _meta: {} },
  { name: "app_info", _meta: { progressToken: "p" } },
  { name: "app_info", _meta: { progressToken: 1.5 } },
  { name: "app_info", _meta: { progressToken: null, other: { a: [1] } } },
  { name: "app_info", _meta: null },
  { name: "app_info", _meta: 5 },
  null,
  5,
  [],
  ["app_info"],
];

for (const version of ["2025-11-25", "2025-03-26"]) {
  Deno.test(`the short way of a call answers exactly as the SDK's way: results, errors, unknown tools, odd parameters (${version})`, async () => {
    await using both = await bothWays(version);
    const [short, long] = both.ways;
    for (const params of PARAMS) {
      for (const id of [1, "1", 0, -7, "", null, 1.5, undefined]) {
        if (id !== 1 && params !== PARAMS[0] && params !== undefined) continue;
        const text = JSON.stringify({ jsonrpc: "2.0", ...(id !== undefined && { id }), method: "tools/call", params });
        assert.deepEqual(await seen(short, text), await seen(long, text), text);
      }
    }
    assert.equal(short.rig.gate.reports.total, long.rig.gate.reports.total);
    assert.deepEqual([...short.rig.gate.toolCalls], [...long.rig.gate.toolCalls]);
    await Promise.all(both.ways.map(({ rig }) => rig.callLog.flush()));
    assert.equal(short.rig.callLog.totalCalls, long.rig.callLog.totalCalls);
  });
}

Deno.test("the short way refuses over the rate as the SDK's way does", async () => {
  await using both = await bothWays(undefined, { rateLimitPerMin: 2, gateNow: () => 0 });
  const [short, long] = both.ways;
  for (let i = 0; i < 4; i++) {
    const text = body({ name: "app_info" }, i);
    assert.deepEqual(await seen(short, text), await seen(long, text));
  }
  assert.deepEqual([short.rig.gate.rateLimited, long.rig.gate.rateLimited], [2, 2]);
});

Deno.test("the short way tells of progress as the SDK's way does, to clients that asked and take a stream", async () => {
  await using both = await bothWays();
  const [short, long] = both.ways;
  for (const progressToken of ["p", 7, 0, "", undefined]) {
    for (const accept of ["application/json, text/event-stream", "application/json"]) {
      const _meta = progressToken === undefined ? {} : { progressToken };
      const text = body({ name: "test_slow", arguments: { steps: 3, ms: 1 }, _meta }, 3);
      const expected = await seen(long, text, accept);
      assert.deepEqual(await seen(short, text, accept), expected, text);
      const streamed = progressToken !== undefined && accept.includes("event-stream");
      assert.equal(expected.messages.length, streamed ? 4 : 1);
    }
  }
});

Deno.test("cancelling reaches a call the short way as it does the SDK's way, before and after it became a stream", async () => {
  await using both = await bothWays();
  const ended = [];
  for (const { rig, client } of both.ways) {
    const plain = client.call("test_slow", {}, { id: "c" });
    await until(() => rig.tools.running === 1);
    await client.notify("notifications/cancelled", { requestId: "d", reason: "another" });
    assert.equal(rig.tools.running, 1);
    await client.notify("notifications/cancelled", { requestId: "c", reason: "enough" });
    const { status, text } = await plain;
    await until(() => rig.tools.aborted === 1 && rig.tools.running === 0);
    const streamed = new EventReader(
      await client.open(body({ name: "test_slow", arguments: { steps: 1 }, _meta: { progressToken: 1 } }, 5)),
    );
    const first = await streamed.message();
    await client.notify("notifications/cancelled", { requestId: 5 });
    const rest = await streamed.block();
    await until(() => rig.tools.aborted === 2 && rig.tools.running === 0);
    // The record tells of both in the same words.
    const { calls } = await client.ok("mcp_calls", { tool: "test_slow" });
    assert.ok(Array.isArray(calls));
    ended.push({ status, text, first, rest, calls: calls.map((c) => [c.ok, c.error, c.args]) });
  }
  assert.deepEqual(ended[0], ended[1]);
  assert.deepEqual([ended[0]?.status, ended[0]?.text, ended[0]?.rest], [202, "", undefined]);
});

Deno.test("ids used twice, the client's going away and the end of the session are the same both ways", async () => {
  await using both = await bothWays();
  const ended = [];
  for (const { rig, client } of both.ways) {
    const twice = [client.call("test_slow", {}, { id: 1 }), client.call("test_slow", {}, { id: 1 })];
    await until(() => rig.tools.running === 2);
    rig.tools.release();
    const answers = (await Promise.all(twice)).map((a) => [a.status, a.json]);
    const abort = new AbortController();
    const gone = client.call("test_slow", {}, { id: 2, signal: abort.signal }).catch(() => "gone");
    await until(() => rig.tools.running === 1);
    abort.abort();
    await until(() => rig.tools.aborted === 1);
    const last = client.call("test_slow", {}, { id: 3 });
    await until(() => rig.tools.running === 1);
    const deleted = await client.delete();
    await until(() => rig.tools.aborted === 2 && rig.tools.running === 0);
    const { status, json } = await last;
    ended.push({ answers, gone: await gone, deleted: deleted.status, last: [status, json] });
  }
  assert.deepEqual(ended[0], ended[1]);
  assert.equal(ended[0]?.deleted, 204);
});
