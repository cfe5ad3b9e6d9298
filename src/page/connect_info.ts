import { type ClientName, CLIENTS, entriesFor } from "../core/client_entries.ts";
import type { ConnectInfo } from "../core/page_protocol.ts";
import { originOf, type TransportMode } from "../handlers/server_state.ts";

const NAMES: Readonly<Record<ClientName, string>> = {
  "claude-code": "Claude Code",
  "claude-desktop": "Claude Desktop",
  cursor: "Cursor",
  vscode: "VS Code",
  codex: "Codex",
  inspector: "MCP Inspector",
};

/** Addresses and ready settings for the clients that people use. Holds the token: only for a person's own page. */
export function connectInfo(
  address: { host: string; port: number } | undefined,
  token: string,
  transport: TransportMode,
): ConnectInfo {
  const origin = address ? originOf(address) : "";
  const query = `?token=${encodeURIComponent(token)}`;
  const streamableUrl = `${origin}/mcp${query}`;
  const sseUrl = `${origin}/sse${query}`;
  const bearer = `Authorization: Bearer ${token}`;
  // Codex knows no SSE.
  const ids = origin === "" ? [] : CLIENTS.filter((id) => transport !== "sse" || id !== "codex");
  const known = ids.map((id): ConnectInfo["clients"][number] => {
    const { http } = entriesFor(id, transport === "sse" ? sseUrl : streamableUrl, {
      command: "fieldbench",
      args: ["mcp"],
    });
    const language = http.where.endsWith(".toml") ? "toml" : http.text.startsWith("{") ? "json" : "sh";
    return { id, name: NAMES[id], where: http.where, language, snippet: http.text };
  });
  const [endpoint, key] = transport === "sse" ? [`${origin}/sse`, "url"] : [`${origin}/mcp`, "httpUrl"];
  const gemini = { [key]: endpoint, headers: { Authorization: `Bearer ${token}` } };
  return {
    streamableUrl,
    sseUrl,
    token,
    clients: [
      ...known,
      {
        id: "gemini",
        name: "Gemini CLI",
        where: "~/.gemini/settings.json",
        language: "json",
        snippet: JSON.stringify({ mcpServers: { fieldbench: gemini } }, null, 2),
      },
      {
        id: "curl",
        name: "curl",
        where: "in a terminal",
        language: "sh",
        snippet: `curl -H "${bearer}" ${origin}/status`,
      },
    ],
  };
}
