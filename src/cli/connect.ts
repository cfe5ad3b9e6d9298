import { loadMcpConfig } from "../store/mcp_config.ts";
import { answers, endpointOf, readEndpoint } from "../store/endpoint.ts";
import type { Paths } from "../store/paths.ts";
import { originOf } from "../handlers/server_state.ts";
import { nearest, UsageError } from "./args.ts";
import { CLIENTS, type Entries, entriesFor, isClient, type Launch } from "../core/client_entries.ts";
import { type Command, configDirFlag } from "./command.ts";
import { pathsOf } from "./folder.ts";

export const command: Command = {
  usage: "fieldbench connect CLIENT",
  flags: {
    ...configDirFlag,
    http: { type: "boolean", help: "only the entry for the running server's address" },
    stdio: { type: "boolean", help: "only the entry by which the client starts Fieldbench" },
  },
  positionals: { least: 1, most: 1 },
  notes:
    `CLIENT is one of ${CLIENTS.join(", ")}. Prints the exact entry, with this server's token: do not publish it.\n` +
    "With --http or --stdio nothing else is on standard output, so that it can be piped.",
  async run(parsed, io) {
    const [client = ""] = parsed.positionals;
    if (!isClient(client)) {
      const near = nearest(client, CLIENTS);
      throw new UsageError(
        `unknown client ${client}.${near ? ` Did you mean ${near}?` : ""} There are: ${CLIENTS.join(", ")}`,
      );
    }
    if (parsed.boolean("http") && parsed.boolean("stdio")) throw new UsageError("choose --http or --stdio, not both");
    const paths = pathsOf(parsed, io);
    const { url, running } = await addressOf(paths);
    if (client === "codex" && new URL(url).pathname === "/sse" && !parsed.boolean("stdio")) {
      io.err("The server offers only SSE, which codex does not know: take the stdio entry, or switch /mcp on");
    }
    const ownFolder = parsed.string("config-dir") ?? io.env("FIELDBENCH_CONFIG_DIR");
    const entries = entriesFor(client, url, launch(ownFolder === undefined ? [] : ["--config-dir", paths.configDir]));
    if (!running && !parsed.boolean("stdio")) {
      io.err("No server is running; this is the address that the next start takes: fieldbench serve");
    }
    if (parsed.boolean("http")) io.out(entries.http.text);
    else if (parsed.boolean("stdio")) io.out(entries.stdio.text);
    else io.out(both(entries));
    return 0;
  },
};

const both = ({ http, stdio }: Entries): string =>
  `# ${http.where}: the running server\n${http.text}\n\n# ${stdio.where}: the client starts Fieldbench or joins the running one\n${stdio.text}`;

/** The running server's `/mcp` with its token, or its `/sse` if it has only that; else what the settings say. */
async function addressOf(paths: Paths): Promise<{ url: string; running: boolean }> {
  const endpoint = await readEndpoint(paths.endpoint);
  const running = endpoint !== undefined && await answers(endpoint);
  if (!running) await Deno.mkdir(paths.configDir, { recursive: true, mode: 0o700 });
  const { value } = await loadMcpConfig(paths.mcpConfig);
  const { url, urlStreamable } = running ? endpoint : endpointOf(originOf(value.server), value.token);
  return { url: value.server.transport === "sse" ? url : urlStreamable, running };
}

/** The command that starts this program as it runs now: one file, or Deno with the sources. */
function launch(more: string[]): Launch {
  const args = ["mcp", ...more];
  if (Deno.build.standalone) return { command: Deno.execPath(), args };
  return { command: Deno.execPath(), args: ["run", "-A", "--quiet", Deno.mainModule, ...args] };
}
