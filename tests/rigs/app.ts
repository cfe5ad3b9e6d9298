/** The real server of the product in this process, on a free port, with stand-ins for the bench. */
import { Gate } from "../../src/gate/gate.ts";
import { serverHandlers } from "../../src/handlers/server.ts";
import { ServerState, type ServerStateOptions } from "../../src/handlers/server_state.ts";
import { type App, type AppOptions, createApp } from "../../src/http/app.ts";
import { listen, type Listening } from "../../src/http/listen.ts";
import { TEST_ROWS, TestTools } from "./test_rows.ts";

export const TOKEN = "test-token-0123456789abcdefghijklmnopqrstuv";

export interface AppRigOptions {
  host?: string;
  rateLimitPerMin?: number;
  server?: Partial<ServerStateOptions>;
  tuning?: AppOptions["tuning"];
  /** Clock of the gate's rate limit, ms. */
  gateNow?: () => number;
}

export interface AppRig extends AsyncDisposable {
  readonly app: App;
  readonly gate: Gate;
  readonly server: ServerState;
  readonly tools: TestTools;
  readonly listening: Listening;
  readonly origin: string;
  /** What was logged on the hub. */
  readonly logged: string[];
}

export function startApp(options: AppRigOptions = {}): AppRig {
  const logged: string[] = [];
  const tools = new TestTools();
  const rateLimitPerMin = options.rateLimitPerMin ?? 0;
  const server = new ServerState({ token: TOKEN, version: "0.0.0-test", rateLimitPerMin, ...options.server });
  const hub = {
    log: (channel: string, level: string, text: string) => void logged.push(`${channel} ${level} ${text}`),
    names: () => ["app", "error"],
    totals: () => ({ totalBytes: 0, totalCapBytes: 16_777_216 }),
  };
  const own = serverHandlers({
    server,
    hub,
    panes: () => [{ name: "main", port: "/dev/ttyUSB0", isOpen: false }],
  });
  const gate = new Gate({ ...own, ...tools.handlers }, {
    rateLimitPerMin,
    readOnly: () => server.readOnly,
    hub,
    mask: server.mask,
    extraRows: TEST_ROWS,
    ...(options.gateNow && { now: options.gateNow }),
  });
  const app = createApp({ gate, server, token: TOKEN, ...(options.tuning && { tuning: options.tuning }) });
  const listening = listen(app, options.host ?? "127.0.0.1", 0);
  server.address = { host: listening.host, port: listening.port };
  const host = listening.host === "::1" ? "[::1]" : listening.host;
  return {
    app,
    gate,
    server,
    tools,
    listening,
    origin: `http://${host}:${listening.port}`,
    logged,
    [Symbol.asyncDispose]: () => listening.close(),
  };
}
