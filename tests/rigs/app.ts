/** The real server of the product in this process, on a free port, over a bench whose ports are in memory. */
import { join } from "node:path";
import { Bench } from "../../src/bench/bench.ts";
import { LogHub } from "../../src/bench/log_hub.ts";
import { MemoryDriver } from "../../src/drivers/serial/memory.ts";
import type { SerialDriver } from "../../src/drivers/serial/port.ts";
import type { Gate } from "../../src/gate/gate.ts";
import { originOf, type ServerState } from "../../src/handlers/server_state.ts";
import type { App, AppOptions } from "../../src/http/app.ts";
import { assemble, type AssembleOptions } from "../../src/http/assemble.ts";
import { listen, type Listening } from "../../src/http/listen.ts";
import type { CallLog } from "../../src/store/call_log.ts";
import { JsonFile } from "../../src/store/json_file.ts";
import { type McpConfig, mcpConfigSchema } from "../../src/store/mcp_config.ts";
import { TEST_ROWS, TestTools } from "./test_rows.ts";

export const TOKEN = "test-token-0123456789abcdefghijklmnopqrstuv";

export interface AppRigOptions {
  host?: string;
  /** Default 0, no limit; undefined: what the settings say. */
  rateLimitPerMin?: number | undefined;
  /** More for `assemble`. */
  parts?: Partial<AssembleOptions>;
  driver?: SerialDriver;
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
  readonly bench: Bench;
  readonly tools: TestTools;
  readonly listening: Listening;
  readonly callLog: CallLog;
  readonly folder: string;
  readonly settings: JsonFile<McpConfig>;
  readonly origin: string;
}

export async function startApp(options: AppRigOptions = {}): Promise<AppRig> {
  const folder = options.folder ?? await Deno.makeTempDir({ prefix: "fieldbench-app-" });
  const settings = await JsonFile.load<McpConfig>(
    join(folder, "mcp.json"),
    mcpConfigSchema,
    mcpConfigSchema.parse({ token: TOKEN, ...options.config }),
  );
  const rateLimitPerMin = "rateLimitPerMin" in options ? options.rateLimitPerMin : 0;
  const tools = new TestTools();
  const hub = new LogHub({});
  const bench = new Bench({ hub, driver: options.driver ?? new MemoryDriver() });
  const { app, server, gate, callLog } = assemble({
    bench,
    settings,
    configDir: folder,
    version: "0.0.0-test",
    ...(rateLimitPerMin !== undefined && { rateLimitPerMin }),
    extra: { rows: TEST_ROWS, handlers: tools.handlers },
    ...(options.gateNow && { gateNow: options.gateNow }),
    ...(options.tuning && { tuning: options.tuning }),
    ...options.parts,
  });
  const listening = listen(app, options.host ?? "127.0.0.1", 0);
  server.address = { host: listening.host, port: listening.port };
  return {
    app,
    gate,
    server,
    bench,
    tools,
    listening,
    callLog,
    folder,
    settings,
    origin: originOf(server.address),
    [Symbol.asyncDispose]: async () => {
      await listening.close();
      await bench.close();
      if (options.folder === undefined) await Deno.remove(folder, { recursive: true });
    },
  };
}
