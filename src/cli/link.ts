import { whyFailed } from "../store/files.ts";
import { CliError } from "./args.ts";

/** Makes a symbolic link `at` to a port, in place of a link that is there, never of anything else. */
export async function linkPort(port: string, at: string): Promise<void> {
  try {
    await unlinkPort(at);
    await Deno.symlink(port, at);
  } catch (error) {
    const reason = error instanceof Deno.errors.AlreadyExists ? "something else has that name" : whyFailed(error);
    throw new CliError(`the link ${at} cannot be made: ${reason}`);
  }
}

/** Removes the link. */
export async function unlinkPort(at: string): Promise<void> {
  const info = await Deno.lstat(at).catch(() => undefined);
  if (info?.isSymlink) await Deno.remove(at).catch(() => {});
}
