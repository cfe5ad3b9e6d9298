/** Command-line clients that people have, as they come from npm: mcporter, and the inspector, which needs Node 22. */
import assert from "node:assert/strict";
import { startApp, TOKEN } from "../rigs/app.ts";

const MCPORTER = "npm:mcporter@0.12.3";
const INSPECTOR = "@modelcontextprotocol/inspector@2.12.0";
const NODE = "node@22.23.3";

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

async function run(command: string, args: string[], cwd: string, env: Record<string, string> = {}): Promise<Ended> {
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args,
    cwd,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

Deno.test("mcporter lists and calls, with the token in the address and in a header", async () => {
  await using rig = await startApp();
  const folder = await Deno.makeTempDir();
  const mcporter = (...args: string[]) =>
    run(Deno.execPath(), ["run", "-A", "--quiet", "--no-lock", "--no-config", MCPORTER, ...args], folder);
  const inAddress = ["--http-url", `${rig.origin}/mcp?token=${TOKEN}`, "--allow-http", "--no-oauth", "--name", "bench"];
  const inHeader = [
    "--http-url",
    `${rig.origin}/mcp`,
    "--header",
    `Authorization=Bearer ${TOKEN}`,
    "--allow-http",
    "--no-oauth",
    "--name",
    "bench",
  ];
  const list = await mcporter("list", ...inAddress, "--json");
  assert.equal(list.code, 0, list.stderr);
  assert.match(list.stdout, /serial_open/);
  for (const where of [inAddress, inHeader]) {
    const info = await mcporter("call", ...where, "--tool", "app_info", "--output", "json");
    assert.equal(info.code, 0, info.stderr);
    assert.equal(JSON.parse(info.stdout).name, "fieldbench");
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("the inspector's command line lists and calls, over streamable HTTP and over SSE", async () => {
  await using rig = await startApp();
  const folder = await Deno.makeTempDir();
  const windows = Deno.build.os === "windows";
  const npm = await run(windows ? "npm.cmd" : "npm", [
    "install",
    "--no-audit",
    "--no-fund",
    "--prefix",
    folder,
    NODE,
    INSPECTOR,
  ], folder);
  assert.equal(npm.code, 0, npm.stderr);
  const bin = `${folder}/node_modules/.bin`;
  const env = { PATH: `${bin}${windows ? ";" : ":"}${Deno.env.get("PATH") ?? ""}` };
  const inspector = (...args: string[]) =>
    run(`${bin}/mcp-inspector${windows ? ".cmd" : ""}`, ["--cli", ...args], folder, env);
  for (const [path, transport] of [["/mcp", "http"], ["/sse", "sse"]] as const) {
    const where = [`${rig.origin}${path}?token=${TOKEN}`, "--transport", transport];
    const list = await inspector(...where, "--method", "tools/list");
    assert.equal(list.code, 0, list.stderr);
    assert.ok(JSON.parse(list.stdout).tools.some((t: { name: string }) => t.name === "serial_open"));
    const info = await inspector(...where, "--method", "tools/call", "--tool-name", "app_info");
    assert.equal(info.code, 0, info.stderr);
    assert.equal(JSON.parse(info.stdout).structuredContent.name, "fieldbench");
  }
  await Deno.remove(folder, { recursive: true });
});
