/** What the find field and the log of a pane share: the search, the filter and how times are shown. */
import { type Signal, signal } from "@preact/signals";
import { type Filter, NO_FILTER } from "./match.ts";
import type { TimeMode } from "./paint.ts";

export interface LogModel {
  pattern: Signal<string>;
  caseSensitive: Signal<boolean>;
  regex: Signal<boolean>;
  filter: Signal<Filter>;
  timeMode: Signal<TimeMode>;
  plot: Signal<boolean>;
  found: Signal<{ count: number; at: number; busy: boolean }>;
  /** What is wrong with the expression, in the server's words. */
  problem: Signal<string>;
  /** Set by the log while it is on the page. */
  step: ((by: 1 | -1) => void) | undefined;
  focusLog: (() => void) | undefined;
}

const TIME_MODES: readonly TimeMode[] = ["absolute", "relative", "between"];
const KEY = "fieldbench.log.times";
const models = new Map<string, LogModel>();

function keptMode(): TimeMode {
  try {
    const kept = localStorage.getItem(KEY);
    return TIME_MODES.find((mode) => mode === kept) ?? "absolute";
  } catch {
    return "absolute";
  }
}

export function setTimeMode(model: LogModel, mode: TimeMode): void {
  model.timeMode.value = mode;
  try {
    localStorage.setItem(KEY, mode);
  } catch {
    // Then it is as before in the next page.
  }
}

/** The model of a pane: one, for as long as the page is open. */
export function logModel(pane: string): LogModel {
  const held = models.get(pane);
  if (held) return held;
  const model: LogModel = {
    pattern: signal(""),
    caseSensitive: signal(false),
    regex: signal(false),
    filter: signal(NO_FILTER),
    timeMode: signal(keptMode()),
    plot: signal(false),
    found: signal({ count: 0, at: 0, busy: false }),
    problem: signal(""),
    step: undefined,
    focusLog: undefined,
  };
  models.set(pane, model);
  return model;
}

export const isFiltered = (filter: Filter): boolean =>
  filter.direction !== "both" || filter.level !== "all" || filter.text !== "";
