import { z } from "zod";
import type { ControlTool } from "../handlers/page_bridge.ts";
import type { ToolRow } from "../../tools/mod.ts";

/** A tool as `tools/list` gives it, be it of a row or of a control. */
export type ListedTool = ControlTool;

/**
 * The rows on the wire. Output schemas are left out: they would cost over three times the list itself (measured: 12,600
 * tokens for 32 rows), no client needs them to use `structuredContent`, and the gate checks every answer against them anyway.
 * `docs/tools.md` has them.
 */
export const listTools = (rows: readonly ToolRow[]): ListedTool[] =>
  rows.map((row) => ({
    name: row.name,
    title: row.title,
    description: row.description,
    inputSchema: inputSchema(row.input),
    annotations: {
      readOnlyHint: row.access === "read",
      destructiveHint: row.danger !== undefined || DESTROYS.has(row.name),
      openWorldHint: false,
    },
  }));

/** Writes that no other call can undo, though they need no confirmation. */
const DESTROYS: ReadonlySet<string> = new Set(["log_clear", "serial_clear"]);

/** JSON Schema without what says nothing: `$schema`, and the bounds that zod adds to every whole number. */
function inputSchema(input: z.ZodObject): { type: "object"; [key: string]: unknown } {
  const { $schema: _, type: __, ...rest } = z.toJSONSchema(input, { io: "input", target: "draft-2020-12" });
  const schema = { type: "object" as const, ...rest, additionalProperties: false };
  for (const property of Object.values(schema.properties ?? {})) {
    if (typeof property !== "object" || property === null) continue;
    if (property.maximum === Number.MAX_SAFE_INTEGER) delete property.maximum;
    if (property.minimum === Number.MIN_SAFE_INTEGER) delete property.minimum;
  }
  return schema;
}
