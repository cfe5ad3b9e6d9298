import type { OpenOptions, PortInfo, SerialDriver, SerialPort } from "../port.ts";
import { linuxHolder } from "./holder_linux.ts";
import { fingerprintDarwin, listDarwin } from "./list_darwin.ts";
import { fingerprintLinux, listLinux, type Roots, SYSTEM_ROOTS } from "./list_linux.ts";
import { openPort } from "./open.ts";

const onMac = Deno.build.os === "darwin";

class UnixDriver implements SerialDriver {
  readonly #roots: Roots;

  constructor(roots: Roots) {
    this.#roots = roots;
  }

  list(): Promise<PortInfo[]> {
    return Promise.resolve(onMac ? listDarwin(this.#roots.dev) : listLinux(this.#roots));
  }

  fingerprint(): string {
    return onMac ? fingerprintDarwin(this.#roots.dev) : fingerprintLinux(this.#roots);
  }

  /** Also what cannot be found at once comes as a rejection. */
  // deno-lint-ignore require-await
  async open(options: OpenOptions): Promise<SerialPort> {
    return openPort(options);
  }

  /** macOS has no /proc: who holds a port is not known there. */
  holder(path: string): string | undefined {
    return onMac ? undefined : linuxHolder(path);
  }
}

/** Serial ports of Linux (proved) and macOS (unproved). `roots` is for tests of the listing. */
export const unixDriver = (roots: Partial<Roots> = {}): SerialDriver => new UnixDriver({ ...SYSTEM_ROOTS, ...roots });
