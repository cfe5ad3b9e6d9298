import assert from "node:assert/strict";
import { join } from "node:path";
import { buildIfStale, firstLoad, minifyCss } from "../../scripts/build_ui.ts";
import { ROOT } from "../rigs/server.ts";
import { pageTest } from "./rig.ts";

Deno.test("the page weighs less than 250 kB gzip at first load", async () => {
  await buildIfStale();
  const loads = await firstLoad(join(ROOT, "ui/dist"), "devices.html");
  const total = loads.reduce((sum, one) => sum + one.gzip, 0);
  console.log(`first load: ${(total / 1000).toFixed(1)} kB gzip in ${loads.length} files`);
  assert.ok(loads.some((one) => one.name === "devices.js") && loads.some((one) => one.name === "app.css"));
  assert.ok(total < 250_000, JSON.stringify(loads));
});

Deno.test("what is loaded when it is needed is not part of the first load", async () => {
  await buildIfStale();
  const first = new Set((await firstLoad(join(ROOT, "ui/dist"), "devices.html")).map((one) => one.name));
  const later: string[] = [];
  for await (const entry of Deno.readDir(join(ROOT, "ui/dist/assets"))) {
    if (entry.name.endsWith(".js") && !first.has(entry.name)) later.push(entry.name);
  }
  assert.ok(later.some((name) => name.startsWith("terminal_view")), later.join());
});

Deno.test("style sheets lose their comments and blanks, and nothing else", () => {
  assert.equal(
    minifyCss("/* a */\n.a > .b {\n  color: red;\n  margin: 0 1px;\n}\n"),
    ".a > .b{color: red;margin: 0 1px}",
  );
});

pageTest("the page shows soon after the server answers (printed), and its terminal comes when asked for", {
  args: ["--demo"],
}, async (at) => {
  const { page } = at;
  const paints: number[] = [];
  for (let i = 0; i < 3; i++) {
    await page.reload();
    await page.locator("section.pane").first().waitFor();
    paints.push(
      await page.evaluate(() => {
        const [navigation] = performance.getEntriesByType("navigation");
        const paint = performance.getEntriesByName("first-contentful-paint")[0];
        const answered = navigation instanceof PerformanceNavigationTiming ? navigation.responseStart : 0;
        return (paint?.startTime ?? NaN) - answered;
      }),
    );
  }
  console.log(
    `first contentful paint after the answer: ${paints.map((p) => p.toFixed(0)).join(", ")} ms (aim: under 500)`,
  );
  assert.ok(!at.requests.some((url) => url.includes("terminal_view")));
  await at.control("serial.view.terminal").click();
  await page.waitForRequest(/terminal_view/);
});
