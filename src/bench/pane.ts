import { LIMITS } from "../../tools/limits.ts";
import { BenchError, failed, invalid } from "../core/errors.ts";
import type { Source } from "../core/line.ts";
import {
  type DataBits,
  type LineAtOpen,
  type Parity,
  PortError,
  type SerialDriver,
  type StopBits,
} from "../drivers/serial/port.ts";
import type { LogHub } from "./log_hub.ts";
import { type LinkTiming, type OpenPort, PaneLink } from "./pane_link.ts";
import { PaneLog, type PaneLogOptions } from "./pane_log.ts";
import { PaneOutput, type SendControl, type SendRequest } from "./pane_output.ts";
import { type Applied, applyDisplay, type DisplayChanges, frameText, type PaneSettings } from "./pane_settings.ts";
import { chosenTarget, type Target, targetOf, unknownPort } from "./pane_target.ts";
import { realPathOf } from "./port_globs.ts";
import type { Ports } from "./ports.ts";

export interface PaneTiming extends LinkTiming {
  /** A write of which no byte was taken for this long has failed, ms. */
  stallMs: number;
}

export const DEFAULT_TIMING: PaneTiming = {
  openMs: LIMITS.serialOpenWaitMs,
  closeMs: LIMITS.serialCloseWaitMs,
  stallMs: LIMITS.deviceTimeoutMs,
  retryMs: 700,
};

export interface PaneOptions {
  name: string;
  hub: LogHub;
  driver: SerialDriver;
  ports: Ports;
  settings: PaneSettings;
  session?: PaneLogOptions["session"];
  timing?: Partial<PaneTiming> | undefined;
  /** The other pane that holds this device. */
  heldByPane(real: string): string | undefined;
  /** Settings changed: keep them. */
  onSettings(): void;
  /** Something that is shown changed. */
  onChange(): void;
}

export interface FrameChanges {
  dataBits?: DataBits | undefined;
  stopBits?: StopBits | undefined;
  parity?: Parity | undefined;
}

/** A rate this near to the one asked for is as good: both ends of a line may be off by so much. */
const SAME_RATE = 0.025;

/** One serial pane: its settings, its wire, what went through it. Everything that a person or an agent does with it. */
export class Pane {
  readonly name: string;
  readonly settings: PaneSettings;
  readonly link: PaneLink;
  readonly log: PaneLog;
  readonly output: PaneOutput;
  readonly #options: PaneOptions;

  constructor(options: PaneOptions) {
    const timing = { ...DEFAULT_TIMING, ...options.timing };
    const { hub, driver, ports } = options;
    this.#options = options;
    this.name = options.name;
    this.settings = options.settings;
    this.log = new PaneLog({ hub, pane: options.name, session: options.session });
    this.log.frames = this.settings.viewMode === "hex";
    const { log, settings } = this;
    this.link = new PaneLink({
      driver,
      ports,
      timing,
      now: () => hub.now(),
      settings: () => ({
        baudRate: settings.baudRate,
        dataBits: settings.dataBits,
        stopBits: settings.stopBits,
        parity: settings.parity,
        dtr: settings.dtr,
        rts: settings.rts,
      }),
      autoReconnect: () => settings.autoReconnect,
      heldByPane: options.heldByPane,
      onBytes: (bytes, t) => log.received(bytes, t),
      onOpened: (info, again) => {
        log.port(info.path);
        // A device that came back under another name is chosen by that name from now on.
        const wanted = this.link.wanted;
        if (again && wanted && wanted.path !== settings.port) this.#choose(wanted.path, wanted);
      },
      onEnded: () => log.end(),
      onStatus: () => options.onChange(),
      log: (level, text) => this.#tell(level, text),
    });
    this.output = new PaneOutput({
      name: options.name,
      link: this.link,
      log,
      settings,
      stallMs: timing.stallMs,
      now: () => hub.now(),
      change: (changes) => this.#change(changes),
      onChange: options.onChange,
      tell: (text, src) => this.#tell("info", text, src),
    });
  }

  /** The levels of the modem lines: as they are while open and the port has any, else as they will be set. */
  get lines(): { dtr: boolean; rts: boolean } {
    try {
      const real = this.link.current?.port.lines();
      if (real) return { dtr: real.dtr, rts: real.rts };
    } catch { /* a port without modem lines */ }
    return { dtr: this.settings.dtr !== "low", rts: this.settings.rts !== "low" };
  }

  /** Chooses the port for the next open. Throws -32602 with the real values. While lost it ends the waiting. */
  async selectPort(value: string): Promise<Applied> {
    const found = await this.#options.ports.resolve(value);
    if (!found) throw await unknownPort(this.#options.ports, value);
    const from = this.settings.port;
    const to = found.wanted.path;
    this.#choose(to, found.wanted);
    if (to !== from && this.link.status === "lost") await this.link.close();
    return { name: "port", ok: true, from, to };
  }

  /** Sets the rate, also of an open port; `to` is what the driver really set. */
  setBaud(baudRate: number): Applied {
    const from = this.settings.baudRate;
    if (!this.link.current) {
      this.#change({ baudRate });
      return { name: "baud", ok: true, from, to: baudRate };
    }
    const { path } = this.link.current.info;
    let real: number;
    try {
      real = this.link.setBaudRate({ ...this.settings, baudRate });
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      if (error.kind === "lost") throw failed("lost", `${path} was lost this moment.`, "See serial_get_state.");
      throw failed("unsupported", `${path} does not take ${baudRate} baud: ${error.message}`, "Choose another rate.");
    }
    this.#change({ baudRate });
    this.#tell("info", `baud rate ${from} → ${real}`);
    if (real === baudRate) return { name: "baud", ok: true, from, to: real };
    const error = `${baudRate} asked, the driver set ${real}`;
    this.#tell("warn", `${path}: ${error}`);
    if (Math.abs(real - baudRate) <= baudRate * SAME_RATE) return { name: "baud", ok: true, from, to: real };
    return { name: "baud", ok: false, from, to: real, error };
  }

  /** Only while not connected; throws reason `disabled` else, and nothing is changed. */
  setFrame(changes: FrameChanges): Applied[] {
    const { status } = this.link;
    if (status !== "closed" && status !== "lost") {
      throw failed(
        "disabled",
        `The frame format of pane ${this.name} can only be set while it is closed; nothing was changed.`,
        "serial_close first, then serial_set_frame and serial_open.",
      );
    }
    const { dataBits, stopBits, parity } = this.settings;
    const applied: Applied[] = [];
    const add = (name: string, from: string | number, to: string | number | undefined) => {
      if (to !== undefined) applied.push({ name, ok: true, from: String(from), to: String(to) });
    };
    add("dataBits", dataBits, changes.dataBits);
    add("stopBits", stopBits, changes.stopBits);
    add("parity", parity, changes.parity);
    this.#change({
      ...(changes.dataBits !== undefined && { dataBits: changes.dataBits }),
      ...(changes.stopBits !== undefined && { stopBits: changes.stopBits }),
      ...(changes.parity !== undefined && { parity: changes.parity }),
    });
    return applied;
  }

  /** Sets modem lines now, or for the next open. Throws reason `unsupported` when the port has none. */
  setLines(lines: { dtr?: boolean | undefined; rts?: boolean | undefined }): Applied[] {
    const before = this.lines;
    const names = (["dtr", "rts"] as const).filter((name) => lines[name] !== undefined);
    const asked = {
      ...(lines.dtr !== undefined && { dtr: lines.dtr }),
      ...(lines.rts !== undefined && { rts: lines.rts }),
    };
    const current = this.link.current;
    try {
      current?.port.setLines(asked);
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      const path = current?.info.path ?? "";
      if (error.kind === "unsupported") {
        throw failed(
          "unsupported",
          `${path} has no modem lines: ${names.join(" and ").toUpperCase()} cannot be set.`,
          "A virtual port has none; use a real adapter.",
        );
      }
      const reason = error.kind === "lost" ? "lost" : "write_failed";
      throw failed(reason, `Setting the modem lines of ${path} failed: ${error.message}`, "See serial_get_state.");
    }
    // What is set by hand is also what the next open sets: a reconnect changes no level.
    const level = (on: boolean): LineAtOpen => on ? "high" : "low";
    this.#change({
      ...(asked.dtr !== undefined && { dtr: level(asked.dtr) }),
      ...(asked.rts !== undefined && { rts: level(asked.rts) }),
    });
    if (current) {
      this.#tell("info", names.map((n) => `${n.toUpperCase()} ${asked[n] ? "high" : "low"}`).join(", "));
    }
    return names.map((name) => ({ name, ok: true, from: before[name], to: asked[name] ?? before[name] }));
  }

  /** What the modem lines are set to when the port is opened. Touches no open port. */
  setLinesAtOpen(levels: { dtr?: LineAtOpen | undefined; rts?: LineAtOpen | undefined }): void {
    this.#change({
      ...(levels.dtr !== undefined && { dtr: levels.dtr }),
      ...(levels.rts !== undefined && { rts: levels.rts }),
    });
  }

  setDisplay(changes: DisplayChanges): Applied[] {
    const applied = applyDisplay(this.settings, changes);
    this.log.frames = this.settings.viewMode === "hex";
    if (!this.settings.autoReconnect) this.link.stopWaiting();
    this.#kept();
    return applied;
  }

  /** Pauses while sending, ms: after each character 0 to 10,000, after each line 0 to 60,000. */
  setPacing({ charMs, lineMs }: { charMs?: number; lineMs?: number }): void {
    const inside = (ms: number | undefined, max: number) => ms === undefined || (ms >= 0 && ms <= max);
    if (!inside(charMs, 10_000) || !inside(lineMs, 60_000)) {
      throw invalid("Pacing: 0 to 10,000 ms a character, 0 to 60,000 ms a line.");
    }
    this.#change({
      ...(charMs !== undefined && { charDelayMs: charMs }),
      ...(lineMs !== undefined && { lineDelayMs: lineMs }),
    });
  }

  setLabel(label: string): void {
    this.#change({ label: label.slice(0, 64) });
  }

  /**
   * Opens, or switches port or rate while open; resolves when it is really open. The note says what was there before,
   * or what the driver made of the settings. Throws -32602 (unknown port) and what {@link PaneLink.open} throws.
   */
  async open(choice: { port?: string | undefined; baud?: number | undefined } = {}): Promise<string | undefined> {
    const { ports } = this.#options;
    const current = this.link.current;
    const baud = choice.baud ?? this.settings.baudRate;
    if (current && (choice.port === undefined || choice.port === this.settings.port) && this.#isOpenOn(current)) {
      return this.#keepOpen(current, baud);
    }
    const target = choice.port === undefined
      ? await chosenTarget(ports, this.settings)
      : await targetOf(ports, choice.port, this.settings);
    if (current && realPathOf(current.info.path) === realPathOf(target.info.path)) {
      this.#choose(target.wanted.path, target.wanted);
      return this.#keepOpen(current, baud);
    }
    const before = current && `${current.info.path} at ${this.settings.baudRate}`;
    if (current) {
      const other = this.#options.heldByPane(realPathOf(target.info.path));
      if (other !== undefined) {
        throw failed(
          "in_use",
          `${target.info.path} is in use by pane ${other}; ${before} is still open.`,
          `serial_close {pane:"${other}"} first.`,
        );
      }
      await this.link.close();
    }
    this.#choose(target.wanted.path, target.wanted);
    this.#change({ baudRate: baud });
    await this.#openTarget(target, before);
    const notes = [before && `was ${before}; closed it and opened ${target.info.path} at ${baud}`, this.link.mismatch];
    return notes.filter((n) => n !== undefined).join("; ") || undefined;
  }

  /** Closes, or ends the waiting for a lost device; resolves when the port is given back. False: it was closed. */
  async close(): Promise<boolean> {
    return await this.link.close();
  }

  /** As {@link PaneOutput.send}. */
  send(request: SendRequest, control: SendControl): Promise<{ mode: "text" | "hex"; bytes: number }> {
    return this.output.send(request, control);
  }

  /** Empties the view and this pane's files on disk; the log channels keep their lines. */
  async clear(): Promise<void> {
    try {
      await this.log.clear();
    } catch (error) {
      throw failed("write_failed", error instanceof Error ? error.message : String(error));
    } finally {
      this.#options.onChange();
    }
  }

  /** Gives the port back and closes the files. */
  async dispose(): Promise<void> {
    await this.link.dispose();
    await this.log.close();
  }

  #isOpenOn({ info }: OpenPort): boolean {
    const { port, wanted } = this.settings;
    return info.path === port || realPathOf(info.path) === realPathOf(wanted?.path ?? port);
  }

  /** The rate of an open port is changed in place: closing would drop DTR and reset many a board. */
  #keepOpen(current: OpenPort, baud: number): string {
    const before = this.settings.baudRate;
    if (baud === before) {
      return [`already open: ${current.info.path} at ${frameText(this.settings)}`, this.link.mismatch]
        .filter((n) => n !== undefined).join("; ");
    }
    const { to, error } = this.setBaud(baud);
    return `was ${current.info.path} at ${before}; its rate is ${to} now${error ? `: ${error}` : ""}`;
  }

  async #openTarget({ info, wanted }: Target, before: string | undefined): Promise<void> {
    try {
      await this.link.open(info, wanted);
    } catch (error) {
      if (before === undefined || !(error instanceof BenchError) || !error.reason) throw error;
      throw failed(error.reason, `${error.message} ${before} was closed before.`, error.hint, error.data);
    }
  }

  #choose(port: string, wanted: PaneSettings["wanted"]): void {
    this.#change({ port, wanted });
  }

  #change(changes: Partial<PaneSettings>): void {
    Object.assign(this.settings, changes);
    this.#kept();
  }

  #kept(): void {
    this.#options.onSettings();
    this.#options.onChange();
  }

  #tell(level: "info" | "warn" | "error", text: string, src: Source = "none"): void {
    this.#options.hub.log("app", level, `serial:${this.name}: ${text}`, { src });
    this.#options.hub.log("ui:sys", level, `serial:${this.name}: ${text}`, { src });
  }
}
