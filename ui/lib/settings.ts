/**
 * Settings of the page: theme, accent, language, layout. Kept by the server (`ui.save`), so that they are the same in
 * every browser; a copy in localStorage makes the first paint right.
 */
import { batch, computed, effect, signal } from "@preact/signals";
import type { Json } from "../../src/core/page_protocol.ts";
import { type Language, language, languageOf, LANGUAGES } from "../i18n/mod.ts";
import { online } from "./server.ts";
import { act } from "./server.ts";
import { settings } from "./store.ts";

export const THEMES = ["system", "light", "dark", "contrast"] as const;
export type Theme = (typeof THEMES)[number];
export const ACCENTS = ["teal", "ocean", "iris", "rose", "copper", "graphite"] as const;
export type Accent = (typeof ACCENTS)[number];
export const SIDE_TABS = ["agents", "logs", "connect"] as const;
export type SideTab = (typeof SIDE_TABS)[number];

export const theme = signal<Theme>("system");
export const accent = signal<Accent>("teal");
export const tourDone = signal(true);

/** Where things stand: kept, but never changed under a person by another page. */
export interface Layout {
  rail: boolean;
  side: boolean;
  tab: SideTab;
  /** Width of a pane relative to the others. */
  weights: Readonly<Record<string, number>>;
  /** Panes that show text and hex together. */
  both: readonly string[];
}
export const layout = signal<Layout>({ rail: true, side: true, tab: "agents", weights: {}, both: [] });

/** The pane that shortcuts and the foot speak of. */
export const currentPane = signal("main");

const systemDark = signal(true);
const systemContrast = signal(false);
export const dark = computed(() => theme.value === "dark" || (theme.value !== "light" && systemDark.value));
export const highContrast = computed(() => theme.value === "contrast" || systemContrast.value);

const oneOf = <T extends string>(all: readonly T[], value: unknown): T | undefined => all.find((one) => one === value);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A stored layout, with what is wrong in it left out. */
export function readLayout(value: unknown, base: Layout): Layout {
  if (!isRecord(value)) return base;
  const weights: Record<string, number> = {};
  if (isRecord(value.weights)) {
    for (const [name, weight] of Object.entries(value.weights)) {
      if (typeof weight === "number" && weight >= 0.2 && weight <= 8) weights[name] = weight;
    }
  }
  return {
    rail: typeof value.rail === "boolean" ? value.rail : base.rail,
    side: typeof value.side === "boolean" ? value.side : base.side,
    tab: oneOf(SIDE_TABS, value.tab) ?? base.tab,
    weights,
    both: Array.isArray(value.both) ? value.both.filter((one) => typeof one === "string") : base.both,
  };
}

const LOCAL = "fieldbench.ui";

function local(): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(LOCAL) ?? "{}");
    return isRecord(read) ? read : {};
  } catch {
    return {};
  }
}

function take(values: Readonly<Record<string, unknown>>, withLayout: boolean): void {
  batch(() => {
    theme.value = oneOf(THEMES, values.theme) ?? theme.peek();
    accent.value = oneOf(ACCENTS, values.accent) ?? accent.peek();
    language.value = oneOf<Language>(LANGUAGES, values.language) ?? language.peek();
    if (withLayout) layout.value = readLayout(values.layout, layout.peek());
  });
}

const timers = new Map<string, ReturnType<typeof setTimeout>>();

/** Keeps a setting here and, a moment later, on the server. */
function save(key: string, value: Json): void {
  try {
    localStorage.setItem(LOCAL, JSON.stringify({ ...local(), [key]: value }));
  } catch {
    // A browser that keeps nothing still has the server.
  }
  clearTimeout(timers.get(key));
  timers.set(
    key,
    setTimeout(() => {
      timers.delete(key);
      if (online.peek()) act("ui.save", { key, value }).catch(() => {});
    }, 250),
  );
}

export function setTheme(value: Theme): void {
  theme.value = value;
  save("theme", value);
}
export function setAccent(value: Accent): void {
  accent.value = value;
  save("accent", value);
}
export function setLanguage(value: Language): void {
  language.value = value;
  save("language", value);
}
export function setTourDone(done: boolean): void {
  tourDone.value = done;
  save("tourDone", done);
}
export function setLayout(part: Partial<Layout>): void {
  layout.value = { ...layout.peek(), ...part };
  save("layout", layout.peek() as unknown as Json);
}

/** A column that has no room any more is put away, and comes back with the room. Neither is a choice, so none is kept. */
function putAway(query: string, column: "rail" | "side"): () => void {
  const list = matchMedia(query);
  let hidden = false;
  const fit = () => {
    if (list.matches) hidden = layout.peek()[column];
    if (hidden) layout.value = { ...layout.peek(), [column]: !list.matches };
  };
  fit();
  list.addEventListener("change", fit);
  return () => list.removeEventListener("change", fit);
}

/** Reads what is kept, follows the system, and keeps the document's attributes right. Gives back how to stop. */
export function startSettings(): () => void {
  const media = [
    ["(prefers-color-scheme: dark)", systemDark],
    ["(prefers-contrast: more)", systemContrast],
  ] as const;
  const stops: (() => void)[] = [];
  for (const [query, value] of media) {
    const list = matchMedia(query);
    value.value = list.matches;
    const changed = () => value.value = list.matches;
    list.addEventListener("change", changed);
    stops.push(() => list.removeEventListener("change", changed));
  }
  language.value = languageOf(navigator.languages);
  const kept = local();
  take(kept, true);
  stops.push(putAway("(max-width: 1199px)", "side"), putAway("(max-width: 899px)", "rail"));
  stops.push(effect(() => {
    const root = document.documentElement;
    root.dataset.theme = dark.value ? "dark" : "light";
    root.dataset.contrast = highContrast.value ? "more" : "normal";
    root.dataset.accent = accent.value;
    root.lang = language.value === "zh" ? "zh-CN" : "en";
  }));
  let first = true;
  stops.push(effect(() => {
    const values = settings.value;
    if (Object.keys(values).length === 0 && first) return;
    // What waits to be saved is newer than what the server tells.
    const fresh = Object.fromEntries(Object.entries(values).filter(([key]) => !timers.has(key)));
    take(fresh, first && kept.layout === undefined && innerWidth >= 1200);
    first = false;
  }));
  return () => {
    for (const stop of stops) stop();
    for (const timer of timers.values()) clearTimeout(timer);
    timers.clear();
  };
}

/** Called with the first `hello`: whether this person has seen the tour. */
export function readTour(values: Readonly<Record<string, Json>>): void {
  tourDone.value = values.tourDone === true || local().tourDone === true;
}
