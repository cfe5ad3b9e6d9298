import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's folder. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface ServerOptions {
  /** More arguments of `serve`. `--port 0 --headless --ready-json` and, unless there, `--rate-limit 0` are given. */
  args?: string[];
  env?: Record<string, string>;
  /** A folder that the test keeps; else a temporary one, removed by `stop`. */
  configDir?: string;
  /** No `--port`: the default one, or what the environment says. */
  defaultPort?: boolean;
  /** How long the start may take, in ms. */
  timeoutMs?: number;
}

/** A real `fieldbench serve` in a process of its own. */
export class ServerProcess implements AsyncDisposable {
  readonly origin: string;
  readonly url: string;
  readonly urlStreamable: string;
  readonly token: string;
  readonly pid: number;
  readonly configDir: string;
  /** All of standard output; the ready line is its first. */
  readonly stdout: Promise<string>;
  readonly #child: Deno.ChildProcess;
  readonly #errors: Collected;
  readonly #temporary: boolean;
  #stopped: Promise<number> | undefined;

  private constructor(
    child: Deno.ChildProcess,
    ready: Ready,
    configDir: string,
    temporary: boolean,
    stdout: Promise<string>,
    errors: Collected,
  ) {
    this.#child = child;
    this.url = ready.url;
    this.urlStreamable = ready.urlStreamable;
    this.origin = new URL(ready.urlStreamable).origin;
    this.token = ready.token;
    this.pid = ready.pid;
    this.configDir = configDir;
    this.stdout = stdout;
    this.#errors = errors;
    this.#temporary = temporary;
  }

  /** Resolves when the server is ready; throws with its standard error if it ends before. */
  static async start(options: ServerOptions = {}): Promise<ServerProcess> {
    const temporary = options.configDir === undefined;
    const configDir = options.configDir ?? await Deno.makeTempDir({ prefix: "fieldbench-test-" });
    const more = options.args ?? [];
    const rate = more.some((a) => a.startsWith("--rate-limit")) ? [] : ["--rate-limit", "0"];
    const asked = options.defaultPort || more.some((a) => a.startsWith("--port=") || a === "--port");
    const port = asked ? [] : ["--port", "0"];
    const fixed = ["--config-dir", configDir, "--headless", "--ready-json", ...port, ...rate];
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", join(ROOT, "main.ts"), "serve", ...fixed, ...more],
      cwd: ROOT,
      env: { NO_COLOR: "1", ...options.env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const errors = new Collected(child.stderr);
    const output = new Collected(child.stdout);
    const timer = setTimeout(() => child.kill("SIGKILL"), options.timeoutMs ?? 60_000);
    const line = await output.firstLine();
    clearTimeout(timer);
    if (line === undefined) {
      const status = await child.status;
      const told = await errors.all;
      if (temporary) await Deno.remove(configDir, { recursive: true });
      throw new Error(`serve ended with ${status.code} before it was ready:\n${told}`);
    }
    return new ServerProcess(child, JSON.parse(line), configDir, temporary, output.all, errors);
  }

  /** What it has written to standard error so far. */
  get stderr(): string {
    return this.#errors.text;
  }

  /** Resolves with the exit code when the process has ended by itself. */
  async ended(): Promise<number> {
    const status = await this.#child.status;
    await Promise.all([this.stdout, this.#errors.all]);
    return status.code;
  }

  signal(signal: Deno.Signal): void {
    this.#child.kill(signal);
  }

  /** Asks it to end (SIGTERM by default) and waits; gives the exit code. May be called again. */
  stop(signal: Deno.Signal = "SIGTERM"): Promise<number> {
    return this.#stopped ??= (async () => {
      try {
        this.#child.kill(signal);
      } catch { /* it has ended already */ }
      const timer = setTimeout(() => this.#child.kill("SIGKILL"), 20_000);
      const code = await this.ended();
      clearTimeout(timer);
      if (this.#temporary) await Deno.remove(this.configDir, { recursive: true });
      return code;
    })();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

export const startServer = (options: ServerOptions = {}): Promise<ServerProcess> => ServerProcess.start(options);

interface Ready {
  ready: boolean;
  url: string;
  urlStreamable: string;
  token: string;
  pid: number;
}

/** Reads a stream to its end, so that the process never waits for a full pipe. */
export class Collected {
  text = "";
  readonly all: Promise<string>;
  #waiting: (() => void)[] = [];
  #ended = false;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.all = this.#read(stream);
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<string> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      this.text += decoder.decode(chunk, { stream: true });
      this.#wake();
    }
    this.#ended = true;
    this.#wake();
    return this.text;
  }

  #wake(): void {
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Waits until `found` says so of the text so far, or the stream has ended; gives what `found` gave. */
  async until<T>(found: (text: string) => T | undefined): Promise<T | undefined> {
    for (;;) {
      const result = found(this.text);
      if (result !== undefined || this.#ended) return result;
      await new Promise<void>((go) => this.#waiting.push(go));
    }
  }

  firstLine(): Promise<string | undefined> {
    return this.until((text) => (text.includes("\n") ? text.slice(0, text.indexOf("\n")) : undefined));
  }
}
