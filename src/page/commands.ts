import { BenchError, CODE, failed } from "../core/errors.ts";
import type { Command, CommandResult, Control, ControlValue } from "../core/page_protocol.ts";
import { commandResults } from "../core/page_schema.ts";
import { noPage, type PageBridge, PageRefusal } from "../handlers/page_bridge.ts";
import type { z } from "zod";
import { LIMITS } from "../../tools/mod.ts";

/** A page as commands see it. */
export interface CommandTarget {
  send(command: Command): void;
  /** Replaced by what the page lists. */
  setControls(controls: readonly Control[]): void;
  readonly controls: readonly Control[];
  readonly gone: AbortSignal;
}

export type Ack = { ok: true; result: unknown } | {
  ok: false;
  error: { reason: "not_found" | "failed"; message: string };
};

interface Pending {
  target: CommandTarget;
  settle(ack: Ack): void;
}

/** Commands on their way to pages and back. At most LIMITS.maxUiInFlight wait, each LIMITS.uiTimeoutMs at most. */
export class PageCommands implements PageBridge {
  readonly #pending = new Map<number, Pending>();
  readonly #options: { pages: () => number; target: () => CommandTarget | undefined; timeoutMs?: number };
  #lastId = 0;

  constructor(options: { pages: () => number; target: () => CommandTarget | undefined; timeoutMs?: number }) {
    this.#options = options;
  }

  get pages(): number {
    return this.#options.pages();
  }

  controls(): readonly Control[] {
    return this.#options.target()?.controls ?? [];
  }

  async refresh(signal: AbortSignal): Promise<void> {
    const target = this.#need();
    const { controls } = await this.#ask(
      target,
      (id) => ({ type: "command", id, kind: "list" }),
      commandResults.list,
      signal,
    );
    target.setControls(controls);
  }

  async describe(path: string, signal: AbortSignal): Promise<Control> {
    const command = (id: number) => ({ type: "command", id, kind: "describe", path }) as const;
    return await this.#ask(this.#need(), command, commandResults.describe, signal);
  }

  async get(path: string, signal: AbortSignal): Promise<Control> {
    const command = (id: number) => ({ type: "command", id, kind: "get", path }) as const;
    return await this.#ask(this.#need(), command, commandResults.get, signal);
  }

  async set(
    items: readonly { path: string; value: ControlValue }[],
    signal: AbortSignal,
  ): Promise<CommandResult<"set">> {
    const command = (id: number) => ({ type: "command", id, kind: "set", items: [...items] }) as const;
    return await this.#ask(this.#need(), command, commandResults.set, signal);
  }

  async click(path: string, signal: AbortSignal): Promise<CommandResult<"click">> {
    const command = (id: number) => ({ type: "command", id, kind: "click", path }) as const;
    return await this.#ask(this.#need(), command, commandResults.click, signal);
  }

  /** Brings a pane to the front; nobody waits for it. */
  show(pane: string): void {
    this.#options.target()?.send({ type: "command", id: ++this.#lastId, kind: "show", pane });
  }

  /** The answer of a page; one that nobody waits for (too late, or to `show`) is dropped. */
  ack(target: CommandTarget, id: number, ack: Ack): void {
    const pending = this.#pending.get(id);
    if (pending?.target === target) pending.settle(ack);
  }

  #need(): CommandTarget {
    const target = this.#options.target();
    if (!target) throw noPage();
    return target;
  }

  /** Sends and waits; checks that the answer is what was asked for. */
  async #ask<T>(
    target: CommandTarget,
    command: (id: number) => Command,
    schema: z.ZodType<T>,
    signal: AbortSignal,
  ): Promise<T> {
    if (this.#pending.size >= LIMITS.maxUiInFlight) {
      throw new BenchError(
        CODE.uiBusy,
        `${LIMITS.maxUiInFlight} requests to the page are still without an answer; this one was not sent.`,
        { hint: "Wait for the others, then call again; ui_set takes many controls at once." },
      );
    }
    const ack = await this.#exchange(target, command, signal);
    if (!ack.ok) throw new PageRefusal(ack.error.reason, ack.error.message);
    const parsed = schema.safeParse(ack.result);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    throw failed(
      "unsupported",
      `The page's answer is not understood (${issue?.path.join(".") || "whole"}: ${issue?.message}).`,
      "Ask the person to reload the page: it may be older than this server.",
    );
  }

  async #exchange(target: CommandTarget, command: (id: number) => Command, signal: AbortSignal): Promise<Ack> {
    const id = ++this.#lastId;
    const timeoutMs = this.#options.timeoutMs ?? LIMITS.uiTimeoutMs;
    const { promise, resolve, reject } = Promise.withResolvers<Ack>();
    const timer = setTimeout(() =>
      reject(
        new BenchError(CODE.uiTimeout, `The page did not answer within ${timeoutMs / 1000} s.`, {
          reason: "timed_out",
          hint: "What it did is not known: look with ui_get before you try again. A hidden tab may be asleep.",
        }),
      ), timeoutMs);
    const gone = () =>
      reject(failed(
        "no_page",
        "The page went away before it answered: what it did is not known.",
        "Ask the person to open the page, then look with ui_get.",
      ));
    const canceled = () => reject(failed("canceled", "Canceled; the page may have done it all the same."));
    target.gone.addEventListener("abort", gone, { once: true });
    signal.addEventListener("abort", canceled, { once: true });
    this.#pending.set(id, { target, settle: resolve });
    try {
      if (target.gone.aborted) gone();
      else if (signal.aborted) canceled();
      else target.send(command(id));
      return await promise;
    } finally {
      clearTimeout(timer);
      target.gone.removeEventListener("abort", gone);
      signal.removeEventListener("abort", canceled);
      this.#pending.delete(id);
    }
  }
}
