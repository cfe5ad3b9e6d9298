/** Longest list of sessions that the window remembers; the stalest goes first. */
const MAX_KEYS = 256;
const WINDOW_MS = 60_000;

/**
 * At most `perMin` calls of one session within any rolling minute. The clock is passed in: milliseconds, monotonic.
 * A refused call does not count, so that a caller that keeps asking is let in again when the window has room.
 */
export class RollingRate {
  readonly perMin: number;
  readonly #now: () => number;
  readonly #times = new Map<string, number[]>();

  /** `perMin` 0 means no limit. */
  constructor(perMin: number, now: () => number) {
    this.perMin = perMin;
    this.#now = now;
  }

  /** Counts a call. 0 when it may run, else the milliseconds until one may. */
  take(key: string): number {
    if (this.perMin === 0) return 0;
    const now = this.#now();
    let times = this.#times.get(key);
    if (times === undefined) {
      if (this.#times.size >= MAX_KEYS) this.#forgetStalest();
      times = [];
      this.#times.set(key, times);
    }
    const from = now - WINDOW_MS;
    let old = 0;
    while (old < times.length && (times[old] ?? 0) <= from) old++;
    if (old > 0) times.splice(0, old);
    if (times.length >= this.perMin) return Math.max(1, Math.ceil((times[0] ?? now) - from));
    times.push(now);
    return 0;
  }

  /** A session that ended. */
  forget(key: string): void {
    this.#times.delete(key);
  }

  #forgetStalest(): void {
    let stalest: string | undefined;
    let at = Infinity;
    for (const [key, times] of this.#times) {
      const last = times.at(-1) ?? -Infinity;
      if (last < at) [stalest, at] = [key, last];
    }
    if (stalest !== undefined) this.#times.delete(stalest);
  }
}
