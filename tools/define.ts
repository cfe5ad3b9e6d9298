import type { z } from "zod";
import type { LimitName } from "./limits.ts";

/** Which contract a tool belongs to, and so on which endpoint it is served. */
export type Surface = "device" | "debugger" | "monitor";

/** The shape of one row of the table: a tool as data. */
export interface ToolRow {
  readonly name: string;
  readonly surface: Surface;
  /** Heading in the generated reference. */
  readonly group: string;
  readonly access: "read" | "write";
  /** For a tool that is a write only with some arguments: true when these arguments only read. */
  readonly readWhen?: (input: Record<string, unknown>) => boolean;
  /** A call needs `confirm: true`; the consequence is told when it is missing. */
  readonly danger?: { readonly consequence: string };
  readonly title: string;
  /** Short: when to use it and what to call next. Counts against the token budget of `tools/list`. */
  readonly description: string;
  /** Flat strict object. A property's description is what `tools/list` shows. */
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
  /** Old spelling of an argument → its name. Accepted by the gate, absent from the schema; the new name wins. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Numbers that are cut to a limit instead of refused. */
  readonly clamp?: Readonly<Record<string, LimitName>>;
  /** A rule over several arguments; returns what is wrong, for -32602. */
  readonly rule?: (input: Record<string, unknown>) => string | undefined;
  /** Calls with the same pane run one after another. Reads and remedies (close, stop, cancel) take no lock. */
  readonly lock?: "pane";
  /** Only for the generated reference. */
  readonly notes?: string;
  readonly limits?: readonly LimitName[];
}

/** Keeps the literal types of a row, so that names, inputs and outputs can be read off the table. */
export const tool = <const R extends ToolRow>(row: R): R => row;

/** A rule: at least one of these arguments must be there. */
export const atLeastOneOf = (...names: string[]) => (input: Record<string, unknown>): string | undefined =>
  names.some((n) => input[n] !== undefined) ? undefined : `give at least one of: ${names.join(", ")}`;
