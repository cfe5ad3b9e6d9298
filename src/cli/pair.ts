import { openPair, type Pair } from "../drivers/serial/pty.ts";
import { wholeNumber } from "./args.ts";
import type { Command } from "./command.ts";
import { linkPort, unlinkPort } from "./link.ts";
import { untilStopped } from "./signals.ts";

export const command: Command = {
  usage: "fieldbench pair",
  flags: {
    count: { type: "string", value: "N", help: "how many pairs, 1 to 64; default 1" },
    link: { type: "string", value: "NAME", help: "also make links NAME-1a, NAME-1b, NAME-2a … and print those" },
  },
  notes: "Prints a line for each pair, the two paths with a blank between, and keeps them until Ctrl+C.\n" +
    "What is written to one end comes out of the other. Not on Windows, which has no PTYs.",
  async run(parsed, io) {
    const count = wholeNumber(parsed, "count", 1, 64) ?? 1;
    const name = parsed.string("link");
    const stop = untilStopped();
    const pairs: Pair[] = [];
    const links: string[] = [];
    try {
      for (let i = 1; i <= count; i++) {
        const pair = await openPair();
        pairs.push(pair);
        if (name !== undefined) {
          for (const [port, at] of [[pair.a, `${name}-${i}a`], [pair.b, `${name}-${i}b`]] as const) {
            await linkPort(port, at);
            links.push(at);
          }
        }
        io.out(name === undefined ? `${pair.a} ${pair.b}` : `${name}-${i}a ${name}-${i}b`);
      }
      await stop.stopped;
      return 0;
    } finally {
      await Promise.all([...pairs.map((p) => p.close()), ...links.map(unlinkPort)]);
      stop.release();
    }
  },
};
