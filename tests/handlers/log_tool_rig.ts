import assert from "node:assert/strict";
import { findTool, type InputOf, LIMITS, type OutputOf } from "../../tools/mod.ts";
import { BenchError, CODE } from "../../src/core/errors.ts";
import { checkArguments } from "../../src/gate/arguments.ts";
import { logHandlers } from "../../src/handlers/log.ts";
import type { CallContext } from "../../src/handlers/types.ts";
import { rig } from "../bench/log_rig.ts";

type LogTool = "log_channels" | "log_tail" | "log_search" | "log_stats" | "log_clear";

const context: CallContext = {
  caller: { kind: "agent", session: "test", src: "ai" },
  signal: new AbortController().signal,
  progress() {},
};

/** The handlers behind the table's own argument checks; every answer is held against the table's schema. */
export function toolRig(options: Parameters<typeof rig>[0] = {}) {
  const made = rig(options);
  const handlers = logHandlers(made.hub);
  async function call<N extends LogTool>(name: N, args: Record<string, unknown> = {}) {
    const row = findTool(name);
    assert.ok(row);
    const input = checkArguments(row, args) as InputOf<N>;
    const handler: (input: InputOf<N>, context: CallContext) => unknown = handlers[name];
    const answer = await handler(input, context) as { output: OutputOf<N>; text: string };
    row.output.parse(answer.output);
    assert.ok(args["format"] === "text" || answer.text.length <= LIMITS.maxSummaryChars);
    assert.ok(answer.text.length > 0);
    return answer;
  }
  const refused = (name: LogTool, args: Record<string, unknown>, says: RegExp) =>
    assert.rejects(
      async () => await call(name, args),
      (error) => error instanceof BenchError && error.code === CODE.invalidParams && says.test(error.message),
    );
  return { ...made, call, refused };
}
