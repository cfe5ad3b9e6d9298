import { dirname, join } from "node:path";
import { LIMITS } from "../../tools/mod.ts";
import { makeFolder, whyFailed } from "./files.ts";
import type { McpConfig } from "./mcp_config.ts";

export const CALL_LOG_FILE = "ai-calls.jsonl";

/** A call that ended, as the gate tells of it. */
export interface EndedCall {
  /** ms since the epoch, when it began. */
  readonly at: number;
  readonly session: string;
  readonly tool: string;
  readonly args: unknown;
  readonly ok: boolean;
  readonly error?: string | undefined;
  readonly durationMs: number;
  readonly output?: unknown;
}

/** One line of the file. */
export interface CallEntry {
  seq: number;
  ts: string;
  session: string;
  tool: string;
  args: unknown;
  ok: boolean;
  error: string | null;
  durationMs: number;
  effects: unknown[];
  result?: unknown;
}

export interface CallLogOptions {
  /** `ai-calls.jsonl` in the configuration folder. */
  path: string;
  /** Settings now; looked at with each call. */
  settings: () => McpConfig["callLog"];
  /** Takes the server's token out of a text. */
  mask?: (text: string) => string;
  /** Told once when the file cannot be written, and again when it can. */
  onProblem?: (text: string) => void;
}

/** Calls that may wait for the disk; more are dropped and counted. */
const MAX_PENDING = 10_000;
const FLUSH_MS = 200;

/**
 * Which tools agents called: a JSON object a line, apart from the user's settings. A call costs its caller one push
 * into a queue; a timer turns what waits into text and appends it. The file is rotated by size.
 */
export class CallLog {
  readonly #options: CallLogOptions;
  #pending: EndedCall[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();
  #ready: Promise<void> | undefined;
  #closed = false;
  #broken = false;
  /** Number of the newest record; goes on where an earlier run ended. */
  seq = 0;
  dropped = 0;
  totalCalls = 0;
  readonly byTool = new Map<string, number>();
  firstAt: number | undefined;
  lastAt: number | undefined;

  constructor(options: CallLogOptions) {
    this.#options = options;
  }

  get enabled(): boolean {
    return this.#options.settings().enabled;
  }

  /** Never throws, never waits. */
  record(call: EndedCall): void {
    if (!this.enabled || this.#closed) return;
    if (this.#pending.length >= MAX_PENDING) {
      this.dropped++;
      return;
    }
    this.#pending.push(call);
    this.totalCalls++;
    this.byTool.set(call.tool, (this.byTool.get(call.tool) ?? 0) + 1);
    this.firstAt ??= call.at;
    this.lastAt = call.at;
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS);
  }

  /** Resolves when every call recorded so far is in the file, or could not be written. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
  }

  /** Size of the current file, bytes. */
  async fileBytes(): Promise<number> {
    await this.flush();
    return await sizeOf(this.#options.path);
  }

  /**
   * Records at the end of the file, oldest first. `tailOnly`: there are older ones that were not looked at. Lines that
   * are not records are passed over.
   */
  async tail(): Promise<{ entries: CallEntry[]; tailOnly: boolean }> {
    await this.#load();
    await this.flush();
    const { text, whole } = await readEnd(this.#options.path, LIMITS.callLogTailBytes);
    const entries = text.split("\n").flatMap((line) => parseEntry(line) ?? []);
    return { entries, tailOnly: !whole || (await sizeOf(rotated(this.#options.path, 1))) > 0 };
  }

  async #write(): Promise<void> {
    if (this.#pending.length === 0) return;
    await this.#load();
    const calls = this.#pending;
    this.#pending = [];
    const text = calls.map((c) => JSON.stringify(this.#entry(c)) + "\n").join("");
    try {
      const bytes = new TextEncoder().encode(text);
      await this.#rotate(bytes.length);
      await Deno.writeFile(this.#options.path, bytes, { append: true, mode: 0o600 });
      if (this.#broken) this.#options.onProblem?.("The call log is written again.");
      this.#broken = false;
    } catch (error) {
      this.dropped += calls.length;
      if (!this.#broken) this.#options.onProblem?.(`The call log cannot be written: ${whyFailed(error)}.`);
      this.#broken = true;
    }
  }

  /** The number to go on with. */
  #load(): Promise<void> {
    return this.#ready ??= (async () => {
      await makeFolder(dirname(this.#options.path)).catch(() => {});
      const { text } = await readEnd(this.#options.path, 64 * 1024 + 2 * this.#options.settings().maxPayloadChars);
      for (const line of text.split("\n")) this.seq = Math.max(this.seq, parseEntry(line)?.seq ?? 0);
    })();
  }

  async #rotate(more: number): Promise<void> {
    const { path } = this.#options;
    const { maxFileMiB, rotateKeep } = this.#options.settings();
    const size = await sizeOf(path);
    if (size === 0 || size + more <= maxFileMiB * 1024 * 1024) return;
    await Deno.remove(rotated(path, rotateKeep)).catch(() => {});
    for (let n = rotateKeep - 1; n >= 1; n--) await Deno.rename(rotated(path, n), rotated(path, n + 1)).catch(() => {});
    if (rotateKeep > 0) await Deno.rename(path, rotated(path, 1));
    else await Deno.remove(path);
  }

  #entry(call: EndedCall): CallEntry {
    const settings = this.#options.settings();
    const mask = this.#options.mask ?? ((text: string) => text);
    const shorten = (value: unknown): unknown => {
      const clean = redact(value);
      const plain = JSON.stringify(clean) ?? "null";
      const text = mask(plain);
      const max = settings.maxPayloadChars;
      if (text.length <= max) return text === plain ? clean : JSON.parse(text);
      return `${text.slice(0, max)}… [cut, ${text.length} characters]`;
    };
    return {
      seq: ++this.seq,
      ts: new Date(call.at).toISOString(),
      // Part of it tells sessions apart; the whole would let a reader take a session over.
      session: call.session.slice(0, 8),
      tool: mask(call.tool).slice(0, 64),
      args: settings.includeArgs ? shorten(call.args ?? {}) : null,
      ok: call.ok,
      error: call.error === undefined ? null : mask(call.error).slice(0, 500),
      durationMs: call.durationMs,
      effects: effectsOf(call.output),
      ...(settings.includeResults && call.ok && { result: shorten(call.output) }),
    };
  }
}

const rotated = (path: string, n: number): string => join(dirname(path), `ai-calls.${n}.jsonl`);

const sizeOf = (path: string): Promise<number> => Deno.stat(path).then((s) => s.size, () => 0);

/** The last `max` bytes of a file, from the first whole line. */
async function readEnd(path: string, max: number): Promise<{ text: string; whole: boolean }> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(path);
  } catch {
    return { text: "", whole: true };
  }
  try {
    const { size } = await file.stat();
    const from = Math.max(0, size - max);
    await file.seek(from, Deno.SeekMode.Start);
    const bytes = new Uint8Array(size - from);
    let n = 0;
    while (n < bytes.length) {
      const got = await file.read(bytes.subarray(n));
      if (got === null) break;
      n += got;
    }
    const text = new TextDecoder().decode(bytes.subarray(0, n));
    return from === 0 ? { text, whole: true } : { text: text.slice(text.indexOf("\n") + 1), whole: false };
  } catch {
    return { text: "", whole: true }; // not a file: writing to it will tell
  } finally {
    file.close();
  }
}

function parseEntry(line: string): CallEntry | undefined {
  if (!line.startsWith('{"seq":')) return undefined;
  let v: unknown;
  try {
    v = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(v)) return undefined;
  const { seq, ts, session, tool, args, ok, error, durationMs, effects, result } = v;
  if (typeof seq !== "number" || typeof ts !== "string" || typeof tool !== "string") return undefined;
  return {
    seq,
    ts,
    session: String(session ?? ""),
    tool,
    args,
    ok: ok === true,
    error: typeof error === "string" ? error : null,
    durationMs: Number(durationMs ?? 0),
    effects: Array.isArray(effects) ? effects : [],
    ...(result !== undefined && { result }),
  };
}

const SECRET = /pass(word|wd|phrase)?$|secret|token|api_?key|authorization|credential|^pin$/i;

/** Values under names that speak of a secret become `***`; everything else stays. */
function redact(value: unknown, depth = 0): unknown {
  if (depth > 20) return "…";
  if (Array.isArray(value)) return value.map((v) => redact(v, depth + 1));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => [k, SECRET.test(k) ? "***" : redact(v, depth + 1)]),
  );
}

/** What a tool says that it changed: controls of the page, or settings of a pane. */
function effectsOf(output: unknown): unknown[] {
  if (!isRecord(output)) return [];
  const effects = output["effects"] ?? output["applied"];
  return Array.isArray(effects) ? effects.slice(0, 50) : [];
}

const isRecord = (x: unknown): x is Record<string, unknown> => typeof x === "object" && x !== null && !Array.isArray(x);
