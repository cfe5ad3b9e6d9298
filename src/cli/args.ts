import { parseArgs } from "node:util";

/** The command line is wrong: told with what is right, exit status 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** What was asked for could not be done: told without a stack, exit status 1 unless `status` says otherwise. */
export class CliError extends Error {
  override name = "CliError";
  readonly status: number;
  constructor(message: string, status = 1) {
    super(message);
    this.status = status;
  }
}

export interface Flag {
  readonly type: "boolean" | "string";
  /** May be given several times; in the environment the values are separated by `;`. */
  readonly multiple?: boolean;
  /** What the value is called in the help. */
  readonly value?: string;
  readonly help: string;
  /** The environment variable `FIELDBENCH_<NAME>` stands for the flag where the flag is not given. */
  readonly env?: boolean;
}
export type Flags = Readonly<Record<string, Flag>>;

/** Flags as given: string flags by name, each with where it was said, for messages. */
export interface Parsed {
  /** Last value given. */
  string(name: string): string | undefined;
  strings(name: string): string[];
  boolean(name: string): boolean;
  /** `--port` or `FIELDBENCH_PORT`, whichever gave the value. */
  origin(name: string): string;
  readonly positionals: readonly string[];
}

export const envName = (flag: string): string => `FIELDBENCH_${flag.toUpperCase().replaceAll("-", "_")}`;

const YES = ["1", "true", "yes", "on"];
const NO = ["", "0", "false", "no", "off"];

/** Reads arguments and, where a flag was not given, its environment twin. Throws {@link UsageError}. */
export function parseFlags(
  flags: Flags,
  args: readonly string[],
  env: (name: string) => string | undefined,
  positionals: { least: number; most: number; usage: string },
): Parsed {
  const options = Object.fromEntries(Object.entries(flags).map(([name, f]) => [name, { type: f.type }]));
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const given = new Map<string, string[]>();
  const origins = new Map<string, string>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined;
    if (!flag) throw new UsageError(unknown("flag", token.rawName, Object.keys(flags).map((n) => `--${n}`)));
    if (flag.type === "boolean" && token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`);
    // A flag in the place of a value is a value that was forgotten.
    const forgotten = !token.value || (!token.inlineValue && token.value.startsWith("--"));
    if (flag.type === "string" && forgotten) {
      throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${flag.value ?? "VALUE"}`);
    }
    const values = flag.multiple ? given.get(token.name) ?? [] : [];
    given.set(token.name, [...values, token.value ?? "true"]);
    origins.set(token.name, token.rawName);
  }
  for (const [name, flag] of Object.entries(flags)) {
    const value = flag.env && !given.has(name) ? env(envName(name)) : undefined;
    if (value === undefined) continue;
    origins.set(name, envName(name));
    if (flag.type === "string") {
      const values = flag.multiple ? value.split(";").map((v) => v.trim()).filter((v) => v !== "") : [value];
      if (value !== "") given.set(name, values);
    } else if (YES.includes(value.toLowerCase())) {
      given.set(name, ["true"]);
    } else if (!NO.includes(value.toLowerCase())) {
      throw new UsageError(`${envName(name)} must be 1 or 0, not "${value}"`);
    }
  }
  if (words.length < positionals.least) throw new UsageError(`something is missing. Usage: ${positionals.usage}`);
  if (words.length > positionals.most) {
    throw new UsageError(`"${words[positionals.most]}" is too much. Usage: ${positionals.usage}`);
  }
  return {
    string: (name) => given.get(name)?.at(-1),
    strings: (name) => given.get(name) ?? [],
    boolean: (name) => given.has(name),
    origin: (name) => origins.get(name) ?? `--${name}`,
    positionals: words,
  };
}

/** A whole number within bounds. Throws {@link UsageError} that names the flag, or the variable, that was wrong. */
export function wholeNumber(parsed: Parsed, name: string, least: number, most: number): number | undefined {
  const text = parsed.string(name);
  if (text === undefined) return undefined;
  const number = /^\d+$/.test(text) ? Number(text) : NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`${parsed.origin(name)} must be a whole number from ${least} to ${most}, not "${text}"`);
}

/** `unknown flag --prot. Did you mean --port? Known: …` */
export function unknown(what: string, name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return `unknown ${what} ${name}.${near ? ` Did you mean ${near}?` : ""} Known: ${known.join(", ")}`;
}

/** The known name that is the fewest changes away, if they are few. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const ranked = known.map((k) => ({ k, d: distance(name.toLowerCase(), k.toLowerCase()) })).sort((a, b) => a.d - b.d);
  const best = ranked[0];
  return best && best.d <= Math.max(2, Math.floor(best.k.length / 3)) ? best.k : undefined;
}

/** Insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function distance(a: string, b: string): number {
  let older: number[] = [];
  let old = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((old[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (old[j - 1] ?? 0) + same);
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, (older[j - 2] ?? 0) + 1);
      row.push(least);
    }
    older = old;
    old = row;
  }
  return old[b.length] ?? 0;
}
