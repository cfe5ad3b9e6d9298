import { LIMITS } from "../../tools/limits.ts";
import { MCP_OFF } from "../handlers/server_state.ts";
import { answers, readEndpoint } from "../store/endpoint.ts";
import { tokenPattern } from "../store/mcp_config.ts";
import { type Flags, type Parsed, UsageError, wholeNumber } from "./args.ts";
import { type Command, configDirFlag, type Io } from "./command.ts";
import { pathsOf } from "./folder.ts";
import { openBrowser } from "./open_browser.ts";
import { parsePortPaths, portPathFlag } from "./port_path.ts";
import type { RunningServer } from "./server.ts";
import { untilStopped } from "./signals.ts";
import { toolProfile, toolsFlag } from "./tool_profile.ts";
import { VERSION } from "./version.ts";

/** All is closed by then, or the process ends without. */
const STOP_MS = 1900;
/** How long a second start waits for the first one to listen, and how often it looks. */
const START_MS = 3000;
const START_TRIES = 15;

const flags: Flags = {
  port: { type: "string", value: "PORT", env: true, help: "0: any free one; default 7777 or the next free one" },
  ...configDirFlag,
  token: { type: "string", value: "TOKEN", env: true, help: "for this run, instead of the saved one" },
  headless: { type: "boolean", env: true, help: "no browser, as on a machine without a screen" },
  "no-open": { type: "boolean", env: true, help: "do not open the page" },
  demo: { type: "boolean", env: true, help: "a simulated modem in pane main" },
  "read-only": { type: "boolean", env: true, help: "agents may read only" },
  ...portPathFlag,
  "rate-limit": {
    type: "string",
    value: "N",
    env: true,
    help: `tool calls a minute and session, default ${LIMITS.rateLimitPerMin}; 0: no limit`,
  },
  ...toolsFlag,
  "ready-json": { type: "boolean", env: true, help: "one line of JSON on standard output when it is ready" },
};

export const command: Command = {
  usage: "fieldbench serve",
  flags,
  notes: "Listens on this computer only. A variable in [ ] stands for its flag where the flag is not given.\n" +
    "Ctrl+C closes all ports and brings the logs to disk; a second one ends it at once.",
  async run(parsed, io) {
    const token = parsed.string("token");
    if (token !== undefined && !tokenPattern.test(token)) {
      throw new UsageError(`${parsed.origin("token")} must be 8 to 256 letters, digits or . _ ~ -`);
    }
    const paths = pathsOf(parsed, io);
    const extraPorts = parsePortPaths(parsed.strings("port-path"), parsed.origin("port-path"));
    const port = wholeNumber(parsed, "port", 0, 65_535);
    const rateLimitPerMin = wholeNumber(parsed, "rate-limit", 0, 1_000_000);
    const profile = toolProfile(parsed);
    const stop = untilStopped();
    // Loaded only now: help and refusals come at once.
    const { RunningAlready, startServer } = await import("./server.ts");
    const starting = startServer({
      paths,
      version: VERSION,
      port,
      token,
      demo: parsed.boolean("demo"),
      readOnly: parsed.boolean("read-only"),
      extraPorts,
      rateLimitPerMin,
      toolProfile: profile,
    });
    let server: RunningServer;
    try {
      server = await starting;
    } catch (error) {
      const isForPerson = opensPage(parsed, io) && !parsed.boolean("ready-json");
      stop.release();
      if (error instanceof RunningAlready && isForPerson && await openRunning(paths.endpoint, io)) return 0;
      throw error;
    }
    if (parsed.boolean("ready-json")) {
      const { url, urlStreamable, pid } = server.endpoint;
      io.out(JSON.stringify({ ready: true, url, urlStreamable, token: server.token, pid }));
    }
    await greet(server, parsed, io, paths.endpoint, paths.configDir);
    // It takes a quarter of a second, which the start need not wait for, nor the first client.
    server.warmUp().catch((error) => io.err(`fieldbench: the MCP package cannot be loaded: ${error}`));
    await stop.stopped;
    io.err("stopping: ports are closed, logs brought to disk");
    const timer = setTimeout(() => Deno.exit(0), STOP_MS);
    await server.close();
    clearTimeout(timer);
    stop.release();
    return 0;
  },
};

const opensPage = (parsed: Parsed, io: Io): boolean =>
  !parsed.boolean("headless") && !parsed.boolean("no-open") && !io.env("CI");

/** A second start is a wish to see the page: the one that runs shows it. False when it does not answer, or no browser. */
async function openRunning(endpointFile: string, io: Io): Promise<boolean> {
  // One that was started a moment ago may not listen yet.
  for (let i = 0; i < START_TRIES; i++) {
    const endpoint = await readEndpoint(endpointFile);
    if (endpoint && await answers(endpoint)) {
      const { origin, search } = new URL(endpoint.urlStreamable);
      if (!await openBrowser(`${origin}/${search}`, io.env)) return false;
      io.err(
        `Fieldbench is running already at ${origin} (pid ${endpoint.pid}); its page is opened. ` +
          "Stop it first to start with other flags.",
      );
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, START_MS / START_TRIES));
  }
  return false;
}

async function greet(
  server: RunningServer,
  parsed: Parsed,
  io: Io,
  endpointFile: string,
  configDir: string,
): Promise<void> {
  const ports = await server.bench.ports.list();
  const quiet = parsed.boolean("ready-json");
  const agents = server.parts.server.enabled
    ? `MCP at ${server.origin}/mcp; with its token: urlStreamable in ${endpointFile}`
    : MCP_OFF;
  io.err(`fieldbench ${VERSION}`);
  // Whoever reads the line of JSON has the token from there; a log of a CI run need not have it.
  io.err(`  address   ${quiet ? server.origin : `${server.origin}/?token=${server.token}`}`);
  io.err(`  agents    ${agents}`);
  io.err(`  settings  ${configDir}`);
  io.err(`  logs      ${server.logFolder}`);
  if (ports.length) io.err(`  ports     ${ports.map((p) => p.path).join(", ")}`);
  else io.err("  ports     none found; fieldbench serve --demo brings a simulated modem to talk to");
  if (server.demoPath) io.err(`  demo      a simulated modem on ${server.demoPath}, open in pane main: send it AT`);
  if (server.parts.server.readOnly) io.err("  read-only: agents may read, and change nothing");
  io.err("Stop with Ctrl+C.");
  if (!opensPage(parsed, io)) return;
  openBrowser(`${server.origin}/?token=${server.token}`, io.env).then((opened) => {
    if (!opened) io.err("No browser could be opened: open the address above yourself.");
  });
}
