import { createHmac } from "node:crypto";
import type { Gate } from "../gate/gate.ts";
import type { ControlTools } from "../handlers/page_bridge.ts";
import { MCP_OFF, type ServerState } from "../handlers/server_state.ts";
import type { CallLog } from "../store/call_log.ts";
import { Engine, type Extend } from "../mcp/engine.ts";
import { McpEndpoints } from "../mcp/endpoints.ts";
import type { Sources } from "../mcp/resources.ts";
import type { Profile } from "../mcp/slim.ts";
import { isAuthorized, isLoopbackOrigin, isOwnHost, isOwnOrigin, type Secrets } from "./guard.ts";
import { signInPage, wantsDocument } from "./sign_in.ts";
import type { ServerOptions } from "@modelcontextprotocol/server";

/** What a route is given; Host, Origin and token are checked by then. */
export interface RouteRequest {
  readonly request: Request;
  readonly url: URL;
  /** The port that the client connected to. */
  readonly port: number;
}
export type Route = (at: RouteRequest) => Response | Promise<Response>;

export interface AppOptions {
  gate: Gate;
  server: ServerState;
  /** Told of every call of agents and the command line; closed with the app. */
  callLog: CallLog;
  /** What happens on the wire, for the `mcp` log channel. */
  log?: (level: "debug" | "info" | "warn", text: string) => void;
  /** What the resources and completions show. */
  sources: Sources;
  /** `--tools slim`: what clients see that name no profile. */
  toolProfile?: Profile;
  /** Tools made from the page's controls; clients hear when the set changes. */
  controlTools?: ControlTools;
  /**
   * Routes of the page, by exact path or by prefix ending in `/`. They take requests of this server's own pages only
   * and are told apart from the MCP routes by that.
   */
  pageRoutes?: Readonly<Record<string, Route>>;
  /** Shorter times, another clock, more on the MCP server: only for tests. */
  tuning?: {
    now?: () => number;
    heartbeatMs?: number;
    idleMs?: number;
    extend?: Extend;
    serverOptions?: Partial<ServerOptions>;
  };
}

export interface App {
  fetch(request: Request, info: { port: number }): Promise<Response>;
  readonly endpoints: McpEndpoints;
  readonly secrets: Secrets;
  /** Puts the saved token in force: sessions and cookies of the old one end. */
  tokenChanged(): Promise<void>;
  /** Ends all sessions. */
  close(): Promise<void>;
}

/** All routes behind one door: Host, Origin, token, then the route. */
export function createApp(options: AppOptions): App {
  const { gate, server, callLog } = options;
  const secrets: Secrets = {
    get token() {
      return server.token;
    },
    get cookie() {
      return pageCookie(server.token);
    },
  };
  const { extend, serverOptions, ...times } = options.tuning ?? {};
  const engine = new Engine(gate, {
    version: server.version,
    sources: options.sources,
    ...(options.toolProfile && { profile: options.toolProfile }),
    ...(options.controlTools && { controlTools: options.controlTools }),
    ...(extend && { extend }),
    ...(serverOptions && { serverOptions }),
  });
  const endpoints = new McpEndpoints(engine, {
    ...times,
    mode: () => server.transport,
    messagesPath: (sessionId, request) => {
      const given = new URL(request.url).searchParams.get("token");
      return `/messages?sessionId=${sessionId}${given === null ? "" : `&token=${encodeURIComponent(given)}`}`;
    },
    onRequests: (n) => void (server.requests += n),
    onDropped: (n) => void (server.dropped += n),
    onSessionEnd: (id) => gate.rate.forget(id),
    log: (level, text) => options.log?.(level, server.mask(text)),
  });
  server.sessions = () => endpoints.sessions;
  server.gate = () => gate;
  const unlisten = options.controlTools?.onChange(() => endpoints.toolsChanged());
  const unwatch = gate.watch({
    end: (call) => {
      if (call.kind !== "page") callLog.record(call);
    },
  });

  const unlessOff = (route: Route): Route => server.enabled ? route : () => refuse(404, MCP_OFF);
  const mcpRoutes: Readonly<Record<string, Route>> = {
    "/mcp": unlessOff(({ request }) => endpoints.mcp(request)),
    "/sse": unlessOff(({ request }) => endpoints.sse(request)),
    "/messages": unlessOff(({ request, url }) => endpoints.messages(request, url.searchParams.get("sessionId"))),
    "/status": ({ request }) => status(request, gate),
  };
  const pageRoutes = options.pageRoutes ?? {};

  async function fetch(request: Request, info: { port: number }): Promise<Response> {
    const url = URL.parse(request.url);
    // Whoever sends a whole address in the request line names the server there, too.
    if (url === null || !isOwnHost(request.headers.get("host"), info.port) || !isOwnHost(url.host, info.port)) {
      return refuse(403, `this server answers only to localhost, 127.0.0.1 and [::1] with port ${info.port}`);
    }
    const mcpRoute = Object.hasOwn(mcpRoutes, url.pathname) ? mcpRoutes[url.pathname] : undefined;
    const origin = request.headers.get("origin");
    if (origin !== null && !(mcpRoute ? isLoopbackOrigin(origin) : isOwnOrigin(origin, info.port))) {
      return refuse(403, "requests of pages from elsewhere are refused");
    }
    if (url.pathname === "/healthz") return health(request);
    if (!isAuthorized(request, url, secrets, info.port)) {
      return mcpRoute === undefined && wantsDocument(request) ? signInPage() : unauthorized();
    }
    const route = mcpRoute ?? pageRoute(pageRoutes, url.pathname);
    if (route === undefined) return refuse(404, "nothing here; the page is at /devices, MCP clients use /mcp");
    return await route({ request, url, port: info.port });
  }

  return {
    fetch: async (request, info) => {
      try {
        return await fetch(request, info);
      } catch (error) {
        if (request.signal.aborted) return new Response(null, { status: 499 });
        gate.reports.report(`Internal error at ${request.method} ${URL.parse(request.url)?.pathname}`, error);
        return refuse(500, 'internal error; it was written to the log channel "error"');
      }
    },
    endpoints,
    secrets,
    tokenChanged: () => {
      server.useSavedToken();
      return endpoints.closeSessions();
    },
    close: async () => {
      unlisten?.();
      await endpoints.close();
      unwatch();
      await callLog.close();
    },
  };
}

function pageRoute(routes: Readonly<Record<string, Route>>, path: string): Route | undefined {
  if (Object.hasOwn(routes, path)) return routes[path];
  const prefix = Object.keys(routes).find((p) => p.endsWith("/") && p !== "/" && path.startsWith(p));
  return prefix === undefined ? undefined : routes[prefix];
}

/**
 * Made from the token, which cannot be got back from it: a page outlives a restart of the server, and a new token ends
 * it.
 */
const pageCookie = (token: string): string => createHmac("sha256", token).update("fieldbench page").digest("hex");

function health(request: Request): Response {
  if (request.method !== "GET" && request.method !== "HEAD") return notAllowed("GET");
  return Response.json({ ok: true });
}

/** The answer of `mcp_status`, for scripts; it does not count as a tool call of anyone. */
async function status(request: Request, gate: Gate): Promise<Response> {
  if (request.method !== "GET") return notAllowed("GET");
  const answer = await gate.call("mcp_status", {}, {
    caller: { kind: "page", session: "status", src: "ui" },
    signal: request.signal,
    progress: () => {},
  });
  return Response.json(answer.output);
}

const refuse = (code: number, error: string, headers: Record<string, string> = {}): Response =>
  Response.json({ error }, { status: code, headers });
const notAllowed = (allow: string): Response => refuse(405, `use ${allow}`, { allow });
/** No realm and no metadata address: clients that see one start an OAuth flow, which does not exist here. */
const unauthorized = (): Response =>
  refuse(
    401,
    "the token is missing or wrong: add ?token=… to the address or send Authorization: Bearer …; the running server's " +
      "address with its token is in mcp-endpoint.json in the configuration folder",
    { "www-authenticate": "Bearer" },
  );
