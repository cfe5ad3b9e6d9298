/** The real server of the product in this process, on a free port, with stand-ins for the bench. */
import { join } from "node:path";
import { Gate } from "../../src/gate/gate.ts";
import { serverHandlers } from "../../src/handlers/server.ts";
import { originOf, ServerState, type ServerStateOptions } from "../../src/handlers/server_state.ts";
import { CALL_LOG_FILE, CallLog } from "../../src/store/call_log.ts";
import { JsonFile } from "../../src/store/json_file.ts";
import { type McpConfig, mcpConfigSchema } from "../../src/store/mcp_config.ts";
import { type App, type AppOptions, createApp } from "../../src/http/app.ts";
import { listen, type Listening } from "../../src/http/listen.ts";
import { TEST_ROWS, TestTools } from "./test_rows.ts";

export const TOKEN = "test-token-0123456789abcdefghijklmnopqrstuv";

export interface AppRigOptions {
  host?: string;
  rateLimitPerMin?: number;
  server?: Partial<ServerStateOptions>;
  /** What `mcp.json` says. */
  config?: Record<string, unknown>;
  /** The configuration folder, which the test keeps; else a temporary one. */
  folder?: string;
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
  readonly callLog: CallLog;
  readonly folder: string;
  readonly settings: JsonFile<McpConfig>;
  readonly origin: string;
  /** What was logged on the hub. */
  readonly logged: string[];
}

export async function startApp(options: AppRigOptions = {}): Promise<AppRig> {
  const logged: string[] = [];
  const folder = options.folder ?? await Deno.makeTempDir({ prefix: "fieldbench-app-" });
  const settings = await JsonFile.load<McpConfig>(
    join(folder, "mcp.json"),
    mcpConfigSchema,
    mcpConfigSchema.parse({ token: TOKEN, ...options.config }),
  );
  const tools = new TestTools();
  const rateLimitPerMin = options.rateLimitPerMin ?? 0;
  const server = new ServerState({ settings, version: "0.0.0-test", rateLimitPerMin, ...options.server });
  const hub = {
    log: (channel: string, level: string, text: string) => void logged.push(`${channel} ${level} ${text}`),
    names: () => ["app", "error"],
    totals: () => ({ totalBytes: 0, totalCapBytes: 16_777_216 }),
  };
  const callLog = new CallLog({
    path: join(folder, CALL_LOG_FILE),
    settings: () => settings.value.callLog,
    mask: server.mask,
    onProblem: (text) => hub.log("app", "warn", text),
  });
  const own = serverHandlers({
    server,
    callLog,
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
  const app = createApp({ gate, server, callLog, ...(options.tuning && { tuning: options.tuning }) });
  const listening = listen(app, options.host ?? "127.0.0.1", 0);
  server.address = { host: listening.host, port: listening.port };
  return {
    app,
    gate,
    server,
    tools,
    listening,
    callLog,
    folder,
    settings,
    origin: originOf(server.address),
    logged,
    [Symbol.asyncDispose]: async () => {
      await listening.close();
      if (options.folder === undefined) await Deno.remove(folder, { recursive: true });
    },
  };
}
