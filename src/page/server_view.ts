import type { ServerView } from "../core/page_protocol.ts";
import { originOf, type ServerState } from "../handlers/server_state.ts";

/** An agent counts as there for this long after its last call, also without a session, ms. */
const AGENT_MS = 60_000;

/** The server as pages see it: no token, no full address. */
export function serverView(
  server: ServerState,
  more: { paused: boolean; askPerson: boolean; controlTools: boolean; calledMsAgo: number; logFolder: string },
): ServerView {
  const origin = server.address ? originOf(server.address) : "";
  const masked = (path: string) => `${origin}${path}?token=${server.tokenMasked}`;
  const sessions = server.sessions();
  return {
    version: server.version,
    os: Deno.build.os,
    urlMasked: masked("/sse"),
    streamableUrlMasked: masked("/mcp"),
    sessions,
    readOnly: server.readOnly,
    paused: more.paused,
    askPerson: more.askPerson,
    controlTools: more.controlTools,
    transport: server.transport,
    hasAgents: sessions > 0 || more.calledMsAgo < AGENT_MS,
    logFolder: more.logFolder,
  };
}
