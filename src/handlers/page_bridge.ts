import { failed } from "../core/errors.ts";
import type { CommandKind, CommandResult, Control, ControlValue } from "../core/page_protocol.ts";

export type CommandArgs = {
  list: Record<never, never>;
  describe: { path: string };
  get: { path: string };
  set: { items: { path: string; value: ControlValue }[] };
  click: { path: string };
  show: { pane: string };
};

/** What the page said when it could not do what a command asks for. */
export class PageRefusal extends Error {
  override name = "PageRefusal";
  readonly reason: "not_found" | "failed";
  constructor(reason: "not_found" | "failed", message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The way from the tools to the page that a person last looked at. */
export interface PageBridge {
  /** Pages connected now. */
  readonly pages: number;
  /** Controls that this page registered and an agent may see; empty without a page. */
  controls(): readonly Control[];
  /**
   * Sends a command and waits for the page's answer. Throws {@link PageRefusal} when the page says no, else
   * BenchError: -32006 no page (also one that goes away meanwhile), -32005 too many in flight, -32004 no answer
   * within LIMITS.uiTimeoutMs.
   */
  command<K extends CommandKind>(kind: K, args: CommandArgs[K], signal: AbortSignal): Promise<CommandResult<K>>;
}

export const noPage = () =>
  failed(
    "no_page",
    "No page is open, so there are no controls to see or to use.",
    "Ask the person to open the page; serial_*, log_* and mcp_* tools and ui_get_state work without one.",
  );

/** For a server without a page. */
export const NO_BRIDGE: PageBridge = {
  pages: 0,
  controls: () => [],
  command: () => Promise.reject(noPage()),
};
