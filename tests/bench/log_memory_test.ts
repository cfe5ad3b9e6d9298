import assert from "node:assert/strict";
import { LIMITS } from "../../tools/limits.ts";

Deno.test("five million lines: memory grows by less than 50 MB once the rings are full [SR13]", async () => {
  const script = new URL("./log_memory_run.ts", import.meta.url);
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", script.href],
    stderr: "inherit",
  }).output();
  assert.ok(success);
  const report: Record<string, number> = JSON.parse(new TextDecoder().decode(stdout));
  const grown = (report["most"] ?? Infinity) - (report["full"] ?? 0);
  assert.ok(grown < 50e6, `grew by ${(grown / 1e6).toFixed(1)} MB`);
  assert.equal(report["lines"], 5_000_000);
  assert.equal((report["held"] ?? 0) + (report["dropped"] ?? 0), 5_000_000);
  assert.ok((report["totalBytes"] ?? Infinity) <= LIMITS.logTotalCapBytes);
  assert.ok((report["totalBytes"] ?? 0) > LIMITS.logTotalCapBytes * 0.9, "the log is full");
});
