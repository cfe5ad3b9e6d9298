import { join } from "node:path";
import type { Bench } from "../bench/bench.ts";
import { Gate } from "../gate/gate.ts";
import { createHandlers } from "../handlers/mod.ts";
import type { ControlTools } from "../handlers/page_bridge.ts";
import { ServerState, type ServerStateOptions } from "../handlers/server_state.ts";
import type { PageHub } from "../page/page_hub.ts";
import { CALL_LOG_FILE, CallLog } from "../store/call_log.ts";
import type { ToolRow } from "../../tools/mod.ts";
import type { ErasedHandlers } from "../gate/gate.ts";
import type { Sources } from "../mcp/resources.ts";
import type { Profile } from "../mcp/slim.ts";
import { type App, type AppOptions, createApp, type Route } from "./app.ts";

export interface AssembleOptions extends ServerStateOptions {
  bench: Bench;
  /** Where the call log is kept. */
  configDir: string;
  /** Pages that may connect; absent: none ever. */
  page?: PageHub;
  /** Without a page: only for tests. */
  controlTools?: ControlTools;
  /** `--tools slim`: what clients see that name no profile. */
  toolProfile?: Profile;
  /** The page's routes, made when the parts that they need are there. */
  pageRoutes?: (parts: Parts) => Readonly<Record<string, Route>>;
  tuning?: AppOptions["tuning"];
  /** Clock of the rate limit, ms: only for tests. */
  gateNow?: () => number;
  /** Tools beside the table: only for tests. */
  extra?: { rows: readonly ToolRow[]; handlers: ErasedHandlers };
}

export interface Parts {
  readonly server: ServerState;
  readonly gate: Gate;
  readonly callLog: CallLog;
}
export interface Assembled extends Parts {
  readonly app: App;
}

/** From a bench to everything that answers requests over it; `listen` then opens the door. */
export function assemble(options: AssembleOptions): Assembled {
  const { bench } = options;
  const server = new ServerState(options);
  const { settings } = server;
  const callLog = new CallLog({
    path: join(options.configDir, CALL_LOG_FILE),
    settings: () => settings.value.callLog,
    mask: server.mask,
    onProblem: (text) => bench.hub.log("app", "warn", text),
  });
  const handlers = createHandlers(bench, {
    server,
    callLog,
    ...(options.page && { bridge: options.page.bridge, saved: options.page.saved }),
  });
  const gate = new Gate({ ...handlers, ...options.extra?.handlers }, {
    rateLimitPerMin: server.rateLimitPerMin,
    readOnly: () => server.readOnly,
    hub: bench.hub,
    mask: server.mask,
    ...(options.gateNow && { now: options.gateNow }),
    ...(options.extra && { extraRows: options.extra.rows }),
  });
  const controlTools = options.page?.controlTools ?? options.controlTools;
  const parts: Parts = { server, gate, callLog };
  const app = createApp({
    ...parts,
    sources: sourcesOf(bench),
    log: (level, text) => bench.hub.log("mcp", level, text),
    ...(options.toolProfile && { toolProfile: options.toolProfile }),
    ...(controlTools && { controlTools }),
    ...(options.pageRoutes && { pageRoutes: options.pageRoutes(parts) }),
    ...(options.tuning && { tuning: options.tuning }),
  });
  options.page?.attach({
    server,
    gate,
    tokenChanged: () => app.tokenChanged(),
    clientName: (session) => app.endpoints.clientName(session),
  });
  return { ...parts, app };
}

const sourcesOf = (bench: Bench): Sources => ({
  channels: () => bench.hub.names(),
  lastSeq: (channel) => bench.hub.find(channel)?.ring.lastSeq,
  panes: () => bench.panes.names(),
  ports: async () => (await bench.ports.choices()).map((c) => c.value),
});
