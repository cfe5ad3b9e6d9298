import assert from "node:assert/strict";
import { deviceTest } from "./log_rig.ts";
import { logText, quiet, until } from "./rig.ts";

/** Rows that a search for `text` counts in the whole view. */
const RATE = 5000;
const SECONDS = 6;

deviceTest(
  "a counter in each line at 5,000 lines a second: every value is in the view once, and the page answers [SR12]",
  async ({ at, send, shows }) => {
    const { page } = at;
    await at.control("serial.panes.add").click();
    await page.locator("#pane-extra-1").waitFor();
    const total = RATE * SECONDS;
    const from = performance.now();
    const sending = (async () => {
      for (let i = 1; i <= total;) {
        const until = Math.min(total, i + RATE / 50 - 1);
        let text = "";
        for (; i <= until; i++) text += `t${String(i).padStart(6, "0")} 123 8 01 02 03 04\r\n`;
        await send(text);
        const due = from + (i / RATE) * 1000 - performance.now();
        if (due > 0) await new Promise((resolve) => setTimeout(resolve, due));
      }
    })();
    // Meanwhile a field of another pane takes keys.
    const field = at.control("serial.extra-1-log.find");
    await field.focus();
    for (const key of "typing") await page.keyboard.press(key);
    assert.equal(await field.inputValue(), "typing");
    await field.fill("");
    await sending;
    await shows(`t${String(total).padStart(6, "0")}`, 60_000);
    // All of it, copied: every value once and in order.
    await page.locator("#pane-main .log-box").focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Control+c");
    await until(
      "copied",
      async () => (await page.evaluate(() => navigator.clipboard.readText())).length > total * 20,
      60_000,
    );
    const lines = (await page.evaluate(() => navigator.clipboard.readText())).split("\n");
    assert.equal(lines.length, total);
    lines.forEach((line, i) => assert.equal(line, `t${String(i + 1).padStart(6, "0")} 123 8 01 02 03 04`));
    quiet(at);
  },
);

deviceTest("a million lines: any point is reached, the element stays under the browsers' cap", async (d) => {
  const { at, send, rows, shows } = d;
  const { page } = at;
  const total = 1_000_000;
  for (let i = 1; i <= total;) {
    let text = "";
    for (let k = 0; k < 1000; k++, i++) text += `n${i}\n`;
    await send(text);
    // What a page misses it says; here the page is given time so that it misses little.
    if (i % 20_000 === 1) await new Promise((resolve) => setTimeout(resolve, 120));
  }
  await shows(`n${total}`, 120_000);
  const height = await page.locator(".log-sizer").evaluate((e) => e.getBoundingClientRect().height);
  assert.ok(height <= 16_000_001, String(height));
  const times: number[] = [];
  const seen: number[] = [];
  for (const part of [0.5, 0.05, 0.95, 0.25, 0.75]) {
    const { ms, row } = await page.evaluate(async (part) => {
      const box = document.querySelector<HTMLElement>("#pane-main .log-box");
      const first = () => document.querySelector<HTMLElement>("#pane-main .lr:not([hidden])");
      const before = first()?.dataset["row"];
      const from = performance.now();
      if (box) box.scrollTop = (box.scrollHeight - box.clientHeight) * part;
      while (first()?.dataset["row"] === before || !/n\d|faster/.test(first()?.textContent ?? "")) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        if (performance.now() - from > 20_000) break;
      }
      return { ms: performance.now() - from, row: Number(first()?.dataset["row"]) };
    }, part);
    times.push(Math.round(ms));
    seen.push(row);
    const texts = (await rows()).filter((r) => r.text !== "");
    assert.ok(texts.length > 10, `rows at ${part}`);
  }
  console.log(`  to a point in a million lines: ${times.join(", ")} ms`);
  const last = await page.evaluate(() => Number(document.querySelector<HTMLElement>(".lr")?.dataset["row"]));
  assert.ok(last >= 0);
  // In proportion, and in order.
  const sorted = [...seen].sort((a, b) => a - b);
  assert.deepEqual(sorted, [seen[1], seen[3], seen[0], seen[4], seen[2]]);
  await page.locator(".log-box").focus();
  await page.keyboard.press("End");
  await shows(`n${total}`);
  await page.keyboard.press("PageUp");
  await page.keyboard.press("PageDown");
  await shows(`n${total}`);
});

deviceTest("endless data without a line break, and noise, do not hold the page up [SR10]", async ({ at, send }) => {
  const chunk = new TextEncoder().encode("hello".repeat(8000));
  for (let i = 0; i < 100; i++) await send(chunk);
  const noise = crypto.getRandomValues(new Uint8Array(60_000));
  for (let i = 0; i < 20; i++) await send(noise);
  await send("\nthe end\n");
  const field = at.control("serial.send.data");
  await field.fill("still here");
  assert.equal(await field.inputValue(), "still here");
  await until("the end", async () => (await logText(at)).includes("the end"), 60_000);
  await until("its rest is marked", async () => {
    await at.page.locator(".log-box").focus();
    await at.page.keyboard.press("Home");
    return (await at.page.locator(".lr .ld").allInnerTexts()).includes("⋯");
  });
  quiet(at);
});
