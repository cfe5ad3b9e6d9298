import type { Control } from "./page_protocol.ts";

/** JSON Schema of one property. */
export type ValueSchema = Record<string, unknown>;

/** The value that a control takes: switch boolean, number number, select its real options, else a string. */
export function valueSchema(control: Control): ValueSchema {
  switch (control.kind) {
    case "button":
      return { type: "boolean", enum: [true], description: "true clicks; may be left out" };
    case "toggle":
    case "checkbox":
      return { type: "boolean" };
    case "number":
    case "range":
      return {
        type: "number",
        ...(control.min !== undefined && { minimum: control.min }),
        ...(control.max !== undefined && { maximum: control.max }),
      };
    case "select": {
      const options = control.options ?? [];
      if (options.length === 0) return { type: "string" };
      const labels = options.filter((o) => o.label !== o.value).map((o) => `${o.value} = ${o.label}`);
      const description = labels.join("; ");
      return {
        type: "string",
        enum: options.map((o) => o.value),
        ...(labels.length > 0 && description.length <= 300 && { description }),
      };
    }
    case "text":
      return { type: "string" };
  }
}

/** The arguments of a control's own tool: `{value}`, left out for a button. */
export const controlInputSchema = (control: Control): Record<string, unknown> => ({
  type: "object",
  properties: { value: valueSchema(control) },
  required: control.kind === "button" ? [] : ["value"],
  additionalProperties: false,
});

/** What is wrong with a value for this control, in words that name what it takes; undefined if nothing. */
export function valueProblem(control: Control, value: unknown): string | undefined {
  switch (control.kind) {
    case "button":
      return value === undefined || value === true ? undefined : "value of a button is true, or is left out";
    case "toggle":
    case "checkbox":
      return typeof value === "boolean" ? undefined : "value must be true or false";
    case "number":
    case "range":
      if (typeof value !== "number" || !Number.isFinite(value)) return "value must be a number";
      if (control.min !== undefined && value < control.min) return `value must be at least ${control.min}`;
      if (control.max !== undefined && value > control.max) return `value must be at most ${control.max}`;
      return undefined;
    case "select": {
      const values = (control.options ?? []).map((o) => o.value);
      if (typeof value === "string" && (values.length === 0 || values.includes(value))) return undefined;
      return `value must be one of: ${values.slice(0, 50).join(", ")}${values.length > 50 ? ", …" : ""}`;
    }
    case "text":
      return typeof value === "string" ? undefined : "value must be a string";
  }
}

/** Says what a control does when it does not say so itself. */
export function describeControl(control: Control): string {
  const verbs: Partial<Record<Control["kind"], string>> = {
    button: "Click",
    toggle: "Switch",
    checkbox: "Tick",
    select: "Choose",
  };
  return control.description ??
    `${verbs[control.kind] ?? "Set"} "${control.label}" on the page (${control.panel}, ${control.group}).`;
}

/** Paths like the one asked for: a shared last or middle part, or one within the other; at most five. */
export function nearPaths(paths: readonly string[], wanted: string): string[] {
  const parts = wanted.toLowerCase().split(".").filter((p) => p.length > 2);
  const score = (path: string): number => {
    const own = path.toLowerCase().split(".");
    return parts.filter((p) => own.some((o) => o === p || o.includes(p) || (o.length > 2 && p.includes(o)))).length;
  };
  return paths.map((path) => ({ path, score: score(path) })).filter((x) => x.score > 0)
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1)).slice(0, 5).map((x) => x.path);
}
