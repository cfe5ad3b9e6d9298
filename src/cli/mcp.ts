import { StdioBridge } from "../mcp/stdio_bridge.ts";
import { answers, readEndpoint } from "../store/endpoint.ts";
import type { Paths } from "../store/paths.ts";
import { CliError, type Flags, type Parsed } from "./args.ts";
import { type Command, configDirFlag } from "./command.ts";
import { pathsOf } from "./folder.ts";
import { parsePortPaths, portPathFlag } from "./port_path.ts";
import type { RunningServer } from "./server.ts";
import { untilStopped } from "./signals.ts";
import { toolProfile, toolsFlag } from "./tool_profile.ts";
import { VERSION } from "./version.ts";

const STOP_MS = 1900;
/** How often it is looked whether others still use a server that was started here. */
const LINGER_MS = 300;

const flags: Flags = {
  ...configDirFlag,
  ...toolsFlag,
  "read-only": { type: "boolean", env: true, help: "agents may read only, when the server is started here" },
  ...portPathFlag,
};

export const command: Command = {
  usage: "fieldbench mcp",
  flags,
  notes: "MCP on standard input and output, for clients that start commands. Joins the server that runs with this\n" +
    "configuration folder; if there is none, starts one without a page, which others can join, too.\n" +
    "fieldbench connect CLIENT prints the entry for a client.",
  async run(parsed, io) {
    const profile = toolProfile(parsed);
    const paths = pathsOf(parsed, io);
    const home = new Home(paths, parsed, (text) => io.err(text));
    const stop = untilStopped();
    const bridge = new StdioBridge({
      connect: async () => {
        const url = new URL(await home.find());
        if (profile !== undefined) url.searchParams.set("profile", profile);
        return url.href;
      },
      write: (line) => writeLine(line),
    });
    const ended = await Promise.race([
      bridge.run(Deno.stdin.readable).then(() => "input" as const),
      stop.stopped.then(() => "signal" as const),
    ]);
    const timer = setTimeout(() => Deno.exit(0), STOP_MS);
    await bridge.close();
    clearTimeout(timer);
    if (ended === "input") await home.untilUnused(stop.stopped);
    await home.close();
    stop.release();
    return 0;
  },
};

/** The server that the client talks to: the one that runs, or one of our own. */
class Home {
  readonly #paths: Paths;
  readonly #parsed: Parsed;
  readonly #tell: (text: string) => void;
  #own: RunningServer | undefined;

  constructor(paths: Paths, parsed: Parsed, tell: (text: string) => void) {
    this.#paths = paths;
    this.#parsed = parsed;
    this.#tell = tell;
  }

  /** Its `/mcp` with the token. Throws CliError when there is none and none can be started. */
  async find(): Promise<string> {
    if (this.#own) return this.#own.endpoint.urlStreamable;
    return await this.#running() ?? await this.#start();
  }

  async #running(): Promise<string | undefined> {
    const endpoint = await readEndpoint(this.#paths.endpoint);
    return endpoint && await answers(endpoint) ? endpoint.urlStreamable : undefined;
  }

  async #start(): Promise<string> {
    // Loaded only when it is needed: joining a running server is quicker without.
    const { startServer } = await import("./server.ts");
    try {
      this.#own = await startServer({
        paths: this.#paths,
        version: VERSION,
        demo: false,
        readOnly: this.#parsed.boolean("read-only"),
        extraPorts: parsePortPaths(this.#parsed.strings("port-path"), this.#parsed.origin("port-path")),
      });
    } catch (error) {
      // Another one may have been quicker.
      const other = await this.#running();
      if (other !== undefined) return other;
      this.#tell(`fieldbench: ${error instanceof Error ? error.message : String(error)}`);
      throw error instanceof Error ? error : new CliError(String(error));
    }
    this.#tell(`fieldbench ${VERSION} started without a page on ${this.#own.origin}`);
    return this.#own.endpoint.urlStreamable;
  }

  /** Other clients that joined a server of ours may finish; a signal ends that. */
  async untilUnused(stopped: Promise<unknown>): Promise<void> {
    let go = true;
    stopped.then(() => go = false);
    const { app, server } = this.#own?.parts ?? {};
    while (go && app && server && (app.endpoints.sessions > 0 || server.pages() > 0)) {
      await new Promise((r) => setTimeout(r, LINGER_MS));
    }
  }

  async close(): Promise<void> {
    await this.#own?.close();
  }
}

const encoder = new TextEncoder();
async function writeLine(line: string): Promise<void> {
  const bytes = encoder.encode(line + "\n");
  for (let done = 0; done < bytes.length;) done += await Deno.stdout.write(bytes.subarray(done));
}
