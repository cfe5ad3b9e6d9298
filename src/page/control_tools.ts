import { Signal } from "../bench/signal.ts";
import { controlInputSchema, describeControl, valueProblem } from "../core/controls.ts";
import { ctlNames } from "../core/ctl_names.ts";
import { invalid } from "../core/errors.ts";
import type { Control } from "../core/page_protocol.ts";
import { type ControlTool, type ControlTools, noPage } from "../handlers/page_bridge.ts";
import { LIMITS } from "../../tools/mod.ts";
import type { ControlToolSettings } from "./switches.ts";

/**
 * A tool for each control of the page, where a person switched that on. The set is that of the page last seen: when it
 * closes the tools stay listed, so that a reload is no change, and calls say that there is no page.
 */
export class PageControlTools implements ControlTools {
  readonly #settings: () => ControlToolSettings;
  readonly #pages: () => number;
  readonly #changed = new Signal<void>();
  #controls: readonly Control[] = [];
  #names = "";
  #byName: ReadonlyMap<string, Control> = new Map();

  constructor(options: { settings: () => ControlToolSettings; pages: () => number }) {
    this.#settings = options.settings;
    this.#pages = options.pages;
  }

  /** The registry of the page that is spoken to. */
  update(controls: readonly Control[]): void {
    this.#controls = controls;
    this.settingsChanged();
  }

  /** Makes the set anew; tells when its names are others. */
  settingsChanged(): void {
    const { on, namespaces } = this.#settings();
    const shown = on
      ? this.#controls.filter((c) => !c.personOnly && (namespaces.length === 0 || namespaces.includes(c.panel)))
        .toSorted((a, b) => a.path < b.path ? -1 : 1).slice(0, LIMITS.maxCtlTools)
      : [];
    const names = ctlNames(shown.map((c) => c.path));
    this.#byName = new Map(shown.flatMap((c) => {
      const name = names.get(c.path);
      return name === undefined ? [] : [[name, c]];
    }));
    const all = [...this.#byName.keys()].join("\n");
    if (all === this.#names) return;
    this.#names = all;
    this.#changed.emit();
  }

  list(): ControlTool[] {
    return [...this.#byName].map(([name, control]): ControlTool => ({
      name,
      title: control.label || control.path,
      description: description(control),
      inputSchema: { type: "object", ...controlInputSchema(control) },
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    }));
  }

  resolve(name: string, args: unknown): { tool: "ui_set" | "ui_click"; args: Record<string, unknown> } | undefined {
    const control = this.#byName.get(name);
    if (!control) {
      if (name.startsWith("ctl_") && this.#settings().on && this.#pages() === 0) throw noPage();
      return undefined;
    }
    const { path } = control;
    if (args !== undefined && (typeof args !== "object" || args === null || Array.isArray(args))) {
      throw invalid(`${name}: arguments must be an object. Expected: value.`);
    }
    const given: Record<string, unknown> = { ...args };
    const unknown = Object.keys(given).filter((key) => key !== "value");
    if (unknown.length) throw invalid(`${name}: unknown argument "${unknown[0]?.slice(0, 64)}". Expected: value.`);
    const value = given["value"];
    // Without a page that is what the call fails with, after the policy; what the control takes may be another by now.
    const problem = this.#pages() === 0 ? undefined : valueProblem(control, value);
    if (problem !== undefined) throw invalid(`${name} (${path}): ${problem}.`);
    if (control.kind === "button") return { tool: "ui_click", args: { path } };
    return { tool: "ui_set", args: { path, value } };
  }

  onChange(listener: () => void): () => void {
    return this.#changed.on(listener);
  }

  close(): void {
    this.#changed.clear();
  }
}

function description(control: Control): string {
  const does = describeControl(control);
  return control.enabled ? does : `${does} Not usable now: ${control.disabledReason ?? "it is disabled"}.`;
}
