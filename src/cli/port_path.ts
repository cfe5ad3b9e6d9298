import { resolve } from "node:path";
import type { ExtraPort } from "../store/config.ts";
import { type Flags, UsageError } from "./args.ts";

export const portPathFlag: Flags = {
  "port-path": {
    type: "string",
    value: "LABEL=PATH",
    multiple: true,
    env: true,
    help: "a port that no list shows; PATH may be a glob such as /dev/pts/*",
  },
};

/** `LABEL=PATH` of each; the label is what comes before the first `=`. */
export function parsePortPaths(values: readonly string[], origin: string): ExtraPort[] {
  return values.map((value) => {
    const at = value.indexOf("=");
    const [label, path] = [value.slice(0, Math.max(0, at)).trim(), value.slice(at + 1).trim()];
    // It is kept in the settings, and the next start may be in another folder. A name such as COM7 is no path.
    if (label && path) return { label, path: path.includes("/") ? resolve(path) : path };
    throw new UsageError(`${origin} must be LABEL=PATH, such as dut=/dev/pts/3, not "${value}"`);
  });
}
