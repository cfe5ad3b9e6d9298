import { LIMITS } from "../../tools/limits.ts";
import { failed, invalid } from "../core/errors.ts";
import type { SerialDriver } from "../drivers/serial/port.ts";
import type { LogHub } from "./log_hub.ts";
import { Pane, type PaneTiming } from "./pane.ts";
import type { PaneLogOptions } from "./pane_log.ts";
import { type PaneSettings, settingsFrom } from "./pane_settings.ts";
import type { PortOption } from "./pane_state.ts";
import { MAX_ECHO_CHARS } from "./pane_target.ts";
import type { PortChoice, Ports } from "./ports.ts";
import { Signal } from "./signal.ts";

export interface PanesOptions {
  hub: LogHub;
  driver: SerialDriver;
  ports: Ports;
  /** Panes that were kept: name → settings. */
  kept?: Readonly<Record<string, unknown>>;
  session?: PaneLogOptions["session"];
  timing?: Partial<PaneTiming> | undefined;
  /** Names or settings changed: keep them. */
  save(): void;
}

const EXTRA = /^extra-([1-9]\d{0,3})$/;
const WSL = /^wsl(-x\d+)?$/;

const numberOf = (name: string): number => Number(EXTRA.exec(name)?.[1] ?? 0);

/** The serial panes: `main`, which is always there, and `extra-N`, made by the first write to the next free name. */
export class Panes {
  readonly #options: PanesOptions;
  readonly #panes = new Map<string, Pane>();
  /** A pane changed: its state, its settings, or that it is there at all. */
  readonly changed = new Signal<{ pane: string }>();
  /** A write was asked for on this pane: the page brings it to the front. */
  readonly shown = new Signal<{ pane: string }>();

  constructor(options: PanesOptions) {
    this.#options = options;
    const names = Object.keys(options.kept ?? {}).filter((name) => EXTRA.test(name));
    names.sort((a, b) => numberOf(a) - numberOf(b));
    for (const name of ["main", ...names.slice(0, LIMITS.maxPanes - 1)]) {
      this.#make(name, settingsFrom(options.kept?.[name]));
    }
  }

  /** Names of the panes that are there: `main`, then by number. */
  names(): string[] {
    return [...this.#panes.keys()].sort((a, b) => numberOf(a) - numberOf(b));
  }

  all(): Pane[] {
    return this.names().flatMap((name) => this.#panes.get(name) ?? []);
  }

  find(name: string): Pane | undefined {
    return this.#panes.get(name);
  }

  /**
   * The pane of this name. `create`: for a write; makes the pane when it is the next free one, and asks the page to
   * show it. Any other unknown name is -32602 with the real ones; no room for one more is reason `full`.
   */
  need(name = "main", { create = false }: { create?: boolean } = {}): Pane {
    const known = this.#panes.get(name);
    if (known) {
      if (create) this.shown.emit({ pane: name });
      return known;
    }
    if (WSL.test(name)) throw invalid(wslRefusal(), { panes: this.names() });
    const next = this.#nextName();
    if (!create || name !== next) {
      const more = next ? `, or ${next}: a write makes it` : `; there are ${LIMITS.maxPanes}, and no more can be`;
      throw invalid(`No pane ${name.slice(0, MAX_ECHO_CHARS)}. Panes: ${this.names().join(", ")}${more}.`, {
        panes: this.names(),
        next,
      });
    }
    const pane = this.add();
    this.shown.emit({ pane: name });
    return pane;
  }

  /** Makes the next free pane. Reason `full` when there are as many as can be. */
  add(): Pane {
    const name = this.#nextName();
    if (name === undefined) {
      throw failed("full", `There are ${LIMITS.maxPanes} panes already.`, "A person can close one on the page.");
    }
    const pane = this.#make(name, settingsFrom({}));
    this.#options.save();
    this.changed.emit({ pane: name });
    return pane;
  }

  /** Closes an extra pane for good: its port, its settings. Its log channels and files stay. Only a person does this. */
  async remove(name: string): Promise<void> {
    const pane = this.need(name);
    if (name === "main") throw invalid("The pane main is always there.");
    await pane.link.close();
    this.#panes.delete(name);
    await pane.dispose();
    this.#options.save();
    this.changed.emit({ pane: name });
  }

  /** The pane that holds this device, other than `except`. */
  holderOf(real: string, except: string): string | undefined {
    return this.all().find((pane) => pane.name !== except && pane.link.holds === real)?.name;
  }

  /** The ports that this pane may choose now, and who else holds them. `known` saves asking for the list again. */
  async portOptions(pane: Pane, known?: readonly PortChoice[]): Promise<PortOption[]> {
    const { ports } = this.#options;
    const choices = known && !ports.isStableName(pane.settings.port) ? known : await ports.choices(pane.settings.port);
    return choices.map(({ value, label, real }) => {
      const other = this.holderOf(real, pane.name);
      const holder = other ? `pane ${other}` : pane.link.holds === real ? undefined : this.#options.ports.holder(value);
      return { value, label, inUse: holder !== undefined, holder };
    });
  }

  /** Name → settings, to keep. */
  settings(): Map<string, PaneSettings> {
    return new Map(this.all().map((pane) => [pane.name, pane.settings]));
  }

  /** A port came or went. */
  poke(): void {
    for (const pane of this.#panes.values()) pane.link.poke();
  }

  async close(): Promise<void> {
    this.shown.clear();
    this.changed.clear();
    await Promise.all(this.all().map((pane) => pane.dispose()));
  }

  #nextName(): string | undefined {
    if (this.#panes.size >= LIMITS.maxPanes) return undefined;
    for (let n = 1;; n++) if (!this.#panes.has(`extra-${n}`)) return `extra-${n}`;
  }

  #make(name: string, settings: PaneSettings): Pane {
    const { hub, driver, ports, session, timing, save } = this.#options;
    const pane = new Pane({
      name,
      hub,
      driver,
      ports,
      settings,
      session,
      timing,
      heldByPane: (real) => this.holderOf(real, name),
      onSettings: save,
      onChange: () => this.changed.emit({ pane: name }),
    });
    this.#panes.set(name, pane);
    return pane;
  }
}

/** Why there is no pane inside WSL here. */
export const wslRefusal = (os: string = Deno.build.os): string =>
  os === "windows"
    ? "WSL panes are not built yet in this version: use main or extra-N."
    : "WSL panes exist only on Windows: use main or extra-N.";
