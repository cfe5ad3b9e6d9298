import assert from "node:assert/strict";
import fc from "fast-check";
import { isObject } from "../../src/mcp/protocol.ts";
import { startApp, TOKEN } from "../rigs/app.ts";
import { connect, INITIALIZE, type Json, RawMcp } from "../rigs/mcp_client.ts";
import { type Measured, MeasuredServer } from "../rigs/measured_server.ts";
import { writeAll } from "../rigs/raw_http.ts";
import { until } from "../rigs/until.ts";
import { LIMITS } from "../../tools/mod.ts";

Deno.test("a body of a million nested brackets is refused at once, and the next request works", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const size = 1_048_576;
  const bodies = [
    "[".repeat(size),
    "[".repeat(size / 2) + "]".repeat(size / 2),
    '{"a":'.repeat(Math.floor(size / 6)),
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_echo","arguments":${"[".repeat(400_000)}${
      "]".repeat(400_000)
    }}}`,
    `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"s":"${'\\"['.repeat(200_000)}"}}`,
  ];
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const ping = (inside: string) => `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${inside}}}`;
  // Two levels are the message's own.
  assert.equal((await client.raw(ping(nested(LIMITS.maxJsonDepth - 2)))).status, 200);
  assert.equal((await client.raw(ping(nested(LIMITS.maxJsonDepth - 1)))).status, 400);
  for (const [i, body] of bodies.entries()) {
    const answer = await client.raw(body);
    if (i < 4) {
      assert.deepEqual([answer.status, isObject(answer.json["error"]) && answer.json["error"]["code"]], [400, -32600]);
    } else assert.deepEqual(answer.json["result"], {}); // brackets in a string are text
  }
  assert.equal((await client.request("ping")).status, 200);
});

const anyJson = fc.jsonValue({ maxDepth: 4 });
const method = fc.oneof(
  fc.constantFrom(
    "initialize",
    "tools/call",
    "tools/list",
    "ping",
    "notifications/cancelled",
    "notifications/initialized",
    "resources/read",
    "resources/subscribe",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "server/discover",
    "subscriptions/listen",
  ),
  fc.string(),
  anyJson,
);
const id = fc.oneof(fc.integer(), fc.string(), anyJson);
const params = fc.oneof(
  anyJson,
  fc.record({
    name: fc.oneof(fc.constantFrom("app_info", "test_echo", "log_tail", "mcp_config_set", "serial_send"), anyJson),
    arguments: anyJson,
    cursor: anyJson,
    uri: anyJson,
    _meta: anyJson,
    requestId: anyJson,
  }, { requiredKeys: [] }),
);
const message = fc.record({
  jsonrpc: fc.oneof(fc.constant("2.0"), anyJson),
  id,
  method,
  params,
  result: anyJson,
  error: anyJson,
}, { requiredKeys: [] });
const bodyText = fc.oneof(
  { weight: 6, arbitrary: message.map((m) => JSON.stringify(m)) },
  { weight: 1, arbitrary: fc.array(message, { maxLength: 5 }).map((m) => JSON.stringify(m)) },
  { weight: 1, arbitrary: fc.tuple(message, fc.nat(200)).map(([m, at]) => JSON.stringify(m).slice(0, at)) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
);

/** What every answer on this endpoint must look like. */
function checkAnswer(status: number, type: string | null, text: string): void {
  assert.ok([200, 202, 400, 404, 499].includes(status), `${status}: ${text}`);
  assert.ok(!/\bat \S+ \(|\.ts:\d|file:\/\//.test(text), text);
  if (status === 202) return assert.equal(text, "");
  if (type?.startsWith("text/event-stream")) return;
  const value: unknown = JSON.parse(text);
  if (status === 404) return assert.deepEqual(value, { error: "session not found" });
  for (const one of Array.isArray(value) ? value : [value]) {
    assert.ok(isObject(one), text);
    assert.equal(one["jsonrpc"], "2.0", text);
    assert.ok(("result" in one) !== ("error" in one), text);
    if (isObject(one["error"])) {
      assert.equal(typeof one["error"]["code"], "number", text);
      assert.equal(typeof one["error"]["message"], "string", text);
      assert.notEqual(one["error"]["code"], -32603, text);
    }
  }
}

Deno.test("10,000 random bodies on all eras: every answer is well formed, nothing breaks, nothing stays behind", async () => {
  // No heartbeats: a call that is never answered must not pass for a stream.
  await using rig = await startApp({ config: { callLog: { enabled: false } }, tuning: { heartbeatMs: 1e12 } });
  const clients = [
    await connect(rig.origin, TOKEN, "2025-03-26"),
    await connect(rig.origin, TOKEN),
    new RawMcp(rig.origin, TOKEN),
  ];
  const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
  const bodies = fc.sample(bodyText, { numRuns: 10_000, seed: 20261130 });
  const next = bodies.entries();
  const worker = async () => {
    for (const [i, body] of next) {
      const client = clients[i % 3] ?? clients[0];
      const abort = new AbortController();
      const response = await client?.open(body, { signal: abort.signal, ...(i % 7 === 0 && { headers: modern }) });
      if (!response) continue;
      const type = response.headers.get("content-type");
      // A stream that a random body opened would go on for ever.
      const text = type?.startsWith("text/event-stream") ? (abort.abort(), "") : await response.text();
      checkAnswer(response.status, type, text);
      const evicted = response.headers.get("mcp-session-id");
      if (evicted && evicted !== client?.session) {
        await fetch(`${rig.origin}/mcp`, {
          method: "DELETE",
          headers: { ...client?.headers, "mcp-session-id": evicted },
        });
      }
    }
  };
  let deadline: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([
    Promise.all(Array.from({ length: 8 }, worker)),
    new Promise((_, reject) => deadline = setTimeout(() => reject(new Error("a request was never answered")), 120_000)),
  ]);
  clearTimeout(deadline);
  assert.equal(rig.gate.reports.total, 0, await errors(rig));
  await until(() => rig.app.endpoints.subscriptions === 0 && rig.tools.running === 0);
  for (const client of clients.slice(0, 2)) {
    if ((await client.request("ping")).status === 404) continue; // it was evicted by an initialize among the bodies
    assert.equal((await client.ok("app_info"))["name"], "fieldbench");
  }
  assert.ok(rig.app.endpoints.sessions <= 4);
});

async function errors(rig: { origin: string }): Promise<string> {
  const client = await connect(rig.origin, TOKEN);
  return (await client.call("log_tail", { channel: "error", format: "text" })).text;
}

/** Opens a session, calls once and drops the connection, without a word of farewell. */
async function vanish(origin: string): Promise<void> {
  const client = new RawMcp(origin, TOKEN);
  const { hostname, port, host } = new URL(origin);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  const send = async (message: Json, headers: Record<string, string>) => {
    const body = JSON.stringify(message);
    const all = { ...client.headers, ...headers, host, "content-length": String(body.length) };
    const head = Object.entries(all).map(([k, v]) => `${k}: ${v}\r\n`).join("");
    await writeAll(socket, new TextEncoder().encode(`POST /mcp HTTP/1.1\r\n${head}\r\n${body}`));
    const buffer = new Uint8Array(65_536);
    let text = "";
    while (!text.includes("\r\n\r\n")) {
      const n = await socket.read(buffer);
      assert.ok(n !== null, "the server closed the connection");
      text += new TextDecoder().decode(buffer.subarray(0, n));
    }
    return text;
  };
  const answer = await send({ jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE }, {});
  const session = /mcp-session-id: (\S+)/i.exec(answer)?.[1];
  assert.ok(session);
  const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "app_info" } };
  assert.match(await send(call, { "mcp-session-id": session }), / 200 /);
  socket.close();
}

Deno.test("500 clients that vanish without DELETE: sessions, sockets and memory are where they were [MC01]", async () => {
  await using server = await MeasuredServer.start();
  const rounds: Measured[] = [];
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 500; i++) await vanish(server.origin);
    assert.equal((await server.measure()).sessions, 4);
    await server.idle();
    // The first round also makes what is made once.
    const files = rounds[0]?.files;
    await until(async () => {
      const now = await server.measure();
      rounds[round] = now;
      return files === undefined || now.files <= files + 2;
    });
    assert.equal(rounds[round]?.sessions, 0);
  }
  // What leaks grows in every round; what only settles late, or is kept once, does not.
  const growth = (of: "rssMb" | "usedMb") => rounds.slice(1).map((r, i) => r[of] - (rounds[i]?.[of] ?? 0));
  const told = JSON.stringify(rounds);
  assert.ok(Math.min(...growth("rssMb")) < 20, told);
  assert.ok(Math.min(...growth("usedMb")) < 2, told);
});

Deno.test("idle streams outlive clients that give up after a minute of silence, for six minutes, and so does a long call [MC03]", async () => {
  let now = 0;
  await using rig = await startApp({ tuning: { now: () => now } });
  const client = await connect(rig.origin, TOKEN);
  const get = await client.listen();
  const sse = await fetch(`${rig.origin}/sse`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const sseReader = sse.body?.pipeThrough(new TextDecoderStream()).getReader();
  await sseReader?.read();
  const call = client.open(
    JSON.stringify({ jsonrpc: "2.0", id: 9, method: "tools/call", params: { name: "test_slow" } }),
  );
  await until(() => rig.tools.running === 1);
  let silence = 0, longest = 0;
  // The clock is the test's: six minutes by seconds. Each comment is read before time goes on.
  let long: ReadableStreamDefaultReader<string> | undefined;
  for (let second = 1; second <= 360; second++) {
    now += 1000;
    rig.app.endpoints.tick();
    silence++;
    if (silence < 14) continue;
    assert.equal(await get.block(), ": keepalive");
    assert.match((await sseReader?.read())?.value ?? "", /keepalive/);
    long ??= (await call).body?.pipeThrough(new TextDecoderStream()).getReader();
    assert.match((await long?.read())?.value ?? "", /keepalive/);
    longest = Math.max(longest, silence);
    silence = 0;
  }
  assert.ok(longest <= 15, `${longest} s of silence`);
  rig.tools.release();
  assert.match((await long?.read())?.value ?? "", /"waited":true/);
  await get.cancel();
  await sseReader?.cancel();
  await long?.cancel();
});

Deno.test("a message whose _meta is odd is answered like any other", async () => {
  await using rig = await startApp({ tuning: { heartbeatMs: 1e12 } });
  const client = await connect(rig.origin, TOKEN);
  for (const _meta of [{ progressToken: {} }, { progressToken: null }, { progressToken: 1.5 }, { x: [] }, {}]) {
    assert.deepEqual((await client.request("ping", { _meta })).json["result"], {});
    assert.ok((await client.request("tools/call", { name: "app_info", _meta })).json["result"]);
  }
  for (const _meta of [false, 5, "x", [], null]) {
    assert.equal((await client.request("ping", { _meta })).status, 400);
  }
});

Deno.test("a handshake that leaves out what it may is completed, one that makes no sense is -32602 and takes no place", async () => {
  await using rig = await startApp();
  const good = [
    { protocolVersion: "2025-06-18", clientInfo: { name: "curl" } },
    { protocolVersion: "2025-06-18" },
    { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "a", version: 1 } },
  ];
  for (const params of good) {
    const client = new RawMcp(rig.origin, TOKEN);
    const answer = await client.request("initialize", params);
    assert.ok(answer.headers.get("mcp-session-id"), answer.text);
    assert.ok(answer.json["result"], answer.text);
  }
  assert.equal(rig.app.endpoints.sessions, good.length);
  for (
    const params of [{}, undefined, { protocolVersion: 5 }, { ...INITIALIZE, capabilities: 5 }, {
      ...INITIALIZE,
      capabilities: { roots: "x" },
    }]
  ) {
    const answer = await new RawMcp(rig.origin, TOKEN).request("initialize", params);
    assert.equal(isObject(answer.json["error"]) && answer.json["error"]["code"], -32602, answer.text);
  }
  assert.equal(rig.app.endpoints.sessions, good.length);
});
