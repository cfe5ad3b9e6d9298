/** The whole server in this process with pages: bench, gate, MCP and page routes on a free port. */
import { join } from "node:path";
import { PageHub, type PageHubOptions } from "../../src/page/page_hub.ts";
import { pageRoutes } from "../../src/http/page_routes.ts";
import { assemble, type Assembled } from "../../src/http/assemble.ts";
import { listen } from "../../src/http/listen.ts";
import { originOf } from "../../src/handlers/server_state.ts";
import type { Bench } from "../../src/bench/bench.ts";
import type { LogHub } from "../../src/bench/log_hub.ts";
import { loadConfig } from "../../src/store/config.ts";
import { JsonFile } from "../../src/store/json_file.ts";
import { type McpConfig, mcpConfigSchema } from "../../src/store/mcp_config.ts";
import type { Control } from "../../src/core/page_protocol.ts";
import { TOKEN } from "./app.ts";
import { type MemoryDevice, MemoryDriver } from "../../src/drivers/serial/memory.ts";
import { BenchRig, ptyRig, type RigOptions } from "./bench.ts";
import { TEST_ROWS, TestTools } from "./test_rows.ts";
import { connect, type RawMcp } from "./mcp_client.ts";
import { PageClient } from "./page_client.ts";

export interface PageRigOptions extends Omit<RigOptions, "timing" | "driver" | "folder"> {
  /** What `mcp.json` says. */
  mcp?: Record<string, unknown>;
  /** Real PTYs instead of the port in memory. */
  ports?: number;
  timing?: NonNullable<PageHubOptions["timing"]>;
  /** The built page; default: a small folder made for the test. */
  page?: string;
}

export class PageRig implements AsyncDisposable {
  readonly clients: { close(): Promise<unknown> }[] = [];
  constructor(
    readonly rig: BenchRig,
    readonly parts: Assembled,
    readonly hub: PageHub,
    readonly origin: string,
    readonly settings: JsonFile<McpConfig>,
    readonly port: number,
    readonly tools: TestTools,
    /** The device behind `mem1`, unless the rig has PTYs. */
    readonly device: MemoryDevice,
    readonly end: () => Promise<void>,
  ) {}
  get bench(): Bench {
    return this.rig.bench;
  }
  get log(): LogHub {
    return this.rig.hub;
  }

  async page(controls: Control[] = []): Promise<PageClient> {
    const page = await PageClient.open(this.origin, TOKEN, controls);
    this.clients.push(page);
    return page;
  }

  async agent(): Promise<RawMcp> {
    const client = await connect(this.origin, TOKEN);
    this.clients.push({ close: () => client.delete() });
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.clients) await client.close();
    await this.end();
  }
}

export async function pageRig(options: PageRigOptions = {}): Promise<PageRig> {
  const { mcp, ports, timing, page, ...benchOptions } = options;
  const driver = new MemoryDriver();
  const device = driver.plug({ path: "mem1", kind: "usb", product: "Test adapter", serialNumber: "T1" });
  driver.plug({ path: "mem2" });
  const rig = ports === undefined
    ? await BenchRig.open({ ...benchOptions, driver })
    : await ptyRig({ ...benchOptions, ports });
  const settings = await JsonFile.load<McpConfig>(
    join(rig.folder, "mcp.json"),
    mcpConfigSchema,
    mcpConfigSchema.parse({ token: TOKEN, ...mcp }),
  );
  const tools = new TestTools();
  const folder = page ?? await madePage(rig.folder);
  const sessionLogFolder = options.session ? join(rig.folder, "log-cache") : undefined;
  const hub = new PageHub({
    bench: rig.bench,
    // The rig's bench has loaded its own; in the server both are one.
    config: await loadConfig(join(rig.folder, "page-config.json")),
    sessionLogFolder,
    ...(timing && { timing }),
  });
  const parts: Assembled = assemble({
    bench: rig.bench,
    configDir: rig.folder,
    settings,
    version: "0.0.0-test",
    ...(options.mcp?.["rateLimitPerMin"] === undefined && { rateLimitPerMin: 0 }),
    page: hub,
    extra: { rows: TEST_ROWS, handlers: tools.handlers },
    pageRoutes: () => pageRoutes({ hub, bench: rig.bench, secrets: () => parts.app.secrets, sessionLogFolder, folder }),
  });
  const listening = listen(parts.app, "127.0.0.1", 0);
  parts.server.address = { host: listening.host, port: listening.port };
  return new PageRig(
    rig,
    parts,
    hub,
    originOf(parts.server.address),
    settings,
    listening.port,
    tools,
    device,
    async () => {
      await hub.close();
      await listening.close();
      await rig[Symbol.asyncDispose]();
    },
  );
}

async function madePage(home: string): Promise<string> {
  const folder = join(home, "dist");
  await Deno.mkdir(join(folder, "assets"), { recursive: true });
  await Deno.writeTextFile(
    join(folder, "index.html"),
    '<!doctype html><script type="module" src="/assets/main.js"></script>',
  );
  await Deno.writeTextFile(join(folder, "assets", "main.js"), "console.log('page')\n");
  return folder;
}
