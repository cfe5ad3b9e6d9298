import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "../bench/bench.ts";
import { BenchError } from "../core/errors.ts";
import type { PageHub } from "../page/page_hub.ts";
import { saveChannel, savePane } from "../page/save.ts";
import type { Route, RouteRequest } from "./app.ts";
import { cookieName, type Secrets } from "./guard.ts";
import { StaticFiles } from "./static_files.ts";

export interface PageRoutesOptions {
  hub: PageHub;
  bench: Bench;
  /** Cookie of the running app. */
  secrets: () => Secrets;
  sessionLogFolder?: string | undefined;
  /** The built page; default: `ui/dist` beside the sources, or beside the bundle. */
  folder?: string;
}

/** A document for each workspace, so that headers and weight stay its own; `/` leads to the first. */
const DOCUMENTS: Readonly<Record<string, string>> = { "/devices": "devices.html" };
const START = "/devices";
/** What there is while a workspace has no document of its own. */
const COMMON_DOCUMENT = "index.html";

/** Where `deno task build` and the packages put the page. */
function builtPageFolder(): string {
  const here = import.meta.dirname ?? ".";
  const places = [join(here, "../../ui/dist"), join(here, "ui/dist"), join(here, "../ui/dist")];
  return places.find((p) => existsSync(p)) ?? join(here, "../../ui/dist");
}

/**
 * Routes of the page: its documents and files, the stream, downloads. Host, Origin and token or cookie are checked
 * before; nothing here is reached without.
 */
export function pageRoutes(options: PageRoutesOptions): Record<string, Route> {
  const files = new StaticFiles(options.folder ?? builtPageFolder());
  const document = (name: string): Route => async (at) => {
    const wrong = onlyGet(at);
    if (wrong) return wrong;
    if (at.url.searchParams.has("token")) return tradeToken(at, options.secrets());
    const headers = documentHeaders(at);
    return await files.serve(at.request, name, headers) ?? await files.serve(at.request, COMMON_DOCUMENT, headers) ??
      notBuilt(headers);
  };
  const asset: Route = async (at) => {
    const wrong = onlyGet(at);
    if (wrong) return wrong;
    const path = at.url.pathname.slice(1);
    return await files.serve(at.request, path, SAFE_HEADERS) ??
      await files.serve(at.request, path.replace(/^assets\//, ""), SAFE_HEADERS) ?? notFound(at);
  };
  return {
    "/": (at) => {
      const wrong = onlyGet(at);
      if (wrong) return wrong;
      return at.url.searchParams.has("token") ? tradeToken(at, options.secrets(), START) : redirect(START);
    },
    ...Object.fromEntries(Object.entries(DOCUMENTS).map(([path, name]) => [path, document(name)])),
    "/assets/": asset,
    "/page/stream": (at) => stream(at, options.hub),
    "/page/save": (at) => save(at, options),
    "/page/": notFound,
  };
}

const SAFE_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
};

/**
 * Scripts and styles only from this origin and none in the markup, no request elsewhere. The address of the stream is
 * named, since not every browser takes `'self'` for WebSockets.
 */
const documentHeaders = (at: Pick<RouteRequest, "url">): Record<string, string> => ({
  ...SAFE_HEADERS,
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self' ws://${at.url.host}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
});

function onlyGet({ request }: RouteRequest): Response | undefined {
  if (request.method === "GET" || request.method === "HEAD") return undefined;
  return Response.json({ error: "use GET" }, { status: 405, headers: { ...SAFE_HEADERS, allow: "GET, HEAD" } });
}

const redirect = (to: string, headers: Record<string, string> = {}): Response =>
  new Response(null, {
    status: 303,
    headers: { ...SAFE_HEADERS, location: to, "cache-control": "no-store", ...headers },
  });

/** The token was right: from now on the cookie counts, and the token leaves the address and the history. */
function tradeToken(at: RouteRequest, secrets: Secrets, to = at.url.pathname): Response {
  const query = new URLSearchParams(at.url.searchParams);
  query.delete("token");
  const clean = query.size ? `${to}?${query}` : to;
  const cookie = `${cookieName(at.port)}=${secrets.cookie}; Path=/; HttpOnly; SameSite=Strict`;
  if (at.request.headers.get("sec-fetch-site") !== "cross-site") return redirect(clean, { "set-cookie": cookie });
  // A link in another site's page: after a redirect the browser would still hold the strict cookie back. A document of
  // our own that moves on is no other site any more.
  return new Response(
    `<!doctype html><meta charset="utf-8"><title>Fieldbench</title><p><a href="${attribute(clean)}">Open</a></p>`,
    {
      headers: {
        ...documentHeaders(at),
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        refresh: `0; url=${clean}`,
        "set-cookie": cookie,
      },
    },
  );
}

const attribute = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

function stream({ request }: RouteRequest, hub: PageHub): Response {
  const { headers, method } = request;
  if (method !== "GET") {
    return Response.json({ error: "use GET" }, { status: 405, headers: { ...SAFE_HEADERS, allow: "GET" } });
  }
  const version = headers.get("sec-websocket-version");
  if (headers.get("upgrade")?.toLowerCase() !== "websocket" || (version !== null && version !== "13")) {
    return Response.json({ error: "this address speaks WebSocket; open /devices in a browser" }, {
      status: 426,
      headers: { ...SAFE_HEADERS, upgrade: "websocket", "sec-websocket-version": "13" },
    });
  }
  const connection = headers.get("connection")?.toLowerCase().split(",").map((option) => option.trim());
  if (version === null || !connection?.includes("upgrade") || !headers.has("sec-websocket-key")) {
    return refuse(400, "this is not a whole WebSocket handshake");
  }
  const { socket, response } = Deno.upgradeWebSocket(request);
  hub.accept(socket);
  return response;
}

async function save(at: RouteRequest, { bench, sessionLogFolder }: PageRoutesOptions): Promise<Response> {
  const wrong = onlyGet(at);
  if (wrong) return wrong;
  const { searchParams } = at.url;
  const channel = searchParams.get("channel");
  const kind = searchParams.get("kind") ?? "text";
  if (kind !== "text" && kind !== "rx" && kind !== "tx") return refuse(400, "kind is text, rx or tx");
  try {
    const saved = channel === null
      ? await savePane(bench, sessionLogFolder, searchParams.get("pane") ?? "main", kind)
      : saveChannel(bench, channel);
    if (!saved) return refuse(404, "sessions are not kept on disk here: save a channel of the log instead");
    if (at.request.method === "HEAD") await saved.body.cancel();
    return new Response(at.request.method === "HEAD" ? null : saved.body, {
      headers: {
        ...SAFE_HEADERS,
        "content-type": saved.type,
        "content-disposition": `attachment; filename="${saved.name}"`,
        "cache-control": "no-store",
      },
    });
  } catch (error) {
    if (error instanceof BenchError) return refuse(404, error.message);
    throw error;
  }
}

const refuse = (status: number, error: string): Response =>
  Response.json({ error }, { status, headers: { ...SAFE_HEADERS } });

const notFound = (_at: RouteRequest): Response =>
  refuse(404, "nothing here; the page is at /devices, MCP clients use /mcp");

const notBuilt = (headers: Record<string, string>): Response =>
  new Response(
    '<!doctype html><meta charset="utf-8"><title>Fieldbench</title><h1>The page is not built yet</h1>' +
      "<p>Run <code>deno task build</code> in the folder of the program, then load this page again. " +
      "Agents and the command line work without it.</p>",
    { status: 503, headers: { ...headers, "content-type": "text/html; charset=utf-8", "cache-control": "no-store" } },
  );
