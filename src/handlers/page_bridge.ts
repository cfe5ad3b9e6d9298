import { failed } from "../core/errors.ts";
import type { CommandResult, Control, ControlValue } from "../core/page_protocol.ts";

/** What the page said when it could not do what a command asks for. */
export class PageRefusal extends Error {
  override name = "PageRefusal";
  readonly reason: "not_found" | "failed";
  constructor(reason: "not_found" | "failed", message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * The way from the tools to the page that a person last looked at. The methods that ask the page throw
 * {@link PageRefusal} when it says no, else BenchError: -32006 no page (also one that goes away meanwhile), -32005 too
 * many in flight, -32004 no answer within LIMITS.uiTimeoutMs.
 */
export interface PageBridge {
  /** Pages connected now. */
  readonly pages: number;
  /** Controls that this page registered and an agent may see; empty without a page. */
  controls(): readonly Control[];
  /** Has the page list its controls anew, for {@link controls}. */
  refresh(signal: AbortSignal): Promise<void>;
  describe(path: string, signal: AbortSignal): Promise<Control>;
  /** The control with its live value. */
  get(path: string, signal: AbortSignal): Promise<Control>;
  set(items: readonly { path: string; value: ControlValue }[], signal: AbortSignal): Promise<CommandResult<"set">>;
  click(path: string, signal: AbortSignal): Promise<CommandResult<"click">>;
}

export const noPage = () =>
  failed(
    "no_page",
    "No page is open, so there are no controls to see or to use.",
    "Ask the person to open the page; serial_*, log_* and mcp_* tools and ui_get_state work without one.",
  );

const refused = () => Promise.reject(noPage());
/** For a server without a page. */
export const NO_BRIDGE: PageBridge = {
  pages: 0,
  controls: () => [],
  refresh: refused,
  describe: refused,
  get: refused,
  set: refused,
  click: refused,
};

/** A tool made from a control of the page, as `tools/list` gives it. */
export interface ControlTool {
  name: string;
  title: string;
  description: string;
  inputSchema: { type: "object"; [key: string]: unknown };
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; openWorldHint: boolean };
}

/** The `ctl_*` tools: what a client sees beside the built-in ones, and the real call behind each. */
export interface ControlTools {
  /** In the order of their paths; at most LIMITS.maxCtlTools; empty while switched off. */
  list(): readonly ControlTool[];
  /**
   * The call to make through the gate instead; undefined when there is no such tool. Throws -32602 for arguments that
   * the control does not take, -32006 when the page that had it is gone.
   */
  resolve(name: string, args: unknown): { tool: "ui_set" | "ui_click"; args: Record<string, unknown> } | undefined;
  /** Called when the set of names has changed. */
  onChange(listener: () => void): () => void;
}
