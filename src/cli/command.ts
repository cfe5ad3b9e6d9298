import type { Flags, Parsed } from "./args.ts";

/** Where a command speaks. Results go to `out`, everything else to `err`. */
export interface Io {
  out(text: string): void;
  err(text: string): void;
  env(name: string): string | undefined;
  readonly os: typeof Deno.build.os;
}

/** One command of the command line. */
export interface Command {
  /** `fieldbench call TOOL [JSON]` without its flags. */
  readonly usage: string;
  readonly flags: Flags;
  readonly positionals?: { least: number; most: number };
  /** More for the help: what the exit status means, an example. */
  readonly notes?: string;
  /** Gives the exit status. */
  run(parsed: Parsed, io: Io): Promise<number>;
}

/** The flag that names the configuration folder, the same for every command that needs it. */
export const configDirFlag: Flags = {
  "config-dir": { type: "string", value: "DIR", help: "configuration folder", env: true },
};
export const jsonFlag: Flags = { json: { type: "boolean", help: "print JSON" } };
