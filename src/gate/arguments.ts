import type { z } from "zod";
import { invalid } from "../core/errors.ts";
import { LIMITS, type ToolRow } from "../../tools/mod.ts";

type Args = Record<string, unknown>;

/**
 * Checks the arguments of a call against its row: old spellings renamed (the new one wins when both are given), closed
 * schema, numbers over a clamp cut, then the row's own rule. Throws -32602 that names what was expected.
 */
export function checkArguments(row: ToolRow, given: unknown): Args {
  const args = asObject(row, given);
  const parsed = row.input.safeParse(prepare(row, args));
  if (!parsed.success) throw explain(row, parsed.error.issues, args);
  const input: Args = parsed.data;
  for (const [name, limit] of Object.entries(row.clamp ?? {})) {
    const value = input[name];
    const max = LIMITS[limit];
    if (typeof value === "number" && typeof max === "number" && value > max) input[name] = max;
  }
  const wrong = row.rule?.(input);
  if (wrong !== undefined) throw refuse(row, wrong);
  return input;
}

/** Argument names of a row, the required ones marked: for messages and for the `data` of the error. */
const expectedArguments = (row: ToolRow): string[] =>
  Object.entries(row.input.shape).map(([name, type]) => isOptional(type) ? name : `${name} (required)`);

const isOptional = (type: unknown): boolean => hasIsOptional(type) && type.isOptional();
const hasIsOptional = (type: unknown): type is { isOptional(): boolean } =>
  typeof type === "object" && type !== null && "isOptional" in type;

function asObject(row: ToolRow, given: unknown): Args {
  if (given === undefined) return {};
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return { ...given };
  throw refuse(row, `arguments must be an object, not ${kindOf(given)}`);
}

function prepare(row: ToolRow, args: Args): Args {
  const out = { ...args };
  for (const [old, name] of Object.entries(row.aliases ?? {})) {
    if (!(old in out)) continue;
    if (out[name] === undefined) out[name] = out[old];
    delete out[old];
  }
  for (const [name, value] of Object.entries(out)) {
    // `dataBits: 8` for `dataBits: "8"`: unambiguous where the schema is a list of strings.
    if (typeof value === "number" && choicesOf(row.input.shape[name])?.includes(String(value))) {
      out[name] = String(value);
    }
  }
  return out;
}

function choicesOf(type: unknown): readonly unknown[] | undefined {
  let t = type;
  while (isRecord(t) && isRecord(t["def"]) && "innerType" in t["def"]) t = t["def"]["innerType"];
  return isRecord(t) && Array.isArray(t["options"]) ? t["options"] : undefined;
}
const isRecord = (x: unknown): x is Record<string, unknown> => typeof x === "object" && x !== null;

function explain(row: ToolRow, issues: readonly z.core.$ZodIssue[], args: Args) {
  const said = issues.slice(0, 5).map((issue) => describe(issue, args));
  if (issues.length > 5) said.push(`${issues.length - 5} more`);
  return refuse(row, said.join("; "));
}

function describe(issue: z.core.$ZodIssue, args: Args): string {
  const path = issue.path.map((p, i) => typeof p === "number" ? `[${p}]` : i ? `.${String(p)}` : String(p)).join("");
  const quoted = path === "" ? "arguments" : `"${path}"`;
  switch (issue.code) {
    case "unrecognized_keys":
      return `unknown argument ${issue.keys.slice(0, 5).map((k) => `"${k.slice(0, 64)}"`).join(", ")}${
        path ? ` in ${quoted}` : ""
      }`;
    case "invalid_type": {
      const value = at(args, issue.path);
      if (value === undefined) return `missing argument ${quoted} (${issue.expected})`;
      return `${quoted} must be ${article(issue.expected)}, not ${kindOf(value)}`;
    }
    case "invalid_value":
      return at(args, issue.path) === undefined
        ? `missing argument ${quoted} (one of: ${issue.values.join(", ")})`
        : `${quoted} must be one of: ${issue.values.join(", ")}`;
    case "too_big":
      return `${quoted} must be at most ${issue.maximum}${unit(issue.origin)}`;
    case "too_small":
      return `${quoted} must be at least ${issue.minimum}${unit(issue.origin)}`;
    default:
      return `${quoted}: ${issue.message}`;
  }
}

const unit = (origin: string) => origin === "string" ? " characters" : origin === "array" ? " entries" : "";
const article = (type: string) => type === "int" ? "a whole number" : /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let v = value;
  for (const p of path) {
    if (typeof v !== "object" || v === null) return undefined;
    v = Object.getOwnPropertyDescriptor(v, p)?.value;
  }
  return v;
}

const kindOf = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
    ? "an array"
    : typeof value === "object"
    ? "an object"
    : typeof value === "number" && !Number.isInteger(value)
    ? String(value)
    : `a ${typeof value}`;

function refuse(row: ToolRow, wrong: string) {
  const expected = expectedArguments(row);
  const list = expected.length ? `Expected: ${expected.join(", ")}.` : "It takes no arguments.";
  return invalid(`${row.name}: ${wrong}. ${list}`, { tool: row.name, expected });
}
