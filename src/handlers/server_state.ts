import { maskToken, type McpConfig } from "../store/mcp_config.ts";
import { LIMITS, TOOLS } from "../../tools/mod.ts";

export type TransportMode = McpConfig["server"]["transport"];

/** Settings that are saved before they count; `JsonFile` is one. */
export interface Settings<T> {
  readonly value: T;
  update(change: (now: T) => T): Promise<T>;
}

export interface ServerStateOptions {
  settings: Settings<McpConfig>;
  version: string;
  /** `--token`: instead of the saved one, until that is reset. */
  token?: string;
  profile?: "debug" | "release";
  /** `--read-only`: on whatever the settings say, until a person switches it off. */
  readOnly?: boolean;
  /** `--rate-limit`; else the settings, else the default. 0: no limit. */
  rateLimitPerMin?: number;
  /** ms since the epoch. */
  now?: () => number;
}

export const MCP_OFF = "MCP is switched off: server.enabled is false in mcp.json";

/**
 * Facts about the running server that its tools report. The layers above write them (address, sessions, counters);
 * this object only holds them, so that the handlers need nothing above them.
 */
export class ServerState {
  readonly settings: Settings<McpConfig>;
  readonly version: string;
  readonly profile: "debug" | "release";
  readonly rateLimitPerMin: number;
  /** Whether agents are served at all; the page is in any case. What is saved counts at the next start. */
  readonly enabled: boolean;
  readonly startedAt: number;
  readonly now: () => number;
  /** Where it listens; undefined until it does. */
  address: { host: string; port: number } | undefined;
  #transport: TransportMode;
  #readOnlyFlag: boolean;
  #tokenFlag: string | undefined;
  /** JSON-RPC messages received. */
  requests = 0;
  /** Messages lost because a reader was slow. */
  dropped = 0;
  /** State pushes to pages. */
  statusEmits = 0;
  sessions: () => number = () => 0;
  /** Pages that are connected, and controls that they registered. */
  pages: () => number = () => 0;
  controls: () => number = () => 0;
  /** Tools beside the built-in ones. */
  extraTools: () => number = () => 0;
  gate: () => GateFacts = () => NO_CALLS;

  constructor(options: ServerStateOptions) {
    const saved = options.settings.value;
    this.settings = options.settings;
    this.version = options.version;
    this.profile = options.profile ?? "debug";
    this.rateLimitPerMin = options.rateLimitPerMin ?? saved.rateLimitPerMin ?? LIMITS.rateLimitPerMin;
    this.enabled = saved.server.enabled;
    this.#transport = saved.server.transport;
    this.#readOnlyFlag = options.readOnly ?? false;
    this.#tokenFlag = options.token;
    this.now = options.now ?? Date.now;
    this.startedAt = this.now();
  }

  /** The endpoints that answer now; what is saved counts at the next start. */
  get transport(): TransportMode {
    return this.#transport;
  }

  /** The person's switch: saved, then in force at once, without a restart. */
  async setTransport(transport: TransportMode): Promise<void> {
    await this.settings.update((s) => ({ ...s, server: { ...s.server, transport } }));
    this.#transport = transport;
  }

  get readOnly(): boolean {
    return this.#readOnlyFlag || this.settings.value.expose.readOnly;
  }

  /** The person's switch. A tool may only save `expose.readOnly: true`. */
  async setReadOnly(on: boolean): Promise<void> {
    await this.settings.update((s) => ({ ...s, expose: { ...s.expose, readOnly: on } }));
    this.#readOnlyFlag = false;
  }

  get uptimeSecs(): number {
    return Math.max(0, Math.floor((this.now() - this.startedAt) / 1000));
  }

  get token(): string {
    return this.#tokenFlag ?? this.settings.value.token;
  }
  /** From now on the saved token counts, also when the start named another. */
  useSavedToken(): void {
    this.#tokenFlag = undefined;
  }
  /** Enough to tell two tokens apart, too little to use. */
  get tokenMasked(): string {
    return maskToken(this.token);
  }

  /** Takes the token out of a text, also in its URL spelling. */
  mask = (text: string): string => {
    const token = this.token;
    // Tokens are made of characters that need no escaping in an address, so this is all spellings of it.
    return text.includes(token) ? text.replaceAll(token, "[token]") : text;
  };

  /** The numbers in force, with the counts of tools. */
  limits() {
    return {
      ...LIMITS,
      rateLimitPerMin: this.rateLimitPerMin,
      toolCount: TOOLS.length + this.extraTools(),
      builtinToolCount: TOOLS.length,
    };
  }
}

export interface GateFacts {
  readonly toolCalls: ReadonlyMap<string, number>;
  readonly rateLimited: number;
  readonly reports: { readonly total: number; readonly duplicates: number };
}
const NO_CALLS: GateFacts = { toolCalls: new Map(), rateLimited: 0, reports: { total: 0, duplicates: 0 } };

/** `http://127.0.0.1:7777`; IPv6 in brackets. */
export const originOf = (address: { host: string; port: number }): string =>
  `http://${address.host.includes(":") ? `[${address.host}]` : address.host}:${address.port}`;
