import { BenchError, CODE, failed, invalid } from "../core/errors.ts";
import type { Answer, CallContext } from "../handlers/types.ts";
import { findTool, type ToolRow, TOOLS } from "../../tools/mod.ts";
import { checkArguments } from "./arguments.ts";
import { ErrorReports, type ProblemLog } from "./error_reports.ts";
import { KeyedLocks } from "./locks.ts";
import { RollingRate } from "./rate.ts";

/** A handler with its types forgotten: the gate pairs it with its row by name. Method syntax, so that each fits. */
type ErasedHandler = {
  run(input: Record<string, unknown>, context: CallContext): Answer | Promise<Answer>;
}["run"];
export type ErasedHandlers = Readonly<Record<string, ErasedHandler>>;

/** What watchers are told about a call: the page when it begins, the call log when it ended. */
export interface CallRecord {
  /** Counts up from 1. */
  id: number;
  /** ms since the epoch, when it began. */
  at: number;
  session: string;
  kind: "agent" | "cli" | "page";
  tool: string;
  args: unknown;
  ok: boolean;
  code?: number;
  error?: string;
  durationMs: number;
  output?: unknown;
}

/** Hears of every call that the rate limit let in: the same record when it begins and when it ended. Must not throw. */
export interface CallWatcher {
  begin?(record: Readonly<CallRecord>): void;
  end?(record: Readonly<CallRecord>): void;
}

/**
 * Asked about a call that the arguments and the policy allow, before it takes a lock: throws BenchError to refuse it,
 * waits while a person decides.
 */
export type Guard = (row: ToolRow, input: Record<string, unknown>, context: CallContext) => void | Promise<void>;

/** Another name for a call: what to run instead, undefined for what has no other name. Throws BenchError to refuse it. */
export type Alias = (name: string, args: unknown) => { tool: string; args: unknown } | undefined;

export interface CallOptions {
  /** False: not against the rate, for what is no tool call of the agent's. */
  counted?: boolean;
  /** For callers that may use other names than those of the rows. */
  alias?: Alias | undefined;
}

export interface GateOptions {
  /** Calls of one session within any minute; 0: no limit. */
  rateLimitPerMin: number;
  readOnly: () => boolean;
  hub: ProblemLog;
  /** Takes secrets out of a text before it is logged. */
  mask?: (text: string) => string;
  /** ms, monotonic. */
  now?: () => number;
  /** Rows beside the table: only for tests. */
  extraRows?: readonly ToolRow[];
}

/** The only way to run a tool. Throws {@link BenchError} and nothing else. */
export class Gate {
  readonly rate: RollingRate;
  readonly reports: ErrorReports;
  /** Calls by tool since the start. */
  readonly toolCalls = new Map<string, number>();
  rateLimited = 0;
  readonly #handlers: ErasedHandlers;
  readonly #options: GateOptions;
  readonly #now: () => number;
  readonly #locks = new KeyedLocks();
  readonly #extra: ReadonlyMap<string, ToolRow>;
  readonly #watchers = new Set<CallWatcher>();
  #lastId = 0;
  #running = 0;
  #whenIdle: (() => void)[] = [];
  guard: Guard | undefined;

  constructor(handlers: ErasedHandlers, options: GateOptions) {
    this.#handlers = handlers;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.rate = new RollingRate(options.rateLimitPerMin, this.#now);
    this.reports = new ErrorReports(options.hub, { now: this.#now, mask: options.mask ?? ((text) => text) });
    this.#extra = new Map((options.extraRows ?? []).map((row) => [row.name, row]));
  }

  /** Every row that can be called: the table, and what tests added. */
  rows(): readonly ToolRow[] {
    return this.#extra.size ? [...TOOLS, ...this.#extra.values()] : TOOLS;
  }

  /** From now on the watcher hears of every call; gives what ends that. */
  watch(watcher: CallWatcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /**
   * Rate, name and arguments, read-only, confirm, guard, lock, handler, output check. The order is part of the contract:
   * a call that is refused by policy never learns whether it would have needed a confirmation.
   */
  async call(name: string, args: unknown, context: CallContext, options: CallOptions = {}): Promise<Answer> {
    if (options.counted ?? true) this.#checkRate(context);
    const begun = this.#now();
    const { tool, args: given, refused } = resolve(options.alias, name, args);
    const record: CallRecord = {
      id: ++this.#lastId,
      at: Date.now(),
      session: context.caller.session,
      kind: context.caller.kind,
      tool,
      args: given,
      ok: false,
      durationMs: 0,
    };
    for (const w of this.#watchers) w.begin?.(record);
    this.#running++;
    try {
      if (refused !== undefined) throw refused;
      const answer = await this.#checked(tool, given, context);
      record.ok = true;
      record.output = answer.output;
      return answer;
    } catch (error) {
      const told = this.#told(tool, error, context.signal);
      record.code = told.code;
      record.error = told.message;
      throw told;
    } finally {
      record.durationMs = Math.round((this.#now() - begun) * 1000) / 1000;
      for (const w of this.#watchers) w.end?.(record);
      if (--this.#running === 0) { for (const go of this.#whenIdle.splice(0)) go(); }
    }
  }

  /** Resolves when no call is running. */
  idle(): Promise<void> {
    return this.#running === 0 ? Promise.resolve() : new Promise((go) => this.#whenIdle.push(go));
  }

  async #checked(name: string, args: unknown, context: CallContext): Promise<Answer> {
    const row = findTool(name) ?? this.#extra.get(name);
    const handler = row && Object.hasOwn(this.#handlers, name) ? this.#handlers[name] : undefined;
    if (row === undefined || handler === undefined) throw unknownTool(name, this.rows());
    this.toolCalls.set(name, (this.toolCalls.get(name) ?? 0) + 1);
    const input = checkArguments(row, args);
    this.#checkPolicy(row, input, context);
    await this.guard?.(row, input, context);
    const release = row.lock === undefined
      ? undefined
      : await this.#locks.acquire(`${row.lock}:${String(input[row.lock] ?? "main")}`, context.signal);
    try {
      if (context.signal.aborted) throw failed("canceled", `${name} was canceled before it began; nothing was done.`);
      const answer = await handler(input, context);
      const output = row.output.safeParse(answer.output);
      if (!output.success) {
        const issue = output.error.issues[0];
        throw new Error(`answer does not fit its schema at ${issue?.path.join(".") || "(root)"}: ${issue?.message}`);
      }
      return answer;
    } finally {
      release?.();
    }
  }

  #checkRate(context: CallContext): void {
    if (context.caller.kind === "page") return;
    const waitMs = this.rate.take(context.caller.session);
    if (waitMs === 0) return;
    this.rateLimited++;
    throw new BenchError(
      CODE.rateLimited,
      `More than ${this.rate.perMin} tool calls within a minute in this session. Wait ${
        Math.ceil(waitMs / 1000)
      } s; one call that returns more lines costs less than many small ones.`,
      { data: { retryAfterMs: waitMs, rateLimitPerMin: this.rate.perMin } },
    );
  }

  #checkPolicy(row: ToolRow, input: Record<string, unknown>, context: CallContext): void {
    const writes = row.access === "write" && !(row.readWhen?.(input) ?? false);
    if (writes && context.caller.kind !== "page" && this.#options.readOnly()) {
      throw new BenchError(CODE.readOnly, `Read-only mode is on: ${row.name} changes something and was not run.`, {
        reason: "read_only",
        hint: "Ask the person at the bench to switch read-only mode off; no tool can.",
      });
    }
    if (row.danger && input["confirm"] !== true) {
      throw failed(
        "confirm_required",
        `${row.name} was not run: ${row.danger.consequence}`,
        "If that is wanted, call it again with confirm: true.",
      );
    }
  }

  #told(name: string, error: unknown, signal: AbortSignal): BenchError {
    if (error instanceof BenchError) return error;
    if (signal.aborted && error instanceof DOMException && error.name === "AbortError") {
      return failed("canceled", `${name} was canceled.`);
    }
    this.reports.report(`Internal error in ${name}`, error);
    return new BenchError(CODE.internal, `Internal error in ${name}. It was written to the log channel "error".`, {
      cause: error,
    });
  }
}

/** What a name stands for, or why it cannot be used: that is told and recorded like any failure of a call. */
function resolve(alias: Alias | undefined, name: string, args: unknown) {
  try {
    return { refused: undefined, ...(alias?.(name, args) ?? { tool: name, args }) };
  } catch (refused) {
    return { tool: name, args, refused };
  }
}

function unknownTool(name: string, rows: readonly ToolRow[]): BenchError {
  const wanted = name.slice(0, 64);
  const near = nearNames(wanted, rows.map((r) => r.name));
  const hint = near.length ? `Did you mean ${near.join(", ")}?` : "tools/list gives all names.";
  return invalid(`Unknown tool: ${wanted}. ${hint}`, { tool: wanted });
}

/** At most three names that share all words but one with the wanted one, in any order or case: `sendSerial`, `serial-sent`. */
function nearNames(wanted: string, names: readonly string[]): string[] {
  const words = new Set(wanted.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toLowerCase().split(/[^a-z0-9]+/));
  const shared = (name: string) => name.split("_").filter((w) => words.has(w)).length;
  return names.filter((n) => shared(n) > 0 && shared(n) >= n.split("_").length - 1)
    .toSorted((a, b) => shared(b) - shared(a)).slice(0, 3);
}
