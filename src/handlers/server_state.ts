import { LIMITS, TOOLS } from "../../tools/mod.ts";

export type TransportMode = "both" | "http" | "sse";

export interface ServerStateOptions {
  /** The secret of every route; never leaves the process through this object. */
  token: string;
  version: string;
  profile?: "debug" | "release";
  /** Calls a minute in force, 0: no limit. */
  rateLimitPerMin: number;
  transport?: TransportMode;
  readOnly?: boolean;
  /** ms since the epoch. */
  now?: () => number;
}

/**
 * Facts about the running server that its tools report. The layers above write them (address, sessions, counters);
 * this object only holds them, so that the handlers need nothing above them.
 */
export class ServerState {
  readonly version: string;
  readonly profile: "debug" | "release";
  readonly rateLimitPerMin: number;
  readonly startedAt: number;
  readonly now: () => number;
  readonly #token: string;
  /** Where it listens; undefined until it does. */
  address: { host: string; port: number } | undefined;
  transport: TransportMode;
  readOnly: boolean;
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
  callLog: () => { enabled: boolean; totalCalls: number } = () => ({ enabled: false, totalCalls: 0 });

  constructor(options: ServerStateOptions) {
    this.#token = options.token;
    this.version = options.version;
    this.profile = options.profile ?? "debug";
    this.rateLimitPerMin = options.rateLimitPerMin;
    this.transport = options.transport ?? "both";
    this.readOnly = options.readOnly ?? false;
    this.now = options.now ?? Date.now;
    this.startedAt = this.now();
  }

  get uptimeSecs(): number {
    return Math.max(0, Math.floor((this.now() - this.startedAt) / 1000));
  }

  /** Enough to tell two tokens apart, too little to use. */
  get tokenMasked(): string {
    return this.#token.length >= 16 ? `${this.#token.slice(0, 4)}…` : "…";
  }

  /** Takes the token out of a text, also in its URL spelling. */
  mask = (text: string): string => {
    const encoded = encodeURIComponent(this.#token);
    const out = text.replaceAll(this.#token, "[token]");
    return encoded === this.#token ? out : out.replaceAll(encoded, "[token]");
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
