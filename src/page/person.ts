import { failed } from "../core/errors.ts";
import type { AskView } from "../core/page_protocol.ts";
import type { CallContext } from "../handlers/types.ts";
import type { ToolRow } from "../../tools/mod.ts";
import { shortArgs } from "./calls.ts";

/** How long a dangerous call waits for a person; then the answer is no. Below the minute that clients wait. */
const ASK_MS = 45_000;

interface Ask {
  view: AskView;
  decide(yes: boolean): void;
}

export interface PersonOptions {
  /** Pages connected: with none there is nobody to ask. */
  pages: () => number;
  /** A dangerous call waits for a yes on the page. */
  askFirst: () => boolean;
  /** A session in words. */
  who: (session: string) => string;
  /** ms, monotonic. */
  now: () => number;
  onChange: () => void;
  askMs?: number;
}

/**
 * What the person at the bench decides over agents: pausing them, and a yes to each dangerous call when that is
 * wanted. Binds agents and the command line, never the person's own clicks.
 */
export class Person {
  readonly #options: PersonOptions;
  readonly #asks = new Map<number, Ask>();
  #lastAsk = 0;
  #paused = false;

  constructor(options: PersonOptions) {
    this.#options = options;
  }

  get paused(): boolean {
    return this.#paused;
  }
  set paused(on: boolean) {
    this.#paused = on;
    this.#options.onChange();
  }

  asks(): AskView[] {
    return [...this.#asks.values()].map((a) => a.view);
  }

  /** False when this call no longer waits. */
  answer(askId: number, yes: boolean): boolean {
    const ask = this.#asks.get(askId);
    ask?.decide(yes);
    return ask !== undefined;
  }

  /** For the gate: refuses while agents are paused, and waits for the person where one is asked. */
  guard = async (row: ToolRow, input: Record<string, unknown>, context: CallContext): Promise<void> => {
    if (context.caller.kind === "page") return;
    if (this.#paused && row.group !== "Server") {
      throw failed(
        "paused",
        `The person at the bench has paused agents: ${row.name} was not run.`,
        "Wait, or ask the person to go on; mcp_status still answers.",
      );
    }
    if (!row.danger || !this.#options.askFirst()) return;
    if (this.#options.pages() === 0) {
      throw failed(
        "no_page",
        `${row.name} was not run: the person wants to be asked first, and no page is open to ask on.`,
        "Ask the person to open the page.",
      );
    }
    await this.#ask(row, row.danger.consequence, input, context);
  };

  /** Everything that waits counts as no. */
  close(): void {
    for (const ask of [...this.#asks.values()]) ask.decide(false);
  }

  async #ask(
    row: ToolRow,
    consequence: string,
    input: Record<string, unknown>,
    { caller, signal, progress }: CallContext,
  ): Promise<void> {
    const askId = ++this.#lastAsk;
    const askMs = this.#options.askMs ?? ASK_MS;
    const askedAt = this.#options.now();
    const view: AskView = {
      askId,
      who: this.#options.who(caller.session),
      tool: row.name,
      argsShort: shortArgs(input),
      consequence,
      askedAt,
      endsAt: askedAt + askMs,
    };
    progress(0, undefined, "waiting for a person's yes on the page");
    const { promise, resolve } = Promise.withResolvers<"yes" | "no" | "late" | "canceled">();
    const timer = setTimeout(() => resolve("late"), askMs);
    const cancel = () => resolve("canceled");
    signal.addEventListener("abort", cancel, { once: true });
    this.#asks.set(askId, { view, decide: (yes) => resolve(yes ? "yes" : "no") });
    this.#options.onChange();
    const answer = signal.aborted ? "canceled" : await promise;
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
    this.#asks.delete(askId);
    this.#options.onChange();
    if (answer === "yes") return;
    if (answer === "canceled") throw failed("canceled", `${row.name} was canceled before a person answered.`);
    throw answer === "no"
      ? failed("refused", `The person at the bench said no: ${row.name} was not run.`, "Ask what they want instead.")
      : failed(
        "timed_out",
        `${row.name} was not run: nobody said yes on the page within ${Math.round(askMs / 1000)} s.`,
        "Ask the person to look at the page, then call again.",
      );
  }
}
