/** Where problems are written: the hub's `error` channel. */
export interface ProblemLog {
  log(channel: string, level: "debug" | "info" | "warn" | "error", text: string): void;
}

const QUIET_MS = 5 * 60_000;
const MAX_KINDS = 200;

/**
 * Internal errors, told once: the same one again within five minutes is only counted. Secrets are masked before
 * anything is written. The clock is in milliseconds.
 */
export class ErrorReports {
  readonly #log: ProblemLog;
  readonly #now: () => number;
  readonly #mask: (text: string) => string;
  readonly #seen = new Map<string, { at: number; duplicates: number }>();
  /** Errors written to the log, and repetitions that were not. */
  total = 0;
  duplicates = 0;

  constructor(log: ProblemLog, options: { now: () => number; mask: (text: string) => string }) {
    this.#log = log;
    this.#now = options.now;
    this.#mask = options.mask;
  }

  report(where: string, error: unknown): void {
    const text = this.#mask(`${where}: ${describeError(error)}`);
    const now = this.#now();
    const known = this.#seen.get(text);
    if (known && now - known.at < QUIET_MS) {
      known.duplicates++;
      this.duplicates++;
      return;
    }
    if (!known && this.#seen.size >= MAX_KINDS) {
      const oldest = this.#seen.keys().next();
      if (!oldest.done) this.#seen.delete(oldest.value);
    }
    this.#seen.delete(text);
    this.#seen.set(text, { at: now, duplicates: 0 });
    this.total++;
    const again = known?.duplicates ? ` (and ${known.duplicates} times more before)` : "";
    this.#log.log("error", "error", text + again);
  }
}

/** Name, message and the place in our own code; no folders. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, 500);
  const frame = error.stack?.split("\n").find((l) => /^\s+at /.test(l));
  const place = frame?.match(/([^/\\\s(]+\.[cm]?[jt]sx?:\d+)/)?.[1];
  return `${error.name}: ${error.message.slice(0, 500)}${place ? ` (at ${place})` : ""}`;
}
