/**
 * Five million lines through streams into a full log, in a process of its own. Prints one line of JSON: memory when
 * the rings are full and the most after that, in bytes, and what was written and kept.
 */
import { LogHub } from "../../src/bench/log_hub.ts";
import { tailPage } from "../../src/bench/log_pages.ts";

const LINES = 5_000_000;
const hub = new LogHub();
const streams = ["main", ...Array.from({ length: 19 }, (_, i) => `extra-${i + 1}`)].flatMap((pane) => [
  hub.stream(`serial:${pane}:rx`, "rx"),
  hub.stream(`serial:${pane}:tx`, "tx"),
]);
// Chunks that cut lines and characters anywhere.
const text = new TextEncoder().encode(
  Array.from({ length: 1000 }, (_, i) => `I (${i}) sensor: température ${i / 10} °C ${"x".repeat(i % 40)}\r\n`).join(
    "",
  ),
);
const rss = () => Deno.memoryUsage().rss;
let lines = 0;
let full = 0;
let most = 0;
for (let turn = 0; lines < LINES; turn++) {
  const stream = streams[turn % streams.length];
  for (let at = 0; at < text.length; at += 777) stream?.push(text.subarray(at, at + 777), hub.now(), "none");
  lines += 1000;
  if (full === 0) {
    if (lines >= 500_000 && hub.totals().reclaims > 0) full = rss();
  } else if (turn % 50 === 0) {
    most = Math.max(most, rss());
    const channel = hub.find("serial:main:rx");
    if (channel) tailPage(hub, channel, { lines: 200, format: "text" });
  }
}
const held = hub.names().reduce((sum, name) => sum + (hub.find(name)?.ring.lines ?? 0), 0);
const dropped = hub.names().reduce((sum, name) => sum + (hub.find(name)?.ring.dropped ?? 0), 0);
console.log(JSON.stringify({ full, most, lines, held, dropped, ...hub.totals() }));
hub.close();
