/** Keys for everything: a shortcut presses or focuses a control, so it does exactly what the control does. */
import type { Key } from "../i18n/mod.ts";
import { find, panePath } from "../controls/registry.ts";
import { currentPane, setLayout, type SideTab } from "./settings.ts";
import { paneNames } from "./store.ts";

export type ShortcutGroup = "pane" | "log" | "send" | "page";

export interface Shortcut {
  id: string;
  group: ShortcutGroup;
  label: Key;
  /** As shown: `Alt+S`. The last part is the key. */
  keys: string;
  /** Control that it is for; a function of the current pane. */
  path: (pane: string) => string;
  how: "press" | "focus";
  /** Where the control is not on the page now. */
  otherwise?: () => void;
}

const inPane = (group: string, name: string) => (pane: string): string => panePath(pane, group, name);
const openTab = (tab: SideTab) => (): void => setLayout({ side: true, tab });
const fixed = (path: string) => (): string => path;

export const SHORTCUTS = [
  { id: "start", group: "pane", label: "keys.start", keys: "Alt+S", path: inPane("conn", "start"), how: "press" },
  { id: "port", group: "pane", label: "keys.port", keys: "Alt+P", path: inPane("conn", "portSelect"), how: "focus" },
  { id: "rescan", group: "pane", label: "keys.rescan", keys: "Alt+R", path: inPane("conn", "rescan"), how: "press" },
  { id: "baud", group: "pane", label: "keys.baud", keys: "Alt+B", path: inPane("conn", "baud"), how: "focus" },
  {
    id: "reconnect",
    group: "pane",
    label: "keys.reconnect",
    keys: "Alt+A",
    path: inPane("view", "autoReconnect"),
    how: "press",
  },
  { id: "more", group: "pane", label: "keys.more", keys: "Alt+M", path: inPane("view", "more"), how: "press" },
  { id: "add", group: "pane", label: "keys.add", keys: "Alt+X", path: fixed("serial.panes.add"), how: "press" },
  {
    id: "closePane",
    group: "pane",
    label: "keys.closePane",
    keys: "Alt+W",
    path: inPane("conn", "closePane"),
    how: "press",
  },
  { id: "view", group: "log", label: "keys.view", keys: "Alt+V", path: inPane("view", "mode"), how: "focus" },
  { id: "clear", group: "log", label: "keys.clear", keys: "Alt+L", path: inPane("view", "clear"), how: "press" },
  { id: "follow", group: "log", label: "keys.follow", keys: "Alt+J", path: inPane("view", "follow"), how: "press" },
  {
    id: "terminal",
    group: "log",
    label: "keys.terminal",
    keys: "Alt+T",
    path: inPane("view", "terminal"),
    how: "press",
  },
  {
    id: "lineNumbers",
    group: "log",
    label: "keys.lineNumbers",
    keys: "Alt+N",
    path: inPane("view", "lineNumbers"),
    how: "press",
  },
  {
    id: "timestamps",
    group: "log",
    label: "keys.timestamps",
    keys: "Alt+I",
    path: inPane("view", "timestamps"),
    how: "press",
  },
  { id: "echo", group: "log", label: "keys.echo", keys: "Alt+O", path: inPane("view", "echo"), how: "press" },
  { id: "copy", group: "log", label: "keys.copy", keys: "Alt+C", path: inPane("view", "copy"), how: "press" },
  { id: "save", group: "log", label: "keys.save", keys: "Ctrl+S", path: inPane("view", "save"), how: "press" },
  { id: "find", group: "log", label: "keys.find", keys: "Ctrl+F", path: inPane("log", "find"), how: "focus" },
  { id: "send", group: "send", label: "keys.send", keys: "Alt+K", path: inPane("send", "data"), how: "focus" },
  { id: "sendMode", group: "send", label: "keys.sendMode", keys: "Alt+H", path: inPane("send", "mode"), how: "focus" },
  {
    id: "agents",
    group: "page",
    label: "keys.agents",
    keys: "Alt+U",
    path: fixed("global.side.agents"),
    how: "press",
    otherwise: openTab("agents"),
  },
  {
    id: "logs",
    group: "page",
    label: "keys.logs",
    keys: "Alt+G",
    path: fixed("global.side.logs"),
    how: "press",
    otherwise: openTab("logs"),
  },
  {
    id: "connect",
    group: "page",
    label: "keys.connect",
    keys: "Alt+Y",
    path: fixed("global.top.connect"),
    how: "press",
  },
  { id: "pause", group: "page", label: "keys.pause", keys: "Alt+Z", path: fixed("mcp.agents.pause"), how: "press" },
  { id: "rail", group: "page", label: "keys.rail", keys: "Alt+[", path: fixed("global.top.rail"), how: "press" },
  { id: "side", group: "page", label: "keys.side", keys: "Alt+]", path: fixed("global.top.side"), how: "press" },
  { id: "sheet", group: "page", label: "keys.sheet", keys: "F1", path: fixed("global.top.shortcuts"), how: "press" },
] as const satisfies readonly Shortcut[];

/** Keys that are no control: told on the sheet. */
export const FIXED_KEYS: readonly { group: ShortcutGroup; label: Key; keys: string }[] = [
  { group: "pane", label: "keys.panes", keys: "Alt+1 … 9" },
  { group: "send", label: "keys.enter", keys: "Enter" },
  { group: "send", label: "keys.newLine", keys: "Shift+Enter" },
  { group: "send", label: "keys.bare", keys: "Ctrl+Enter" },
  { group: "send", label: "keys.history", keys: "↑ ↓" },
];

const mac = (): boolean => typeof navigator !== "undefined" && /Mac/.test(navigator.platform);

/** Keys as this system names them. */
export const shown = (keys: string): string =>
  mac() ? keys.replace("Ctrl+", "⌘").replace("Alt+", "⌥").replace("Shift+", "⇧") : keys;

export const keysOf = (id: (typeof SHORTCUTS)[number]["id"]): string =>
  shown(SHORTCUTS.find((s) => s.id === id)?.keys ?? "");

/** The key that an event means, whatever Alt makes of it on this system. */
function keyOf(event: KeyboardEvent): string {
  if (/^[a-z0-9]$/i.test(event.key) || event.key.length > 1) return event.key.toUpperCase();
  if (event.code.startsWith("Key")) return event.code.slice(3);
  if (event.code.startsWith("Digit")) return event.code.slice(5);
  return event.code === "BracketLeft" ? "[" : event.code === "BracketRight" ? "]" : event.key.toUpperCase();
}

export function matches(keys: string, event: KeyboardEvent): boolean {
  const ctrl = keys.startsWith("Ctrl+");
  const alt = keys.startsWith("Alt+");
  const command = mac() ? event.metaKey : event.ctrlKey;
  const wanted = keys.replace(/^(Ctrl|Alt)\+/, "").toUpperCase();
  return event.altKey === alt && command === ctrl && !event.shiftKey && keyOf(event) === wanted;
}

/** Hears the keys of the page. `toPane` brings a pane to the front. */
export function startShortcuts(toPane: (pane: string) => void): () => void {
  const hear = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    // A modal dialog has the keys for itself.
    if (document.querySelector("dialog[open]")) return;
    for (const shortcut of SHORTCUTS) {
      if (!matches(shortcut.keys, event)) continue;
      const element = find(shortcut.path(currentPane.peek()))?.element;
      if (!element && !("otherwise" in shortcut)) return;
      event.preventDefault();
      if (!element && "otherwise" in shortcut) shortcut.otherwise();
      else if (shortcut.how === "press") element?.click();
      else element?.focus();
      return;
    }
    if (event.altKey && !event.ctrlKey && !event.metaKey && /^[1-9]$/.test(keyOf(event))) {
      const name = paneNames.peek()[Number(keyOf(event)) - 1];
      if (name === undefined) return;
      event.preventDefault();
      toPane(name);
      find(panePath(name, "send", "data"))?.element.focus();
    }
  };
  document.addEventListener("keydown", hear);
  return () => document.removeEventListener("keydown", hear);
}
