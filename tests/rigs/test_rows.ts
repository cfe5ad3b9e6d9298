/** Tools that only tests have: what no real tool does on purpose. */
import { z } from "zod";
import { failed } from "../../src/core/errors.ts";
import type { ErasedHandlers } from "../../src/gate/gate.ts";
import { tool, type ToolRow } from "../../tools/define.ts";

const base = { surface: "device", group: "Test", description: "Only for tests." } as const;
const pane = z.string().optional();

export const TEST_ROWS: readonly ToolRow[] = [
  tool({
    ...base,
    name: "test_echo",
    access: "read",
    title: "Echo",
    input: z.strictObject({
      text: z.string().max(10_000),
      mode: z.enum(["plain", "loud"]).optional(),
      count: z.int().min(1).optional(),
    }),
    output: z.strictObject({ text: z.string(), count: z.int() }),
    aliases: { old_text: "text" },
    clamp: { count: "maxSessions" },
    rule: (input) => input["text"] === "forbidden" ? "text must not be forbidden" : undefined,
  }),
  tool({
    ...base,
    name: "test_throw",
    access: "read",
    title: "Throw",
    input: z.strictObject({ message: z.string().optional() }),
    output: z.strictObject({}),
  }),
  tool({
    ...base,
    name: "test_bad_output",
    access: "read",
    title: "Bad output",
    input: z.strictObject({}),
    output: z.strictObject({ n: z.int() }),
  }),
  tool({
    ...base,
    name: "test_fail",
    access: "read",
    title: "Fail",
    input: z.strictObject({}),
    output: z.strictObject({}),
  }),
  tool({
    ...base,
    name: "test_slow",
    access: "read",
    title: "Slow",
    input: z.strictObject({ ms: z.int().min(0).optional(), steps: z.int().min(0).optional() }),
    output: z.strictObject({ waited: z.boolean() }),
  }),
  tool({
    ...base,
    name: "test_write",
    access: "write",
    title: "Write",
    input: z.strictObject({ pane, ms: z.int().min(0).optional() }),
    output: z.strictObject({ order: z.int() }),
    lock: "pane",
  }),
  tool({
    ...base,
    name: "test_sometimes",
    access: "write",
    readWhen: (input) => input["index"] === undefined,
    title: "Sometimes a write",
    input: z.strictObject({ index: z.int().optional() }),
    output: z.strictObject({}),
  }),
  tool({
    ...base,
    name: "test_danger",
    access: "write",
    danger: { consequence: "it would send what cannot be taken back." },
    title: "Danger",
    input: z.strictObject({ confirm: z.boolean().optional() }),
    output: z.strictObject({ done: z.literal(true) }),
  }),
  tool({
    ...base,
    name: "test_secret",
    access: "read",
    title: "Takes secrets",
    input: z.strictObject({ password: z.string(), data: z.string().optional() }),
    output: z.strictObject({ big: z.string() }),
  }),
];

/** What the test handlers did, and the ends of calls of `test_slow` without `ms`. */
export class TestTools {
  runs: string[] = [];
  aborted = 0;
  running = 0;
  readonly #release = new Set<() => void>();

  /** Lets every waiting `test_slow` and `test_write` go on. */
  release(): void {
    for (const go of [...this.#release]) go();
  }

  readonly handlers: ErasedHandlers = {
    test_echo: (input) => ({
      output: { text: String(input["text"]), count: Number(input["count"] ?? 0) },
      text: String(input["text"]),
    }),
    test_throw: (input) => {
      throw new TypeError(String(input["message"] ?? "boom"));
    },
    test_bad_output: () => ({ output: { n: "one" }, text: "" }),
    test_fail: () => {
      throw failed("not_open", "Pane main is not open.", "Open it with serial_open.", { bytes: 3 });
    },
    test_slow: async (input, { signal, progress }) => {
      this.running++;
      try {
        const steps = Number(input["steps"] ?? 0);
        for (let i = 1; i <= steps; i++) {
          progress(i, steps, `step ${i}`);
          await new Promise((r) => setTimeout(r, 1));
        }
        await this.#wait(signal, input["ms"]);
        return { output: { waited: true }, text: "waited" };
      } finally {
        this.running--;
      }
    },
    test_write: async (input, { signal }) => {
      this.runs.push(`begin ${String(input["pane"] ?? "main")}`);
      if (input["ms"] !== undefined) await this.#wait(signal, input["ms"]);
      this.runs.push(`end ${String(input["pane"] ?? "main")}`);
      return { output: { order: this.runs.length }, text: "written" };
    },
    test_sometimes: () => ({ output: {}, text: "" }),
    test_danger: () => {
      this.runs.push("danger");
      return { output: { done: true }, text: "done" };
    },
    test_secret: () => ({ output: { big: "x".repeat(5000) }, text: "kept" }),
  };

  /** `ms` 0: until released. */
  #wait(signal: AbortSignal, ms: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = typeof ms === "number" && ms > 0 ? setTimeout(() => finish(), ms) : undefined;
      const clean = () => {
        clearTimeout(timer);
        this.#release.delete(finish);
        signal.removeEventListener("abort", abort);
      };
      const finish = () => (clean(), resolve());
      const abort = () => {
        clean();
        this.aborted++;
        reject(new DOMException("aborted", "AbortError"));
      };
      if (signal.aborted) return abort();
      this.#release.add(finish);
      signal.addEventListener("abort", abort, { once: true });
    });
  }
}
