import type { ListedTool } from "./tool_list.ts";

/** The tools that cover most work on a serial line; the others can be called all the same. */
const SLIM: readonly string[] = ["serial_get_state", "serial_open", "serial_send", "serial_get_output", "log_search"];

export type Profile = "all" | "slim";

/** What the address asks for, `?profile=slim`; undefined when it names none. */
export function profileOf(request: Request): Profile | undefined {
  const value = URL.parse(request.url)?.searchParams.get("profile");
  return value === "all" || value === "slim" ? value : undefined;
}

/** A list that costs a small model next to nothing: no titles, no hints, no words on what explains itself. */
export const slimTools = (tools: readonly ListedTool[]) =>
  SLIM.flatMap((name) => {
    const t = tools.find((x) => x.name === name);
    return t ? [{ name, description: SHORT[name] ?? t.description, inputSchema: bare(t.inputSchema) }] : [];
  });

const SHORT: Readonly<Record<string, string>> = {
  serial_get_state: "Port, settings, selectable ports. Call first.",
  serial_open: "Open a port.",
  serial_send: "Send text or hex bytes.",
  serial_get_output: "What was received and sent; format text is cheapest.",
  log_search: "Search the log.",
};

/** Arguments by name and type only. */
function bare(schema: ListedTool["inputSchema"]): ListedTool["inputSchema"] {
  const { properties, ...rest } = schema;
  const given = typeof properties === "object" && properties !== null ? Object.entries(properties) : [];
  const lean = given.map(([name, p]) => [name, pick(p)]);
  return { ...rest, type: "object", properties: Object.fromEntries(lean) };
}

const pick = (property: unknown) => {
  if (typeof property !== "object" || property === null) return {};
  const { type, enum: choices } = { type: undefined, enum: undefined, ...property };
  return { ...(choices === undefined ? { type } : { enum: choices }) };
};
