import { join } from "node:path";
import { Collected, ROOT } from "../rigs/server.ts";

export interface Ended {
  code: number;
  out: string;
  err: string;
}

const command = (args: readonly string[], env: Record<string, string>, stdin: "null" | "piped") =>
  new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", join(ROOT, "main.ts"), ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", ...env },
    stdin,
    stdout: "piped",
    stderr: "piped",
  });

/** Runs `fieldbench …` to its end, as a user would. */
export async function fieldbench(
  args: readonly string[],
  options: { env?: Record<string, string>; stdin?: string } = {},
): Promise<Ended> {
  const child = command(args, options.env ?? {}, options.stdin === undefined ? "null" : "piped").spawn();
  if (options.stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(options.stdin));
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

/** A `fieldbench …` that lives until it is stopped. */
export class Living implements AsyncDisposable {
  readonly out: Collected;
  readonly err: Collected;
  readonly #child: Deno.ChildProcess;
  #ended: Promise<number> | undefined;

  constructor(args: readonly string[], env: Record<string, string> = {}) {
    this.#child = command(args, env, "null").spawn();
    this.out = new Collected(this.#child.stdout);
    this.err = new Collected(this.#child.stderr);
  }

  signal(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Its first `count` lines of output. Throws if it ends before. */
  async lines(count: number): Promise<string[]> {
    const found = await this.out.until((text) => {
      const lines = text.split("\n").slice(0, -1);
      return lines.length >= count ? lines.slice(0, count) : undefined;
    });
    if (found) return found;
    throw new Error(`it ended with ${await this.ended()}: ${await this.err.all}`);
  }

  ended(): Promise<number> {
    return this.#ended ??= (async () => {
      const [status] = await Promise.all([this.#child.status, this.out.all, this.err.all]);
      return status.code;
    })();
  }

  async stop(signal: Deno.Signal = "SIGINT"): Promise<number> {
    try {
      this.#child.kill(signal);
    } catch { /* it has ended already */ }
    return await this.ended();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
  }
}

/** No stack and no inner name of an error, whatever went wrong. */
export function assertForPeople(text: string): void {
  if (/\n\s+at |\.ts:\d|error: Uncaught|\(os error/.test(text)) throw new Error(`not for people: ${text}`);
}
