import type { PaneView } from "../core/page_protocol.ts";
import type { SerialDriver } from "../drivers/serial/port.ts";
import { type Config, type ConfigFile, defaultConfig, type PaneConfig } from "../store/config.ts";
import type { LogHub } from "./log_hub.ts";
import type { PaneTiming } from "./pane.ts";
import { configOf } from "./pane_settings.ts";
import { type PaneState, stateOf, viewOf } from "./pane_state.ts";
import { Panes } from "./panes.ts";
import type { ExtraPort } from "./port_globs.ts";
import { Ports } from "./ports.ts";

export interface BenchOptions {
  hub: LogHub;
  driver: SerialDriver;
  /** The user's settings; absent: defaults, and nothing is kept. */
  config?: ConfigFile;
  /** Where sessions are kept on disk; absent: they are not. */
  sessionLogFolder?: string;
  /** Ports beside the configured ones, from `--port-path`. */
  extraPorts?: readonly ExtraPort[];
  /** For tests: other waiting times. */
  timing?: Partial<PaneTiming>;
  /** For tests: where the system's stable names of ports are. */
  byIdFolder?: string;
}

const SAVE_AFTER_MS = 200;

/** What is alive: the ports, the panes and the log. Closing it gives every port back and writes what is not saved yet. */
export class Bench {
  readonly hub: LogHub;
  readonly ports: Ports;
  readonly panes: Panes;
  readonly #config: ConfigFile | undefined;
  #saveTimer: ReturnType<typeof setTimeout> | undefined;
  #closing: Promise<void> | undefined;
  #saveFailed = false;

  constructor(options: BenchOptions) {
    const { hub, driver, config } = options;
    const settings = config?.value ?? defaultConfig();
    const { enabled, maxBytes, keep, folder } = settings.sessionLog;
    const sessionFolder = folder ?? options.sessionLogFolder;
    this.hub = hub;
    this.#config = config;
    this.ports = new Ports({
      driver,
      extra: [...settings.serial.extraPorts, ...(options.extraPorts ?? [])],
      ...(options.byIdFolder !== undefined && { byIdFolder: options.byIdFolder }),
      log: (level, text) => hub.log("app", level, text),
    });
    this.panes = new Panes({
      hub,
      driver,
      ports: this.ports,
      kept: settings.panes,
      session: enabled && sessionFolder !== undefined ? { folder: sessionFolder, maxBytes, keep } : undefined,
      timing: options.timing,
      save: () => this.#saveSoon(),
    });
    this.ports.onChange(() => this.panes.poke());
  }

  /** Everything about a pane. An unknown name is -32602. */
  async state(name = "main"): Promise<PaneState> {
    const pane = this.panes.need(name);
    return stateOf(pane, this.panes.names(), await this.panes.portOptions(pane));
  }

  /** The same with what only the page shows, of all panes. */
  async views(): Promise<PaneView[]> {
    const choices = await this.ports.choices();
    return await Promise.all(
      this.panes.all().map(async (pane) =>
        viewOf(pane, this.panes.names(), await this.panes.portOptions(pane, choices))
      ),
    );
  }

  /** Ends everything; resolves within the times that closing may take, also when a driver hangs. */
  close(): Promise<void> {
    return this.#closing ??= (async () => {
      await this.ports.close();
      await this.panes.close();
      clearTimeout(this.#saveTimer);
      if (this.#saveTimer !== undefined) await this.#save();
      await this.#config?.settled();
      this.hub.close();
    })();
  }

  #saveSoon(): void {
    if (!this.#config || this.#saveTimer !== undefined || this.#closing) return;
    this.#saveTimer = setTimeout(() => void this.#save(), SAVE_AFTER_MS);
  }

  async #save(): Promise<void> {
    this.#saveTimer = undefined;
    try {
      await this.#config?.update((now) => withPanes(now, this.panes));
      this.#saveFailed = false;
    } catch (error) {
      // Told once: the settings still hold in this run.
      if (!this.#saveFailed) this.hub.log("app", "error", error instanceof Error ? error.message : String(error));
      this.#saveFailed = true;
    }
  }
}

/** Panes of a kind that this version does not know stay as they are, and so do unknown settings of a pane. */
const withPanes = (now: Config, panes: Panes): Config => {
  const kept: Record<string, PaneConfig> = {};
  for (const [name, config] of Object.entries(now.panes)) if (!/^extra-\d+$/.test(name)) kept[name] = config;
  for (const [name, settings] of panes.settings()) {
    const { identity: _identity, label: _label, ...rest } = now.panes[name] ?? {};
    kept[name] = { ...rest, ...configOf(settings) };
  }
  return { ...now, panes: kept };
};
