import assert from "node:assert/strict";
import { isObject } from "../../src/mcp/protocol.ts";
import { MemoryDriver } from "../../src/drivers/serial/memory.ts";
import { startApp, TOKEN } from "../rigs/app.ts";
import { connect, errorOf, INITIALIZE, RawMcp, SseClient } from "../rigs/mcp_client.ts";
import { until } from "../rigs/until.ts";

const auth = { authorization: `Bearer ${TOKEN}` };

async function alive(client: RawMcp): Promise<number> {
  return (await client.request("ping")).status;
}

Deno.test("a fifth session takes the place of the one that was idle longest [C051] [C052]", async () => {
  await using rig = await startApp();
  const clients = [];
  for (let i = 0; i < 4; i++) clients.push(await connect(rig.origin, TOKEN));
  const [a, b, c, d] = clients;
  assert.ok(a && b && c && d);
  assert.equal(await alive(a), 200); // now b is the one that was idle longest
  const fifth = await connect(rig.origin, TOKEN);
  const gone = await b.request("tools/list");
  assert.deepEqual([gone.status, gone.json], [404, { error: "session not found" }]);
  for (const other of [a, c, d, fifth]) assert.equal(await alive(other), 200);
  assert.equal(rig.app.endpoints.sessions, 4);
});

Deno.test("a client whose session is gone starts anew and finds its port open and everything as it was [C053] [MC02]", async () => {
  const driver = new MemoryDriver();
  driver.plug({ path: "/dev/ttyUSB0" });
  await using rig = await startApp({ driver });
  const client = await connect(rig.origin, TOKEN);
  await client.ok("serial_open", { port: "/dev/ttyUSB0", baud: 9600 });
  const before = await client.ok("serial_get_state");
  await rig.app.endpoints.closeSessions(); // what a restart does to sessions
  assert.equal((await client.request("ping")).status, 404);
  const without = new RawMcp(rig.origin, TOKEN);
  assert.equal((await without.request("ping")).status, 400);
  client.session = "";
  await client.initialize();
  assert.equal((await client.ok("mcp_status"))["sessions"], 1);
  const after = await client.ok("serial_get_state");
  assert.deepEqual([after["isConnected"], after["portName"], after["baud"]], [true, "/dev/ttyUSB0", 9600]);
  assert.deepEqual(after, before);
  await client.ok("serial_close");
});

Deno.test("the mcp channel tells of sessions: who, which version, over what, and their end", async () => {
  await using rig = await startApp();
  const http = await connect(rig.origin, TOKEN);
  const sse = await SseClient.open(rig.origin, TOKEN);
  await sse.initialize();
  await sse.close();
  await until(() => rig.app.endpoints.sessions === 1);
  const { text } = await http.call("log_tail", { channel: "mcp", format: "text" });
  assert.match(text, /session [0-9a-f]{8} of raw 1 began: 2025-11-25 over http/);
  assert.match(text, /session [0-9a-f]{8} of raw 1 began: 2024-11-05 over sse/);
  assert.match(text, /session [0-9a-f]{8} ended/);
  assert.ok(!text.includes(http.session) && !text.includes(TOKEN));
});

Deno.test("sessions of an earlier run are 404 after a restart [C060]", async () => {
  const folder = await Deno.makeTempDir();
  let id: string;
  {
    await using rig = await startApp({ folder });
    id = (await connect(rig.origin, TOKEN)).session;
  }
  await using rig = await startApp({ folder });
  const client = new RawMcp(rig.origin, TOKEN);
  client.session = id;
  const answer = await client.request("tools/list");
  assert.deepEqual([answer.status, answer.json], [404, { error: "session not found" }]);
  client.session = "";
  await client.initialize();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("room is made by HTTP sessions, never by SSE ones [C054]", async () => {
  await using rig = await startApp();
  const sse = await SseClient.open(rig.origin, TOKEN);
  await sse.initialize();
  const first = await connect(rig.origin, TOKEN);
  await connect(rig.origin, TOKEN);
  await connect(rig.origin, TOKEN);
  await connect(rig.origin, TOKEN);
  assert.equal((await first.request("ping")).status, 404);
  assert.deepEqual((await sse.request("ping"))["result"], {});
  assert.equal(rig.app.endpoints.sessions, 4);
  await sse.close();
});

Deno.test("a session with a call under way or a stream open is kept if another can go", async () => {
  await using rig = await startApp();
  const busy = await connect(rig.origin, TOKEN);
  const listening = await connect(rig.origin, TOKEN);
  const idle = await connect(rig.origin, TOKEN);
  const stream = await listening.listen();
  const call = busy.call("test_slow");
  await until(() => rig.tools.running === 1);
  await connect(rig.origin, TOKEN);
  await connect(rig.origin, TOKEN);
  assert.equal((await idle.request("ping")).status, 404);
  await connect(rig.origin, TOKEN);
  await connect(rig.origin, TOKEN);
  rig.tools.release();
  assert.match((await call).text, /"waited":true/);
  assert.equal(await alive(listening), 200);
  await stream.cancel();
});

Deno.test("when all four are SSE sessions, a fifth of either kind is 429 [C055] [C056]", async () => {
  await using rig = await startApp();
  const open = [];
  for (let i = 0; i < 4; i++) open.push(await SseClient.open(rig.origin, TOKEN));
  const http = await new RawMcp(rig.origin, TOKEN).request("initialize", INITIALIZE);
  assert.equal(http.status, 429);
  assert.match(http.text, /event streams/);
  const fifth = await fetch(`${rig.origin}/sse`, { headers: auth });
  assert.equal(fifth.status, 429);
  await fifth.body?.cancel();
  await open.pop()?.close();
  await until(() => rig.app.endpoints.sessions === 3);
  await connect(rig.origin, TOKEN);
  for (const sse of open) await sse.close();
});

Deno.test("an SSE session ends with its connection [C057]", async () => {
  await using rig = await startApp();
  const sse = await SseClient.open(rig.origin, TOKEN);
  await sse.initialize();
  assert.equal(rig.app.endpoints.sessions, 1);
  const begun = performance.now();
  await sse.close();
  await until(() => rig.app.endpoints.sessions === 0);
  assert.ok(performance.now() - begun < 5000);
});

Deno.test("a session without calls for 30 minutes is gone; an open stream counts as alive [C058] [C059]", async () => {
  let now = 0;
  await using rig = await startApp({ tuning: { now: () => now, heartbeatMs: 1e9 } });
  const quiet = await connect(rig.origin, TOKEN);
  const listening = await connect(rig.origin, TOKEN);
  const stream = await listening.listen();
  now += 30 * 60_000 - 1;
  rig.app.endpoints.tick();
  assert.equal(rig.app.endpoints.sessions, 2);
  now += 1;
  rig.app.endpoints.tick();
  assert.equal(rig.app.endpoints.sessions, 1);
  assert.equal((await quiet.request("ping")).status, 404);
  now += 60 * 60_000;
  rig.app.endpoints.tick();
  await stream.cancel();
  await until(() => !rig.app.endpoints.listening);
  rig.app.endpoints.tick();
  assert.equal(await alive(listening), 200);
  now += 30 * 60_000;
  rig.app.endpoints.tick();
  assert.equal((await listening.request("ping")).status, 404);
  assert.equal(rig.app.endpoints.sessions, 0);
});

Deno.test("the 61st call within a minute is -32000 with its id; the window, other sessions and other methods are free [C064] [C065] [C066] [C067]", async () => {
  let now = 0;
  await using rig = await startApp({ rateLimitPerMin: 60, gateNow: () => now });
  const client = await connect(rig.origin, TOKEN);
  for (let i = 0; i < 60; i++) {
    assert.ok((await client.call("test_echo", { text: "a" })).json["result"]);
    now += 10;
  }
  const refused = await client.call("test_echo", { text: "a" }, { id: "sixty-one" });
  assert.deepEqual([refused.status, refused.json["id"]], [200, "sixty-one"]);
  const error = errorOf(refused.json);
  assert.equal(error["code"], -32000);
  assert.deepEqual(error["data"], { retryAfterMs: 60_000 - 600, rateLimitPerMin: 60 });
  assert.match(String(error["message"]), /60 tool calls/);
  for (const method of ["ping", "tools/list"]) assert.ok((await client.request(method)).json["result"]);
  const other = await connect(rig.origin, TOKEN);
  const status = await other.ok("mcp_status");
  assert.equal(status["rateLimited"], 1);
  assert.ok(isObject(status["limits"]));
  assert.equal(status["limits"]["rateLimitPerMin"], 60);
  now += 60_000;
  assert.ok((await client.call("test_echo", { text: "a" })).json["result"]);
});

Deno.test("a rate limit of 0 lets every call in, and mcp_limits says so", async () => {
  await using rig = await startApp({ rateLimitPerMin: 0 });
  const client = await connect(rig.origin, TOKEN);
  const answers = await Promise.all(Array.from({ length: 200 }, () => client.call("test_echo", { text: "a" })));
  assert.ok(answers.every((a) => a.json["result"]));
  assert.equal((await client.ok("mcp_limits"))["rateLimitPerMin"], 0);
});

Deno.test("a body of 1 MiB is taken, one byte more is 413 and nothing runs [C068]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const call = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "test_danger", arguments: { confirm: true } },
  });
  const exact = call + " ".repeat(1_048_576 - call.length);
  assert.match((await client.raw(exact)).text, /"done":true/);
  assert.equal(rig.tools.runs.length, 1);
  const over = await client.raw(exact + " ");
  assert.equal(over.status, 413);
  assert.match(over.text, /1048576 bytes/);
  // Also without a Content-Length that tells.
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(c) {
      const bytes = new TextEncoder().encode(exact + " ");
      for (let at = 0; at < bytes.length; at += 100_000) c.enqueue(bytes.slice(at, at + 100_000));
      c.close();
    },
  });
  const chunked = await fetch(`${rig.origin}/mcp`, { method: "POST", headers: client.headers, body: stream });
  assert.equal(chunked.status, 413);
  await chunked.body?.cancel();
  assert.equal(rig.tools.runs.length, 1);
  assert.equal(await alive(client), 200);
});

Deno.test("other media types than JSON are 415", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx"]) {
    const answer = await client.raw("{}", { headers: { "content-type": type } });
    assert.equal(answer.status, 415, type);
    assert.match(answer.text, /application\/json/);
  }
  const charset = await client.raw('{"jsonrpc":"2.0","id":1,"method":"ping"}', {
    headers: { "content-type": "Application/JSON; charset=utf-8" },
  });
  assert.equal(charset.status, 200);
});

Deno.test("100 clients that never say goodbye leave nothing behind after the idle limit [C069]", async () => {
  let now = 0;
  await using rig = await startApp({ tuning: { now: () => now, heartbeatMs: 1e9 } });
  for (let i = 0; i < 100; i++) {
    const client = await connect(rig.origin, TOKEN);
    await client.ok("app_info");
  }
  assert.equal(rig.app.endpoints.sessions, 4);
  now += 30 * 60_000;
  rig.app.endpoints.tick();
  assert.equal(rig.app.endpoints.sessions, 0);
});

Deno.test("two sessions see the same bench: four clients over both transports at once, one leaving [C061] [MC04]", async () => {
  await using rig = await startApp();
  const [a, b, c] = await Promise.all([
    connect(rig.origin, TOKEN),
    connect(rig.origin, TOKEN),
    connect(rig.origin, TOKEN),
  ]);
  const sse = await SseClient.open(rig.origin, TOKEN);
  await sse.initialize();
  for (const client of [a, b, c]) assert.match((await client.request("tools/list")).text, /serial_open/);
  assert.match(JSON.stringify(await sse.request("tools/list")), /serial_open/);
  const state = async (client: RawMcp) => (await client.ok("serial_get_state"))["panes"];
  assert.deepEqual(await state(a), await state(b));
  assert.deepEqual(await a.ok("log_tail", { channel: "app" }), await b.ok("log_tail", { channel: "app" }));
  await a.delete();
  assert.deepEqual(await state(b), await state(c));
  await sse.close();
  assert.equal(await alive(b), 200);
});
