/**
 * Every control of the page, by path. A control registers itself with {@link useControl} while it is on the page; this
 * is all that `ui_list` and the `ctl_*` tools know. Values are read from the elements, never from a copy.
 */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Control, ControlValue } from "../../src/core/page_protocol.ts";

export type Panel = Control["panel"];
export type Kind = Control["kind"];

export interface ControlSpec {
  /** `<panel>.<group>.<name>`; see {@link controlPath}. */
  path: string;
  kind: Kind;
  label: string;
  /** Why it cannot be used now; null or undefined: it can. */
  disabledReason?: string | null | undefined;
  options?: readonly { value: string; label: string }[] | undefined;
  description?: string | undefined;
  min?: number | undefined;
  max?: number | undefined;
  step?: number | undefined;
  /** The tool that does the same. */
  tool?: string | undefined;
  /** Only a person may use it: listed, never set or clicked for an agent. */
  personOnly?: boolean | undefined;
  /** Not in the registry, and why: it comes and goes with data, so it would make the list of controls useless. */
  unlisted?: Unlisted | undefined;
}

/** `row`: of a list that a tool gives whole. `notice`: a message that leaves by itself. */
export type Unlisted = "row" | "notice";

export interface Entry {
  readonly element: HTMLElement;
  readonly spec: ControlSpec;
  /** What the last use of it started; settled when there is nothing left to wait for. */
  pending: Promise<unknown> | undefined;
}

const entries = new Map<string, { element: HTMLElement; spec: ControlSpec; pending: Promise<unknown> | undefined }>();
/** Changes when a control comes, goes, or changes otherwise than in its value. */
export const registryVersion = signal(0);

const PANELS: readonly Panel[] = ["serial", "wsl", "adb", "ble", "global", "mcp", "dialog"];

/** Path of a control of a pane: `serial.conn.portSelect` in `main`, `serial.extra-1-conn.portSelect` in `extra-1`. */
export const panePath = (pane: string, group: string, name: string): string =>
  `serial.${pane === "main" ? group : `${pane}-${group}`}.${name}`;

/** A name from data as one part of a path. */
export const pathPart = (text: string): string =>
  text.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 80) || "_";

function parts(path: string): { panel: Panel; group: string } {
  const [first, second] = path.split(".");
  return { panel: PANELS.find((p) => p === first) ?? "global", group: (second ?? "").slice(0, 64) };
}

/** The value as it stands on the page. Undefined for a button. */
export function valueOf(entry: Entry): ControlValue | undefined {
  const { element, spec } = entry;
  switch (spec.kind) {
    case "button":
      return undefined;
    case "toggle":
      return (element.getAttribute("aria-pressed") ?? element.getAttribute("aria-checked") ??
        element.getAttribute("aria-selected") ??
        element.getAttribute("aria-expanded")) === "true";
    case "checkbox":
      return "checked" in element && element.checked === true;
    case "number":
    case "range": {
      const text = "value" in element ? String(element.value) : element.getAttribute("aria-valuenow") ?? "";
      const number = Number(text);
      return text.trim() === "" || Number.isNaN(number) ? text : number;
    }
    default:
      return "value" in element ? String(element.value) : "";
  }
}

/** As the protocol tells a control. */
export function describe(entry: Entry): Control {
  const { spec } = entry;
  const value = valueOf(entry);
  const reason = spec.disabledReason ?? null;
  return {
    path: spec.path,
    kind: spec.kind,
    ...parts(spec.path),
    label: spec.label.slice(0, 200),
    enabled: reason === null,
    disabledReason: reason === null ? null : reason.slice(0, 300),
    ...(value !== undefined && { value }),
    ...(spec.options && { options: spec.options.slice(0, 1000).map((o) => ({ value: o.value, label: o.label })) }),
    ...(spec.description && { description: spec.description.slice(0, 500) }),
    ...(spec.min !== undefined && { min: spec.min }),
    ...(spec.max !== undefined && { max: spec.max }),
    ...(spec.step !== undefined && { step: spec.step }),
    ...(spec.tool && { tool: spec.tool }),
    ...(spec.personOnly && { personOnly: true as const }),
  };
}

/** Every control, in the order of the page. */
export function all(): Entry[] {
  return [...entries.values()].sort((a, b) =>
    a.element.compareDocumentPosition(b.element) & 4 /* DOCUMENT_POSITION_FOLLOWING */ ? -1 : 1
  );
}

export const find = (path: string): Entry | undefined => entries.get(path);

/** Remembers what a use of the control started, so that a command can wait for it. Errors stay with whoever shows them. */
export function track(path: string, work: unknown): void {
  const entry = entries.get(path);
  if (!entry || !(work instanceof Promise)) return;
  const quiet = work.catch(() => {});
  const pending = Promise.all([entry.pending, quiet]).then(() => {
    if (entry.pending === pending) entry.pending = undefined;
  });
  entry.pending = pending;
}

/** What went wrong in the last use of a control, in words; for the answer to a command. */
export const failures = new Map<string, string>();

/** What of a spec is told when it changes. */
const told = (spec: ControlSpec): string =>
  JSON.stringify([
    spec.kind,
    spec.label,
    spec.disabledReason ?? null,
    spec.options ?? null,
    spec.description,
    spec.min,
    spec.max,
    spec.personOnly,
  ]);

/** Registers the element that `ref` is put on, for as long as it is there. */
export function useControl(spec: ControlSpec): { current: HTMLElement | null } {
  const ref = useRef<HTMLElement | null>(null);
  const text = told(spec);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    if (spec.unlisted) {
      element.dataset.unlisted = spec.unlisted;
      return;
    }
    element.dataset.control = spec.path;
    entries.set(spec.path, { element, spec, pending: undefined });
    registryVersion.value++;
    return () => {
      if (entries.get(spec.path)?.element === element) entries.delete(spec.path);
      registryVersion.value++;
    };
  }, [spec.path, spec.unlisted]);
  useLayoutEffect(() => {
    const entry = entries.get(spec.path);
    if (!entry || entry.element !== ref.current) return;
    const before = told(entry.spec);
    entry.spec = spec;
    if (before !== text) registryVersion.value++;
  });
  return ref;
}

/** For tests. */
export function clearRegistry(): void {
  entries.clear();
  registryVersion.value++;
}
