/** Child processes of a benchmark, and what Linux tells of one. */
import { Collected } from "../../../tests/rigs/server.ts";

/** A child whose output is read line by line. */
export class Child {
  readonly pid: number;
  readonly #child: Deno.ChildProcess;
  readonly #out: Collected;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  #taken = 0;

  constructor(command: string, args: string[], cwd?: string) {
    this.#child = new Deno.Command(command, {
      args,
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
      ...(cwd && { cwd }),
    }).spawn();
    this.pid = this.#child.pid;
    this.#out = new Collected(this.#child.stdout);
    this.#input = this.#child.stdin.getWriter();
  }

  /** The next line of its output. */
  async line(): Promise<string> {
    const line = await this.#out.until((text) => {
      const end = text.indexOf("\n", this.#taken);
      return end < 0 ? undefined : text.slice(this.#taken, end);
    });
    if (line === undefined) throw new Error(`process ${this.pid} ended without another line`);
    this.#taken += line.length + 1;
    return line;
  }

  async say(text: string): Promise<void> {
    await this.#input.write(new TextEncoder().encode(text));
  }

  async stop(): Promise<void> {
    try {
      this.#child.kill("SIGTERM");
    } catch { /* it has ended already */ }
    await this.#input.close().catch(() => {});
    await this.#child.status;
    await this.#out.all;
  }
}

export const device = (...args: string[]): Child =>
  new Child(Deno.execPath(), ["run", "-A", "--quiet", new URL("./device.ts", import.meta.url).pathname, ...args]);

/** CPU seconds that a process has used so far (user and system). */
export async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await Deno.readTextFile(`/proc/${pid}/stat`)).split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Resident memory of a process in MB. */
export async function residentMb(pid: number): Promise<number> {
  const kb = /VmRSS:\s+(\d+)/.exec(await Deno.readTextFile(`/proc/${pid}/status`))?.[1];
  return Number(kb) / 1000;
}

export const sleep = (ms: number): Promise<void> => new Promise((r) => setTimeout(r, ms));
