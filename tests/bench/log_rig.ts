import assert from "node:assert/strict";
import { type Channel, LogHub, type LogHubOptions } from "../../src/bench/log_hub.ts";

const encoder = new TextEncoder();
export const bytesOf = (text: string) => encoder.encode(text);

/** A hub whose clock is moved by hand, with both directions of pane main. */
export function rig(options: LogHubOptions = {}) {
  const clock = { t: 0 };
  const hub = new LogHub({ clock: () => clock.t, epochMs: new Date(2026, 0, 2, 3, 4, 5).getTime(), ...options });
  const need = (name: string): Channel => {
    const channel = hub.find(name);
    assert.ok(channel, name);
    return channel;
  };
  const rx = hub.stream("serial:main:rx", "rx");
  const tx = hub.stream("serial:main:tx", "tx");
  const lines = (count: number, make: (i: number) => string, stepMs = 1) => {
    for (let i = 0; i < count; i++) rx.push(bytesOf(`${make(i)}\n`), clock.t += stepMs, "none");
  };
  const pane = { pane: "main", isConnected: true, rx: need("serial:main:rx"), tx: need("serial:main:tx") };
  return { hub, clock, rx, tx, lines, need, pane };
}

/** `key=value` of the first line of a page of text. */
export function header(text: string): Record<string, string> {
  const first = text.split("\n", 1)[0] ?? "";
  assert.match(first, /^# /);
  return Object.fromEntries(first.slice(2).split(" ").map((pair) => pair.split(/=(.*)/s, 2)));
}
/** The rows of a page of text, without the lines that tell about it. */
export const rows = (text: string): string[] =>
  text.split("\n").filter((line) => line !== "" && !line.startsWith("# "));
