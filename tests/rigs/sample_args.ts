import { z } from "zod";
import { isObject } from "../../src/mcp/protocol.ts";
import { type ToolRow, TOOLS } from "../../tools/mod.ts";
import type { Json, RawMcp } from "./mcp_client.ts";

/** Where any value of the right type will not do. */
const SPECIAL: Readonly<Record<string, Record<string, unknown>>> = {
  log_tail: { channel: "app" },
  log_search: { pattern: "x" },
  ui_set: { path: "serial.conn.baud", value: "9600" },
  mcp_config_set: { patch: { callLog: { includeResults: false } } },
};

/** Good arguments for a tool, made from its schema: all of them, or only the required ones when that is enough. */
export function sampleArgs(row: ToolRow): Record<string, unknown> {
  const special = SPECIAL[row.name];
  if (special) return special;
  const schema = z.toJSONSchema(row.input, { io: "input" });
  const required = new Set(schema.required ?? []);
  const all = Object.entries(schema.properties ?? {}).map(([name, p]) => [name, valueOf(p)] as const);
  const few = Object.fromEntries(all.filter(([name]) => required.has(name)));
  const args = accepts(row, few) ? few : Object.fromEntries(all.filter(([name]) => name !== "pane"));
  if (row.danger) args["confirm"] = true;
  if (!accepts(row, args)) throw new Error(`no sample arguments for ${row.name}: add them to sample_args.ts`);
  return args;
}

const accepts = (row: ToolRow, args: Record<string, unknown>): boolean => {
  const parsed = row.input.safeParse(args);
  return parsed.success && row.rule?.(args) === undefined;
};

function valueOf(property: unknown): unknown {
  if (!isObject(property)) return "x";
  if (Array.isArray(property["enum"])) return property["enum"][0];
  if (property["const"] !== undefined) return property["const"];
  const choices = property["anyOf"];
  if (Array.isArray(choices)) return valueOf(choices[0]);
  switch (property["type"]) {
    case "boolean":
      return true;
    case "integer":
    case "number":
      return Math.max(1, Number(property["minimum"] ?? 1));
    case "array":
      return [valueOf(property["items"])];
    case "object": {
      const inner = isObject(property["properties"]) ? property["properties"] : {};
      return Object.fromEntries(Object.entries(inner).map(([k, v]) => [k, valueOf(v)]));
    }
    default:
      return "x";
  }
}

/** Calls every tool of the table once with good arguments; the answers by name. */
export async function callAll(client: RawMcp): Promise<Map<string, Json>> {
  const answers = new Map<string, Json>();
  for (const row of TOOLS) answers.set(row.name, (await client.call(row.name, sampleArgs(row))).json);
  return answers;
}
