import { controlInputSchema, describeControl, nearPaths } from "../core/controls.ts";
import { failed, invalid } from "../core/errors.ts";
import type { Control, ControlValue, Effect, SetResult } from "../core/page_protocol.ts";
import { LIMITS, type OutputOf } from "../../tools/mod.ts";
import type { Answer, HandlersOf } from "./types.ts";
import { type PageBridge, PageRefusal } from "./page_bridge.ts";
import { type SavedState, stateAnswer } from "./ui_state.ts";

type UiTool = "ui_list" | "ui_describe" | "ui_get" | "ui_set" | "ui_click" | "ui_get_state";

const DEFAULT_PAGE = 100;
const PERSON_ONLY = "only a person may use this control";

/** The tools over the page. `bridge` is asked anew with each call, since pages come and go. */
export function uiHandlers(bridge: PageBridge, saved: SavedState): HandlersOf<UiTool> {
  return {
    ui_list: async (input, { signal }) => {
      const after = input.cursor === undefined ? undefined : cursorPath(input.cursor);
      await bridge.refresh(signal);
      const query = input.query?.toLowerCase();
      const match = bridge.controls().filter((c) =>
        (input.panel === undefined || c.panel === input.panel) && (input.kind === undefined || c.kind === input.kind) &&
        (!query || c.path.toLowerCase().includes(query) || c.label.toLowerCase().includes(query))
      ).toSorted(byPath);
      const rest = after === undefined ? match : match.filter((c) => c.path > after);
      const controls = rest.slice(0, Math.min(input.limit ?? DEFAULT_PAGE, LIMITS.maxUiListPage)).map(publicFields);
      const last = controls.at(-1);
      const more = rest.length > controls.length && last !== undefined;
      const output = {
        total: match.length,
        controls,
        ...(more && { nextCursor: CURSOR + last.path }),
      };
      return { output, text: listText(output) };
    },

    ui_describe: async ({ path }, { signal }) => {
      const control = await one(bridge, "describe", path, signal);
      const output = {
        ...publicFields(control),
        description: describeControl(control),
        inputSchema: controlInputSchema(control),
      };
      const schema = JSON.stringify(output.inputSchema);
      return { output, text: cut(`${line(output)}\n${output.description}\nTakes: ${schema}`) };
    },

    ui_get: async ({ path }, { signal }) => {
      const control = await one(bridge, "get", path, signal);
      const { enabled, disabledReason } = publicFields(control);
      const output = { path: control.path, value: control.value ?? null, enabled, disabledReason };
      return { output, text: cut(line(publicFields(control))) };
    },

    ui_set: async (input, { signal }) => {
      const items = input.items ??
        (input.path === undefined || input.value === undefined ? [] : [{ path: input.path, value: input.value }]);
      const { results, effects } = await setAll(bridge, items, signal);
      if (input.items === undefined) { for (const r of results) throwFailure(bridge, r); }
      return setAnswer(results.map(setFields), effects);
    },

    ui_click: async ({ path }, { signal }) => {
      const refused = await refusal(bridge, path, signal);
      if (refused) throwFailure(bridge, refused);
      const { results, effects } = await asked(bridge, path, () => bridge.click(path, signal));
      for (const r of results) throwFailure(bridge, r);
      const plain = results.map(({ path, ok, mapRequest }) => ({ path, ok, ...(mapRequest && { mapRequest }) }));
      return setAnswer(plain, effects);
    },

    ui_get_state: (input) => stateAnswer(saved, input),
  };
}

const CURSOR = "after:";
function cursorPath(cursor: string): string {
  if (cursor.startsWith(CURSOR) && cursor.length > CURSOR.length) return cursor.slice(CURSOR.length);
  throw invalid("ui_list: bad cursor. Take nextCursor of the last answer, or leave it out for the first page.");
}

const byPath = (a: Control, b: Control) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0;

/** What agents see of a control; one that is for persons only is shown as disabled. */
function publicFields(c: Control) {
  return {
    path: c.path,
    kind: c.kind,
    panel: c.panel,
    group: c.group,
    label: c.label,
    enabled: c.enabled && !c.personOnly,
    disabledReason: c.personOnly ? PERSON_ONLY : c.disabledReason,
    ...(c.value !== undefined && { value: c.value }),
    ...(c.options && { options: c.options }),
  };
}

/** Runs a command about one path; what the page does not know becomes -32602 with paths that are like it. */
async function asked<T>(bridge: PageBridge, path: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof PageRefusal)) throw error;
    if (error.reason === "not_found") throw unknownPath(bridge, path);
    throw failed("unsupported", `The page could not do it: ${error.message}`);
  }
}

async function one(bridge: PageBridge, kind: "describe" | "get", path: string, signal: AbortSignal): Promise<Control> {
  if (!await known(bridge, path, signal)) throw unknownPath(bridge, path);
  return await asked(bridge, path, () => bridge[kind](path, signal));
}

/** The control of this path. The page is asked for its list when it is new, so what is hidden from agents stays so. */
async function known(bridge: PageBridge, path: string, signal: AbortSignal): Promise<Control | undefined> {
  const find = () => bridge.controls().find((c) => c.path === path);
  const now = find();
  if (now) return now;
  await bridge.refresh(signal);
  return find();
}

/** Why a path is not to be touched at all, or undefined. */
async function refusal(bridge: PageBridge, path: string, signal: AbortSignal): Promise<SetResult | undefined> {
  const control = await known(bridge, path, signal);
  if (!control) return { path, ok: false, notFound: true, error: "no such control" };
  if (control.personOnly) return { path, ok: false, disabled: true, error: PERSON_ONLY };
  return undefined;
}

async function setAll(bridge: PageBridge, items: { path: string; value: ControlValue }[], signal: AbortSignal) {
  if (bridge.pages === 0 || items.some((i) => !bridge.controls().some((c) => c.path === i.path))) {
    await bridge.refresh(signal);
  }
  const byPath = new Map(bridge.controls().map((c) => [c.path, c]));
  const refused = (path: string): SetResult | undefined => {
    const control = byPath.get(path);
    if (!control) return { path, ok: false, notFound: true, error: "no such control" };
    if (control.personOnly) return { path, ok: false, disabled: true, error: PERSON_ONLY };
    return undefined;
  };
  const sent = items.filter((i) => refused(i.path) === undefined);
  const first = sent[0];
  const done = first === undefined
    ? { results: [], effects: [] }
    : await asked(bridge, first.path, () => bridge.set(sent, signal));
  const answers = done.results.values();
  const results = items.map((i): SetResult => {
    const no = refused(i.path);
    if (no) return no;
    const next = answers.next();
    return next.done ? { path: i.path, ok: false, error: "the page gave no result" } : next.value;
  });
  return { results, effects: done.effects };
}

/** A single target that failed fails the call: unknown or bad value -32602, disabled -32006. */
function throwFailure(bridge: PageBridge, r: SetResult): void {
  if (r.ok) return;
  if (r.notFound) throw unknownPath(bridge, r.path);
  if (r.badValue) {
    const options = r.options?.length ? ` Options: ${r.options.slice(0, 50).join(", ")}.` : "";
    throw invalid(`${r.path}: ${r.error ?? "it does not take this value"}.${options}`, {
      path: r.path,
      ...(r.options && { options: r.options }),
    });
  }
  if (r.disabled) {
    throw failed("disabled", `${r.path} cannot be used now: ${r.error ?? "it is disabled"}.`, "See it with ui_get.");
  }
  throw failed("unsupported", `${r.path}: ${r.error ?? "the page could not do it"}.`, "See it with ui_describe.");
}

function unknownPath(bridge: PageBridge, path: string) {
  const near = nearPaths(bridge.controls().map((c) => c.path), path);
  return invalid(
    `No control "${path.slice(0, 100)}" on the page. ${near.length ? `Like it: ${near.join(", ")}. ` : ""}` +
      "All paths: ui_list.",
    { path: path.slice(0, 200), near },
  );
}

function setFields({ path, ok, notFound, error, from, to, mapRequest }: SetResult) {
  return {
    path,
    ok,
    ...(notFound && { notFound }),
    ...(error !== undefined && { error }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(mapRequest && { mapRequest }),
  };
}

type SetOutput = OutputOf<"ui_set">;
function setAnswer(results: SetOutput["results"], effects: Effect[]): Answer<SetOutput> {
  const failures = results.filter((r) => !r.ok).map((r) => `${r.path} failed: ${r.error ?? "not found"}`);
  const waits = results.filter((r) => r.mapRequest?.settled === false)
    .map((r) => `${r.path} has begun and is not done: do not retry.`);
  const changes = effects.map((e) => `${e.path}: ${shown(e.from)} → ${shown(e.to)}`);
  const head = `${results.length - failures.length} of ${results.length} done.`;
  const text = [head, ...failures, ...waits, ...changes].join("\n");
  return { output: { results, effects }, text: cut(changes.length ? text : `${text} Nothing else changed.`) };
}

const shown = (v: ControlValue | null | undefined): string =>
  v === null || v === undefined ? "–" : typeof v === "string" ? JSON.stringify(v) : String(v);

const line = (c: ReturnType<typeof publicFields>): string =>
  `${c.path} (${c.kind}, "${c.label}")${c.value === undefined ? "" : ` = ${shown(c.value)}`}${
    c.enabled ? "" : ` disabled: ${c.disabledReason ?? "no reason given"}`
  }`;

function listText(output: { total: number; controls: ReturnType<typeof publicFields>[] }): string {
  let text = `${output.total} controls.`;
  for (const [i, c] of output.controls.entries()) {
    const next = `\n${line(c).slice(0, 200)}`;
    const left = output.total - i;
    if (text.length + next.length > LIMITS.maxSummaryChars - 20) return `${text}\n${left} more`;
    text += next;
  }
  return text;
}

const cut = (text: string): string =>
  text.length <= LIMITS.maxSummaryChars ? text : `${text.slice(0, LIMITS.maxSummaryChars - 1)}…`;
