import type { Sources } from "./resources.ts";

const MAX_VALUES = 100;

/** Values that begin with what was typed; those that only contain it come after. */
export function matching(all: readonly string[], typed: string) {
  const wanted = typed.toLowerCase();
  const begins = all.filter((v) => v.toLowerCase().startsWith(wanted));
  const contains = all.filter((v) => v.toLowerCase().includes(wanted) && !begins.includes(v));
  const values = [...begins, ...contains];
  return {
    completion: { values: values.slice(0, MAX_VALUES), total: values.length, hasMore: values.length > MAX_VALUES },
  };
}

/** Names for an argument of a prompt or of the log template: channels, panes and ports. Nothing for others. */
export async function complete(sources: Sources, argument: { name: string; value: string }) {
  switch (argument.name) {
    case "channel":
      return matching(sources.channels(), argument.value);
    case "pane":
      return matching(sources.panes(), argument.value);
    case "port":
      return matching(await sources.ports(), argument.value);
    default:
      return matching([], "");
  }
}
