import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { StdioBridge } from "../../src/mcp/stdio_bridge.ts";
import { isObject } from "../../src/mcp/protocol.ts";
import { type AppRig, startApp, TOKEN } from "../rigs/app.ts";
import { INITIALIZE, type Json } from "../rigs/mcp_client.ts";
import { ROOT, startServer } from "../rigs/server.ts";
import { writeAll } from "../rigs/raw_http.ts";
import { until } from "../rigs/until.ts";

/** A client on the pipe of a bridge in this process. */
class Piped {
  readonly lines: Json[] = [];
  readonly ended: Promise<void>;
  readonly bridge: StdioBridge;
  readonly #input: TransformStream<Uint8Array, Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  #id = 0;

  constructor(connect: () => Promise<string>) {
    this.#input = new TransformStream();
    this.#writer = this.#input.writable.getWriter();
    this.bridge = new StdioBridge({
      connect,
      write: (line) => {
        const value: unknown = JSON.parse(line);
        this.lines.push(isObject(value) ? value : { batch: value });
        return Promise.resolve();
      },
    });
    this.ended = this.bridge.run(this.#input.readable);
  }

  async raw(text: string): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(text));
  }
  async request(method: string, params?: unknown): Promise<Json> {
    const id = ++this.#id;
    await this.raw(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    return await this.answer(id);
  }
  async answer(id: unknown): Promise<Json> {
    await until(() => this.lines.some((l) => l["id"] === id));
    return this.lines.find((l) => l["id"] === id) ?? {};
  }
  async handshake(version = "2025-11-25"): Promise<Json> {
    const answer = await this.request("initialize", { ...INITIALIZE, protocolVersion: version });
    await this.raw('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    return answer;
  }
  async end(): Promise<void> {
    await this.#writer.close();
    await this.ended;
  }
}

const urlOf = (rig: AppRig) => `${rig.origin}/mcp?token=${TOKEN}`;

Deno.test("lines in, lines out: handshake, calls, notifications; the session ends with the input", async () => {
  await using rig = await startApp();
  const client = new Piped(() => Promise.resolve(urlOf(rig)));
  const hello = await client.handshake();
  assert.match(JSON.stringify(hello), /"serverInfo"/);
  const [a, b] = await Promise.all([
    client.request("tools/call", { name: "test_echo", arguments: { text: "one" } }),
    client.request("tools/call", { name: "test_echo", arguments: { text: "two\nlines" } }),
  ]);
  assert.match(JSON.stringify([a, b]), /one.*two\\nlines/s);
  await until(() => rig.app.endpoints.listening);
  rig.app.endpoints.toolsChanged();
  await until(() => client.lines.some((l) => l["method"] === "notifications/tools/list_changed"));
  const progress = await client.request("tools/call", {
    name: "test_slow",
    arguments: { steps: 2, ms: 1 },
    _meta: { progressToken: 7 },
  });
  assert.match(JSON.stringify(progress), /"waited":true/);
  assert.equal(client.lines.filter((l) => l["method"] === "notifications/progress").length, 2);
  await client.end();
  assert.equal(rig.app.endpoints.sessions, 0);
});

Deno.test("what is no message is answered on the pipe, and nothing else is disturbed", async () => {
  await using rig = await startApp();
  const client = new Piped(() => Promise.resolve(urlOf(rig)));
  await client.raw('not json\n\n{"id":5}\n{"jsonrpc":"2.0","id":6,"method":"tools/list"}\n');
  assert.deepEqual(await client.answer(null), {
    jsonrpc: "2.0",
    id: null,
    error: { code: -32700, message: "Parse error: the line is not JSON" },
  });
  assert.match(JSON.stringify(await client.answer(5)), /-32600/);
  assert.match(JSON.stringify(await client.answer(6)), /initialize/);
  await client.handshake();
  // A line may come in pieces.
  await client.raw('{"jsonrpc":"2.0","id":"cut",');
  await client.raw('"method":"ping"}\n');
  assert.deepEqual((await client.answer("cut"))["result"], {});
  await client.end();
});

Deno.test("a session that is gone, and a server that was restarted, are had anew without the client's doing", async () => {
  const first = await startApp();
  let url = urlOf(first);
  let asked = 0;
  const client = new Piped(() => (asked++, Promise.resolve(url)));
  await client.handshake();
  await first.app.endpoints.closeSessions();
  assert.ok((await client.request("tools/call", { name: "app_info" }))["result"]);
  assert.equal(asked, 1);
  await first[Symbol.asyncDispose]();
  await using second = await startApp();
  url = urlOf(second);
  assert.ok((await client.request("tools/call", { name: "app_info" }))["result"]);
  assert.equal(asked, 2);
  assert.equal(client.lines.filter((l) => isObject(l["result"]) && "serverInfo" in l["result"]).length, 1);
  await client.end();
});

Deno.test("where only SSE is switched on the pipe goes over SSE, and a switch of the transport does not end it", async () => {
  await using rig = await startApp({ config: { server: { transport: "sse" } } });
  const client = new Piped(() => Promise.resolve(urlOf(rig)));
  assert.ok((await client.handshake())["result"]);
  await until(() => rig.app.endpoints.sessions === 1);
  const echo = async (text: string) => {
    const answer = await client.request("tools/call", { name: "test_echo", arguments: { text } });
    assert.match(JSON.stringify(answer["result"]), new RegExp(text), JSON.stringify(answer));
  };
  await echo("over sse");
  rig.app.endpoints.toolsChanged();
  await until(() => client.lines.some((l) => l["method"] === "notifications/tools/list_changed"));
  await client.raw('{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"test_slow"}}\n');
  await until(() => rig.tools.running === 1);
  for (const mode of ["http", "sse", "both"] as const) {
    await rig.server.setTransport(mode);
    await echo(`now ${mode}`);
    rig.app.endpoints.tick();
    await echo(`still ${mode}`);
  }
  // What was under way when its transport ended can have no answer, and that is said.
  assert.ok((await client.answer("slow"))["error"]);
  assert.equal(client.lines.filter((l) => isObject(l["result"]) && "serverInfo" in l["result"]).length, 1);
  await client.end();
  await until(() => rig.app.endpoints.sessions === 0);
});

Deno.test("a call that may have run is not sent a second time: a device would get its bytes twice", async () => {
  await using rig = await startApp();
  // Stands before the server and drops the connection once a call of a writing tool has arrived.
  let calls = 0;
  const door = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections: Promise<unknown>[] = [];
  const open = new Set<Deno.Conn>();
  const hangUp = (...which: Deno.Conn[]) => which.forEach((c) => open.delete(c) && c.close());
  const accepting = (async () => {
    for await (const outer of door) {
      const inner = await Deno.connect({ hostname: "127.0.0.1", port: rig.listening.port });
      open.add(outer).add(inner);
      const up = async () => {
        const buffer = new Uint8Array(65_536);
        for (let n = await outer.read(buffer); n !== null; n = await outer.read(buffer)) {
          const text = new TextDecoder().decode(buffer.subarray(0, n));
          if (text.includes("test_write")) {
            calls++;
            break;
          }
          await writeAll(
            inner,
            new TextEncoder().encode(text.replaceAll(`:${door.addr.port}`, `:${rig.listening.port}`)),
          );
        }
        hangUp(outer, inner);
      };
      connections.push(up().catch(() => {}), inner.readable.pipeTo(outer.writable).catch(() => {}));
    }
  })();
  const client = new Piped(() => Promise.resolve(`http://127.0.0.1:${door.addr.port}/mcp?token=${TOKEN}`));
  await client.handshake();
  const answer = await client.request("tools/call", { name: "test_write", arguments: {} });
  assert.match(JSON.stringify(answer), /-32000.*ended before it answered/);
  assert.equal(calls, 1);
  assert.ok((await client.request("tools/call", { name: "app_info" }))["result"]);
  await client.end();
  door.close();
  await accepting;
  hangUp(...open);
  await Promise.all(connections);
});

Deno.test("a server that is gone for good is told to whoever asks", async () => {
  const client = new Piped(() => Promise.reject(new Error("none")));
  assert.match(JSON.stringify(await client.request("initialize", INITIALIZE)), /-32000.*does not answer/);
  await client.end();
});

Deno.test("cancellation and the end of the input reach the call", async () => {
  await using rig = await startApp();
  const client = new Piped(() => Promise.resolve(urlOf(rig)));
  await client.handshake();
  await client.raw('{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"test_slow"}}\n');
  await until(() => rig.tools.running === 1);
  await client.raw('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}\n');
  await until(() => rig.tools.aborted === 1);
  await client.raw('{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{"name":"test_slow"}}\n');
  await until(() => rig.tools.running === 1);
  await client.bridge.close();
  await until(() => rig.tools.aborted === 2);
  await client.end();
  assert.ok(!client.lines.some((l) => l["id"] === 77 || l["id"] === 78));
});

const command = (configDir: string, ...more: string[]) => ({
  command: Deno.execPath(),
  args: ["run", "-A", "--quiet", `${ROOT}main.ts`, "mcp", "--config-dir", configDir, ...more],
  stderr: "pipe" as const,
});

for (const mode of ["legacy", "auto"] as const) {
  Deno.test(`fieldbench mcp joins the running server, for the SDK's client (${mode})`, async () => {
    await using server = await startServer();
    const client = new Client({ name: "t", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport(command(server.configDir)));
    assert.ok((await client.listTools()).tools.length > 20);
    const info = await client.callTool({ name: "app_info" });
    assert.ok(isObject(info["structuredContent"]));
    assert.equal(info["structuredContent"]["pid"], server.pid);
    await client.close();
  });
}

Deno.test("fieldbench mcp starts its own server when there is none, others join it, and nothing stays behind", async () => {
  const configDir = await Deno.makeTempDir();
  const first = new Client({ name: "first", version: "1" });
  await first.connect(new StdioClientTransport(command(configDir, "--tools", "slim")));
  assert.ok((await first.listTools()).tools.length < 10);
  const second = new Client({ name: "second", version: "1" });
  await second.connect(new StdioClientTransport(command(configDir)));
  assert.ok((await second.listTools()).tools.length > 20);
  const pidOf = async (c: Client) => JSON.stringify((await c.callTool({ name: "app_info" }))["structuredContent"]);
  const pid = /"pid":(\d+)/.exec(await pidOf(first))?.[1];
  assert.equal(/"pid":(\d+)/.exec(await pidOf(second))?.[1], pid);
  await second.close();
  await first.close();
  await until(async () => !(await Deno.stat(`${configDir}/mcp-endpoint.json`).then(() => true, () => false)));
  await Deno.remove(configDir, { recursive: true });
});
