import { simDevice } from "../core/sim/mod.ts";
import { MemoryDriver } from "../drivers/serial/memory.ts";
import type { SerialDriver } from "../drivers/serial/port.ts";
import { openPty } from "../drivers/serial/pty.ts";
import type { Config, ExtraPort } from "../store/config.ts";
import { type DeviceEnd, runDevice } from "./sim_runner.ts";

/** The simulated modem of `--demo` on a virtual port. */
export interface Demo {
  /** What to open. */
  readonly path: string;
  /** The system's driver, which also knows the virtual port. */
  readonly driver: SerialDriver;
  /** For the list of ports, where the driver does not list it. */
  readonly extra: readonly ExtraPort[];
  /** Switches the device on. */
  start(): void;
  close(): Promise<void>;
}

const LABEL = "Demo modem";

/** A pseudo terminal where the system has them; on Windows a port within this process. */
export function createDemo(system: SerialDriver, os: typeof Deno.build.os = Deno.build.os): Demo {
  if (os === "windows") {
    const memory = new MemoryDriver();
    const device = memory.plug({ path: "DEMO", product: LABEL });
    const close = () => Promise.resolve(device.dispose());
    return { path: "DEMO", driver: both(system, memory, "DEMO"), extra: [], ...life(device.peer, close) };
  }
  const pty = openPty();
  const extra = [{ label: LABEL, path: pty.path }];
  return { path: pty.path, driver: system, extra, ...life(pty, () => pty.close()) };
}

function life(end: DeviceEnd, closeEnd: () => Promise<void>): Pick<Demo, "start" | "close"> {
  let running: Promise<void> | undefined;
  return {
    start: () => {
      running ??= runDevice(simDevice("at-modem", { rate: 1, wallMs: 0 }), end);
    },
    close: async () => {
      await closeEnd();
      await running;
    },
  };
}

/** Two drivers as one; `path` belongs to the second. */
function both(first: SerialDriver, second: SerialDriver, path: string): SerialDriver {
  const of = (wanted: string) => (wanted === path ? second : first);
  return {
    list: async () => [...await first.list(), ...await second.list()],
    fingerprint: () => `${first.fingerprint()}\n${second.fingerprint()}`,
    open: (options) => of(options.path).open(options),
    holder: (wanted) => of(wanted).holder(wanted),
  };
}

/** Keeps the user's own port of pane `main` in the settings: the demo's is only for this run. */
export function withoutDemoPort(path: string): (next: Config, now: Config) => Config {
  return (next, now) => {
    const main = next.panes["main"];
    if (main?.port !== path) return next;
    const { port: _port, identity: _identity, ...rest } = main;
    const { port, identity } = now.panes["main"] ?? {};
    const own = { ...rest, ...(port !== undefined && { port }), ...(identity !== undefined && { identity }) };
    return { ...next, panes: { ...next.panes, main: own } };
  };
}
