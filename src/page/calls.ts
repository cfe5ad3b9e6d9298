import type { CallView } from "../core/page_protocol.ts";
import type { CallRecord } from "../gate/gate.ts";

const MAX_CALLS = 200;
/** Over this many of a person's own calls these go first. */
const MAX_OWN = 50;
const MAX_ARGS = 120;
const MAX_ERROR = 200;
const MAX_EFFECTS = 20;
/** Names of arguments whose value is nobody's business in a list. */
const SECRET = /token|secret|password|passwd|pwd|apikey|api_key/i;

/** The live list of calls: begun, running, ended; what agents do and, for who wants to see it, what persons do. */
export class CallList {
  readonly #calls = new Map<number, CallView>();
  readonly #options: { now: () => number; who: (session: string) => string; onChange: () => void };

  constructor(options: { now: () => number; who: (session: string) => string; onChange: () => void }) {
    this.#options = options;
  }

  /** Newest last. */
  views(): CallView[] {
    return [...this.#calls.values()];
  }

  /** For {@link Gate.watch}. */
  begin = (record: Readonly<CallRecord>): void => {
    // A script that asks for the state is no person on a page.
    if (record.session === "status") return;
    this.#calls.set(record.id, {
      id: record.id,
      who: this.#options.who(record.session),
      kind: record.kind,
      tool: record.tool.slice(0, 64),
      argsShort: shortArgs(record.args),
      startedAt: this.#options.now(),
      ms: null,
      ok: null,
      error: null,
      effects: [],
    });
    if (this.#calls.size > MAX_CALLS) {
      // A person's own first, then the oldest that has ended; what still runs is worth seeing.
      const all = [...this.#calls.values()];
      const own = all.filter((c) => c.kind === "page" && c.ok !== null);
      const oldest = (own.length > MAX_OWN ? own[0] : all.find((c) => c.ok !== null)) ?? all[0];
      if (oldest) this.#calls.delete(oldest.id);
    }
    this.#options.onChange();
  };

  end = (record: Readonly<CallRecord>): void => {
    const begun = this.#calls.get(record.id);
    if (!begun) return;
    this.#calls.set(record.id, {
      ...begun,
      ms: Math.round(record.durationMs),
      ok: record.ok,
      error: record.error?.slice(0, MAX_ERROR) ?? null,
      effects: effectsOf(record.output),
    });
    this.#options.onChange();
  };
}

/** Arguments in one short line; what looks like a secret is masked. */
export function shortArgs(args: unknown): string {
  if (typeof args !== "object" || args === null) return "";
  const parts = Object.entries(args).filter(([name]) => name !== "confirm").map(([name, value]) =>
    `${name}: ${SECRET.test(name) ? "…" : short(value)}`
  );
  const text = parts.join(", ");
  return text.length > MAX_ARGS ? `${text.slice(0, MAX_ARGS - 1)}…` : text;
}

const short = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "";
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
};

/** What a call changed, as its answer tells: `applied` of the serial tools, `effects` of the page tools. */
export function effectsOf(output: unknown): string[] {
  if (typeof output !== "object" || output === null) return [];
  const out: string[] = [];
  const add = (list: unknown, nameOf: (entry: Record<string, unknown>) => string | undefined) => {
    if (!Array.isArray(list)) return;
    for (const entry of list) {
      if (typeof entry !== "object" || entry === null || out.length >= MAX_EFFECTS) continue;
      const name = nameOf(entry);
      const { from, to } = entry;
      if (name !== undefined && from !== to) out.push(`${name}: ${plain(from)} → ${plain(to)}`);
    }
  };
  add(Reflect.get(output, "applied"), (e) => e["ok"] === true && e["skipped"] !== true ? text(e["name"]) : undefined);
  add(Reflect.get(output, "effects"), (e) => text(e["path"]));
  return out;
}

const text = (value: unknown): string | undefined => typeof value === "string" ? value : undefined;
const plain = (value: unknown): string =>
  value === null || value === undefined || value === "" ? "–" : String(value).slice(0, 60);
