/**
 * What the server asks of this page (`ui_*`, `ctl_*`, bring a pane to the front), done on the real elements with real
 * DOM events, so that the person sees it happen and no code path is the agent's alone.
 */
import { effect } from "@preact/signals";
import type { Command, CommandResult, ControlValue, Effect, SetResult } from "../../src/core/page_protocol.ts";
import type { Connection } from "../lib/connection.ts";
import { connection, online } from "../lib/server.ts";
import { all, describe, type Entry, failures, find, registryVersion, valueOf } from "./registry.ts";

/** A command must answer within 5 s; what a control starts is waited for a little less. */
const SETTLE_MS = 4000;
const TOUCHED_MS = 900;

/** What came out of one try, before it is reported. */
type Outcome = { ok: true } | { ok: false; badValue?: true; error: string; options?: string[] };

/** Lets events and renders run. In a hidden tab timers wait for a second, chained ones for a minute; messages do not. */
const tick = (): Promise<void> =>
  new Promise((resolve) => {
    if (!document.hidden) {
      setTimeout(resolve, 0);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Shows the person what an agent touched. */
function highlight(element: HTMLElement): void {
  element.scrollIntoView?.({ block: "nearest", inline: "nearest" });
  element.dataset.touched = "";
  setTimeout(() => delete element.dataset.touched, TOUCHED_MS);
}

/** Puts a value into an input the way typing does: past the framework's own property. */
function write(element: HTMLElement, value: string): void {
  const proto = element instanceof HTMLTextAreaElement
    ? HTMLTextAreaElement.prototype
    : element instanceof HTMLSelectElement
    ? HTMLSelectElement.prototype
    : HTMLInputElement.prototype;
  Object.getOwnPropertyDescriptor(proto, "value")?.set?.call(element, value);
  element.dispatchEvent(new Event("input", { bubbles: true }));
  element.dispatchEvent(new Event("change", { bubbles: true }));
}

const asBoolean = (value: ControlValue): boolean | undefined =>
  typeof value === "boolean"
    ? value
    : value === "true" || value === 1
    ? true
    : value === "false" || value === 0
    ? false
    : undefined;

function choose(entry: Entry, value: ControlValue): Outcome {
  const options = entry.spec.options ?? [];
  const wanted = String(value);
  const labelled = options.filter((o) => o.label === wanted);
  const option = options.find((o) => o.value === wanted) ?? (labelled.length === 1 ? labelled[0] : undefined);
  if (!option) {
    return {
      ok: false,
      badValue: true,
      error: `${JSON.stringify(wanted)} is none of the options`,
      options: options.map((o) => o.value),
    };
  }
  write(entry.element, option.value);
  return { ok: true };
}

function enter(entry: Entry, value: ControlValue): Outcome {
  const { min, max, kind } = entry.spec;
  if (kind === "number" || kind === "range") {
    const number = typeof value === "boolean" || value === "" ? NaN : Number(value);
    if (!Number.isFinite(number)) {
      return { ok: false, badValue: true, error: `expects a number, got ${JSON.stringify(value)}` };
    }
    if ((min !== undefined && number < min) || (max !== undefined && number > max)) {
      return { ok: false, badValue: true, error: `${number} is outside ${min ?? "-∞"} to ${max ?? "∞"}` };
    }
  }
  write(entry.element, String(value));
  return { ok: true };
}

function apply(entry: Entry, value: ControlValue): Outcome {
  switch (entry.spec.kind) {
    case "button": {
      if (asBoolean(value) !== true) return { ok: false, badValue: true, error: "a button takes true: it is pressed" };
      entry.element.click();
      return { ok: true };
    }
    case "toggle":
    case "checkbox": {
      const wanted = asBoolean(value);
      if (wanted === undefined) {
        return { ok: false, badValue: true, error: "expects true or false", options: ["true", "false"] };
      }
      if (valueOf(entry) !== wanted) entry.element.click();
      return { ok: true };
    }
    case "select":
      return choose(entry, value);
    default:
      return enter(entry, value);
  }
}

/** Waits until what the control started is done, but not past `until`. */
async function finished(path: string, until: number): Promise<void> {
  // A handler may start its work a tick later than the event.
  await tick();
  for (let pending = find(path)?.pending; pending && performance.now() < until; pending = find(path)?.pending) {
    await Promise.race([pending, sleep(until - performance.now())]);
  }
}

const snapshot = (): Map<string, ControlValue | null> => new Map(all().map((e) => [e.spec.path, valueOf(e) ?? null]));

function effectsSince(before: Map<string, ControlValue | null>): Effect[] {
  const after = snapshot();
  const effects: Effect[] = [];
  for (const [path, to] of after) {
    const from = before.get(path) ?? null;
    if (from !== to) effects.push({ path, from, to });
  }
  for (const [path, from] of before) if (!after.has(path) && from !== null) effects.push({ path, from, to: null });
  return effects;
}

/** One use of a control; what it came to is read later by {@link report}. */
async function use(path: string, until: number, how: (entry: Entry) => Outcome): Promise<SetResult> {
  const entry = find(path);
  if (!entry) {
    return {
      path,
      ok: false,
      notFound: true,
      error: `no control ${path} on the page now; ui_list has those that are there`,
    };
  }
  const reason = entry.spec.personOnly ? "only a person may use this control" : entry.spec.disabledReason;
  highlight(entry.element);
  if (reason) return { path, ok: false, disabled: true, error: reason.slice(0, 1000) };
  const from = valueOf(entry) ?? null;
  failures.delete(path);
  const outcome = how(entry);
  if (!outcome.ok) return { path, ...outcome, from };
  await finished(path, until);
  return { path, ok: true, from };
}

/** Values as they are when all is done, and failures that were shown to the person. */
function report(result: SetResult): SetResult {
  if (!result.ok) return result;
  const entry = find(result.path);
  const to = entry ? valueOf(entry) ?? null : null;
  const failure = failures.get(result.path);
  return failure === undefined ? { ...result, to } : { ...result, ok: false, error: failure.slice(0, 1000), to };
}

/** The state that work changed is asked for, not waited for: under load it comes late, and then one paint. */
async function shown(until: number): Promise<void> {
  // A server that goes away meanwhile is told by its banner, not by this control.
  if (online.peek()) await Promise.race([connection().sync().catch(() => {}), sleep(until - performance.now())]);
  await tick();
}

async function together(
  uses: readonly { path: string; how: (entry: Entry) => Outcome }[],
): Promise<{ results: SetResult[]; effects: Effect[] }> {
  const before = snapshot();
  const until = performance.now() + SETTLE_MS;
  const tried: SetResult[] = [];
  for (const { path, how } of uses) tried.push(await use(path, until, how));
  if (tried.some((r) => r.ok)) await shown(until);
  const results = tried.map(report);
  return { results, effects: results.some((r) => r.ok) ? effectsSince(before) : [] };
}

export const set = (items: readonly { path: string; value: ControlValue }[]): Promise<CommandResult<"set">> =>
  together(items.map(({ path, value }) => ({ path, how: (entry: Entry) => apply(entry, value) })));

export const click = (path: string): Promise<CommandResult<"click">> =>
  together([{
    path,
    how: (entry) => {
      const { kind } = entry.spec;
      if (kind !== "button" && kind !== "toggle" && kind !== "checkbox") {
        return { ok: false, badValue: true, error: "not a button or a switch: use ui_set" };
      }
      entry.element.click();
      return { ok: true };
    },
  }]);

/** Answers the commands of a connection; `show` brings a pane to the front and is false when there is none. */
export function answerCommands(connection: Connection, show: (pane: string) => boolean): () => void {
  const stop = connection.on("command", (command) => {
    answer(command).then(
      (result) => result === undefined ? undefined : connection.acknowledge(command, result),
      (error) => connection.refuse(command, "failed", error instanceof Error ? error.message : String(error)),
    );
  });
  const answer = async (command: Command): Promise<unknown> => {
    switch (command.kind) {
      case "list":
        return { controls: all().map(describe) };
      case "describe":
      case "get": {
        const entry = find(command.path);
        if (entry) return describe(entry);
        connection.refuse(
          command,
          "not_found",
          `no control ${command.path} on the page now; ui_list has those that are there`,
        );
        return undefined;
      }
      case "set":
        return await set(command.items);
      case "click":
        return await click(command.path);
      case "show":
        if (show(command.pane)) return {};
        connection.refuse(command, "not_found", `no pane ${command.pane} on the page`);
        return undefined;
    }
  };
  // The registry goes to the server when it changed, and after each reconnect.
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tell = () => {
    clearTimeout(timer);
    timer = setTimeout(() => connection.controls(all().map(describe)), 100);
  };
  const stopTelling = effect(() => {
    registryVersion.value;
    if (connection.link.value.kind === "online") tell();
  });
  return () => {
    stop();
    stopTelling();
    clearTimeout(timer);
  };
}
