import type { Server } from "@modelcontextprotocol/server";
import { type Engine, loadSdk, type Sdk } from "./engine.ts";
import {
  claimsModernEra,
  isObject,
  LEGACY_VERSIONS,
  MODERN_VERSIONS,
  readBody,
  RPC,
  rpcError,
  SESSION_HEADER,
  SUPPORTED_VERSIONS,
  VERSION_HEADER,
} from "./protocol.ts";
import { ModernEra } from "./modern.ts";
import { ChannelWatch, uriOf } from "./resources.ts";
import { type Session, SessionTable } from "./session_table.ts";
import { type SessionHost, SessionTransport } from "./session_transport.ts";
import { profileOf } from "./slim.ts";
import { SseTransport } from "./sse_transport.ts";
import { LIMITS } from "../../tools/mod.ts";

export type TransportMode = "both" | "http" | "sse";

export interface EndpointOptions {
  mode: () => TransportMode;
  /** The address to post to that an SSE client is told: relative, with the token if the client used one there. */
  messagesPath: (sessionId: string, request: Request) => string;
  onRequests: (count: number) => void;
  onDropped: (count: number) => void;
  onSessionEnd?: (id: string) => void;
  /** What happens on the wire, for the `mcp` log channel. */
  log?: (level: "debug" | "info" | "warn", text: string) => void;
  now?: () => number;
  heartbeatMs?: number;
  idleMs?: number;
  maxSessions?: number;
}

/** A session and its server. */
class Live implements Session {
  constructor(
    readonly kind: "http" | "sse",
    readonly transport: SessionTransport | SseTransport,
    readonly server: Server,
    readonly subscriptions: ReadonlySet<string>,
  ) {}
  get id(): string {
    return this.transport.sessionId;
  }
  get inFlight(): number {
    return this.transport.inFlight;
  }
  get listening(): boolean {
    return this.transport.listening;
  }
  tick(): void {
    this.transport.tick();
  }
  close(): Promise<void> {
    return this.transport.close();
  }
}

const TICK_MS = 1000;
const MCP_METHODS = "GET, POST, DELETE";

/** `/mcp`, `/sse` and `/messages`: the wire formats of all eras, before one gate. */
export class McpEndpoints {
  readonly #engine: Engine;
  readonly #options: EndpointOptions;
  readonly #host: SessionHost;
  readonly #table: SessionTable<Live>;
  readonly #ticker: ReturnType<typeof setInterval>;
  readonly #watch: ChannelWatch;
  #modern: ModernEra | undefined;

  constructor(engine: Engine, options: EndpointOptions) {
    this.#engine = engine;
    this.#options = options;
    this.#watch = new ChannelWatch(engine.sources);
    const now = options.now ?? (() => performance.now());
    const heartbeatMs = options.heartbeatMs ?? LIMITS.heartbeatSecs * 1000 - TICK_MS;
    this.#host = { now, heartbeatMs, onDropped: options.onDropped };
    this.#table = new SessionTable({
      max: options.maxSessions ?? LIMITS.maxSessions,
      idleMs: options.idleMs ?? LIMITS.idleTimeoutSecs * 1000,
      now,
      onEnd: (id) => {
        options.onSessionEnd?.(id);
        options.log?.("info", `session ${id.slice(0, 8)} ended`);
      },
    });
    this.#ticker = setInterval(() => this.tick(), Math.min(TICK_MS, heartbeatMs / 2));
    Deno.unrefTimer(this.#ticker);
  }

  get sessions(): number {
    return this.#table.size;
  }
  /** A client listens for notifications. */
  get listening(): boolean {
    return this.#table.values().some((s) => s.listening);
  }
  /** How the client of a session calls itself; undefined when it does not, or the session is gone. */
  clientName(session: string): string | undefined {
    return this.#table.peek(session)?.server.getClientVersion()?.name;
  }
  /** Heartbeats and idle sessions; runs each second by itself, tests with their own clock call it. */
  tick(): void {
    this.#endSwitchedOff();
    this.#table.tick();
    this.#modern?.tick();
    this.#tellChannels();
  }
  /** Event streams of the modern era. */
  get subscriptions(): number {
    return this.#modern?.streams ?? 0;
  }

  /** Tells every client that the list of tools changed. */
  toolsChanged(): void {
    for (const s of this.#table.values()) void s.server.sendToolListChanged().catch(() => {});
    this.#modern?.notify.toolsChanged();
  }

  promptsChanged(): void {
    for (const s of this.#table.values()) void s.server.sendPromptListChanged().catch(() => {});
    this.#modern?.notify.promptsChanged();
  }

  /** Sessions that nobody can post to any more would keep the places of others, SSE ones for good. */
  #endSwitchedOff(): void {
    const mode = this.#options.mode();
    if (mode === "both") return;
    for (const s of this.#table.values()) {
      if (s.kind === mode) continue;
      this.#table.remove(s.id);
      void s.close();
    }
    if (mode === "http") return;
    void this.#modern?.close();
    this.#modern = undefined;
  }

  /** Resources that have changed since the last tick, to those who want to hear of them. */
  #tellChannels(): void {
    const sessions = this.#table.values();
    if (sessions.length === 0 && this.subscriptions === 0) return;
    const { lines, names } = this.#watch.changes();
    for (const s of sessions) {
      if (names) void s.server.sendResourceListChanged().catch(() => {});
      for (const uri of lines.map(uriOf)) {
        if (s.subscriptions.has(uri)) void s.server.sendResourceUpdated({ uri }).catch(() => {});
      }
    }
    if (this.subscriptions === 0) return;
    if (names) this.#modern?.notify.resourcesChanged();
    for (const channel of lines) this.#modern?.notify.resourceUpdated(uriOf(channel));
  }

  /** A notification to every session that listens. */
  notifyAll(method: string, params: Record<string, unknown>): void {
    for (const s of this.#table.values()) void s.transport.send({ jsonrpc: "2.0", method, params });
  }

  /** Ends all sessions and modern requests under way; new ones may begin. */
  async closeSessions(): Promise<void> {
    const modern = this.#modern;
    this.#modern = undefined;
    await this.#table.close();
    await modern?.close();
  }

  async close(): Promise<void> {
    clearInterval(this.#ticker);
    await this.closeSessions();
  }

  /** `/mcp`. */
  async mcp(request: Request): Promise<Response> {
    if (this.#options.mode() === "sse") return switchedOff("/mcp", "/sse");
    switch (request.method) {
      case "POST":
        return await this.#post(request);
      case "GET":
      case "DELETE":
        return await this.#withSession(request);
      default:
        return methodNotAllowed(MCP_METHODS);
    }
  }

  /** `/sse`. */
  async sse(request: Request): Promise<Response> {
    if (this.#options.mode() === "http") return switchedOff("/sse", "/mcp");
    if (request.method !== "GET") return methodNotAllowed("GET");
    const sdk = await loadSdk();
    if (!this.#table.makeRoom()) return full();
    const transport = new SseTransport(this.#host, (id) => this.#options.messagesPath(id, request));
    await this.#connect(sdk, "sse", transport, request);
    return transport.response();
  }

  /** `/messages`. */
  async messages(request: Request, sessionId: string | null): Promise<Response> {
    if (this.#options.mode() === "http") return switchedOff("/messages", "/mcp");
    if (request.method !== "POST") return methodNotAllowed("POST");
    if (!sessionId) {
      return rpcError(400, RPC.server, "sessionId is missing: post to the address of the endpoint event of GET /sse");
    }
    if (this.#table.peek(sessionId)?.kind !== "sse") return sessionNotFound();
    const body = await readBody(request);
    if (!body.ok) return body.response;
    const transport = this.#table.use(sessionId)?.transport;
    if (!(transport instanceof SseTransport)) return sessionNotFound();
    this.#count(body.value);
    return transport.receive(body.value);
  }

  async #post(request: Request): Promise<Response> {
    const body = await readBody(request);
    if (!body.ok) return body.response;
    const version = request.headers.get(VERSION_HEADER);
    if ((version !== null && MODERN_VERSIONS.includes(version)) || claimsModernEra(body.value)) {
      const sdk = await loadSdk();
      if (!(await sdk.isLegacyRequest(request, body.value))) return await this.#modernEra(sdk, request, body.value);
    }
    const wrongVersion = checkVersion(version);
    if (wrongVersion) return wrongVersion;
    const isInitialize = isObject(body.value) && body.value["method"] === "initialize";
    const id = request.headers.get(SESSION_HEADER);
    if (id === null) {
      if (!isInitialize) return noSession(body.value);
      return await this.#initialize(request, body.value);
    }
    const transport = this.#table.use(id)?.transport;
    if (!(transport instanceof SessionTransport)) return sessionNotFound();
    if (isInitialize) {
      return rpcError(
        400,
        RPC.invalidRequest,
        "This session is initialized already; initialize without Mcp-Session-Id for a new one",
      );
    }
    this.#count(body.value);
    return await transport.post(body.value, request);
  }

  async #withSession(request: Request): Promise<Response> {
    await request.body?.cancel();
    const wrongVersion = checkVersion(request.headers.get(VERSION_HEADER));
    if (wrongVersion) return wrongVersion;
    const id = request.headers.get(SESSION_HEADER);
    if (id === null) return noSession(undefined);
    const transport = this.#table.use(id)?.transport;
    if (!(transport instanceof SessionTransport)) return sessionNotFound();
    if (request.method === "GET") return transport.listen(request);
    this.#table.remove(id);
    await transport.close();
    return new Response(null, { status: 204 });
  }

  async #initialize(request: Request, body: unknown): Promise<Response> {
    const sdk = await loadSdk();
    this.#count(body);
    if (!this.#table.makeRoom()) return full();
    const transport = new SessionTransport(this.#host);
    await this.#connect(sdk, "http", transport, request);
    const response = await transport.post(body, request);
    // A handshake that failed leaves no session behind.
    if (!transport.agreed) {
      this.#table.remove(transport.sessionId);
      await transport.close();
    }
    return response;
  }

  async #connect(
    sdk: Sdk,
    kind: "http" | "sse",
    transport: SessionTransport | SseTransport,
    request: Request,
  ): Promise<void> {
    const subscriptions = new Set<string>();
    const profile = profileOf(request);
    const server = this.#engine.createServer(sdk, { session: transport.sessionId, profile, subscriptions });
    if (transport instanceof SessionTransport) {
      transport.directCall = this.#engine.directCall(transport.sessionId);
    }
    const log = this.#options.log;
    transport.onagreed = ({ client, version }) =>
      log?.("info", `session ${transport.sessionId.slice(0, 8)} of ${client} began: ${version} over ${kind}`);
    server.onerror = (error) =>
      log?.("debug", `session ${transport.sessionId.slice(0, 8)}: ${error.message.slice(0, 200)}`);
    transport.onclose = () => this.#table.remove(transport.sessionId);
    // Its place is taken before anything is waited for.
    this.#table.add(new Live(kind, transport, server, subscriptions));
    await server.connect(transport);
  }

  async #modernEra(sdk: Sdk, request: Request, body: unknown): Promise<Response> {
    this.#count(body);
    this.#modern ??= new ModernEra(sdk, this.#engine, this.#host, (error) => {
      this.#options.log?.("debug", `modern request: ${error.message.slice(0, 200)}`);
    });
    return await this.#modern.fetch(request, body);
  }

  #count(body: unknown): void {
    this.#options.onRequests(Array.isArray(body) ? body.length : 1);
  }
}

function checkVersion(version: string | null): Response | undefined {
  if (version === null || LEGACY_VERSIONS.includes(version)) return undefined;
  return rpcError(
    400,
    RPC.server,
    `Unsupported MCP-Protocol-Version: ${version.slice(0, 32)}. Supported: ${SUPPORTED_VERSIONS.join(", ")}`,
    { supported: SUPPORTED_VERSIONS, requested: version.slice(0, 32) },
  );
}

const sessionNotFound = () => Response.json({ error: "session not found" }, { status: 404 });
const noSession = (body: unknown) =>
  rpcError(
    400,
    RPC.server,
    "Mcp-Session-Id is missing: POST initialize without it, then send the id of the response header with every request",
    undefined,
    isObject(body) && (typeof body["id"] === "string" || typeof body["id"] === "number") ? body["id"] : null,
  );
const full = () =>
  Response.json({ error: `all ${LIMITS.maxSessions} sessions are event streams in use; close one` }, {
    status: 429,
    headers: { "retry-after": "5" },
  });
const switchedOff = (path: string, other: string) =>
  Response.json({ error: `${path} is switched off here; use ${other}` }, { status: 404 });
const methodNotAllowed = (allow: string) =>
  Response.json({ error: `use ${allow}` }, { status: 405, headers: { allow } });
