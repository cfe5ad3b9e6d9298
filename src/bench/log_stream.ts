import { detectLevel } from "../core/level.ts";
import { type Direction, directionFlag, FLAG, type LineSink, type Source, sourceFlag } from "../core/line.ts";
import { LineAssembler, type OpenLine } from "../core/line_assembler.ts";

/** Where a stream puts its lines: a channel, or nothing when there are too many. */
export interface StreamTarget {
  /** Stores a line and gives its seq; undefined when it is refused. */
  append(t: number, flags: number, raw: number, bytes: Uint8Array, from: number, to: number): number | undefined;
  setEol(seq: number, eol: number): void;
  /** A frame was begun or ended: look after the clock. */
  framing(stream: LogStream): void;
  problem(error: unknown): void;
}

/** Bytes of one direction of one port on their way into a log channel. Never throws. */
export class LogStream {
  /** Bytes pushed, ever. */
  bytes = 0;
  readonly #assembler: LineAssembler;
  readonly #target: StreamTarget;
  readonly #onLine: LineSink | undefined;
  #lastSeq = 0;
  #told = false;

  constructor(target: StreamTarget, dir: Direction, onLine: LineSink | undefined) {
    this.#target = target;
    this.#onLine = onLine;
    this.#assembler = new LineAssembler(this.#line, {
      flags: directionFlag(dir),
      // What we send is not the device's word.
      ...(dir !== "tx" && { level: detectLevel }),
      onCrLf: () => this.#target.setEol(this.#lastSeq, FLAG.eolCrLf),
    });
  }

  /** `lines`, or `frames` for rows of raw bytes as in hex view. A change closes the open line. */
  get mode(): "lines" | "frames" {
    return this.#assembler.mode;
  }
  set mode(mode: "lines" | "frames") {
    this.#assembler.mode = mode;
  }

  /** The line so far. */
  get open(): OpenLine | undefined {
    return this.#assembler.open;
  }

  /** Takes bytes that came (or went) at `t`, ms on the hub's clock. */
  push(bytes: Uint8Array, t: number, src: Source): void {
    this.bytes += bytes.length;
    this.#assembler.push(bytes, t, sourceFlag(src));
    if (this.#assembler.mode === "frames") this.#target.framing(this);
  }

  /** Closes an open line: the port was closed. */
  end(): void {
    this.#assembler.end();
  }

  /** Ends a frame after a silence. */
  tick(t: number): void {
    this.#assembler.tick(t);
  }

  #line: LineSink = (t, flags, bytes, from, to) => {
    this.#lastSeq = this.#target.append(t, flags, to - from, bytes, from, to) ?? 0;
    if (!this.#onLine) return;
    try {
      this.#onLine(t, flags, bytes, from, to);
    } catch (error) {
      if (this.#told) return;
      this.#told = true;
      this.#target.problem(error);
    }
  };
}
