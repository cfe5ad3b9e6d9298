import type { z } from "zod";
import type { ToolRow } from "./define.ts";
import { logTools } from "./device/log.ts";
import { serialTools } from "./device/serial.ts";
import { serverTools } from "./device/server.ts";
import { uiTools } from "./device/ui.ts";

/** THE TABLE: every tool, as data. */
export const TOOLS = [...serialTools, ...uiTools, ...logTools, ...serverTools] as const satisfies readonly ToolRow[];

type Row = (typeof TOOLS)[number];
export type ToolName = Row["name"];
export type RowOf<N extends ToolName> = Extract<Row, { name: N }>;
/** Arguments of a tool after the gate checked them. */
export type InputOf<N extends ToolName> = z.output<RowOf<N>["input"]>;
/** `structuredContent` of a tool's answer. */
export type OutputOf<N extends ToolName> = z.input<RowOf<N>["output"]>;

const byName: ReadonlyMap<string, ToolRow> = new Map(TOOLS.map((t) => [t.name, t]));

/** The row of this name, or undefined. */
export const findTool = (name: string): ToolRow | undefined => byName.get(name);
export const isToolName = (name: string): name is ToolName => byName.has(name);

export type { ToolRow } from "./define.ts";
export { LIMITS } from "./limits.ts";
