// Run by a test in a process of its own, which is killed while this writes: counters into a session log, and each
// counter to standard output a second after it was logged.
import { counterLines, feed } from "./log_rig.ts";

const { rx } = feed({ folder: Deno.args[0] ?? "", pane: "main" });
const encoder = new TextEncoder();
const logged: { n: number; at: number }[] = [];
let next = 0;
setInterval(() => {
  const { text, next: n } = counterLines(next, 1);
  rx(encoder.encode(text));
  logged.push({ n: next, at: performance.now() });
  next = n;
  let told: number | undefined;
  while (logged[0] && logged[0].at < performance.now() - 1000) told = logged.shift()?.n;
  if (told !== undefined) Deno.stdout.writeSync(encoder.encode(`${told}\n`));
}, 0);
