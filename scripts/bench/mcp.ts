/**
 * Figures of the MCP server, as ratios against the smallest hand-written JSON-RPC handler on `Deno.serve` in the same
 * run.
 *
 *     deno run -A scripts/bench/mcp.ts                  everything (about a minute)
 *     deno run -A scripts/bench/mcp.ts calls list       only these: calls, list, memory
 *     deno run -A scripts/bench/mcp.ts --requests 5000  of a round; --rounds 3, the best counts
 *
 * CPU is that of the server's process, from /proc: Linux only. The machine may be shared: look at ratios.
 */
import { parseArgs } from "node:util";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { connect } from "../../tests/rigs/mcp_client.ts";
import { type ServerProcess, startServer } from "../../tests/rigs/server.ts";
import { load, type LoadOptions, percentile } from "./lib/http_load.ts";
import { Child, cpuSeconds, residentMb } from "./lib/process.ts";

const { values, positionals } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: { requests: { type: "string", default: "5000" }, rounds: { type: "string", default: "3" } },
});
const REQUESTS = Number(values.requests);
const ROUNDS = Number(values.rounds);
const wanted = (name: string) => positionals.length === 0 || positionals.includes(name);
const report = (name: string, value: string) => console.log(`${name.padEnd(44)} ${value}`);

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const callBody = (more: Record<string, unknown>) => (id: number) =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "app_info", arguments: {}, ...more } });
const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

type Target = Pick<LoadOptions, "port" | "path" | "headers" | "body"> & { pid: number };

interface Figures {
  p50: number;
  p99: number;
  /** Of the server, µs a request. */
  cpu: number;
  perSecond: number;
}

/** The round with the least CPU: others of this machine only ever add. */
async function measure(target: Target, connections: number): Promise<Figures> {
  const options = { ...target, connections, expect: '"uptimeSecs"' };
  await load({ ...options, requests: Math.min(2000, REQUESTS) });
  let best: Figures | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const before = await cpuSeconds(target.pid);
    const { seconds, latencies } = await load({ ...options, requests: REQUESTS });
    const cpu = (await cpuSeconds(target.pid) - before) / REQUESTS * 1e6;
    const figures = {
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      cpu,
      perSecond: REQUESTS / seconds,
    };
    if (!best || figures.cpu < best.cpu) best = figures;
  }
  if (!best) throw new Error("no rounds");
  return best;
}

async function calls(server: ServerProcess): Promise<void> {
  const baseline = new Child(Deno.execPath(), [
    "run",
    "-A",
    "--quiet",
    new URL("./lib/mcp_baseline.ts", import.meta.url).pathname,
  ]);
  const port = Number(await baseline.line());
  const client = await connect(server.origin, server.token);
  const auth = { authorization: `Bearer ${server.token}` };
  const at = { port: Number(new URL(server.origin).port), path: "/mcp", pid: server.pid };
  const targets: Record<string, Target> = {
    "hand-written": { port, path: "/", headers: JSON_HEADERS, body: callBody({}), pid: baseline.pid },
    "/mcp session": {
      ...at,
      headers: { ...JSON_HEADERS, ...auth, "mcp-session-id": client.session },
      body: callBody({}),
    },
    "/mcp 2026-07-28": {
      ...at,
      headers: {
        ...JSON_HEADERS,
        ...auth,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "app_info",
      },
      body: callBody({ _meta: META }),
    },
  };
  for (const connections of [1, 16]) {
    let ceiling: Figures | undefined;
    for (const [name, target] of Object.entries(targets)) {
      const f = await measure(target, connections);
      ceiling ??= f;
      report(
        `tools/call ${name}, ${connections} connection${connections > 1 ? "s" : ""}`,
        `p50 ${f.p50.toFixed(2)} ms, p99 ${f.p99.toFixed(2)} ms, ${Math.round(f.perSecond)}/s, CPU ${
          f.cpu.toFixed(0)
        } µs (${(f.cpu / ceiling.cpu).toFixed(1)} × hand-written)`,
      );
    }
  }
  await client.delete();
  await baseline.stop();
}

async function list(server: ServerProcess): Promise<void> {
  const client = await connect(server.origin, server.token);
  const times: number[] = [];
  let text = "";
  for (let i = 0; i < 200; i++) {
    const t = performance.now();
    text = (await client.request("tools/list")).text;
    times.push(performance.now() - t);
  }
  times.sort((a, b) => a - b);
  const { tools } = JSON.parse(text).result;
  report(
    `tools/list, ${tools.length} tools`,
    `${text.length} bytes, ${countTokens(JSON.stringify(tools))} tokens, ${times[100]?.toFixed(2)} ms`,
  );
  const slim = await fetch(`${server.origin}/mcp?profile=slim`, {
    method: "POST",
    headers: {
      ...JSON_HEADERS,
      authorization: `Bearer ${server.token}`,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/list",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: META } }),
  });
  const few = (await slim.json()).result.tools;
  report("tools/list slim", `${few.length} tools, ${countTokens(JSON.stringify(few))} tokens`);
  await client.delete();
}

/** Resident memory of the server when it has answered 100,000 calls, and as many again: the engine's heap has its size by then. */
async function memory(server: ServerProcess): Promise<void> {
  const client = await connect(server.origin, server.token);
  const target = {
    port: Number(new URL(server.origin).port),
    path: "/mcp",
    headers: { ...JSON_HEADERS, authorization: `Bearer ${server.token}`, "mcp-session-id": client.session },
    body: callBody({}),
    connections: 16,
    expect: '"uptimeSecs"',
  };
  const marks: string[] = [];
  for (const [n, sum] of [[100_000, 100_000], [50_000, 150_000], [50_000, 200_000]] as const) {
    await load({ ...target, requests: n });
    marks.push(`${(await residentMb(server.pid)).toFixed(0)} MB after ${sum.toLocaleString("en")}`);
  }
  report("memory", marks.join(", "));
  await client.delete();
}

await using server = await startServer();
for (const [name, figure] of Object.entries({ calls, list, memory })) {
  if (wanted(name)) await figure(server);
}
