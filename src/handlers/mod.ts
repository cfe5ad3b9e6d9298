import type { Bench } from "../bench/bench.ts";
import type { CallLog } from "../store/call_log.ts";
import { logHandlers } from "./log.ts";
import { NO_BRIDGE, type PageBridge } from "./page_bridge.ts";
import { serialHandlers } from "./serial.ts";
import { serverHandlers } from "./server.ts";
import type { ServerState } from "./server_state.ts";
import type { Handlers } from "./types.ts";
import { uiHandlers } from "./ui.ts";
import type { SavedState } from "./ui_state.ts";

export interface HandlerParts {
  server: ServerState;
  callLog: CallLog;
  /** The way to the page; absent: no page ever. */
  bridge?: PageBridge;
  /** What `ui_get_state` tells; absent: the panes only. */
  saved?: SavedState;
}

/** Every tool of the table over one bench. A row without a handler does not compile. */
export function createHandlers(bench: Bench, parts: HandlerParts): Handlers {
  return {
    ...serialHandlers(bench),
    ...logHandlers(bench.hub),
    ...uiHandlers(parts.bridge ?? NO_BRIDGE, parts.saved ?? panesOnly(bench)),
    ...serverHandlers({
      server: parts.server,
      callLog: parts.callLog,
      hub: bench.hub,
      panes: () =>
        bench.panes.all().map((p) => ({ name: p.name, port: p.settings.port, isOpen: p.link.status === "open" })),
    }),
  };
}

const panesOnly = (bench: Bench): SavedState => ({
  monitors: () => Object.fromEntries(bench.panes.all().map((p) => [p.name, { ...p.settings }])),
  settings: () => ({}),
  os: Deno.build.os,
});
