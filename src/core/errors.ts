/** Why a tool that ran failed; agents branch on it. */
export type Reason =
  | "confirm_required"
  | "no_page"
  | "not_open"
  | "not_connected"
  | "disabled"
  | "timed_out"
  | "full"
  | "unsupported"
  | "no_device"
  | "in_use"
  | "no_permission"
  | "lost"
  | "canceled"
  | "write_failed"
  | "read_only"
  /** A person paused agents, or said no to this call. */
  | "paused"
  | "refused";

export const CODE = {
  invalidParams: -32602,
  rateLimited: -32000,
  internal: -32603,
  uiTimeout: -32004,
  uiBusy: -32005,
  failed: -32006,
  readOnly: -32007,
} as const;

export interface BenchErrorOptions {
  reason?: Reason;
  /** What to do next: one sentence. */
  hint?: string;
  /** Facts for the caller, such as how many bytes went. */
  data?: Record<string, unknown>;
  cause?: unknown;
}

/**
 * The one error class that callers see. The message says what was expected and what to do next; it never holds a
 * stack, a token or a path that the caller did not give. Anything else that is thrown is a bug and becomes -32603.
 */
export class BenchError extends Error {
  override name = "BenchError";
  readonly code: number;
  readonly reason: Reason | undefined;
  readonly hint: string | undefined;
  readonly data: Record<string, unknown> | undefined;
  constructor(code: number, message: string, options: BenchErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.reason = options.reason;
    this.hint = options.hint;
    this.data = options.data;
  }
}

/** Bad arguments, unknown tool, pane, port, channel or pattern: JSON-RPC error -32602. */
export const invalid = (message: string, data?: Record<string, unknown>): BenchError =>
  new BenchError(CODE.invalidParams, message, data ? { data } : {});

/** The tool ran and failed: `isError` -32006. */
export const failed = (
  reason: Reason,
  message: string,
  hint?: string,
  data?: Record<string, unknown>,
): BenchError => new BenchError(CODE.failed, message, { reason, ...(hint && { hint }), ...(data && { data }) });
