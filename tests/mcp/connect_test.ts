import assert from "node:assert/strict";
import { CLIENTS, entriesFor } from "../../src/core/client_entries.ts";
import { run } from "../../src/cli/main.ts";
import { connect as mcp } from "../rigs/mcp_client.ts";
import { ROOT, startServer } from "../rigs/server.ts";

const URL_ = "http://127.0.0.1:7777/mcp?token=a-token-of-some-length";
const LAUNCH = { command: "/opt/field bench/fieldbench", args: ["mcp", "--config-dir", "/tmp/x y"] };

Deno.test("the entries are what each client reads: JSON, TOML or a command with the address and the token", () => {
  for (const client of CLIENTS) {
    const { http, stdio } = entriesFor(client, URL_, LAUNCH);
    assert.ok(http.text.includes("http://127.0.0.1:7777/mcp") && http.text.includes("a-token-of-some-length"), client);
    assert.ok(stdio.text.includes("mcp") && stdio.text.includes("/opt/field bench/fieldbench"), client);
    assert.ok(!stdio.text.includes("a-token-of-some-length"), client);
    if (http.where.endsWith(".json")) {
      for (const { text } of [http, stdio]) {
        const [servers] = Object.values(JSON.parse(text));
        assert.ok(typeof servers === "object" && servers && "fieldbench" in servers, client);
      }
    }
  }
  assert.equal(
    entriesFor("claude-code", URL_, LAUNCH).stdio.text,
    'claude mcp add fieldbench -- "/opt/field bench/fieldbench" mcp --config-dir "/tmp/x y"',
  );
  assert.deepEqual(entriesFor("codex", URL_, LAUNCH).stdio.text.split("\n"), [
    "[mcp_servers.fieldbench]",
    'command = "/opt/field bench/fieldbench"',
    'args = ["mcp", "--config-dir", "/tmp/x y"]',
  ]);
  const windows = entriesFor("cursor", URL_, { command: "C:\\Tools\\fieldbench.exe", args: ["mcp"] }).stdio.text;
  assert.equal(JSON.parse(windows).mcpServers.fieldbench.command, "C:\\Tools\\fieldbench.exe");
});

Deno.test("the guide shows the entries as they are printed", async () => {
  const guide = await Deno.readTextFile(`${ROOT}docs/connect.md`);
  const example = "http://127.0.0.1:7777/mcp?token=TOKEN";
  for (const client of CLIENTS) {
    const { http, stdio } = entriesFor(client, example, { command: "fieldbench", args: ["mcp"] });
    for (const { text } of [http, stdio]) {
      assert.ok(guide.includes(text), `docs/connect.md lacks the entry of ${client}:\n${text}`);
    }
  }
});

/** Runs the command in this process; what it wrote. */
async function connect(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const out: string[] = [], err: string[] = [];
  const io = {
    out: (t: string) => void out.push(t),
    err: (t: string) => void err.push(t),
    env: () => undefined,
    os: Deno.build.os,
  };
  const code = await run(["connect", ...args], io);
  return { code, out: out.join("\n"), err: err.join("\n") };
}

Deno.test("connect prints the running server's address and token, and the entry works", async () => {
  await using server = await startServer();
  const all = await connect("claude-code", "--config-dir", server.configDir);
  assert.equal(all.code, 0);
  assert.ok(all.out.includes(server.origin) && all.out.includes(server.token));
  const only = await connect("cursor", "--http", "--config-dir", server.configDir);
  const { url, headers } = JSON.parse(only.out).mcpServers.fieldbench;
  const answer = await fetch(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } }),
  });
  assert.equal(answer.status, 200);
  await answer.body?.cancel();
});

Deno.test("with SSE only, the entries are for SSE, and the command line calls over it", async () => {
  const configDir = await Deno.makeTempDir();
  await Deno.writeTextFile(`${configDir}/mcp.json`, JSON.stringify({ server: { transport: "sse" } }));
  const server = await startServer({ configDir });
  const { url, headers } = JSON.parse((await connect("cursor", "--http", "--config-dir", configDir)).out).mcpServers
    .fieldbench;
  assert.equal(url, `${server.origin}/sse`);
  const stream = await fetch(url, { headers });
  assert.equal(stream.status, 200);
  await stream.body?.cancel();
  const entry = async (client: string) => (await connect(client, "--http", "--config-dir", configDir)).out;
  assert.match(await entry("claude-code"), /--transport sse fieldbench \S+\/sse --header/);
  assert.match(await entry("claude-desktop"), /"--transport",\s+"sse-only"/);
  assert.match(await entry("vscode"), /"type": "sse",\s+"url": "[^"]+\/sse"/);
  assert.match(await entry("inspector"), /\/sse --transport sse/);
  // It knows no SSE.
  const codex = await connect("codex", "--http", "--config-dir", configDir);
  assert.match(codex.err, /codex.*stdio/);
  const out: string[] = [], err: string[] = [];
  const io = { out: (t: string) => void out.push(t), err: (t: string) => void err.push(t), env: () => undefined };
  const call = (...args: string[]) => run(["call", ...args, "--config-dir", configDir], { ...io, os: Deno.build.os });
  assert.deepEqual([await call("app_info"), err], [0, []]);
  assert.match(out.join(), new RegExp(`pid ${server.pid}`));
  assert.equal(await call("serial_send", '{"data":"x"}'), 1);
  assert.equal(await call("log_tail", "{}"), 2);
  await server.stop();
  await Deno.remove(configDir, { recursive: true });
});

Deno.test("without a server the coming address is printed, and that is said; wrong clients are refused with the list", async () => {
  const folder = await Deno.makeTempDir();
  const cold = await connect("vscode", "--http", "--config-dir", folder);
  assert.equal(JSON.parse(cold.out).servers.fieldbench.url, "http://127.0.0.1:7777/mcp");
  assert.match(cold.err, /No server is running/);
  // The token stays for the start that follows.
  const again = await connect("vscode", "--http", "--config-dir", folder);
  assert.equal(again.out, cold.out);
  const wrong = await connect("clade-code", "--config-dir", folder);
  assert.deepEqual([wrong.code, wrong.out], [2, ""]);
  assert.match(wrong.err, /claude-code/);
  assert.equal((await connect("cursor", "--http", "--stdio", "--config-dir", folder)).code, 2);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("serve --tools slim shows agents the slim profile; another value is refused", async () => {
  await using server = await startServer({ args: ["--tools", "slim"] });
  const client = await mcp(server.origin, server.token);
  const { json } = await client.request("tools/list");
  assert.ok(JSON.stringify(json).length < 2500);
  await assert.rejects(startServer({ args: ["--tools", "tiny"] }), /must be all or slim/);
});
