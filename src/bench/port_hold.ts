import type { OpenOptions, SerialDriver, SerialPort } from "../drivers/serial/port.ts";
import { CANCELED, within } from "./within.ts";

export interface PortHoldOptions {
  driver: SerialDriver;
  /** How long an open may take, ms. */
  openMs: number;
  /** ms, monotonic. */
  now(): number;
  warn(text: string): void;
}

/** What one pane holds of its driver: opens under way and a port on its way back. No port is ever forgotten open. */
export class PortHold {
  readonly #options: PortHoldOptions;
  /** Opens under way, also those that a timeout or a close overtook: these are closed when they come. */
  readonly #opens = new Set<Promise<void>>();
  #releasing: Promise<void> | undefined;

  constructor(options: PortHoldOptions) {
    this.#options = options;
  }

  /** Something is still being opened or given back. */
  get busy(): boolean {
    return this.#releasing !== undefined || this.#opens.size > 0;
  }

  /** Resolves when the port that was given back last is free; undefined while none is on its way. */
  get releasing(): Promise<void> | undefined {
    return this.#releasing;
  }

  /** Resolves when every open under way has ended, and what came of those that nobody wanted is closed. */
  async opensEnded(): Promise<void> {
    await Promise.all(this.#opens);
  }

  /** Throws what the driver throws, TIMED_OUT or CANCELED. An open that nobody waits for any more is undone. */
  async open(options: OpenOptions, signal: AbortSignal): Promise<SerialPort> {
    const { now, openMs, driver } = this.#options;
    const end = now() + openMs;
    // What we still hold ourselves must not be what makes the port "in use".
    const before = [...this.#opens, ...(this.#releasing ? [this.#releasing] : [])];
    if (before.length > 0) await within(Promise.all(before), openMs, signal);
    if (signal.aborted) throw CANCELED;
    const opening = Promise.resolve().then(() => driver.open(options));
    let abandoned = false;
    let opened: SerialPort | undefined;
    this.#track(opening.then((port) => {
      opened = port;
      return abandoned ? port.close() : undefined;
    }));
    try {
      return await within(opening, Math.max(1, end - now()), signal);
    } catch (error) {
      abandoned = true;
      if (opened) this.#track(opened.close());
      throw error;
    }
  }

  /** Gives the port back; nothing opens it again before that. */
  release(port: SerialPort): void {
    const releasing = Promise.resolve().then(() => port.close()).catch((error) => {
      this.#options.warn(`closing ${port.path}: ${error instanceof Error ? error.message : String(error)}`);
    }).then(() => {
      if (this.#releasing === releasing) this.#releasing = undefined;
    });
    this.#releasing = releasing;
  }

  #track(promise: Promise<unknown>): void {
    const over = promise.then(() => {}, () => {}).then(() => void this.#opens.delete(over));
    this.#opens.add(over);
  }
}
