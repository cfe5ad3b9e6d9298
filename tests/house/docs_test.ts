import assert from "node:assert/strict";
import { listTokens, render } from "../../scripts/gen_docs.ts";
import { TOOLS } from "../../tools/mod.ts";

Deno.test("docs/tools.md is what the table says", async () => {
  const text = await Deno.readTextFile(new URL("../../docs/tools.md", import.meta.url));
  assert.equal(text, render(TOOLS), "stale: run `deno task docs`");
});

Deno.test("the list of tools costs an agent under 6,000 tokens", () => {
  assert.ok(listTokens(TOOLS) < 6000, `${listTokens(TOOLS)} tokens`);
});
