import { join } from "node:path";
import type { PortInfo, SerialDriver } from "../drivers/serial/port.ts";
import { expandGlob, type ExtraPort, isGlob, realPathOf } from "./port_globs.ts";
import { findPort, type Match, nameOf, wantedOf, type WantedPort } from "./port_match.ts";
import { Signal } from "./signal.ts";

export interface PortsOptions {
  driver: SerialDriver;
  /** Ports that the system does not list, from the configuration and from `--port-path`. */
  extra?: readonly ExtraPort[];
  /** Where the system keeps stable names of serial devices. */
  byIdFolder?: string;
  /** How often to look for plugged and unplugged ports, ms; at most 700, so that it is noticed within a second. */
  pollMs?: number;
  log(level: "info" | "warn", text: string): void;
}

export interface PortChange {
  added: PortInfo[];
  removed: PortInfo[];
  ports: PortInfo[];
}

/** A port that a pane may choose. `real` is the device node behind any links. */
export interface PortChoice {
  value: string;
  label: string;
  info: PortInfo;
  real: string;
}

/** Windows does not tell `com3` from `COM3`. */
const sameName = (a: string, b: string): boolean =>
  a === b || (Deno.build.os === "windows" && a.toUpperCase() === b.toUpperCase());

const keyOf = (info: PortInfo): string =>
  [info.path, info.vendorId, info.productId, info.serialNumber, info.location].join("\n");

/** The serial ports of this computer and the configured ones: listed anew at each question, and watched. */
export class Ports {
  readonly #driver: SerialDriver;
  readonly #extra: readonly ExtraPort[];
  readonly #byId: string;
  readonly #log: PortsOptions["log"];
  readonly #changed = new Signal<PortChange>();
  /** Every path that was ever there: a known port that is gone is told as unplugged, not as a wrong name. */
  readonly #seen = new Set<string>();
  #known: PortInfo[] | undefined;
  #mark = "";
  #timer: ReturnType<typeof setInterval> | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;

  constructor(options: PortsOptions) {
    this.#driver = options.driver;
    this.#extra = options.extra ?? [];
    this.#byId = options.byIdFolder ?? "/dev/serial/by-id";
    this.#log = options.log;
    this.#mark = this.#fingerprint();
    this.#looking = this.#look();
    this.#timer = setInterval(() => this.#poll(), Math.min(options.pollMs ?? 400, 700));
  }

  /** Ports that are there now: those of the system first, then the configured ones that it does not list. */
  async list(): Promise<PortInfo[]> {
    const listed = await this.#driver.list();
    const byPath = new Map(listed.map((info) => [info.path, info]));
    for (const { label, path } of this.#extra) {
      for (const found of byPath.has(path) ? [path] : expandGlob(path)) {
        const name = label === "" ? found : `${label} (${found})`;
        const known = byPath.get(found);
        // A configured name for a port that the system lists is a label only: its identity stays known.
        if (known) byPath.set(found, { ...known, friendlyName: name });
        else byPath.set(found, { path: found, kind: "virtual", friendlyName: name, product: label });
      }
    }
    for (const path of byPath.keys()) this.#seen.add(path);
    return [...byPath.values()];
  }

  /** The values that a pane may choose now; `chosen` is added by its stable name when it is one. */
  async choices(chosen = ""): Promise<PortChoice[]> {
    const ports = await this.list();
    const choices = ports.map((info) => ({
      value: info.path,
      label: info.friendlyName,
      info,
      real: realPathOf(info.path),
    }));
    if (chosen !== "" && !choices.some((c) => c.value === chosen)) {
      const info = this.#behindStableName(chosen, ports);
      if (info) choices.push({ value: chosen, label: info.friendlyName, info, real: realPathOf(info.path) });
    }
    return choices;
  }

  /** The device behind a value now: a listed path, a configured one or a stable name; undefined when there is none. */
  async resolve(value: string): Promise<{ info: PortInfo; wanted: WantedPort } | undefined> {
    const ports = await this.list();
    const info = ports.find((p) => sameName(p.path, value)) ?? this.#behindStableName(value, ports);
    return info && { info, wanted: wantedOf(info, this.isStableName(value) ? value : info.path) };
  }

  /** Looks for the wanted device among those that are there now. */
  async match(wanted: WantedPort): Promise<Match> {
    const ports = await this.list();
    if (wanted.kind === "usb") return findPort(wanted, ports);
    const byName = this.#behindStableName(wanted.path, ports);
    return byName ? { found: "one", port: byName } : findPort(wanted, ports);
  }

  /** Whether this value was there before, or is configured, though it may be gone now. */
  wasSeen(value: string): boolean {
    return this.#seen.has(value) || this.#extra.some((e) => !isGlob(e.path) && e.path === value);
  }

  /** Called for each change within a second, after the log line. */
  onChange(listener: (change: PortChange) => void): () => void {
    return this.#changed.on(listener);
  }

  /** Who holds this port outside this program, when that can be found. */
  holder(path: string): string | undefined {
    return this.#driver.holder(path);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#changed.clear();
    await this.#looking;
  }

  /** Whether this is one of the system's own stable names, which lead to the device whatever it is called now. */
  isStableName(value: string): boolean {
    return value.startsWith(join(this.#byId, "/"));
  }

  #behindStableName(value: string, ports: readonly PortInfo[]): PortInfo | undefined {
    if (!this.isStableName(value)) return undefined;
    const real = realPathOf(value);
    return real === value ? undefined : ports.find((p) => realPathOf(p.path) === real);
  }

  /** Changes with the set of ports; also when a configured link leads elsewhere or its target was made anew. */
  #fingerprint(): string {
    const extras = this.#extra.flatMap(({ path }) =>
      expandGlob(path).map((found) => {
        try {
          const real = Deno.realPathSync(found);
          const stat = Deno.statSync(real);
          return `${found}>${real}#${stat.ino}@${stat.birthtime?.getTime() ?? stat.ctime?.getTime()}`;
        } catch {
          return found;
        }
      })
    );
    return `${this.#driver.fingerprint()}\n${extras.join("\n")}`;
  }

  #poll(): void {
    if (this.#looking) return;
    const mark = this.#fingerprint();
    if (mark === this.#mark) return;
    this.#mark = mark;
    this.#looking = this.#look();
  }

  async #look(): Promise<void> {
    try {
      const ports = await this.list();
      const before = this.#known;
      this.#known = ports;
      if (this.#closed || !before) return;
      const old = new Set(before.map(keyOf));
      const now = new Set(ports.map(keyOf));
      const added = ports.filter((p) => !old.has(keyOf(p)));
      const removed = before.filter((p) => !now.has(keyOf(p)));
      for (const info of removed) this.#log("info", `unplugged: ${nameOf(info)}`);
      for (const info of added) this.#log("info", `plugged in: ${nameOf(info)}`);
      // Also when the set is the same: a link that leads to a new device is a change for who waits for it.
      this.#changed.emit({ added, removed, ports });
    } finally {
      this.#looking = undefined;
    }
  }
}
