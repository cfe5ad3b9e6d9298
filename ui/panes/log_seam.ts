/**
 * What a pane and its log view agree on. `ui/log/log_view.tsx` exports `LogView` (these props) and `LogFind` (the find
 * field with count, next, previous and filters, which stands in the pane's tool row and registers
 * `panePath(pane, "log", "find")`). The view reads lines through the connection and what else it needs from the store.
 */
export interface LogHandle {
  /** What is selected, else everything that is shown, as text. */
  copyText(): string;
  /** Goes to the end. */
  toEnd(): void;
}

export interface LogViewProps {
  /** Name of the pane; for a bare channel of the log centre, the channel. */
  pane: string;
  channelRx: string;
  /** Null for a bare channel. */
  channelTx: string | null;
  /** `both`: text with the bytes beside. In hex the server records frames, one a row. */
  view: "text" | "hex" | "both";
  follow: boolean;
  /** The person scrolled away from the end (false) or came back to it (true). */
  onFollow(on: boolean): void;
  lineNumbers: boolean;
  timestamps: boolean;
  /** Sent lines are shown too. */
  echo: boolean;
  /** Lines up to these seq were cleared from the view. */
  cleared: { rx: number; tx: number };
  handle: { current: LogHandle | null };
}

/** What `ui/terminal/terminal_view.tsx` exports as `TerminalView`; loaded when a pane is first put in terminal mode. */
export interface TerminalProps {
  pane: string;
  channelRx: string;
  /** Whole lines with local echo, instead of each key as it is. */
  lineBuffered: boolean;
  connected: boolean;
  handle: { current: LogHandle | null };
}
