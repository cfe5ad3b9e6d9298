import { failed, invalid } from "../core/errors.ts";
import { parseHex } from "../core/hex_input.ts";
import type { Source } from "../core/line.ts";
import { PortError } from "../drivers/serial/port.ts";
import { History } from "./history.ts";
import type { OpenPort, PaneLink } from "./pane_link.ts";
import type { PaneLog } from "./pane_log.ts";
import type { LineEnding, PaneSettings } from "./pane_settings.ts";
import { Sender, sleep } from "./sender.ts";

export interface SendRequest {
  data: string;
  /** Absent: as the pane is set. Both stay set. */
  mode?: "text" | "hex" | undefined;
  lineEnding?: LineEnding | undefined;
}

export interface SendControl {
  src: Source;
  signal?: AbortSignal | undefined;
  progress?: ((done: number, total: number) => void) | undefined;
}

export interface PaneOutputOptions {
  name: string;
  link: PaneLink;
  log: PaneLog;
  settings: PaneSettings;
  /** A write of which no byte was taken for this long has failed, ms. */
  stallMs: number;
  now(): number;
  /** Mode or line ending of a send stay set. */
  change(changes: Partial<PaneSettings>): void;
  onChange(): void;
  tell(text: string, src: Source): void;
}

const ENDINGS: Readonly<Record<LineEnding, string>> = { crlf: "\r\n", lf: "\n", cr: "\r", none: "" };

/** What a pane sends: text, hex, key strokes, files, breaks; one after another. */
export class PaneOutput {
  readonly history = new History();
  readonly #options: PaneOutputOptions;
  readonly #sender: Sender;

  constructor(options: PaneOutputOptions) {
    this.#options = options;
    this.#sender = new Sender({ stallMs: options.stallMs, now: options.now });
  }

  /** What is being sent now, in bytes. */
  get sending(): { done: number; total: number } | undefined {
    return this.#sender.sending;
  }

  /** Sends one text or hex string; resolves with what went when the driver has all of it. */
  async send(request: SendRequest, control: SendControl): Promise<{ mode: "text" | "hex"; bytes: number }> {
    const mode = request.mode ?? this.#options.settings.sendAs;
    const lineEnding = request.lineEnding ?? this.#options.settings.lineEnding;
    const bytes = bytesOf(request.data, mode, lineEnding);
    this.#needOpen();
    this.#options.change({ sendAs: mode, lineEnding });
    this.history.add(request.data);
    this.#options.onChange();
    return { mode, bytes: await this.#sendAll([bytes], bytes.length, mode, control) };
  }

  /** Sends bytes as they are: no line ending, not kept in the history, not paced. For key strokes of a terminal. */
  async sendRaw(bytes: Uint8Array, control: SendControl): Promise<number> {
    this.#needOpen();
    return await this.#sendAll([bytes], bytes.length, "text", control, { charMs: 0, lineMs: 0 });
  }

  /** Sends a file of `total` bytes as it comes, paced as the pane is set. */
  async sendStream(source: AsyncIterable<Uint8Array>, total: number, control: SendControl): Promise<number> {
    this.#needOpen();
    return await this.#sendAll(source, total, "text", control);
  }

  /** Holds the line in the break state for `ms` (1 to 5,000); what is sent before and after stays in order. */
  async sendBreak(ms: number, { src, signal }: SendControl): Promise<void> {
    if (!(ms >= 1 && ms <= 5000)) throw invalid("A break lasts 1 to 5,000 ms.");
    this.#needOpen();
    await this.#sender.alone(signal, async () => {
      const open = this.#needOpen();
      try {
        open.port.setBreak(true);
        const how = await sleep(ms, [signal, open.ended]);
        if (!open.ended.aborted) open.port.setBreak(false);
        this.#options.tell(how === "done" ? `break of ${ms} ms` : "break, ended early", src);
        if (how !== "done") throw failed("canceled", "The break was ended early.");
      } catch (error) {
        if (!(error instanceof PortError)) throw error;
        const reason = error.kind === "unsupported" || error.kind === "lost" ? error.kind : "write_failed";
        throw failed(reason, `Break on ${open.info.path} failed: ${error.message}`);
      }
    });
  }

  async #sendAll(
    source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    total: number,
    mode: "text" | "hex",
    control: SendControl,
    pacing = { charMs: this.#options.settings.charDelayMs, lineMs: this.#options.settings.lineDelayMs },
  ): Promise<number> {
    return await this.#sender.alone(control.signal, async () => {
      const open = this.#needOpen();
      return await this.#sender.send(open, source, total, {
        mode,
        baudRate: this.#options.settings.baudRate,
        pacing,
        signal: control.signal,
        progress: (done, all) => {
          control.progress?.(done, all);
          this.#options.onChange();
        },
        onWritten: (bytes, t) => this.#options.log.sent(bytes, t, control.src, mode),
        onEnd: () => this.#options.log.endSent(),
      });
    });
  }

  #needOpen(): OpenPort {
    const current = this.#options.link.current;
    if (current) return current;
    const lost = this.#options.link.status === "lost";
    throw failed(
      "not_open",
      `Pane ${this.#options.name} is not open (${this.#options.link.statusText}); nothing was sent.`,
      lost ? "Wait until the device is back, or serial_close." : "serial_open first.",
    );
  }
}

const bytesOf = (data: string, mode: "text" | "hex", lineEnding: LineEnding): Uint8Array<ArrayBuffer> => {
  if (mode === "text") {
    if (!data.isWellFormed()) throw invalid("data holds half a character (a lone surrogate); nothing was sent.");
    const text = data + ENDINGS[lineEnding];
    if (text === "") throw invalid("Nothing to send: data is empty and lineEnding is none.");
    return new TextEncoder().encode(text);
  }
  const parsed = parseHex(data);
  if ("error" in parsed) {
    throw invalid(`Bad hex at column ${parsed.column}: ${parsed.error}. Nothing was sent.`, { column: parsed.column });
  }
  if (parsed.bytes.length === 0) throw invalid("Nothing to send: data holds no hex digit.");
  return parsed.bytes;
};
