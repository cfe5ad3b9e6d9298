import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Bench, type BenchOptions } from "../../src/bench/bench.ts";
import { LogHub } from "../../src/bench/log_hub.ts";
import { MemoryDriver } from "../../src/drivers/serial/memory.ts";
import { systemDriver } from "../../src/drivers/serial/mod.ts";
import { type OpenOptions, PortError, type SerialDriver } from "../../src/drivers/serial/port.ts";
import { openPty, type Pty } from "../../src/drivers/serial/pty.ts";
import { Gate } from "../../src/gate/gate.ts";
import { logHandlers } from "../../src/handlers/log.ts";
import { serialHandlers } from "../../src/handlers/serial.ts";
import type { CallContext } from "../../src/handlers/types.ts";
import { loadConfig } from "../../src/store/config.ts";
import { findTool, type OutputOf, type ToolName } from "../../tools/mod.ts";

export type Bytes = Uint8Array<ArrayBuffer>;

/** Polls until it holds; the deadline is only there so that a failure ends. */
export const until = async (holds: () => unknown, what: string, deadlineMs = 20_000): Promise<void> => {
  const end = performance.now() + deadlineMs;
  while (!await holds()) {
    if (performance.now() > end) throw new Error(`still not so after ${deadlineMs} ms: ${what}`);
    await delay(3);
  }
};

/** The device at the other end of a virtual port: a PTY master behind a link that keeps its name. */
export class PtyDevice {
  /** The name to open: a symbolic link, the same for each life of the device. */
  readonly path: string;
  #pty: Pty;
  #chunks: Bytes[] = [];
  #reading: Promise<void> | undefined;
  /** Bytes that came in, ever. */
  count = 0;
  /** When each chunk came: bytes and `performance.now()`. */
  readonly times: { count: number; at: number }[] = [];
  #paused: PromiseWithResolvers<void> | undefined;

  private constructor(path: string, pty: Pty) {
    this.path = path;
    this.#pty = pty;
    this.#reading = this.#read(pty);
  }

  static async plug(path: string): Promise<PtyDevice> {
    const pty = openPty();
    await Deno.symlink(pty.path, path);
    return new PtyDevice(path, pty);
  }

  /** The device node of this life. */
  get node(): string {
    return this.#pty.path;
  }

  /** Everything received, as bytes. */
  get received(): Bytes {
    const all = new Uint8Array(this.#chunks.reduce((n, c) => n + c.length, 0));
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [all];
    return all;
  }

  get text(): string {
    return new TextDecoder().decode(this.received);
  }

  /** Forgets what came so far. */
  forget(): void {
    this.#chunks = [];
    this.count = 0;
  }

  /** Takes nothing more, so that the sender's buffer fills. */
  pause(): void {
    this.#paused ??= Promise.withResolvers();
  }

  resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  async write(data: string | Bytes): Promise<void> {
    await this.#pty.write(typeof data === "string" ? new TextEncoder().encode(data) : data);
  }

  /** Pulls the plug. */
  async unplug(): Promise<void> {
    this.resume();
    await Deno.remove(this.path).catch(() => {});
    await this.#pty.close();
    await this.#reading;
  }

  /** Plugs it in again: another device node behind the same link. `first` is done before the name is there. */
  async replug(first?: (node: string) => Promise<void>): Promise<void> {
    this.#pty = openPty();
    this.#reading = this.#read(this.#pty);
    await first?.(this.#pty.path);
    await Deno.remove(this.path).catch(() => {});
    await Deno.symlink(this.#pty.path, this.path);
  }

  async #read(pty: Pty): Promise<void> {
    const buffer = new Uint8Array(65_536);
    try {
      for (;;) {
        await this.#paused?.promise;
        const n = await pty.read(buffer);
        this.count += n;
        this.#chunks.push(buffer.slice(0, n));
        this.times.push({ count: n, at: performance.now() });
      }
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
    }
  }
}

export interface CallOptions {
  src?: "ai" | "ui";
  signal?: AbortSignal;
  progress?: (done: number, total?: number) => void;
}

export interface RigOptions extends Omit<BenchOptions, "hub" | "driver" | "config"> {
  driver?: SerialDriver;
  hub?: LogHub;
  /** Keep the session on disk, under `<folder>/log-cache`. */
  session?: boolean;
  /** What `config.json` holds at the start. */
  config?: unknown;
  /** A folder of an earlier rig, kept. */
  folder?: string;
}

/** A bench in a temporary folder with the gate in front of it, as the server has it; without wire and page. */
export class BenchRig implements AsyncDisposable {
  readonly folder: string;
  readonly bench: Bench;
  readonly hub: LogHub;
  readonly driver: SerialDriver;
  readonly gate: Gate;
  readonly devices: PtyDevice[] = [];
  readonly #ownFolder: boolean;

  private constructor(folder: string, ownFolder: boolean, bench: Bench, driver: SerialDriver) {
    this.folder = folder;
    this.#ownFolder = ownFolder;
    this.bench = bench;
    this.hub = bench.hub;
    this.driver = driver;
    this.gate = new Gate({ ...serialHandlers(bench), ...logHandlers(bench.hub) }, {
      rateLimitPerMin: 0,
      readOnly: () => false,
      hub: bench.hub,
    });
  }

  static async open(options: RigOptions = {}): Promise<BenchRig> {
    const { driver = systemDriver(), hub = new LogHub(), session = false, config, folder, ...rest } = options;
    const home = folder ?? await Deno.makeTempDir({ prefix: "fieldbench-bench-" });
    const file = join(home, "config.json");
    if (config !== undefined) await Deno.writeTextFile(file, JSON.stringify(config));
    const bench = new Bench({
      hub,
      driver,
      config: await loadConfig(file),
      ...(session && { sessionLogFolder: join(home, "log-cache") }),
      ...rest,
    });
    return new BenchRig(home, folder === undefined, bench, driver);
  }

  /** Runs a tool as a call that came in: arguments checked, locks taken, answer checked. */
  async call<N extends ToolName>(name: N, args: Record<string, unknown> = {}, options: CallOptions = {}): Promise<
    { output: OutputOf<N>; text: string }
  > {
    const context: CallContext = {
      caller: { kind: options.src === "ui" ? "page" : "agent", session: "test", src: options.src ?? "ai" },
      signal: options.signal ?? new AbortController().signal,
      progress: options.progress ?? (() => {}),
    };
    const answer = await this.gate.call(name, args, context);
    return { output: outputOf(name, answer.output), text: answer.text };
  }

  /** The text rows of a channel, oldest first. */
  lines(channel: string): string[] {
    const ring = this.hub.find(channel)?.ring;
    const rows: string[] = [];
    if (!ring) return rows;
    for (let seq = ring.firstSeq; seq <= ring.lastSeq; seq++) {
      rows.push(new TextDecoder().decode(ring.get(seq)?.bytes));
    }
    return rows;
  }

  /** Contents of the session files of a pane, by kind, parts in order. */
  async session(pane: string, kind: "rx.bin" | "tx.bin" | "log"): Promise<Bytes> {
    await this.bench.panes.need(pane).log.flush();
    const names: string[] = [];
    for await (const entry of Deno.readDir(join(this.folder, "log-cache"))) {
      if (entry.name.startsWith(`session-${pane}-`) && entry.name.endsWith(`.${kind}`)) names.push(entry.name);
    }
    const parts = await Promise.all(names.sort().map((n) => Deno.readFile(join(this.folder, "log-cache", n))));
    const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bench.close();
    for (const device of this.devices) await device.unplug();
    if (this.#ownFolder) await Deno.remove(this.folder, { recursive: true });
  }
}

const isOutput = <N extends ToolName>(name: N, value: unknown): value is OutputOf<N> =>
  findTool(name)?.output.safeParse(value).success ?? false;

const outputOf = <N extends ToolName>(name: N, value: unknown): OutputOf<N> => {
  if (!isOutput(name, value)) throw new Error(`the answer of ${name} does not fit the table`);
  return value;
};

/** A bench with virtual ports of this system: `ports` PTYs named `port-1` … in the rig's folder. */
export const ptyRig = async ({ ports = 1, ...options }: RigOptions & { ports?: number } = {}): Promise<
  BenchRig & { device: PtyDevice }
> => {
  const folder = options.folder ?? await Deno.makeTempDir({ prefix: "fieldbench-bench-" });
  const devices: PtyDevice[] = [];
  for (let n = 1; n <= ports; n++) devices.push(await PtyDevice.plug(join(folder, `port-${n}`)));
  const extraPorts = [...(options.extraPorts ?? []), { label: "virtual", path: join(folder, "port-*") }];
  const rig = await BenchRig.open({ ...options, folder, extraPorts });
  rig.devices.push(...devices);
  const [device] = devices;
  if (!device) throw new Error("a rig has at least one port");
  const dispose = rig[Symbol.asyncDispose].bind(rig);
  return Object.assign(rig, {
    device,
    [Symbol.asyncDispose]: async () => {
      await dispose();
      if (options.folder === undefined) await Deno.remove(folder, { recursive: true });
    },
  });
};

/** A bench over the written-down fake, for what a PTY lacks. */
export const memoryRig = async (
  options: Omit<RigOptions, "driver"> & { driver?: MemoryDriver } = {},
): Promise<BenchRig & { driver: MemoryDriver }> => {
  const driver = options.driver ?? new MemoryDriver();
  const rig = await BenchRig.open({ ...options, driver });
  return Object.assign(rig, { driver });
};

/** Holds a port from another process, as another terminal program does; resolves when it is held. */
export const holdFromOutside = async (path: string): Promise<{ pid: number; release(): Promise<void> }> => {
  const args = ["-n", "-F", path, "sh", "-c", "echo held; exec sleep 600"];
  const child = new Deno.Command("flock", { args, stdout: "piped", stderr: "inherit" }).spawn();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  if (new TextDecoder().decode(value).trim() !== "held") {
    await reader.cancel();
    await child.status;
    throw new Error(`could not hold ${path}`);
  }
  return {
    pid: child.pid,
    release: async () => {
      child.kill("SIGKILL");
      await reader.cancel();
      await child.status;
    },
  };
};

/** A driver of which each call can be replaced. */
export const driverLike = (base: SerialDriver, changes: Partial<SerialDriver>): SerialDriver => ({
  list: () => base.list(),
  fingerprint: () => base.fingerprint(),
  open: (options: OpenOptions) => base.open(options),
  holder: (path: string) => base.holder(path),
  ...changes,
});
