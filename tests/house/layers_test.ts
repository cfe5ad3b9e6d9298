import assert from "node:assert/strict";
import { importsOf, problems } from "../../scripts/check_layers.ts";

const files = (entries: Record<string, string>) => new Map(Object.entries(entries));

Deno.test("an import that points up the layers is reported", () => {
  const found = problems(files({
    "src/core/a.ts": `import { b } from "../bench/b.ts";`,
    "src/bench/b.ts": `export const b = 1;`,
  }));
  assert.equal(found.length, 1);
  assert.match(found[0] ?? "", /src\/core\/a\.ts imports src\/bench\/b\.ts/);
});

Deno.test("an import that points down the layers, and one within a layer, are fine", () => {
  assert.deepEqual(
    problems(files({
      "src/bench/b.ts": `import { a } from "../core/a.ts";\nimport type { T } from "./c.ts";`,
      "src/bench/c.ts": `export type T = 1;`,
      "src/core/a.ts": `export const a = 1;`,
    })),
    [],
  );
});

Deno.test("the page may not reach into the server", () => {
  assert.equal(problems(files({ "ui/app.tsx": `import { Pane } from "../src/bench/pane.ts";` })).length, 1);
});

Deno.test("a cycle between files is reported with its way round", () => {
  const found = problems(files({
    "src/core/a.ts": `import "./b.ts";`,
    "src/core/b.ts": `export * from "./a.ts";`,
  }));
  assert.deepEqual(found, ["cycle: src/core/a.ts → src/core/b.ts → src/core/a.ts"]);
});

Deno.test("static, type, side-effect, re-export and dynamic imports are all seen", () => {
  assert.deepEqual(
    importsOf(
      `import a from "./a.ts";\nimport type { B } from "./b.ts";\nimport "./c.ts";\nexport { d } from "./d.ts";\n` +
        `const e = await import("./e.ts");\nimport {\n  f,\n} from "./f.ts";\nimport z from "npm:zod";`,
    ),
    ["./a.ts", "./b.ts", "./c.ts", "./d.ts", "./e.ts", "./f.ts"],
  );
});
