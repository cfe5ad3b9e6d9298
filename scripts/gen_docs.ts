/**
 * Writes docs/tools.md from the table (`deno task docs`), prints what `tools/list` costs an agent, and with `--check`
 * fails when the file is stale.
 */
import { resolve } from "node:path";
import process from "node:process";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { z } from "zod";
import type { ToolRow } from "../tools/define.ts";
import { LIMITS, TOOLS } from "../tools/mod.ts";

const PATH = resolve(import.meta.dirname ?? ".", "../docs/tools.md");

interface JsonSchema {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  description?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
}

const schemaOf = (shape: z.ZodType, io: "input" | "output"): JsonSchema => z.toJSONSchema(shape, { io }) as JsonSchema;

/** A schema in words: `integer`, `text or hex`, `list of {…}`. */
function typeWords(s: JsonSchema, defs: Record<string, JsonSchema>, depth = 0): string {
  if (s.$ref) {
    const target = defs[s.$ref.split("/").pop() ?? ""];
    return target ? typeWords(target, defs, depth) : "object";
  }
  if (s.const !== undefined) return `\`${String(s.const)}\``;
  if (s.enum) return s.enum.map((v) => `\`${String(v)}\``).join(", ");
  if (s.anyOf) return s.anyOf.map((x) => typeWords(x, defs, depth)).join(" or ");
  if (s.type === "array") return `list of ${typeWords(s.items ?? {}, defs, depth)}`;
  if (s.type === "object" && s.properties && depth < 1) {
    return `{${Object.keys(s.properties).join(", ")}}`;
  }
  return s.type ?? "any";
}

const range = (s: JsonSchema): string => {
  const parts: string[] = [];
  // zod writes the safe-integer bounds for every integer: they say nothing to a reader.
  if (s.minimum !== undefined && s.minimum > Number.MIN_SAFE_INTEGER) parts.push(`from ${s.minimum}`);
  if (s.maximum !== undefined && s.maximum < Number.MAX_SAFE_INTEGER) parts.push(`to ${s.maximum}`);
  if (s.minLength !== undefined) parts.push(`${s.minLength} characters or more`);
  if (s.maxLength !== undefined) parts.push(`${s.maxLength} characters at most`);
  return parts.join(", ");
};

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

function section(row: ToolRow): string {
  const input = schemaOf(row.input, "input");
  const output = schemaOf(row.output, "output");
  const access = row.danger
    ? "write, needs `confirm: true`"
    : row.readWhen
    ? "read or write, by its arguments"
    : row.access;
  const out = [`### \`${row.name}\``, "", `${row.title}. ${row.description}`, "", `Access: ${access}.`, ""];
  const args = Object.entries(input.properties ?? {});
  if (args.length === 0) out.push("No arguments.", "");
  else {
    out.push("| argument | type | required | |", "|---|---|---|---|");
    for (const [name, s] of args) {
      const notes = [s.description ?? "", range(s)].filter(Boolean).join("; ");
      const required = input.required?.includes(name) ? "yes" : "no";
      out.push(`| \`${name}\` | ${cell(typeWords(s, input.$defs ?? {}))} | ${required} | ${cell(notes)} |`);
    }
    out.push("");
  }
  if (row.danger) out.push(`Consequence: ${row.danger.consequence}`, "");
  if (row.aliases) {
    const list = Object.entries(row.aliases).map(([old, now]) => `\`${old}\` (now \`${now}\`)`);
    out.push(`Old spellings still accepted: ${list.join(", ")}.`, "");
  }
  if (row.clamp) {
    const list = Object.entries(row.clamp).map(([arg, limit]) => `\`${arg}\` to ${LIMITS[limit]}`);
    out.push(`Larger numbers are cut, not refused: ${list.join(", ")}.`, "");
  }
  const fields = Object.entries(output.properties ?? {}).map(([name, s]) => {
    const optional = output.required?.includes(name) ? "" : "?";
    return `- \`${name}${optional}\`: ${typeWords(s, output.$defs ?? {})}`;
  });
  out.push("Result (`structuredContent`):", "", ...fields, "");
  if (row.notes) out.push(`Note: ${row.notes}`, "");
  if (row.limits?.length) {
    out.push(`Limits: ${row.limits.map((l) => `\`${l}\` = ${LIMITS[l]}`).join(", ")}.`, "");
  }
  return out.join("\n");
}

/** The whole reference. */
export function render(rows: readonly ToolRow[]): string {
  const groups = [...new Set(rows.map((r) => r.group))];
  const out = [
    "# Tools",
    "",
    "Generated from the table in `tools/` by `deno task docs`; do not edit. Every tool can be called over MCP, with",
    "`fieldbench call NAME '{…}'`, and from the page.",
    "",
    "| tool | access | what |",
    "|---|---|---|",
    ...rows.map((r) =>
      `| [\`${r.name}\`](#${r.name}) | ${r.readWhen ? "per call" : r.access}${r.danger ? ", confirm" : ""} | ${
        cell(r.title)
      } |`
    ),
    "",
  ];
  for (const g of groups) {
    out.push(`## ${g}`, "", ...rows.filter((r) => r.group === g).map(section));
  }
  out.push(
    "## Errors",
    "",
    "| case | answer |",
    "|---|---|",
    "| bad arguments; unknown tool, path, channel, pane or port value; bad pattern | JSON-RPC error -32602 |",
    "| the tool ran and failed; a danger without `confirm: true`; no page for a page tool | `isError`, -32006, `structuredContent.error = {code, reason, hint}` |",
    "| read-only mode | `isError`, -32007, nothing done |",
    "| the page did not answer in time, or too many requests to it | `isError`, -32004, -32005 |",
    "| over the rate limit | JSON-RPC error -32000 with `data.retryAfterMs` |",
    "| a fault in this program | JSON-RPC error -32603, logged; the connection lives |",
    "",
    "## Limits",
    "",
    "What `mcp_limits` reports, and what is enforced.",
    "",
    "| limit | value |",
    "|---|---|",
    ...Object.entries(LIMITS).map(([k, v]) => `| \`${k}\` | ${v} |`),
    "",
  );
  return out.join("\n");
}

/** What `tools/list` costs: o200k tokens of name, description and input schema of these rows. */
export function listTokens(rows: readonly ToolRow[]): number {
  const list = rows.map((r) => {
    const { $schema: _, ...inputSchema } = z.toJSONSchema(r.input, { io: "input" });
    return { name: r.name, description: r.description, inputSchema };
  });
  return countTokens(JSON.stringify(list));
}

if (import.meta.main) {
  const text = render(TOOLS);
  const tokens = listTokens(TOOLS);
  console.log(`${TOOLS.length} tools; name, description and input schema cost ${tokens} tokens (o200k)`);
  if (Deno.args.includes("--check")) {
    const now = await Deno.readTextFile(PATH).catch(() => "");
    if (now !== text) {
      console.error("docs/tools.md is stale: run `deno task docs`");
      process.exit(1);
    }
  } else await Deno.writeTextFile(PATH, text);
}
