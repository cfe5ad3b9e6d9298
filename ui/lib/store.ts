/** What the server says is true, as signals. The page shows it and never keeps a truth of its own. */
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type {
  AskView,
  CallView,
  ChannelView,
  Json,
  PageState,
  PaneView,
  PortView,
  ServerMessage,
  ServerView,
} from "../../src/core/page_protocol.ts";

export const panes = signal<readonly PaneView[]>([]);
export const ports = signal<readonly PortView[]>([]);
export const channels = signal<readonly ChannelView[]>([]);
export const server = signal<ServerView | null>(null);
export const calls = signal<readonly CallView[]>([]);
export const asks = signal<readonly AskView[]>([]);
export const settings = signal<Readonly<Record<string, Json>>>({});
/** False until the first `hello`. */
export const ready = signal(false);
/** The server came back as another version than the one that this page came from. */
export const outdated = signal(false);
let version: string | undefined;

/** Wall time of the server's monotonic zero, and how its clock stands to ours. */
let epochMs = 0;
let offset = 0;

/** The server's monotonic clock now, ms. */
export const serverNow = (): number => performance.now() + offset;
/** Wall time of a `t`. */
export const wallOf = (t: number): number => epochMs + t;

/** Panes that were seen open since they were last closed. */
const wasConnected = new Set<string>();

/** Ticks each second, for what shows an age. */
export const second = signal(0);

/** The parts of a pane that move while data flows. */
export type PaneFlow = Pick<PaneView, "counters" | "outputLines" | "outputBytes" | "sending" | "historyCount">;
/** A pane without them: keeps its identity while only counters move, so that toolbars do not render ten times a second. */
export type PaneSettings = Omit<PaneView, keyof PaneFlow>;

const FLOW = ["counters", "outputLines", "outputBytes", "sending", "historyCount"] as const;

interface PaneSignals {
  settings: ReturnType<typeof signal<PaneSettings>>;
  text: string;
}
const bySettings = new Map<string, PaneSignals>();
export const paneNames = signal<readonly string[]>([]);

/** The slow part of a pane; undefined when there is none of this name. */
export const paneSettings = (name: string): PaneSettings | undefined => bySettings.get(name)?.settings.value;
/** All of a pane. */
export const paneView = (name: string): PaneView | undefined => panes.value.find((p) => p.pane === name);
export const paneFlow = (name: string): ReadonlySignal<PaneFlow | undefined> => computed(() => paneView(name));

function setPanes(next: readonly PaneView[]): void {
  for (const pane of next) {
    const slow: Record<string, unknown> = { ...pane };
    for (const key of FLOW) delete slow[key];
    const text = JSON.stringify(slow);
    const held = bySettings.get(pane.pane);
    const value = slow as PaneSettings;
    if (!held) bySettings.set(pane.pane, { settings: signal(value), text });
    else if (held.text !== text) {
      held.text = text;
      held.settings.value = value;
    }
  }
  for (const name of bySettings.keys()) if (!next.some((p) => p.pane === name)) bySettings.delete(name);
  const names = next.map((p) => p.pane);
  if (names.join("\n") !== paneNames.peek().join("\n")) paneNames.value = names;
  panes.value = next;
}

const changed = <T>(part: { value: T; peek(): T }, next: T | undefined): void => {
  if (next !== undefined && JSON.stringify(next) !== JSON.stringify(part.peek())) part.value = next;
};

/** Takes a `hello` or a `state` in. */
export function takeState(state: Partial<PageState>): void {
  if (state.panes) setPanes(state.panes);
  changed(ports, state.ports);
  if (state.channels) channels.value = state.channels;
  changed<ServerView | null>(server, state.server);
  if (state.calls) calls.value = state.calls;
  if (state.asks) asks.value = state.asks;
  changed<Readonly<Record<string, Json>>>(settings, state.settings);
}

export function takeHello(hello: Extract<ServerMessage, { type: "hello" }>): void {
  epochMs = hello.epochMs;
  offset = hello.now - performance.now();
  version ??= hello.version;
  outdated.value = hello.version !== version;
  takeState(hello.state);
  ready.value = true;
}

/** For tests: as before any hello. */
export function resetStore(): void {
  bySettings.clear();
  paneNames.value = [];
  panes.value = [];
  ports.value = [];
  channels.value = [];
  server.value = null;
  calls.value = [];
  asks.value = [];
  settings.value = {};
  ready.value = false;
  outdated.value = false;
  version = undefined;
}

/** A port by what `serial_select_port` takes. */
export const portOf = (value: string): PortView | undefined => ports.value.find((p) => p.value === value);

/** Names of ports seen since the page was opened: an unplugged device keeps its name. */
const names = new Map<string, string>();
effect(() => {
  for (const port of ports.value) names.set(port.value, port.friendlyName);
});
/** What people call a port, also when it is not there any more. */
export const portName = (value: string): string => portOf(value)?.friendlyName ?? names.get(value) ?? value;

/** When a pane lost its device, by `serverNow`; unknown when that was before the page was opened. */
const lostAt = new Map<string, number>();
export const lostSince = (pane: string): number | undefined => lostAt.get(pane);
effect(() => {
  for (const pane of panes.value) {
    if (pane.status !== "lost") lostAt.delete(pane.pane);
    else if (!lostAt.has(pane.pane) && wasConnected.has(pane.pane)) lostAt.set(pane.pane, serverNow());
    if (pane.isConnected) wasConnected.add(pane.pane);
    else if (pane.status === "closed") wasConnected.delete(pane.pane);
  }
});
