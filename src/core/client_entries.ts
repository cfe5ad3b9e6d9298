/** Entries for the settings of MCP clients, in the form that each of them reads. */

export const CLIENTS = ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "inspector"] as const;
export type ClientName = typeof CLIENTS[number];
export const isClient = (name: string): name is ClientName => CLIENTS.some((c) => c === name);

/** A command with its arguments, each one word. */
export interface Launch {
  command: string;
  args: readonly string[];
}

export interface Entry {
  /** The file, or "in a terminal". */
  where: string;
  text: string;
}
/** One for a server that runs, one by which the client starts it. */
export interface Entries {
  http: Entry;
  stdio: Entry;
}

/** `url` is the server's `/mcp`, or its `/sse` where only that is switched on, with `?token=`. */
export function entriesFor(client: ClientName, url: string, launch: Launch): Entries {
  const address = new URL(url);
  const token = address.searchParams.get("token") ?? "";
  const bare = `${address.origin}${address.pathname}`;
  const bearer = `Authorization: Bearer ${token}`;
  const headers = { Authorization: `Bearer ${token}` };
  const transport = address.pathname === "/sse" ? "sse" : "http";
  const start = { command: launch.command, args: [...launch.args] };
  const line = [launch.command, ...launch.args].map(word).join(" ");
  switch (client) {
    case "claude-code":
      return {
        http: terminal(`claude mcp add --transport ${transport} fieldbench ${bare} --header "${bearer}"`),
        stdio: terminal(`claude mcp add fieldbench -- ${line}`),
      };
    case "claude-desktop": {
      const where = "claude_desktop_config.json (Settings, Developer, Edit Config)";
      // It takes no addresses of this computer by itself; mcp-remote stands in between.
      const how = transport === "sse" ? ["--transport", "sse-only"] : [];
      const remote = { command: "npx", args: ["-y", "mcp-remote", bare, "--allow-http", ...how, "--header", bearer] };
      return {
        http: json(where, { mcpServers: { fieldbench: remote } }),
        stdio: json(where, { mcpServers: { fieldbench: start } }),
      };
    }
    case "cursor": {
      const where = "~/.cursor/mcp.json";
      return {
        http: json(where, { mcpServers: { fieldbench: { url: bare, headers } } }),
        stdio: json(where, { mcpServers: { fieldbench: start } }),
      };
    }
    case "vscode": {
      const where = ".vscode/mcp.json";
      return {
        http: json(where, { servers: { fieldbench: { type: transport, url: bare, headers } } }),
        stdio: json(where, { servers: { fieldbench: { type: "stdio", ...start } } }),
      };
    }
    case "codex": {
      const where = "~/.codex/config.toml";
      const toml = (...lines: string[]) => ({ where, text: ["[mcp_servers.fieldbench]", ...lines].join("\n") });
      // A JSON string is a TOML string.
      return {
        http: toml(`url = ${JSON.stringify(url)}`),
        stdio: toml(
          `command = ${JSON.stringify(start.command)}`,
          `args = [${start.args.map((a) => JSON.stringify(a)).join(", ")}]`,
        ),
      };
    }
    case "inspector":
      return {
        http: terminal(
          `npx @modelcontextprotocol/inspector --cli ${bare} --transport ${transport} --header "${bearer}" --method tools/list`,
        ),
        stdio: terminal(`npx @modelcontextprotocol/inspector --cli ${line} --method tools/list`),
      };
  }
}

const terminal = (text: string): Entry => ({ where: "in a terminal", text });
const json = (where: string, value: unknown): Entry => ({ where, text: JSON.stringify(value, null, 2) });

/** A word as shells of all systems take it. */
const word = (text: string): string =>
  /^[A-Za-z0-9_\-.,:/\\=@+]+$/.test(text) ? text : `"${text.replaceAll('"', '\\"')}"`;
