/** How many runs with nothing to do make it slow down. */
const QUIET_RUNS = 20;

/**
 * Runs something again and again: quickly while there is something to do, slowly while there is not, so that an open
 * page costs next to nothing while nothing happens.
 */
export class Pace {
  readonly #run: () => boolean | Promise<boolean>;
  readonly #busyMs: number;
  readonly #idleMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #going = false;
  #quiet = 0;
  #lastRun = -Infinity;
  #inRun = false;
  #running: Promise<void> | undefined;

  /** `run` tells whether there was something to do; it must not throw. Never twice at a time. */
  constructor(options: { busyMs: number; idleMs: number; run: () => boolean | Promise<boolean> }) {
    this.#busyMs = options.busyMs;
    this.#idleMs = options.idleMs;
    this.#run = options.run;
  }

  start(): void {
    if (this.#going) return;
    this.#going = true;
    this.wake();
  }

  /** Something may be to do: quick again, at once if the last run is long enough ago. */
  wake(): void {
    const wasIdle = this.#quiet >= QUIET_RUNS;
    this.#quiet = 0;
    if (!this.#going || this.#inRun) return;
    if (this.#timer !== undefined && !wasIdle) return;
    clearTimeout(this.#timer);
    this.#plan(Math.max(0, this.#busyMs - (performance.now() - this.#lastRun)));
  }

  /** Resolves when a run that was under way is over. */
  async stop(): Promise<void> {
    this.#going = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#running;
  }

  #plan(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#lastRun = performance.now();
      // Before the run begins: it may itself tell of what wakes it.
      this.#inRun = true;
      const did = this.#run();
      if (typeof did === "boolean") return this.#done(did);
      this.#running = did.then((result) => {
        this.#running = undefined;
        this.#done(result);
      });
    }, ms);
  }

  #done(did: boolean): void {
    this.#inRun = false;
    this.#quiet = did ? 0 : this.#quiet + 1;
    if (this.#going) this.#plan(this.#quiet < QUIET_RUNS ? this.#busyMs : this.#idleMs);
  }
}
