const MAX_NAME = 64;

/** `ctl_` and the path with everything but ASCII letters and digits as `_`, lower case, at most 64 characters. */
export const ctlName = (path: string): string =>
  `ctl_${path.replace(/[^A-Za-z0-9]/gu, "_").toLowerCase()}`.slice(0, MAX_NAME);

/**
 * Tool names for control paths, in the order given. Paths that clean to one name get `_2`, `_3`… at the end, within
 * 64 characters. The same set of paths always gives the same names, in whatever order they come: numbers go by path.
 */
export function ctlNames(paths: Iterable<string>): Map<string, string> {
  const given = [...new Set(paths)];
  const byName = new Map<string, string>();
  for (const path of given.toSorted()) {
    const name = ctlName(path);
    let free = name;
    for (let n = 2; byName.has(free); n++) free = `${name.slice(0, MAX_NAME - `_${n}`.length)}_${n}`;
    byName.set(free, path);
  }
  const byPath = new Map([...byName].map(([name, path]) => [path, name]));
  return new Map(given.map((path) => [path, byPath.get(path) ?? ctlName(path)]));
}
