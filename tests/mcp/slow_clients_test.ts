import assert from "node:assert/strict";
import { SseOut, type StreamEnd } from "../../src/mcp/sse_out.ts";
import { startApp, TOKEN } from "../rigs/app.ts";
import { connect, EventReader, type Json, RawMcp } from "../rigs/mcp_client.ts";
import { usedMb } from "../rigs/memory.ts";
import { writeAll } from "../rigs/raw_http.ts";
import { until } from "../rigs/until.ts";
import { LIMITS } from "../../tools/mod.ts";

const call = (id: unknown, name: string, args: Json = {}, meta?: Json) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: args, ...(meta && { _meta: meta }) },
  });

/** A stream whose reader is in the test's hands. */
function makeStream(limit = {}) {
  let now = 0;
  const ends: StreamEnd[] = [];
  const out = new SseOut({ now: () => now, heartbeatMs: 15_000, ...limit }, (end) => void ends.push(end));
  return { out, ends, advance: (ms: number) => void (now += ms) };
}

Deno.test("257 notifications without a reader: 256 are kept, the oldest is dropped and counted [C062]", async () => {
  const { out, ends } = makeStream();
  for (let i = 1; i <= 257; i++) out.message({ jsonrpc: "2.0", method: "n", params: { i } }, true);
  assert.deepEqual([out.waiting, out.dropped, ends], [256, 1, []]);
  const reader = new EventReader(out.response());
  out.end();
  const first = await reader.message();
  assert.deepEqual(first["params"], { i: 2 });
  let last = first;
  for (let i = 3; i <= 257; i++) last = await reader.message();
  assert.deepEqual(last["params"], { i: 257 });
  assert.equal(await reader.block(), undefined);
  assert.deepEqual(ends, ["done"]);
});

Deno.test("notifications that are too large to wait are dropped like too many", () => {
  const { out, ends } = makeStream();
  const params = { text: "x".repeat(LIMITS.sessionQueueChars / 4) };
  for (let i = 0; i < 6; i++) out.message({ jsonrpc: "2.0", method: "n", params }, true);
  assert.deepEqual([out.waiting, out.dropped, ends], [3, 3, []]);
});

Deno.test("responses are never dropped: one that does not fit ends the stream, and all is counted", () => {
  const { out, ends } = makeStream();
  for (let i = 0; i < 200; i++) out.message({ jsonrpc: "2.0", id: i, result: {} }, false);
  for (let i = 0; i < 100; i++) out.message({ jsonrpc: "2.0", method: "n" }, true);
  assert.deepEqual([out.waiting, out.dropped], [256, 44]);
  for (let i = 0; i < 56; i++) out.message({ jsonrpc: "2.0", id: i, result: {} }, false);
  assert.deepEqual([out.waiting, out.dropped, ends], [256, 100, []]);
  out.message({ jsonrpc: "2.0", id: "one too many", result: {} }, false);
  assert.deepEqual([out.waiting, out.dropped, ends], [0, 357, ["stalled"]]);
  out.message({ jsonrpc: "2.0", id: 1, result: {} }, false);
  assert.equal(out.waiting, 0);
});

Deno.test("a reader that takes nothing for two heartbeats is cut off", () => {
  const { out, ends, advance } = makeStream();
  out.message({ jsonrpc: "2.0", method: "n" }, true);
  advance(29_999);
  out.tick();
  assert.deepEqual(ends, []);
  advance(1);
  out.tick();
  assert.deepEqual([ends, out.dropped], [["stalled"], 1]);
});

Deno.test("a client that never reads is cut off, what is lost is counted, memory stays and others are not slowed [C063]", async () => {
  await using rig = await startApp({ tuning: { heartbeatMs: 200 } });
  const victim = await connect(rig.origin, TOKEN);
  const other = await connect(rig.origin, TOKEN);
  const socket = await Deno.connect({ hostname: "127.0.0.1", port: rig.listening.port });
  const head = Object.entries({
    ...victim.headers,
    accept: "text/event-stream",
    host: `127.0.0.1:${rig.listening.port}`,
  })
    .map(([k, v]) => `${k}: ${v}\r\n`).join("");
  await writeAll(socket, new TextEncoder().encode(`GET /mcp HTTP/1.1\r\n${head}\r\n`));
  await until(() => rig.app.endpoints.listening);
  const before = usedMb();
  const begun = performance.now();
  let sent = 0;
  let slowest = 0;
  // Each is 100 kB: sockets hold a few MB, then the queue fills.
  const big = "x".repeat(100_000);
  while (rig.app.endpoints.listening) {
    for (let i = 0; i < 20; i++, sent++) rig.app.endpoints.notifyAll("notifications/test", { big });
    const t = performance.now();
    assert.equal((await other.request("ping")).status, 200);
    slowest = Math.max(slowest, performance.now() - t);
    assert.ok(performance.now() - begun < 60_000, "never cut off");
  }
  assert.ok(rig.server.dropped > 0);
  assert.ok(usedMb() - before < 60);
  assert.ok(slowest < 5000, `another session waited ${slowest} ms`);
  assert.match(JSON.stringify(await other.ok("mcp_status")), /"dropped":[1-9]/);
  socket.close();
});

Deno.test("a request a byte at a time is answered like any other, and holds nobody up", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const body = call(1, "test_echo", { text: "slowly" });
  const socket = await Deno.connect({ hostname: "127.0.0.1", port: rig.listening.port });
  const head = Object.entries({
    ...client.headers,
    host: `127.0.0.1:${rig.listening.port}`,
    "content-length": String(body.length),
    connection: "close",
  })
    .map(([k, v]) => `${k}: ${v}\r\n`).join("");
  for (const byte of new TextEncoder().encode(`POST /mcp HTTP/1.1\r\n${head}\r\n${body}`)) {
    await writeAll(socket, Uint8Array.of(byte));
    if (byte === 0x22) assert.equal((await client.request("ping")).status, 200);
  }
  assert.match(await new Response(socket.readable).text(), /slowly/);
});

Deno.test("the raw client and a lost socket in the middle of a body leave no session or call behind", async () => {
  await using rig = await startApp();
  const client = new RawMcp(rig.origin, TOKEN);
  const socket = await Deno.connect({ hostname: "127.0.0.1", port: rig.listening.port });
  await writeAll(
    socket,
    new TextEncoder().encode(
      `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${rig.listening.port}\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"jsonrpc"`,
    ),
  );
  socket.close();
  await client.initialize();
  assert.equal(rig.app.endpoints.sessions, 1);
  assert.equal(rig.gate.reports.total, 0);
});

Deno.test("an SSE client that asks and never reads loses its session, since answers are never dropped silently", async () => {
  await using rig = await startApp({ tuning: { heartbeatMs: 200 } });
  const socket = await Deno.connect({ hostname: "127.0.0.1", port: rig.listening.port });
  await writeAll(
    socket,
    new TextEncoder().encode(
      `GET /sse HTTP/1.1\r\nhost: 127.0.0.1:${rig.listening.port}\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`,
    ),
  );
  let head = "";
  const buffer = new Uint8Array(4096);
  while (!/data: \/messages\S+/.test(head)) {
    head += new TextDecoder().decode(buffer.subarray(0, await socket.read(buffer) ?? 0));
  }
  const address = `${rig.origin}${/data: (\/messages\S+)/.exec(head)?.[1]}`;
  const headers = { "content-type": "application/json", authorization: `Bearer ${TOKEN}` };
  const text = "x".repeat(10_000);
  const begun = performance.now();
  let status = 202;
  for (let id = 1; status === 202; id++) {
    const response = await fetch(address, { method: "POST", headers, body: call(id, "test_echo", { text }) });
    await response.body?.cancel();
    status = response.status;
    assert.ok(performance.now() - begun < 60_000, "the session never ended");
  }
  assert.equal(status, 404);
  assert.equal(rig.app.endpoints.sessions, 0);
  assert.ok(rig.server.dropped > 0);
  socket.close();
});
