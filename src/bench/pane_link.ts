import { failed } from "../core/errors.ts";
import {
  type LineSettings,
  type OpenOptions,
  PortError,
  type PortInfo,
  type SerialDriver,
  type SerialPort,
} from "../drivers/serial/port.ts";
import { openFailure } from "./open_errors.ts";
import { frameText, mismatch } from "./pane_settings.ts";
import { ptyLinkLife, realPathOf } from "./port_globs.ts";
import { canReturn, describeWanted, nameOf, type WantedPort } from "./port_match.ts";
import { PortHold } from "./port_hold.ts";
import type { Ports } from "./ports.ts";
import { CANCELED, TIMED_OUT, within } from "./within.ts";

export type LinkStatus = "closed" | "opening" | "open" | "lost" | "closing";

export interface LinkTiming {
  /** How long an open may take, ms. */
  openMs: number;
  /** How long a close may take, ms. */
  closeMs: number;
  /** Longest pause between two tries to reconnect, ms. */
  retryMs: number;
}

export interface LinkOptions {
  driver: SerialDriver;
  ports: Ports;
  timing: LinkTiming;
  /** ms, monotonic. */
  now(): number;
  /** What the port is to be opened with, now. */
  settings(): Omit<OpenOptions, "path" | "flush">;
  autoReconnect(): boolean;
  /** The pane of this program that holds this device, other than this one. */
  heldByPane(real: string): string | undefined;
  /** Bytes came in; the view is only good during the call. What it gives is waited for before more is read. */
  onBytes(bytes: Uint8Array, t: number): Promise<void> | undefined;
  /** It is open now; `again` after a loss. */
  onOpened(info: PortInfo, again: boolean): void;
  /** It is no longer open: closed, or lost. */
  onEnded(): void;
  onStatus(): void;
  log(level: "info" | "warn" | "error", text: string): void;
}

/** An open port and the signal that ends with it; the signal's reason is `closed` or `lost`. */
export interface OpenPort {
  readonly port: SerialPort;
  readonly info: PortInfo;
  readonly ended: AbortSignal;
  /** `t` when it was opened. */
  readonly since: number;
}

/** What the driver has set; undefined when the port was lost this moment, which the read that waits will tell. */
const settingsOf = (port: SerialPort): LineSettings | undefined => {
  try {
    return port.settings();
  } catch (error) {
    if (error instanceof PortError) return undefined;
    throw error;
  }
};

/** A state is part of a sentence of its reader, which ends it. */
const asPhrase = (sentence: string): string => sentence.replace(/\.$/, "");

const FIRST_RETRY_MS = 20;
/** A stop of the program gives ports back within two seconds, logs included. */
const DISPOSE_MS = 1200;

/**
 * The wire of one pane, and its state: opens, reads, notices the loss, finds the same device again, closes. Each change
 * of state starts a new life; what an old life still answers (an open that came too late) is undone and not heard.
 */
export class PaneLink {
  readonly #options: LinkOptions;
  readonly #buffer = new Uint8Array(65_536);
  #status: LinkStatus = "closed";
  #text = "closed";
  #life = new AbortController();
  #open: OpenPort | undefined;
  #opening: string | undefined;
  #wanted: WantedPort | undefined;
  readonly #hold: PortHold;
  /** Of the port that is open, or was last. */
  #linkLife: string | undefined;
  #mismatch: string | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #trying = false;
  #poked = false;
  #tries = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { driver, timing, now, log } = options;
    this.#hold = new PortHold({ driver, openMs: timing.openMs, now, warn: (text) => log("warn", text) });
  }

  get status(): LinkStatus {
    return this.#status;
  }

  /** The state in words: what is open, who holds the port, which device is waited for. */
  get statusText(): string {
    return this.#text;
  }

  get current(): OpenPort | undefined {
    return this.#open;
  }

  /** Where the driver's settings differ from those asked, in words. */
  get mismatch(): string | undefined {
    return this.#mismatch;
  }

  /** The device that is open, or was last. */
  get wanted(): WantedPort | undefined {
    return this.#wanted;
  }

  /** While lost: the device that is waited for. */
  get waitsFor(): WantedPort | undefined {
    return this.#status === "lost" ? this.#wanted : undefined;
  }

  /** The device node that this pane holds or is about to hold. */
  get holds(): string | undefined {
    return this.#opening ?? (this.#open && realPathOf(this.#open.info.path));
  }

  /**
   * Opens this device; resolves when it is really open. Throws reasons `in_use`, `no_device`, `no_permission`,
   * `unsupported`, `timed_out` and `canceled` (a close overtook it). While lost, a failure leaves it waiting.
   */
  async open(info: PortInfo, wanted: WantedPort): Promise<void> {
    if (this.#status === "closing") await this.#awaitClosing(this.#options.timing.closeMs);
    // Whoever asks closes before: here it is only made sure that no port is ever forgotten open.
    if (this.#open) await this.close();
    const waiting = this.#status === "lost" ? this.#text : undefined;
    const before = this.#wanted;
    const life = this.#begin("opening", `opening ${info.path}`);
    try {
      await this.#connect(life, info, wanted, false);
    } catch (error) {
      const told = openFailure(error, info.path);
      if (life === this.#life) {
        if (waiting === undefined) this.#begin("closed", asPhrase(told.message));
        else {
          this.#wanted = before;
          this.#wait(this.#begin("lost", waiting));
        }
      }
      this.#options.log("warn", told.cause ? `${told.message} (${told.cause})` : told.message);
      throw told;
    }
  }

  /** Closes, or stops waiting for a lost device. False when it was closed before. Throws reason `timed_out`. */
  async close(waitMs: number = this.#options.timing.closeMs): Promise<boolean> {
    if (this.#status === "closed") return false;
    if (this.#status !== "closing") {
      const path = this.#open?.info.path;
      const port = this.#open?.port;
      const wasOpen = port !== undefined;
      const life = this.#begin("closing", path ? `closing ${path}` : "closing");
      if (wasOpen) this.#options.onEnded();
      if (port) this.#hold.release(port);
      const done = () => {
        if (life !== this.#life) return;
        this.#begin("closed", "closed");
        this.#options.log("info", path ? `closed ${path}` : "closed; no longer waiting");
      };
      if (this.#hold.releasing) this.#hold.releasing.then(done);
      else done();
    }
    if (this.#hold.releasing) await this.#awaitClosing(waitMs);
    return true;
  }

  /** The set of ports changed: a lost device may be back. */
  poke(): void {
    if (this.#status !== "lost") return;
    this.#tries = 0;
    if (this.#trying) this.#poked = true;
    else void this.#tryAgain(this.#life);
  }

  /** Automatic reconnect was switched off: no longer waits. */
  stopWaiting(): void {
    if (this.#status === "lost") this.#begin("closed", "closed: the device was lost, and automatic reconnect is off");
  }

  /** Sets the rate of the open port; gives what the driver really set. Throws PortError. */
  setBaudRate(asked: LineSettings): number {
    const port = this.#open?.port;
    if (!port) return asked.baudRate;
    port.setBaudRate(asked.baudRate);
    const real = port.settings();
    this.#mismatch = mismatch(asked, real);
    this.#setText(this.#openText());
    return real.baudRate;
  }

  /** Ends everything, also what hangs: the end of the program waits no longer than {@link DISPOSE_MS}. */
  async dispose(): Promise<void> {
    try {
      await Promise.all([this.close(DISPOSE_MS), within(this.#hold.opensEnded(), DISPOSE_MS)]);
    } catch { /* it hangs: told already, and the process ends anyway */ }
    clearTimeout(this.#retryTimer);
  }

  #begin(status: LinkStatus, text: string): AbortController {
    const old = this.#life;
    const life = this.#life = new AbortController();
    this.#status = status;
    this.#text = text;
    this.#open = undefined;
    this.#opening = undefined;
    this.#mismatch = undefined;
    clearTimeout(this.#retryTimer);
    old.abort(status === "lost" ? "lost" : "closed");
    this.#options.onStatus();
    return life;
  }

  #setText(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#options.onStatus();
  }

  async #connect(life: AbortController, info: PortInfo, wanted: WantedPort, again: boolean): Promise<void> {
    const real = realPathOf(info.path);
    const pane = this.#options.heldByPane(real);
    if (pane !== undefined) {
      throw failed(
        "in_use",
        `${info.path} is in use by pane ${pane}.`,
        `Close it there with serial_close {pane:"${pane}"}, or choose another port.`,
      );
    }
    this.#opening = real;
    const asked = this.#options.settings();
    let port: SerialPort;
    try {
      port = await this.#hold.open({ ...asked, path: info.path, flush: !again }, life.signal);
    } catch (error) {
      if (life === this.#life) this.#opening = undefined;
      if (error === CANCELED) throw failed("canceled", `Opening ${info.path} was canceled.`);
      if (error !== TIMED_OUT) throw error;
      throw failed(
        "timed_out",
        `${info.path} did not open within ${this.#options.timing.openMs / 1000} s: its driver does not answer.`,
        "Unplug the device and plug it in again, then serial_open.",
      );
    }
    this.#status = "open";
    this.#opening = undefined;
    this.#wanted = wanted;
    this.#tries = 0;
    this.#linkLife = ptyLinkLife(info.path);
    this.#open = { port, info, ended: life.signal, since: this.#options.now() };
    this.#mismatch = mismatch(asked, settingsOf(port) ?? asked);
    this.#text = this.#openText();
    this.#options.onOpened(info, again);
    this.#options.log("info", `${again ? "open again" : "open"}: ${nameOf(info)} at ${frameText(asked)}`);
    if (this.#mismatch) this.#options.log("warn", `${info.path}: ${this.#mismatch}`);
    this.#options.onStatus();
    void this.#read(port, life);
  }

  #openText(): string {
    if (!this.#open) return this.#text;
    const { port, info } = this.#open;
    const set = `${info.path} at ${frameText(settingsOf(port) ?? this.#options.settings())}`;
    return this.#mismatch ? `${set}; ${this.#mismatch}` : set;
  }

  /** Waits for nothing but the driver and, for a second at most, for a disk that a flood has left behind. */
  async #read(port: SerialPort, life: AbortController): Promise<void> {
    const { now, onBytes } = this.#options;
    try {
      while (!life.signal.aborted) {
        const count = await port.read(this.#buffer);
        if (count === 0) break;
        if (life.signal.aborted) break;
        const room = onBytes(this.#buffer.subarray(0, count), now());
        if (room) await room;
      }
      this.#lost(life, "the port gave no more data");
    } catch (error) {
      this.#lost(life, error instanceof Error ? error.message : String(error));
    }
  }

  #lost(life: AbortController, why: string): void {
    const open = this.#open;
    if (life !== this.#life || !open) return;
    this.#hold.release(open.port);
    const wanted = this.#wanted;
    const wished = this.#options.autoReconnect() && wanted !== undefined;
    const again = wished && canReturn(wanted);
    const text = again
      ? `lost ${open.info.path}: waiting for ${describeWanted(wanted)} to come back`
      : wished
      ? `closed: ${open.info.path} was lost; its number goes to another program, so it is not waited for ` +
        "(pair and sim give a lasting name with --link)"
      : `closed: ${open.info.path} was lost, and automatic reconnect is off`;
    const next = this.#begin(again ? "lost" : "closed", text);
    this.#options.onEnded();
    this.#options.log("warn", `${text} (${why})`);
    if (again) this.#wait(next);
  }

  async #awaitClosing(waitMs: number): Promise<void> {
    if (!this.#hold.releasing) return;
    try {
      await within(this.#hold.releasing, waitMs);
    } catch {
      this.#setText("closing: the driver has not given the port back yet");
      this.#options.log("error", `the driver did not close the port within ${waitMs / 1000} s`);
      throw failed(
        "timed_out",
        `The port is not closed after ${waitMs / 1000} s: its driver does not answer.`,
        "Unplug the device; serial_close again tells when it is released.",
      );
    }
  }

  #wait(life: AbortController): void {
    if (life !== this.#life) return;
    const delay = Math.min(FIRST_RETRY_MS * 2 ** Math.min(this.#tries++, 10), this.#options.timing.retryMs);
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => void this.#tryAgain(life), delay);
  }

  /** One try to find and open the lost device; however it ends, while it is still lost the next one is planned. */
  async #tryAgain(life: AbortController): Promise<void> {
    if (this.#trying || life !== this.#life) return;
    this.#trying = true;
    this.#poked = false;
    try {
      const told = await this.#reconnect(life);
      if (life === this.#life && this.#status === "lost" && told !== this.#text) {
        this.#setText(told);
        this.#options.log("info", told);
      }
    } finally {
      this.#trying = false;
    }
    if (life !== this.#life || this.#status !== "lost") return;
    if (this.#poked) void this.#tryAgain(life);
    else this.#wait(life);
  }

  /** Gives what to say while it is still lost. */
  async #reconnect(life: AbortController): Promise<string> {
    const wanted = this.#wanted;
    if (!wanted || this.#hold.busy) return this.#text;
    const match = await this.#options.ports.match(wanted);
    if (life !== this.#life) return this.#text;
    const device = describeWanted(wanted);
    const leftOver = match.found === "one" && this.#linkLife !== undefined &&
      ptyLinkLife(match.port.path) === this.#linkLife;
    if (match.found === "none" || leftOver) return `lost: waiting for ${device} to come back`;
    if (match.found === "several") {
      const paths = match.ports.map((p) => p.path).join(", ");
      return `lost: several devices look like ${device} (${paths}); choose one with serial_select_port`;
    }
    try {
      const stays = wanted.kind !== "usb" || this.#options.ports.isStableName(wanted.path);
      await this.#connect(life, match.port, stays ? wanted : { ...wanted, path: match.port.path }, true);
      return this.#text;
    } catch (error) {
      // Not a port yet, not ready yet, or taken by another program: all of them pass.
      const told = openFailure(error, match.port.path);
      return `lost: ${device} is there again but does not open: ${asPhrase(told.message)}`;
    }
  }
}
