import { whyFailed } from "../store/files.ts";
import { defaultConfigDir, type Paths, pathsIn } from "../store/paths.ts";
import { CliError, type Parsed, UsageError } from "./args.ts";
import type { Io } from "./command.ts";

/** The configuration folder of a command. */
export function pathsOf(parsed: Parsed, io: Io): Paths {
  // Its environment twin is read here, not as other flags', because it also counts for commands without the flag.
  if (parsed.string("config-dir")?.trim() === "") {
    throw new UsageError(`${parsed.origin("config-dir")} needs a value: --config-dir DIR`);
  }
  const dir = parsed.string("config-dir") ?? defaultConfigDir(io.env, io.os);
  if (dir === undefined) throw new UsageError("no home folder is known: say --config-dir DIR");
  return pathsIn(dir);
}

/** Makes the folder and proves that it can be written. Throws {@link CliError} in words for people. */
export async function prepareFolder(path: string): Promise<void> {
  try {
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
    const probe = await Deno.makeTempFile({ dir: path, prefix: ".probe-" });
    await Deno.remove(probe);
  } catch (error) {
    throw new CliError(
      `the folder ${path} cannot be written: ${
        whyFailed(error)
      }. Name another with --config-dir, or mend its permissions`,
    );
  }
}
