import type { ConnectInfo } from "../core/page_protocol.ts";
import { originOf } from "../handlers/server_state.ts";

/** Addresses and ready settings for the clients that people use. Holds the token: only for a person's own page. */
export function connectInfo(address: { host: string; port: number } | undefined, token: string): ConnectInfo {
  const origin = address ? originOf(address) : "";
  const query = `?token=${encodeURIComponent(token)}`;
  const streamableUrl = `${origin}/mcp${query}`;
  const bare = `${origin}/mcp`;
  const headers = { Authorization: `Bearer ${token}` };
  const json = (value: unknown): string => JSON.stringify(value, null, 2);
  return {
    streamableUrl,
    sseUrl: `${origin}/sse${query}`,
    token,
    clients: [
      {
        id: "claude-code",
        name: "Claude Code",
        where: "in a terminal",
        language: "sh",
        snippet: `claude mcp add --transport http fieldbench ${bare} --header "Authorization: Bearer ${token}"`,
      },
      {
        id: "claude-desktop",
        name: "Claude Desktop",
        where: "claude_desktop_config.json",
        language: "json",
        snippet: json({ mcpServers: { fieldbench: { command: "npx", args: ["-y", "mcp-remote", streamableUrl] } } }),
      },
      {
        id: "cursor",
        name: "Cursor",
        where: "~/.cursor/mcp.json",
        language: "json",
        snippet: json({ mcpServers: { fieldbench: { url: bare, headers } } }),
      },
      {
        id: "vscode",
        name: "VS Code",
        where: ".vscode/mcp.json",
        language: "json",
        snippet: json({ servers: { fieldbench: { type: "http", url: bare, headers } } }),
      },
      {
        id: "codex",
        name: "Codex",
        where: "~/.codex/config.toml",
        language: "toml",
        snippet: `[mcp_servers.fieldbench]\nurl = "${streamableUrl}"`,
      },
      {
        id: "gemini",
        name: "Gemini CLI",
        where: "~/.gemini/settings.json",
        language: "json",
        snippet: json({ mcpServers: { fieldbench: { httpUrl: bare, headers } } }),
      },
      {
        id: "inspector",
        name: "MCP Inspector",
        where: "in a terminal",
        language: "sh",
        snippet: `npx @modelcontextprotocol/inspector --cli ${bare} --transport http ` +
          `--header "Authorization: Bearer ${token}" --method tools/list`,
      },
      {
        id: "curl",
        name: "curl",
        where: "in a terminal",
        language: "sh",
        snippet: `curl -H "Authorization: Bearer ${token}" ${origin}/status`,
      },
    ],
  };
}
