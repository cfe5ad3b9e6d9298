/** A session of either transport, as the table sees it. */
export interface Session {
  readonly id: string;
  readonly kind: "http" | "sse";
  /** Calls that are not answered. */
  readonly inFlight: number;
  /** A client listens on an event stream of it. */
  readonly listening: boolean;
  tick(): void;
  close(): Promise<void>;
}

export interface TableOptions {
  max: number;
  idleMs: number;
  now: () => number;
  /** A session is gone: by the client, the idle limit, or to make room. */
  onEnd?: (id: string) => void;
}

/**
 * The sessions of both transports, a fixed number at most. An HTTP session has no sign of life but its requests, so it
 * ends by DELETE, after `idleMs` of silence, or when room is needed; an SSE session ends with its stream and is never
 * thrown out for another.
 */
export class SessionTable<S extends Session> {
  readonly #options: TableOptions;
  /** Least recently used first. */
  readonly #entries = new Map<string, { session: S; usedAt: number }>();

  constructor(options: TableOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }
  values(): S[] {
    return [...this.#entries.values()].map((e) => e.session);
  }

  /** Finds a session and counts as a use of it. */
  use(id: string): S | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    entry.usedAt = this.#options.now();
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry.session;
  }

  /** Finds one without using it. */
  peek(id: string): S | undefined {
    return this.#entries.get(id)?.session;
  }

  /**
   * Makes room for one more session: by closing the least recently used HTTP session, one with nothing under way if
   * there is any. False when all places are taken by SSE sessions.
   */
  makeRoom(): boolean {
    if (this.#entries.size < this.#options.max) return true;
    const http = this.values().filter((s) => s.kind === "http");
    const victim = http.find((s) => s.inFlight === 0 && !s.listening) ?? http.find((s) => s.inFlight === 0) ?? http[0];
    if (victim === undefined) return false;
    this.remove(victim.id);
    void victim.close();
    return true;
  }

  add(session: S): void {
    this.#entries.set(session.id, { session, usedAt: this.#options.now() });
  }

  remove(id: string): void {
    if (this.#entries.delete(id)) this.#options.onEnd?.(id);
  }

  /** Heartbeats, and the end of sessions that were idle too long. Call it about once a second. */
  tick(): void {
    const now = this.#options.now();
    for (const entry of [...this.#entries.values()]) {
      const { session } = entry;
      session.tick();
      // An open stream or a call under way is a sign of life.
      if (session.inFlight > 0 || session.listening) entry.usedAt = now;
      else if (now - entry.usedAt >= this.#options.idleMs) {
        this.remove(session.id);
        void session.close();
      }
    }
  }

  async close(): Promise<void> {
    const all = this.values();
    for (const s of all) this.remove(s.id);
    await Promise.all(all.map((s) => s.close()));
  }
}
