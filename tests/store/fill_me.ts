// Run by a test in a process of its own under a limit on the size of files: fills a session log past it.
import { counterLines, feed } from "./log_rig.ts";

const { log, rx, told } = feed({ folder: Deno.args[0] ?? "", pane: "main" });
let sent = 0;
for (let i = 0; i < 20; i++) {
  const bytes = new TextEncoder().encode(counterLines(i * 1000, 50_000).text);
  rx(bytes);
  sent += bytes.length;
  await log.flush();
}
await log.close();
console.log(JSON.stringify({ told, dropped: log.dropped, written: log.written, sent }));
