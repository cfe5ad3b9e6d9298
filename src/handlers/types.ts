import type { InputOf, OutputOf, ToolName } from "../../tools/mod.ts";

/** Who calls. `src` marks what the call does in the log; read-only mode binds everyone but the page. */
export interface Caller {
  readonly kind: "agent" | "cli" | "page";
  /** Session or connection; rate limits are counted per session. */
  readonly session: string;
  readonly src: "ai" | "ui";
}

export interface CallContext {
  readonly caller: Caller;
  /** Aborted when the caller cancels or goes away. */
  readonly signal: AbortSignal;
  /** Tells the caller how far a long call is. */
  progress(done: number, total?: number, message?: string): void;
}

export interface Answer<Output = unknown> {
  /** `structuredContent`. */
  output: Output;
  /** `content[0].text`: says the data, at most 600 characters unless the format asks for the whole body. */
  text: string;
}

export type Handler<N extends ToolName> = (
  input: InputOf<N>,
  context: CallContext,
) => Answer<OutputOf<N>> | Promise<Answer<OutputOf<N>>>;

/** A row of the table without a handler does not compile. */
export type Handlers = { readonly [N in ToolName]: Handler<N> };
/** The handlers of one topic, for a file of its own. */
export type HandlersOf<N extends ToolName> = { readonly [K in N]: Handler<K> };
