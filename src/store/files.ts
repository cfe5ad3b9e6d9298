import { basename, dirname, join } from "node:path";

let serial = 0;

/** What a failed file operation means, in words for people: no stack, no code. */
export function whyFailed(error: unknown): string {
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied";
  if (error instanceof Deno.errors.NotFound) return "the file or its folder does not exist";
  if (error instanceof Deno.errors.NotADirectory) return "a part of the path is not a folder";
  if (error instanceof Deno.errors.AlreadyExists) return "something that is no folder has that name";
  const code = codeOf(error);
  if (code === "ENOSPC") return "the disk is full";
  if (code === "EDQUOT") return "the disk quota is used up";
  if (code === "EROFS") return "the file system is read-only";
  if (code === "EFBIG") return "the file is at its size limit";
  if (code === "EIO") return "the disk reports an input/output error";
  if (error instanceof Error) return error.message.replace(/ \(os error \d+\).*$/s, "");
  return String(error);
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  // Some errors carry their number in the message only; these four are the same on Linux and macOS.
  const number = error instanceof Error ? /\(os error (\d+)\)/.exec(error.message)?.[1] : undefined;
  return number === undefined ? undefined : { "5": "EIO", "27": "EFBIG", "28": "ENOSPC", "30": "EROFS" }[number];
}

/** Makes a folder and its parents, readable by its owner only; an existing one is left as it is. */
export async function makeFolder(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
}

/**
 * Puts `text` into the file `path` (mode 0600) so that a reader, also after a crash at any moment, finds either the
 * whole old file or the whole new one: written under another name in the same folder, brought to disk, renamed.
 */
export async function writeAtomic(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${Deno.pid}-${++serial}.tmp`);
  try {
    const file = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
    try {
      const bytes = new TextEncoder().encode(text);
      for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
      await file.syncData();
    } finally {
      file.close();
    }
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

/** Removes what a killed process left of {@link writeAtomic} in a folder. Only for who owns the folder. Never throws. */
export async function sweepTemporary(folder: string): Promise<void> {
  try {
    for await (const entry of Deno.readDir(folder)) {
      if (entry.isFile && /^\..+\.\d+-\d+\.tmp$/.test(entry.name)) await Deno.remove(join(folder, entry.name));
    }
  } catch { /* they do no harm */ }
}
