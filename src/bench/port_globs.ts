import { basename, dirname, join } from "node:path";

/** A port from the configuration or from `--port-path`: a path, or a pattern with `*`, `?` and `[…]` in any part. */
export interface ExtraPort {
  label: string;
  path: string;
}

const special = /[*?[]/;

/** Whether the path names several ports by a pattern. */
export const isGlob = (path: string): boolean => special.test(path);

/** The pattern of one path part as a regular expression. A leading dot must be asked for, as in a shell. */
const partPattern = (part: string): RegExp => {
  const body = part.replace(/\[!|[.+^${}()|\\*?]/g, (c) => {
    if (c === "*") return "[^/]*";
    if (c === "?") return "[^/]";
    return c === "[!" ? "[^" : `\\${c}`;
  });
  try {
    return new RegExp(`^${part.startsWith(".") ? "" : "(?!\\.)"}${body}$`, "u");
  } catch {
    // An unclosed bracket: then it is an ordinary character.
    return new RegExp(`^${part.replace(/[.+^${}()|\\*?[\]]/g, "\\$&")}$`, "u");
  }
};

const namesIn = (folder: string): string[] => {
  try {
    return [...Deno.readDirSync(folder === "" ? "." : folder)].map((entry) => entry.name).sort();
  } catch {
    return [];
  }
};

const exists = (path: string): boolean => {
  // A device name of Windows cannot be looked at without opening it.
  if (path.startsWith("\\\\.\\")) return true;
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
};

const expand = (path: string): string[] => {
  if (!isGlob(path)) return [path];
  const part = basename(path);
  const folders = expand(dirname(path));
  if (!isGlob(part)) return folders.map((folder) => join(folder, part));
  const pattern = partPattern(part);
  // `ptmx` lies among the PTYs and makes another one whenever it is opened.
  const wanted = (name: string) => pattern.test(name) && name !== "ptmx";
  return folders.flatMap((folder) => namesIn(folder).filter(wanted).map((name) => join(folder, name)));
};

/** The paths that a configured path or pattern stands for now, sorted; only what is there. A dangling link is not. */
export const expandGlob = (path: string): string[] => expand(path).filter(exists);

/** What the path leads to now, through any links; the path itself when it cannot be followed. */
export const realPathOf = (path: string): string => {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
};

/** Whether this is a PTY by its number. The system gives the number of one that is gone to the next program. */
export const isPtyNumber = (path: string): boolean => /^\/dev\/(pts\/|ttys)\d+$/.test(path);

/**
 * What a link to a PTY has in this life of it; undefined for any other path. One that was left over when its maker was
 * killed leads to whatever program has the number by now; only a link that was made anew leads to the same device.
 */
export const ptyLinkLife = (path: string): string | undefined => {
  try {
    const { isSymlink, ino, mtime } = Deno.lstatSync(path);
    return isSymlink && isPtyNumber(Deno.realPathSync(path)) ? `${ino} ${mtime?.getTime()}` : undefined;
  } catch {
    return undefined;
  }
};
