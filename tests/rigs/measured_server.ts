/**
 * The product's server in a process of its own that can be measured: memory of a test's own process is that of every
 * test in it. Its clock is the test's, so that idle limits pass at once.
 */
import { startApp } from "./app.ts";
import { usedMb } from "./memory.ts";
import { Collected, ROOT } from "./server.ts";

export interface Measured {
  /** Resident and, after full collections, used memory. */
  rssMb: number;
  usedMb: number;
  /** Open descriptors; 0 where the system does not tell. */
  files: number;
  sessions: number;
}

const IDLE = "idle";
const MEASURE = "measure";

/** Drives the server from the test. */
export class MeasuredServer implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: Collected;
  readonly #errors: Collected;
  #answers = 1;

  private constructor(child: Deno.ChildProcess, output: Collected, readonly origin: string) {
    this.#child = child;
    this.#input = child.stdin.getWriter();
    this.#output = output;
    this.#errors = new Collected(child.stderr);
  }

  static async start(): Promise<MeasuredServer> {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", `${ROOT}tests/rigs/measured_server.ts`],
      cwd: ROOT,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const output = new Collected(child.stdout);
    const origin = await output.firstLine();
    if (origin === undefined) throw new Error(await new Response(child.stderr).text());
    return new MeasuredServer(child, output, origin);
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  /** Half an hour passes. */
  async idle(): Promise<void> {
    await this.#ask(IDLE);
  }

  async measure(): Promise<Measured> {
    return JSON.parse(await this.#ask(MEASURE));
  }

  async #ask(what: string): Promise<string> {
    const nth = this.#answers++;
    await this.#input.write(new TextEncoder().encode(`${what}\n`));
    const line = await this.#output.until((text) => {
      const lines = text.split("\n");
      return lines.length > nth + 1 ? lines[nth] : undefined;
    });
    if (line === undefined) throw new Error(`it ended: ${await this.#errors.all}`);
    return line;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close();
    await Promise.all([this.#child.status, this.#output.all, this.#errors.all]);
  }
}

async function openFiles(): Promise<number> {
  let n = 0;
  try {
    for await (const _ of Deno.readDir("/proc/self/fd")) n++;
  } catch { /* not Linux */ }
  return n;
}

/** What is let go of only after a while (sockets, finalizers) has gone by then. */
async function settled(): Promise<Omit<Measured, "sessions">> {
  let used = usedMb();
  for (let i = 0; i < 5; i++) {
    await new Promise((r) => setTimeout(r, 50));
    used = Math.min(used, usedMb());
  }
  return { rssMb: Deno.memoryUsage().rss / 1024 / 1024, usedMb: used, files: await openFiles() };
}

async function serve(): Promise<void> {
  let now = 0;
  await using rig = await startApp({ tuning: { now: () => now, heartbeatMs: 1e12 } });
  console.log(rig.origin);
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    for (const command of text.split("\n").filter(Boolean)) {
      if (command === IDLE) {
        now += 30 * 60_000;
        rig.app.endpoints.tick();
        console.log("done");
      } else console.log(JSON.stringify({ ...await settled(), sessions: rig.app.endpoints.sessions }));
    }
  }
}

if (import.meta.main) await serve();
