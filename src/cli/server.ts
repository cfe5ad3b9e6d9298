import { Bench } from "../bench/bench.ts";
import { LogHub } from "../bench/log_hub.ts";
import { systemDriver } from "../drivers/serial/mod.ts";
import type { Profile } from "../mcp/slim.ts";
import { originOf } from "../handlers/server_state.ts";
import { assemble, type Assembled } from "../http/assemble.ts";
import { listen, type Listening } from "../http/listen.ts";
import { pageRoutes } from "../http/page_routes.ts";
import { loadSdk } from "../mcp/engine.ts";
import { PageHub } from "../page/page_hub.ts";
import { type ExtraPort, loadConfig } from "../store/config.ts";
import { answers, type Endpoint, endpointOf, readEndpoint, removeEndpoint, writeEndpoint } from "../store/endpoint.ts";
import { sweepTemporary, whyFailed } from "../store/files.ts";
import { loadMcpConfig, mcpConfigSchema } from "../store/mcp_config.ts";
import type { Paths } from "../store/paths.ts";
import { CliError } from "./args.ts";
import { createDemo, type Demo, withoutDemoPort } from "./demo.ts";
import { prepareFolder } from "./folder.ts";

export interface ServeOptions {
  paths: Paths;
  version: string;
  /** The port that was asked for; absent: the configured one, or the next free one after the default. 0: a free one. */
  port?: number | undefined;
  token?: string | undefined;
  demo: boolean;
  readOnly: boolean;
  extraPorts: readonly ExtraPort[];
  rateLimitPerMin?: number | undefined;
  /** What agents see that name no profile. */
  toolProfile?: Profile | undefined;
}

export interface RunningServer {
  readonly parts: Assembled;
  readonly bench: Bench;
  readonly endpoint: Endpoint;
  readonly token: string;
  /** `http://127.0.0.1:7777`. */
  readonly origin: string;
  readonly logFolder: string;
  readonly demoPath: string | undefined;
  /** Loads what the first client would wait for. */
  warmUp(): Promise<void>;
  /** Closes ports, flushes logs, removes the endpoint file. */
  close(): Promise<void>;
}

/** Clients have this long to end. */
const CLIENTS_MS = 700;
/** How long calls that still run may take to end once the ports are closed. */
const ANSWERS_MS = 200;
/** How many ports after the default are tried. */
const MORE_PORTS = 20;

/** Another server has the configuration folder. */
export class RunningAlready extends CliError {}

/** Brings everything up; on any failure all that was begun is closed again and {@link CliError} tells why. */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const { paths } = options;
  await prepareFolder(paths.configDir);
  // What is undone, newest first, when the server stops or a later step of the start fails.
  const undo: (() => void | Promise<void>)[] = [];
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    undo.push(await lockFolder(paths));
    await sweepTemporary(paths.configDir);
    const config = await loadConfig(paths.config);
    const settings = await loadMcpConfig(paths.mcpConfig);
    const token = options.token ?? settings.value.token;
    const logFolder = config.value.sessionLog.folder ?? paths.sessionLogs;
    if (config.value.sessionLog.enabled) await prepareFolder(logFolder);

    const demo: Demo | undefined = options.demo ? createDemo(systemDriver()) : undefined;
    if (demo) {
      undo.push(() => demo.close());
      config.beforeSave = withoutDemoPort(demo.path);
    }
    const hub = new LogHub({});
    const bench = new Bench({
      hub,
      driver: demo?.driver ?? systemDriver(),
      config,
      sessionLogFolder: logFolder,
      extraPorts: [...options.extraPorts, ...(demo?.extra ?? [])],
    });
    undo.push(() => bench.close());
    const page = new PageHub({ bench, config, sessionLogFolder: logFolder });
    undo.push(() => page.close());
    const parts: Assembled = assemble({
      bench,
      page,
      pageRoutes: () => pageRoutes({ hub: page, bench, secrets: () => parts.app.secrets, sessionLogFolder: logFolder }),
      configDir: paths.configDir,
      settings,
      version: options.version,
      readOnly: options.readOnly,
      ...(options.token !== undefined && { token: options.token }),
      ...(options.toolProfile && { toolProfile: options.toolProfile }),
      ...(options.rateLimitPerMin !== undefined && { rateLimitPerMin: options.rateLimitPerMin }),
    });
    const { host, port: configured } = settings.value.server;
    const isDefault = configured === mcpConfigSchema.parse({}).server.port;
    const listening = listenSomewhere(
      (port) => listen(parts.app, host, port),
      options.port ?? configured,
      options.port === undefined && isDefault ? MORE_PORTS : 0,
    );
    // A client that does not let go must not keep the logs from disk.
    undo.push(() => within(CLIENTS_MS, listening.close()));
    // Ports first: a send that is blocked ends with how many bytes went, and its caller is still there to be told.
    undo.push(async () => {
      await bench.panes.close();
      await within(ANSWERS_MS, parts.gate.idle());
    });
    parts.server.address = { host: listening.host, port: listening.port };
    const origin = originOf(listening);
    const endpoint = endpointOf(origin, token);
    undo.push(reportLooseErrors((error) => parts.gate.reports.report("Internal error outside a call", error)));
    if (demo) await openDemo(bench, demo);
    await writeEndpoint(paths.endpoint, endpoint).catch((error) => {
      throw new CliError(`${paths.endpoint} cannot be written: ${whyFailed(error)}`);
    });
    undo.push(() => removeEndpoint(paths.endpoint));
    // A person may reset the token while it runs: the file must hold the address that works.
    let known = settings.value.token;
    settings.afterSave = (now) => {
      if (now.token === known) return;
      known = now.token;
      writeEndpoint(paths.endpoint, endpointOf(origin, known)).catch((error) => {
        hub.log("app", "error", `${paths.endpoint} cannot be written: ${whyFailed(error)}`);
      });
    };
    hub.log("app", "info", `fieldbench ${options.version} listens on ${origin}`);
    const warmUp = async () => void await loadSdk();
    return { parts, bench, endpoint, token, origin, logFolder, demoPath: demo?.path, warmUp, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openDemo(bench: Bench, demo: Demo): Promise<void> {
  const main = bench.panes.need("main");
  await main.selectPort(demo.path);
  await main.open({});
  demo.start(); // after the opening, which throws away what was sent before: so its greeting is seen
}

/** One server for a configuration folder. Gives what lets the folder go. */
async function lockFolder(paths: Paths): Promise<() => void> {
  const file = await Deno.open(paths.lock, { create: true, write: true, mode: 0o600 }).catch((error) => {
    throw new CliError(`${paths.lock} cannot be written: ${whyFailed(error)}`);
  });
  // A file system without locks: the endpoint file alone has to tell.
  const locked = await file.tryLock(true).catch(() => true);
  const other = await readEndpoint(paths.endpoint);
  if (locked && !(other && other.pid !== Deno.pid && await answers(other))) return () => file.close();
  file.close();
  const where = other ? ` at ${new URL(other.urlStreamable).origin} (pid ${other.pid})` : "";
  throw new RunningAlready(
    `Fieldbench is running already${where} with the configuration folder ${paths.configDir}. ` +
      `Use that one (its address is in ${paths.endpoint}), stop it, or choose another folder with --config-dir`,
  );
}

/** The first port from `first` on that is free, of `more` after it. Throws CliError if none is. */
function listenSomewhere(open: (port: number) => Listening, first: number, more: number): Listening {
  for (let port = first; port <= Math.min(first + more, 65_535); port++) {
    try {
      return open(port);
    } catch (error) {
      if (error instanceof Deno.errors.AddrInUse) continue;
      throw new CliError(`port ${port} cannot be listened on: ${whyFailed(error)}`);
    }
  }
  throw new CliError(
    more
      ? `ports ${first} to ${first + more} are all in use; choose one with --port`
      : `port ${first} is in use; choose another with --port, or --port 0 for any that is free`,
  );
}

/** Resolves with `work`, or without it after `ms`. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([work, new Promise<void>((go) => timer = setTimeout(go, ms))]);
  clearTimeout(timer);
}

/** A bug that no call caught must neither end the server nor print a stack: it goes into the log. */
function reportLooseErrors(report: (error: unknown) => void): () => void {
  const rejected = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    report(event.reason);
  };
  const thrown = (event: ErrorEvent) => {
    event.preventDefault();
    report(event.error);
  };
  globalThis.addEventListener("unhandledrejection", rejected);
  globalThis.addEventListener("error", thrown);
  return () => {
    globalThis.removeEventListener("unhandledrejection", rejected);
    globalThis.removeEventListener("error", thrown);
  };
}
