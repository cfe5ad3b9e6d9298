import type { InputOf, OutputOf } from "../../tools/mod.ts";
import type { Answer } from "./types.ts";
import { LIMITS } from "../../tools/mod.ts";

type Section = Record<string, unknown>;

/** A device that a scan saw, as `ble_list_devices` gives it. */
export interface SeenDevice {
  mac: string;
  name: string;
  rssi: number;
  paired: boolean;
  selected: boolean;
}

/** What is saved, and the live tables; all from the server, so no page is needed. */
export interface SavedState {
  /** Settings of each pane, by name; `main` first. */
  monitors(): Record<string, Section>;
  /** Page settings as `ui.save` keeps them, by key. */
  settings(): Record<string, unknown>;
  /** What the Bluetooth workspace has; absent until there is one. */
  ble?(): { scanning: boolean; selected: string | null; devices: readonly SeenDevice[] };
  os: string;
}

const SCAN_RESULT = 10;
const THEME_KEYS = /^(theme|accent|language|contrast|density|motion|font)/;

/** `ui_get_state`: the six saved sections, or one of the eight. */
export function stateAnswer(saved: SavedState, input: InputOf<"ui_get_state">): Answer<OutputOf<"ui_get_state">> {
  const sections: { [K in NonNullable<typeof input.section>]: () => Section } = {
    serial: () => saved.monitors()["main"] ?? {},
    wsl: () => wsl(saved),
    ble: () => ble(saved),
    theme: () => split(saved).theme,
    window: () => split(saved).window,
    monitors: () => saved.monitors(),
    bleDevices: () => bleDevices(saved, input.limit, input.offset ?? 0),
    wslDevices: () => wslDevices(saved),
  };
  const names = input.section === undefined
    ? (["serial", "wsl", "ble", "theme", "window", "monitors"] as const)
    : [input.section];
  const output: OutputOf<"ui_get_state"> = {};
  for (const name of names) output[name] = sections[name]();
  const text = names.map((name) => `${name}: ${JSON.stringify(output[name])}`).join("\n");
  const max = LIMITS.maxSummaryChars;
  return { output, text: text.length <= max ? text : `${text.slice(0, max - 1)}…` };
}

/** Page settings in the two sections: looks are `theme`, all else is `window`. */
function split(saved: SavedState): { theme: Section; window: Section } {
  const theme: Section = {};
  const window: Section = {};
  for (const [key, value] of Object.entries(saved.settings())) (THEME_KEYS.test(key) ? theme : window)[key] = value;
  return { theme, window };
}

function wsl(saved: SavedState): Section {
  const panes = Object.entries(saved.monitors()).filter(([name]) => name.startsWith("wsl"));
  if (panes.length) return Object.fromEntries(panes);
  return {
    available: false,
    note: saved.os === "windows" ? "No WSL pane yet." : "WSL panes exist only on Windows.",
  };
}

function ble(saved: SavedState): Section {
  const now = saved.ble?.();
  if (!now) return { selected: null, scanning: false, scanResult: { total: 0, devices: [] }, note: NO_BLE };
  const { scanning, selected, devices } = now;
  return { selected, scanning, scanResult: { total: devices.length, devices: devices.slice(0, SCAN_RESULT) } };
}
const NO_BLE = "Bluetooth has not been used yet.";

function bleDevices(saved: SavedState, limit: number | undefined, offset: number): Section {
  const now = saved.ble?.() ?? { scanning: false, devices: [] };
  const all = now.devices;
  const devices = all.slice(offset, limit === undefined ? undefined : offset + limit);
  const next = offset + devices.length;
  const hasMore = next < all.length;
  return {
    scanning: now.scanning,
    total: all.length,
    devices,
    hasMore,
    ...(hasMore && { nextOffset: next }),
    ...(all.length === 0 && { note: saved.ble ? "Nothing seen yet; a device can be connected by address." : NO_BLE }),
  };
}

function wslDevices(saved: SavedState): Section {
  return {
    wslRunning: false,
    targetDistro: null,
    panelOpened: false,
    count: 0,
    mapped: 0,
    devices: [],
    note: "No USB device is mapped into WSL.",
    mapUnavailableReason: saved.os === "windows"
      ? "mapping of USB devices into WSL is not part of this version"
      : `WSL exists only on Windows; this computer runs ${saved.os}`,
  };
}
