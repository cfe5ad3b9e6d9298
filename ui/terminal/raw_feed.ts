/**
 * The stream of a device as it was, out of its lines: each with the end that it had, and the line without an end as far
 * as it goes. A lone CR at the end of what there is waits a moment: an LF may still make it a CRLF. Pure but for time.
 */
import { FLAG } from "../../src/core/line.ts";
import type { WireRecord } from "../../src/core/page_protocol.ts";

type Piece = Pick<WireRecord, "seq" | "flags" | "bytes">;

const SETTLE_MS = 60;
const NONE = new Uint8Array(0);
const ENDS: Readonly<Record<number, Uint8Array>> = {
  [FLAG.eolNone]: NONE,
  [FLAG.eolLf]: Uint8Array.of(10),
  [FLAG.eolCr]: Uint8Array.of(13),
  [FLAG.eolCrLf]: Uint8Array.of(13, 10),
};
export const endOf = (flags: number): Uint8Array => ENDS[flags & FLAG.eolMask] ?? NONE;

export interface RawFeedOptions {
  write(bytes: Uint8Array): void;
  /** The flags of a line as they are now; undefined: it is gone. */
  flagsOf(seq: number): Promise<number | undefined>;
  settleMs?: number;
}

export class RawFeed {
  readonly #options: RawFeedOptions;
  #queue: Promise<void> = Promise.resolve();
  /** How much of the line without an end was written. */
  #open = { seq: 0, length: 0 };
  #closed = false;

  constructor(options: RawFeedOptions) {
    this.#options = options;
  }

  /** Resolves when all that was pushed is written. */
  get settled(): Promise<void> {
    return this.#queue;
  }

  push(records: readonly Piece[], open: Piece | undefined): void {
    this.#queue = this.#queue.then(() => this.#take(records, open));
  }

  close(): void {
    this.#closed = true;
  }

  async #take(records: readonly Piece[], open: Piece | undefined): Promise<void> {
    const { write, flagsOf, settleMs = SETTLE_MS } = this.#options;
    for (let i = 0; i < records.length; i++) {
      const record = records[i];
      if (!record || this.#closed) return;
      this.#body(record);
      let { flags } = record;
      const isLast = i === records.length - 1 && !open;
      if (isLast && (flags & FLAG.eolMask) === FLAG.eolCr) {
        await new Promise((resolve) => setTimeout(resolve, settleMs));
        flags = await flagsOf(record.seq).catch(() => undefined) ?? flags;
        if (this.#closed) return;
      }
      const end = endOf(flags);
      if (end.length > 0) write(end);
    }
    if (open && !this.#closed) this.#body(open);
  }

  /** The part of a line that was not written while it had no end. */
  #body(piece: Piece): void {
    const from = piece.seq === this.#open.seq ? Math.min(this.#open.length, piece.bytes.length) : 0;
    if (piece.bytes.length > from) this.#options.write(piece.bytes.subarray(from));
    this.#open = { seq: piece.seq, length: piece.bytes.length };
  }
}
