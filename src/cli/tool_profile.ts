import type { Profile } from "../mcp/slim.ts";
import { type Flags, type Parsed, UsageError } from "./args.ts";

export const toolsFlag: Flags = {
  tools: {
    type: "string",
    value: "PROFILE",
    env: true,
    help: "what agents see: all, or slim: the few tools for most work",
  },
};

/** Undefined when the flag was not given. */
export function toolProfile(parsed: Parsed): Profile | undefined {
  const value = parsed.string("tools");
  if (value === undefined || value === "all" || value === "slim") return value;
  throw new UsageError(`${parsed.origin("tools")} must be all or slim, not "${value}"`);
}
