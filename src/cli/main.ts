import { BenchError } from "../core/errors.ts";
import { SettingsError } from "../store/json_file.ts";
import { CliError, envName, type Flags, parseFlags, unknown, UsageError } from "./args.ts";
import type { Command, Io } from "./command.ts";
import { VERSION } from "./version.ts";

/** Each is loaded when it is asked for, so that none pays for another. */
const COMMANDS: Readonly<Record<string, { summary: string; load: () => Promise<{ command: Command }> }>> = {
  serve: { summary: "the server and the page", load: () => import("./serve.ts") },
  ports: { summary: "serial ports of this computer", load: () => import("./ports.ts") },
  tools: { summary: "the tools that agents see", load: () => import("./tools.ts") },
  call: { summary: "call one tool on the running server", load: () => import("./call.ts") },
  mcp: { summary: "MCP on standard input and output", load: () => import("./mcp.ts") },
  connect: { summary: "the entry for an MCP client's settings", load: () => import("./connect.ts") },
  pair: { summary: "virtual serial pairs, until stopped", load: () => import("./pair.ts") },
  sim: { summary: "a simulated device on a virtual port", load: () => import("./sim.ts") },
  doctor: { summary: "what is wrong here, and what mends it", load: () => import("./doctor.ts") },
};

const encoder = new TextEncoder();

/** Writes all of it, also into a pipe that takes little at a time. A reader that has gone is no error. */
function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  const bytes = encoder.encode(text);
  try {
    for (let done = 0; done < bytes.length;) done += stream.writeSync(bytes.subarray(done));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

const systemIo = (): Io => ({
  out: (text) => writeAll(Deno.stdout, `${text}\n`),
  err: (text) => writeAll(Deno.stderr, `${text}\n`),
  env: (name) => Deno.env.get(name),
  os: Deno.build.os,
});

/** The command line: runs one command and ends the process with its status. */
export async function main(args: readonly string[]): Promise<never> {
  return Deno.exit(await run(args, systemIo()));
}

/** As {@link main}, but gives the status: 0 done, 1 failed, 2 the command line is wrong. Never throws. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = args;
  try {
    if (name === undefined || name === "--help" || name === "-h" || name === "help") {
      const about = name === "help" && rest[0] !== undefined ? rest[0] : undefined;
      io.out(about === undefined ? generalHelp() : await commandHelp(about));
      return name === undefined ? 2 : 0;
    }
    if (name === "--version" || name === "-V" || name === "version") {
      io.out(`fieldbench ${VERSION}`);
      return 0;
    }
    if (rest.slice(0, rest.indexOf("--") >>> 0).some((a) => a === "--help" || a === "-h")) {
      io.out(await commandHelp(name));
      return 0;
    }
    const command = await load(name);
    const parsed = parseFlags(command.flags, rest, io.env, {
      ...(command.positionals ?? { least: 0, most: 0 }),
      usage: command.usage,
    });
    return await command.run(parsed, io);
  } catch (error) {
    return told(error, name ?? "", io);
  }
}

function told(error: unknown, command: string, io: Io): number {
  if (error instanceof UsageError) {
    const known = Object.hasOwn(COMMANDS, command);
    io.err(`fieldbench: ${error.message}\nTry: fieldbench ${known ? `${command} ` : ""}--help`);
    return 2;
  }
  if (error instanceof SettingsError) {
    io.err(`fieldbench: ${error.message}`);
    if (error.keptAs) io.err(`A copy of it as it is now was put aside: ${error.keptAs}`);
    if (error.broken) io.err(`Mend the file, or remove it to start with the defaults: ${error.path}`);
    return 1;
  }
  if (error instanceof CliError || error instanceof BenchError) {
    io.err(`fieldbench: ${error.message}`);
    return error instanceof CliError ? error.status : 1;
  }
  // One line: some errors of the runtime carry places in the sources in the rest.
  const reason = (error instanceof Error ? error.message : String(error)).split("\n")[0];
  const isPort = error instanceof Error && error.name === "PortError";
  io.err(`fieldbench: ${isPort ? "" : "internal error: "}${reason}`);
  if (io.env("FIELDBENCH_DEBUG") && error instanceof Error) io.err(error.stack ?? "");
  return 1;
}

async function load(name: string): Promise<Command> {
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry) return (await entry.load()).command;
  throw new UsageError(unknown(name.startsWith("-") ? "flag" : "command", name, Object.keys(COMMANDS)));
}

function generalHelp(): string {
  const rows = Object.entries(COMMANDS).map(([name, c]) => `  ${name.padEnd(8)} ${c.summary}`);
  return [
    `fieldbench ${VERSION}: every wire on the bench, for people and agents`,
    "",
    "Usage: fieldbench COMMAND [FLAGS]",
    "",
    ...rows,
    "",
    "fieldbench COMMAND --help tells more; fieldbench --version the version.",
    "To begin with a simulated device: fieldbench serve --demo",
  ].join("\n");
}

async function commandHelp(name: string): Promise<string> {
  const command = await load(name);
  const flags = flagRows(command.flags);
  return [
    `Usage: ${command.usage}${flags.length ? " [FLAGS]" : ""}`,
    ...(flags.length ? ["", ...flags] : []),
    ...(command.notes ? ["", command.notes] : []),
  ].join("\n");
}

function flagRows(flags: Flags): string[] {
  const rows = Object.entries(flags).map(([name, f]) => ({
    left: `  --${name}${f.type === "string" ? ` ${f.value ?? "VALUE"}` : ""}`,
    right: f.help + (f.multiple ? "; may be repeated" : "") + (f.env ? `  [${envName(name)}]` : ""),
  }));
  const width = Math.max(...rows.map((r) => r.left.length)) + 2;
  return rows.map((r) => r.left.padEnd(width) + r.right);
}
