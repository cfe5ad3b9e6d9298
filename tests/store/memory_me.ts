// Run by a test in a process of its own: five million lines through the hub and the session log; prints how much the
// resident memory grew after the first tenth, by when the ring was full.
import { LogHub } from "../../src/bench/log_hub.ts";
import { SessionLog } from "../../src/store/session_log.ts";

const LINES = 5_000_000;
const hub = new LogHub({});
const log = new SessionLog({ folder: Deno.args[0] ?? "", pane: "main" });
const stream = hub.stream("serial:main:rx", "rx", { onLine: log.line });
const encoder = new TextEncoder();
let settled = 0;
for (let n = 0; n < LINES;) {
  let text = "";
  for (const end = n + 1000; n < end; n++) text += `${n}\n`;
  const bytes = encoder.encode(text);
  log.raw("rx", bytes);
  stream.push(bytes, hub.now(), "none");
  if (n % 20_000 === 0) await log.flush();
  if (n === LINES / 10) settled = Deno.memoryUsage().rss;
}
await log.close();
const grown = Deno.memoryUsage().rss - settled;
const { lines, dropped } = hub.find("serial:main:rx")?.ring ?? { lines: 0, dropped: 0 };
hub.close();
console.log(JSON.stringify({ grown, lines, dropped, lost: log.dropped }));
