import { join, resolve } from "node:path";

/** Where everything of one configuration lives. All paths are absolute. */
export interface Paths {
  readonly configDir: string;
  readonly config: string;
  readonly mcpConfig: string;
  readonly endpoint: string;
  /** Held locked by the server that runs on this folder. */
  readonly lock: string;
  /** Records of tool calls. */
  readonly callLog: string;
  /** Session logs, unless the configuration names another folder. */
  readonly sessionLogs: string;
}

/** The environment, as far as it is asked for. */
export type Env = (name: string) => string | undefined;

/**
 * The folder of this user's configuration: `FIELDBENCH_CONFIG_DIR` if set, else by the custom of the system:
 * `%APPDATA%\fieldbench`, `~/Library/Application Support/fieldbench`, `$XDG_CONFIG_HOME/fieldbench` or
 * `~/.config/fieldbench`. Undefined if the environment names no home.
 */
export function defaultConfigDir(env: Env, os: typeof Deno.build.os): string | undefined {
  const own = env("FIELDBENCH_CONFIG_DIR")?.trim();
  if (own) return resolve(own);
  if (os === "windows") {
    const appData = env("APPDATA");
    return appData ? join(appData, "fieldbench") : undefined;
  }
  const home = env("HOME");
  if (os === "darwin") return home ? join(home, "Library", "Application Support", "fieldbench") : undefined;
  const xdg = env("XDG_CONFIG_HOME");
  // The XDG rules say that a relative value is to be ignored.
  if (xdg?.startsWith("/")) return join(xdg, "fieldbench");
  return home ? join(home, ".config", "fieldbench") : undefined;
}

/**
 * Names of the files in a configuration folder. Throws RangeError for an empty name, which would mean whatever folder
 * the program was started in.
 */
export function pathsIn(configDir: string): Paths {
  if (configDir.trim() === "") throw new RangeError("the configuration folder has no name");
  const dir = resolve(configDir);
  return {
    configDir: dir,
    config: join(dir, "config.json"),
    mcpConfig: join(dir, "mcp.json"),
    endpoint: join(dir, "mcp-endpoint.json"),
    lock: join(dir, "serve.lock"),
    callLog: join(dir, "ai-calls.jsonl"),
    sessionLogs: join(dir, "log-cache"),
  };
}
