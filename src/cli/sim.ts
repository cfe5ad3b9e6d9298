import { SIM_NAMES, simDevice, type SimName } from "../core/sim/mod.ts";
import { openPty } from "../drivers/serial/pty.ts";
import { unknown, UsageError, wholeNumber } from "./args.ts";
import type { Command } from "./command.ts";
import { linkPort, unlinkPort } from "./link.ts";
import { untilStopped } from "./signals.ts";
import { runDevice } from "./sim_runner.ts";

const isSim = (name: string): name is SimName => SIM_NAMES.some((n) => n === name);

export const command: Command = {
  usage: `fieldbench sim ${SIM_NAMES.join("|")}`,
  flags: {
    rate: { type: "string", value: "N", help: "flood: lines a second, 1 to 1000000; default 100" },
    link: { type: "string", value: "PATH", help: "also make a link to the port there, and print that" },
  },
  positionals: { least: 1, most: 1 },
  notes:
    "Prints the path of the virtual port and lets the device live until Ctrl+C. Not on Windows, which has no PTYs.",
  async run(parsed, io) {
    const name = parsed.positionals[0] ?? "";
    if (!isSim(name)) throw new UsageError(unknown("device", name, SIM_NAMES));
    if (parsed.string("rate") !== undefined && name !== "flood") throw new UsageError("--rate is for flood only");
    const rate = wholeNumber(parsed, "rate", 1, 1_000_000) ?? 100;
    const link = parsed.string("link");
    const stop = untilStopped();
    const pty = openPty();
    let life: Promise<void> | undefined;
    try {
      if (link !== undefined) await linkPort(pty.path, link);
      life = runDevice(simDevice(name, { rate, wallMs: Date.now() }), pty);
      io.out(link ?? pty.path);
      await stop.stopped;
      return 0;
    } finally {
      await pty.close();
      await life;
      if (link !== undefined) await unlinkPort(link);
      stop.release();
    }
  },
};
