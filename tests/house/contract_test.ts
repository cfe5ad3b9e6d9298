import assert from "node:assert/strict";
import { idsIn, parseChecks } from "../../scripts/check_contract.ts";

Deno.test("the list of checks is read with section, mark and text", async () => {
  const checks = parseChecks(await Deno.readTextFile(new URL("../../docs/checks.md", import.meta.url)));
  assert.equal(checks.length, 382);
  assert.deepEqual(checks.map((c) => c.id), [...new Set(checks.map((c) => c.id))], "no id twice");
  const c173 = checks.find((c) => c.id === "C173");
  assert.equal(c173?.section, 11);
  assert.equal(c173?.mark, "rig");
});

Deno.test("an id counts where it stands in square brackets in the name of a test or a step that runs", () => {
  const id = (n: number) => `[C${n}]`; // not spelled out: this file's own text must not count
  const source = [
    `Deno.test("sends ${id(173)} and ${id(174)}", () => {});`,
    `Deno.test({ name: "it's \\"kept\\" ${id(175)}", fn() {} });`,
    `await t.step(\n  'one ${id(176)}',\n  () => {});`,
    `Deno.test.ignore(\`two ${id(177)}\`, () => {});`,
    `// a comment ${id(178)}`,
    `const x = "a string ${id(179)}";`,
  ].join("\n");
  assert.deepEqual([...idsIn(source)], ["C173", "C174", "C175", "C176"]);
});
