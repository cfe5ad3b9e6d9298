/** The page's connection, for every component: one, made by the page's door (or by a test). */
import type { InputOf, OutputOf, ToolName } from "../../tools/mod.ts";
import type { ActionArgs, ActionName, ActionOutput } from "../../src/core/page_protocol.ts";
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { type Connection, type Link, type RequestOptions } from "./connection.ts";

const held = signal<Connection | undefined>(undefined);

export function setConnection(connection: Connection | undefined): void {
  held.value = connection;
}

export function connection(): Connection {
  const one = held.peek();
  if (!one) throw new Error("no connection yet");
  return one;
}

const CONNECTING: Link = { kind: "connecting" };
export const link: ReadonlySignal<Link> = computed(() => held.value?.link.value ?? CONNECTING);
export const online: ReadonlySignal<boolean> = computed(() => link.value.kind === "online");

export const call = <N extends ToolName>(
  tool: N,
  args: Partial<InputOf<N>> & Record<string, unknown>,
  options?: RequestOptions,
): Promise<{ output: OutputOf<N>; text: string }> => connection().call(tool, args, options);

export const act = <A extends ActionName>(
  action: A,
  args: ActionArgs<A>,
  options?: RequestOptions,
): Promise<ActionOutput<A>> => connection().act(action, args, options);
