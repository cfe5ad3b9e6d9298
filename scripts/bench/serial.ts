/**
 * Figures of the serial chain, as ratios against baselines on the same kind of PTY pair in the same run.
 *
 *     deno task bench                 everything (about two minutes)
 *     deno task bench throughput echo only these: throughput, echo, load, idle, start
 *     deno task bench --mb 64         bytes of a throughput round
 *
 * Needs /usr/bin/python3 with pyserial (Debian: python3-serial) for its baseline, and npm for Node's `serialport`, which
 * is put into a temporary folder; a baseline that is missing is said so and its ratio left out. Linux only. This kind of
 * machine is shared: look at ratios, run it more than once, and take the best of several rounds.
 */
import { parseArgs } from "node:util";
import { join } from "node:path";
import { type ServerProcess, startServer } from "../../tests/rigs/server.ts";
import { BenchClient } from "./lib/mcp.ts";
import { Child, cpuSeconds, device, residentMb, sleep } from "./lib/process.ts";

const here = new URL("./lib/", import.meta.url).pathname;
const { values, positionals } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: { mb: { type: "string", default: "60" }, rounds: { type: "string", default: "3" } },
});
const BYTES = Math.round(Number(values.mb) * 1e6 / 60_000) * 60_000;
const ROUNDS = Number(values.rounds);
const wanted = (name: string) => positionals.length === 0 || positionals.includes(name);
const report = (name: string, value: string) => console.log(`${name.padEnd(44)} ${value}`);
const best = (numbers: number[]) => Math.max(...numbers);

async function hasPyserial(): Promise<boolean> {
  const run = await new Deno.Command("/usr/bin/python3", { args: ["-c", "import serial"], stderr: "null" }).output()
    .catch(() => undefined);
  if (!run?.success) report("pyserial", "not installed: no baseline (apt-get install python3-serial)");
  return run?.success ?? false;
}

async function installNodeSerialport(): Promise<string | undefined> {
  const folder = await Deno.makeTempDir({ prefix: "fieldbench-bench-" });
  const run = await new Deno.Command("npm", {
    args: ["install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, "serialport@13.0.0"],
    stdout: "null",
    stderr: "null",
  }).output().catch(() => undefined);
  if (!run?.success) {
    report("Node with serialport", "cannot be installed: no baseline");
    return undefined;
  }
  await Deno.copyFile(join(here, "node_serialport_bench.cjs"), join(folder, "bench.cjs"));
  return folder;
}

/** MB/s of a baseline program that reads a flood. */
async function baselineRead(command: string, args: (path: string) => string[], cwd?: string): Promise<number> {
  const dut = device("flood", String(BYTES));
  const reader = new Child(command, args(await dut.line()), cwd);
  await reader.line();
  await dut.say("go\n");
  const { seconds, bytes } = JSON.parse(await reader.line());
  await reader.stop();
  await dut.stop();
  return bytes / 1e6 / seconds;
}

async function opened(server: ServerProcess, path: string, pane = "main"): Promise<BenchClient> {
  const client = await BenchClient.connect(server);
  await client.call("serial_open", { port: path, baud: 115200, pane });
  return client;
}

/** Bytes of the raw session log of what was received. */
async function onDisk(folder: string): Promise<number> {
  let bytes = 0;
  for await (const e of Deno.readDir(folder)) {
    if (e.name.endsWith(".rx.bin")) bytes += (await Deno.stat(join(folder, e.name))).size;
  }
  return bytes;
}

/** MB/s through driver, log hub and session log on disk, with one agent following; and whether all of it is on disk. */
async function chainRead(): Promise<{ mbps: number; read: number }> {
  const dut = device("flood", String(BYTES));
  const path = await dut.line();
  const server = await startServer({ args: ["--port-path", `dut=${path}`] });
  const client = await opened(server, path);
  let reading = true, read = 0, since = 0;
  const follower = (async () => {
    while (reading) {
      const page = await client.call("log_tail", {
        channel: "serial:main:rx",
        sinceSeq: since,
        lines: 2000,
        format: "text",
      });
      since = Number(page["nextSinceSeq"]);
      read += Number(page["returned"]);
      await sleep(50); // an agent that asks twenty times a second is a keen one
    }
  })();
  const folder = join(server.configDir, "log-cache");
  await dut.say("go\n");
  const t0 = performance.now();
  while (await onDisk(folder) < BYTES) await sleep(5);
  const seconds = (performance.now() - t0) / 1000;
  reading = false;
  await follower;
  await client.call("serial_close");
  await server.stop("SIGTERM").catch(() => {});
  await dut.stop();
  return { mbps: BYTES / 1e6 / seconds, read };
}

async function throughput(): Promise<void> {
  const python = await hasPyserial();
  const node = await installNodeSerialport();
  const py: number[] = [], nd: number[] = [], fb: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    if (python) {
      py.push(
        await baselineRead("/usr/bin/python3", (p) => [join(here, "pyserial_bench.py"), "read", p, String(BYTES)]),
      );
    }
    if (node) nd.push(await baselineRead("node", (p) => ["bench.cjs", "read", p, String(BYTES)], node));
    fb.push((await chainRead()).mbps);
  }
  if (node) await Deno.remove(node, { recursive: true });
  report(
    "received, whole chain with disk log and agent",
    `${best(fb).toFixed(1)} MB/s, ${Math.round(best(fb) * 1e6 / 60)} lines/s`,
  );
  if (python) {
    report("  bare pyserial loop", `${best(py).toFixed(1)} MB/s; ratio ${(best(fb) / best(py)).toFixed(2)} (goal 1.0)`);
  }
  if (node) report("  Node with serialport", `${best(nd).toFixed(1)} MB/s; ratio ${(best(fb) / best(nd)).toFixed(2)}`);
}

async function echo(): Promise<void> {
  const rounds = 300;
  let base: { p50: number; p99: number } | undefined;
  if (await hasPyserial()) {
    const dut = device("echo");
    const reader = new Child("/usr/bin/python3", [
      join(here, "pyserial_bench.py"),
      "echo",
      await dut.line(),
      String(rounds),
    ]);
    await reader.line();
    base = JSON.parse(await reader.line());
    await reader.stop();
    await dut.stop();
  }
  const dut = device("echo");
  const path = await dut.line();
  const server = await startServer({ args: ["--port-path", `dut=${path}`] });
  const client = await opened(server, path);
  const times: number[] = [];
  let since = 0;
  for (let i = 0; i < rounds; i++) {
    const t0 = performance.now();
    await client.call("serial_send", { data: `ping${String(i).padStart(3, "0")}`, lineEnding: "lf" });
    for (;;) {
      const page = await client.call("log_tail", { channel: "serial:main:rx", sinceSeq: since });
      if (Number(page["nextSinceSeq"]) > since) {
        since = Number(page["nextSinceSeq"]);
        break;
      }
    }
    times.push(performance.now() - t0);
  }
  times.sort((a, b) => a - b);
  const p50 = times[rounds >> 1] ?? 0, p99 = times[Math.floor(rounds * 0.99)] ?? 0;
  report("echo over MCP (send, then wait for the answer)", `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`);
  if (base) {
    report(
      "  bare pyserial echo",
      `p50 ${base.p50.toFixed(3)} ms, p99 ${base.p99.toFixed(3)} ms; ${(p50 - base.p50).toFixed(2)} ms more at p50`,
    );
  }
  await server.stop();
  await dut.stop();
}

async function load(): Promise<void> {
  const seconds = 8, rate = 400_000; // 4 Mbaud with 8N1: ten bits a byte
  const dut = device("rate", String(rate), String(seconds + 2));
  const path = await dut.line();
  const server = await startServer({ args: ["--port-path", `dut=${path}`] });
  await opened(server, path);
  await dut.say("go\n");
  await sleep(1000);
  const before = await cpuSeconds(server.pid);
  await sleep(seconds * 1000);
  const used = (await cpuSeconds(server.pid) - before) / seconds * 100;
  await server.stop();
  await dut.stop();
  report("CPU at 400 kB/s (4 Mbaud)", `${used.toFixed(1)} % of one core`);
  if (!await hasPyserial()) return;
  const dut2 = device("rate", String(rate), String(seconds + 2));
  const reader = new Child("/usr/bin/python3", [
    join(here, "pyserial_bench.py"),
    "cpu",
    await dut2.line(),
    String(seconds),
  ]);
  await reader.line();
  await dut2.say("go\n");
  const { cpuSeconds: py } = JSON.parse(await reader.line());
  await reader.stop();
  await dut2.stop();
  const pct = py / seconds * 100;
  report("  bare pyserial loop", `${pct.toFixed(1)} %; ratio ${(used / pct).toFixed(2)}`);
}

async function idle(): Promise<void> {
  const devices = Array.from({ length: 8 }, () => device("echo"));
  const paths = await Promise.all(devices.map((d) => d.line()));
  const server = await startServer({ args: paths.flatMap((p, i) => ["--port-path", `dut${i}=${p}`]) });
  report("resident memory, no port open", `${(await residentMb(server.pid)).toFixed(0)} MB (goal under 100)`);
  const client = await BenchClient.connect(server);
  for (const [i, port] of paths.entries()) {
    await client.call("serial_open", { port, baud: 115200, pane: i === 0 ? "main" : `extra-${i}` });
  }
  await sleep(2000);
  const before = await cpuSeconds(server.pid);
  await sleep(10_000);
  report(
    "CPU with 8 ports open and idle",
    `${((await cpuSeconds(server.pid) - before) * 10).toFixed(2)} % of one core`,
  );
  report("resident memory, 8 ports open, one agent", `${(await residentMb(server.pid)).toFixed(0)} MB`);
  await server.stop();
  for (const d of devices) await d.stop();
}

async function start(): Promise<void> {
  const times: number[] = [], bare: number[] = [];
  for (let i = 0; i < 5; i++) {
    const t1 = performance.now();
    await new Deno.Command(Deno.execPath(), {
      args: ["eval", "Deno.serve({port:0,onListen(){Deno.exit(0)}},()=>new Response())"],
    }).output();
    bare.push(performance.now() - t1);
    const t0 = performance.now();
    const server = await startServer();
    await (await fetch(`${server.origin}/healthz`)).body?.cancel();
    times.push(performance.now() - t0);
    await server.stop();
  }
  const t = Math.min(...times), b = Math.min(...bare);
  report(
    "start to /healthz answering (from sources)",
    `${t.toFixed(0)} ms; a bare Deno.serve ${b.toFixed(0)} ms; ratio ${(t / b).toFixed(1)}`,
  );
}

if (wanted("throughput")) await throughput();
if (wanted("echo")) await echo();
if (wanted("load")) await load();
if (wanted("idle")) await idle();
if (wanted("start")) await start();
Deno.exit(0);
