import { FLAG, type LineSink, type Source } from "../core/line.ts";
import { SessionLog, type SessionLogOptions } from "../store/session_log.ts";
import type { LogHub } from "./log_hub.ts";

export interface PaneCounters {
  rxBytes: number;
  txBytes: number;
  rxLines: number;
  txLines: number;
}

export interface PaneLogOptions {
  hub: LogHub;
  pane: string;
  /** Where and how the session is kept on disk; undefined: it is not. */
  session?: Omit<SessionLogOptions, "pane" | "onProblem" | "now" | "wallMs"> | undefined;
}

const noCounters = (): PaneCounters => ({ rxBytes: 0, txBytes: 0, rxLines: 0, txLines: 0 });

/** Everything that a pane receives and sends on its way to its two channels and to its files on disk. */
export class PaneLog {
  readonly channels: { rx: string; tx: string };
  readonly #hub: LogHub;
  readonly #session: SessionLog | undefined;
  readonly #rx;
  readonly #tx;
  readonly #all = noCounters();
  #mark = noCounters();
  readonly #cleared = { rx: 0, tx: 0 };

  constructor({ hub, pane, session }: PaneLogOptions) {
    this.#hub = hub;
    this.channels = { rx: `serial:${pane}:rx`, tx: `serial:${pane}:tx` };
    this.#session = session && new SessionLog({
      ...session,
      pane,
      now: () => hub.wallMs(hub.now()),
      wallMs: (t) => hub.wallMs(t),
      onProblem: (text, ok) => hub.log("app", ok ? "info" : "error", text),
    });
    this.#rx = hub.stream(this.channels.rx, "rx", { onLine: this.#line("rxLines") });
    this.#tx = hub.stream(this.channels.tx, "tx", { onLine: this.#line("txLines") });
  }

  /** All since the program began. */
  get counters(): Readonly<PaneCounters> {
    return this.#all;
  }

  /** Lines and bytes, both ways, since the view was cleared. */
  get shown(): { lines: number; bytes: number } {
    const { rxBytes, txBytes, rxLines, txLines } = this.#all;
    return {
      lines: rxLines + txLines - this.#mark.rxLines - this.#mark.txLines,
      bytes: rxBytes + txBytes - this.#mark.rxBytes - this.#mark.txBytes,
    };
  }

  /** Lines up to these seq are before the last clear. */
  get clearedSeq(): { rx: number; tx: number } {
    return { ...this.#cleared };
  }

  /** Lines that the rings of this pane had to let go. */
  get dropped(): number {
    return this.#ring("rx").dropped + this.#ring("tx").dropped;
  }

  /** What is received next comes from this port: the names of the files carry it. */
  port(name: string): void {
    this.#session?.port(name);
  }

  /** Rows of raw bytes instead of lines, for what is received. */
  set frames(on: boolean) {
    const mode = on ? "frames" : "lines";
    if (this.#rx.mode !== mode) this.#rx.mode = mode;
  }

  /** Gives what to wait for before more is read, when the disk is behind: see {@link SessionLog.room}. */
  received(bytes: Uint8Array, t: number): Promise<void> | undefined {
    this.#all.rxBytes += bytes.length;
    this.#session?.raw("rx", bytes);
    this.#rx.push(bytes, t, "none");
    return this.#session?.room();
  }

  /** Hex goes in as rows of bytes. {@link endSent} ends what one call sent. */
  sent(bytes: Uint8Array, t: number, src: Source, mode: "text" | "hex"): void {
    const kind = mode === "hex" ? "frames" : "lines";
    if (this.#tx.mode !== kind) this.#tx.mode = kind;
    this.#all.txBytes += bytes.length;
    this.#session?.raw("tx", bytes);
    this.#tx.push(bytes, t, src);
  }

  endSent(): void {
    this.#tx.end();
  }

  /** The port is gone: what comes next is another line. */
  end(): void {
    this.#rx.end();
    this.#tx.end();
  }

  /** Empties the view and this pane's files; the rings keep their lines. Rejects when a file could not be emptied. */
  async clear(): Promise<void> {
    this.#mark = { ...this.#all };
    this.#cleared.rx = this.#ring("rx").lastSeq;
    this.#cleared.tx = this.#ring("tx").lastSeq;
    await this.#session?.clear();
  }

  /** Resolves when everything so far is on disk. */
  async flush(): Promise<void> {
    await this.#session?.flush();
  }

  async close(): Promise<void> {
    await this.#session?.close();
  }

  #ring(dir: "rx" | "tx"): { dropped: number; lastSeq: number } {
    return this.#hub.find(this.channels[dir])?.ring ?? { dropped: 0, lastSeq: 0 };
  }

  #line(count: "rxLines" | "txLines"): LineSink {
    const all = this.#all;
    const file = this.#session?.line;
    return (t, flags, bytes, from, to) => {
      // A line that was too long for one record is still one line.
      if ((flags & FLAG.continues) === 0) all[count]++;
      file?.(t, flags, bytes, from, to);
    };
  }
}
