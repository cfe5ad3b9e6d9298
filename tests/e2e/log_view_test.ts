import assert from "node:assert/strict";
import { deviceTest } from "./log_rig.ts";
import { quiet, until } from "./rig.ts";

deviceTest(
  "colours are drawn, carried over lines and never shown as text [SR08]",
  async ({ at, send, rows, shows }) => {
    await send(
      "\x1b[0;32mI (12) a: b\x1b[0m\r\n\x1b[38;5;208m256\x1b[0m \x1b[38;2;90;120;255mtrue\x1b[0m\r\nopen \x1b[3",
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    await send("1mred\r\nstill red\x1b[0m\r\nplain\r\n");
    await shows("plain");
    assert.deepEqual((await rows()).map((r) => r.text), ["I (12) a: b", "256 true", "open red", "still red", "plain"]);
    const coloured = await at.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>(".lr:not([hidden]) .lx span:not(.lx-in)")].map((e) => [
        e.textContent,
        e.className || e.style.color,
      ])
    );
    assert.deepEqual(coloured.map(([text]) => text), ["I (12) a: b", "256", "true", "red", "still red"]);
    assert.equal(coloured[0]?.[1], "c2");
    assert.match(coloured[1]?.[1] ?? "", /^rgb/);
    assert.match(coloured[2]?.[1] ?? "", /^rgb/);
    assert.deepEqual([coloured[3]?.[1], coloured[4]?.[1]], ["c1", "c1"]);
    quiet(at);
  },
);

deviceTest("an open line shows at once; NUL and noise are visible, markup is text [SR01] [SR10] [SR18]", async (d) => {
  const { at, send, rows, shows } = d;
  await send("prompt> ");
  await shows("prompt> ");
  assert.ok((await rows()).at(-1)?.classes.includes("open"));
  await send("\0\x07\r\n<img src=x onerror=window.__p=1><b>bold</b>\r\n");
  await send(Uint8Array.of(0x6e, 0xff, 0xfe, 0x0a));
  await shows("n\\xFF\\xFE");
  const texts = (await rows()).map((r) => r.text);
  assert.deepEqual(texts, ["prompt> \u2400\u2407", "<img src=x onerror=window.__p=1><b>bold</b>", "n\\xFF\\xFE"]);
  assert.equal(await at.page.evaluate(() => Reflect.get(globalThis, "__p")), undefined);
  assert.equal(await at.page.locator(".log-box img, .log-box b").count(), 0);
  quiet(at);
});

deviceTest("in hex each frame is one row with its time and the ASCII beside; a burst is wrapped [SR05]", async (d) => {
  const { at, send, shows } = d;
  await send("a line of before\r\n");
  await shows("a line of before");
  const rows = async () => (await d.rows()).slice(1);
  await at.control("serial.view.mode").selectOption("hex");
  await until("hex", async () => await at.page.locator('.logv[data-view="hex"]').count() === 1);
  const frames = [[1, 3, 0, 2], [0x41, 0x54, 0xff, 0]];
  for (const frame of frames) {
    await send(Uint8Array.from(frame));
    await new Promise((resolve) => setTimeout(resolve, 450));
  }
  await send(new Uint8Array(100).fill(0x55));
  await until("the burst", async () => (await rows()).filter((r) => r.text.startsWith("55 55")).length >= 2);
  const seen = await rows();
  assert.match(seen[0]?.text ?? "", /^01 03 00 02 +····$/);
  assert.match(seen[1]?.text ?? "", /^41 54 FF 00 +AT··$/);
  assert.equal(seen.slice(2).map((r) => r.text.match(/55/g)?.length ?? 0).reduce((a, b) => a + b, 0), 100);
  const times = await at.page.locator(".lr:not([hidden]) .lt").allInnerTexts();
  assert.ok(times.every((t) => /^\d\d:\d\d:\d\d\.\d{3}$/.test(t)), times.join());
});

deviceTest("scrolling up stops following and new lines move nothing; one control follows again [SR16]", async (d) => {
  const { at, send, rows, shows } = d;
  const box = at.page.locator(".log-box");
  for (let i = 1; i <= 1000; i++) await send(`line ${i}\r\n`);
  await shows("line 1000");
  // A plain click does not stop it.
  await box.click({ position: { x: 300, y: 200 } });
  await send("after click\r\n");
  await shows("after click");
  assert.equal(await at.control("serial.log.toEnd").count(), 0);
  await box.hover();
  await at.page.mouse.wheel(0, -19 * 500);
  await at.control("serial.log.toEnd").waitFor();
  let first = "";
  await until("the scroll ends", async () => {
    const now = (await rows())[0]?.text ?? "";
    const same = now === first;
    first = now;
    await new Promise((resolve) => setTimeout(resolve, 200));
    return same;
  });
  for (let i = 1; i <= 300; i++) await send(`new ${i}\r\n`);
  await until(
    "they are there",
    async () => /30\d|31\d|[4-9]\d\d/.test(await at.control("serial.log.toEnd").innerText()),
  );
  assert.equal((await rows())[0]?.text, first);
  assert.equal(await at.control("serial.view.follow").getAttribute("aria-pressed"), "false");
  await at.control("serial.log.toEnd").click();
  await shows("new 300");
  await at.control("serial.log.toEnd").waitFor({ state: "detached" });
  await until("told", async () => await at.control("serial.view.follow").getAttribute("aria-pressed") === "true");
  // By keyboard: Home stops it, End follows.
  await box.focus();
  await at.page.keyboard.press("Home");
  await shows("line 1");
  await send("while away\r\n");
  assert.equal((await rows())[0]?.text, "line 1");
  await at.page.keyboard.press("End");
  await shows("while away");
  quiet(at);
});

deviceTest("a selection survives new lines and is copied; by mouse and by keyboard", async (d) => {
  const { at, send, shows } = d;
  const { page } = at;
  await send("first line\r\n\x1b[31msecond\x1b[0m line\r\nthird line\r\n");
  await shows("third line");
  const at1 = await page.locator(".lr .lx-in").nth(0).boundingBox();
  const at3 = await page.locator(".lr .lx-in").nth(2).boundingBox();
  assert.ok(at1 && at3);
  const char = at1.width / "first line".length;
  await page.mouse.move(at1.x + char * 6 + 1, at1.y + 9);
  await page.mouse.down();
  await page.mouse.move(at3.x + char * 5 + 1, at3.y + 9, { steps: 4 });
  await page.mouse.up();
  for (let i = 0; i < 500; i++) await send(`more ${i}\r\n`);
  await shows("more 499");
  await page.keyboard.press("Control+c");
  await until("copied", async () => await page.evaluate(() => navigator.clipboard.readText()) !== "");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "line\nsecond line\nthird");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Home");
  await shows("first line");
  await page.keyboard.press("ArrowUp");
  for (let i = 0; i < 600; i++) {
    if ((await page.locator(".lr.at").innerText()).includes("first line")) break;
    await page.keyboard.press("ArrowUp");
  }
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Control+c");
  await until(
    "copied by keyboard",
    async () => await page.evaluate(() => navigator.clipboard.readText()) === "first line\nsecond line",
  );
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Control+c");
  await until(
    "all is copied",
    async () => (await page.evaluate(() => navigator.clipboard.readText())).split("\n").length === 503,
  );
});

deviceTest(
  "find counts and goes round; a filter hides the rest; an expression is looked for by the server",
  async (d) => {
    const { at, send, rows, shows } = d;
    const { page } = at;
    for (let i = 1; i <= 300; i++) await send(i % 100 === 0 ? `ERROR number ${i}\r\n` : `fine ${i}\r\n`);
    await shows("ERROR number 300");
    const find = at.control("serial.log.find");
    const status = page.locator(".log-find .num");
    await find.fill("error");
    await until("counted", async () => (await status.innerText()) === "3");
    await page.keyboard.press("Shift+Enter");
    await until("the last", async () => (await status.innerText()) === "3 / 3");
    await page.keyboard.press("Enter");
    await until("round to the first", async () => (await status.innerText()) === "1 / 3");
    await shows("ERROR number 100");
    assert.equal(await page.locator(".lr.found mark").innerText(), "ERROR");
    await send("one more error\r\n");
    await until("new lines count", async () => (await status.innerText()) === "1 / 4");
    await at.control("serial.log.filter").click();
    await at.control("serial.log.level").selectOption("warn");
    await until("only errors", async () => (await rows()).every((r) => /error/i.test(r.text)));
    await at.control("serial.log.level").selectOption("all");
    await at.control("serial.log.only").fill("fine 29");
    await until("only these", async () => (await rows()).length === 11);
    await at.control("serial.log.only").fill("nothing has this");
    await at.control("serial.log.showAll").waitFor();
    await at.control("serial.log.showAll").click({ force: true });
    if (await at.control("serial.log.regex").count() === 0) await at.control("serial.log.filter").click();
    await at.control("serial.log.regex").check();
    await find.fill("^ERROR .* [23]00$");
    await until("by the server", async () => /^(?:\d \/ )?2$/.test(await status.innerText()));
    await find.fill("(");
    await until("a fault is told", async () => (await status.innerText()).startsWith("!"));
  },
);

deviceTest("times are absolute, since the start, or between lines; line numbers count", async (d) => {
  const { at, send, shows } = d;
  await send("a\r\nb\r\n");
  await shows("b");
  await at.control("serial.log.filter").click();
  await at.control("serial.log.times").selectOption("relative");
  const times = () => at.page.locator(".lr:not([hidden]) .lt").allInnerTexts();
  await until("relative", async () => (await times())[0] === "+0.000");
  await at.control("serial.log.times").selectOption("between");
  await until("between", async () => (await times())[0] === "" && /^\+\d/.test((await times())[1] ?? ""));
  await at.page.keyboard.press("Escape");
  await at.control("serial.view.lineNumbers").click();
  const numbers = () => at.page.locator(".lr:not([hidden]) .ln").allInnerTexts();
  await until("numbers", async () => (await numbers()).join() === "1,2");
});

deviceTest("a cleared view says so and shows what comes after", async ({ at, send, rows, shows }) => {
  await send("before\r\n");
  await shows("before");
  await at.control("serial.view.clear").click();
  await until("cleared", async () => (await rows()).every((r) => r.classes.includes("note")));
  assert.match((await rows())[0]?.text ?? "", /^Cleared at \d\d:\d\d:\d\d$/);
  await send("after\r\n");
  await shows("after");
  assert.ok(!(await rows()).some((r) => r.text === "before"));
});

deviceTest("a page that is opened later shows what is held, and what left memory out of the session log", async (d) => {
  const { at, send, rows, shows } = d;
  const lines = 40_000;
  for (let i = 1; i <= lines; i += 500) {
    await send(Array.from({ length: 500 }, (_, k) => `counter ${i + k} of the flood\r\n`).join(""));
  }
  await shows(`counter ${lines} `, 60_000);
  await at.page.reload();
  await shows(`counter ${lines} `);
  // By Home, as often as there is more to read.
  await at.page.locator(".log-box").focus();
  await until("the first line", async () => {
    await at.page.keyboard.press("Home");
    const first = (await rows())[0];
    return first?.text === "counter 1 of the flood";
  }, 60_000);
});

deviceTest(
  "terminal mode: keys go out one by one or in whole lines with echo; links open nothing [C160]",
  async (d) => {
    const { at, send, receive } = d;
    const { page } = at;
    await send("boot\r\n\x1b[32mlogin\x1b[0m: ");
    await until("shown", async () => (await page.locator("[role=log]").innerText()).includes("login"));
    await at.control("serial.view.terminal").click();
    const screen = () => page.locator(".xterm-rows").innerText();
    await until("what was there", async () => (await screen()).includes("login:"));
    await page.locator(".xterm-helper-textarea").focus();
    await page.keyboard.type("root");
    assert.equal(await receive("root"), "root");
    await send("\x1b]8;;https://example.com\x07link\x1b]8;;\x07 https://example.com\r\n");
    await until("link", async () => (await screen()).includes("link https://example.com"));
    const pages = at.context.pages().length;
    const link = await page.locator(".xterm-rows span", { hasText: "link" }).first().boundingBox();
    assert.ok(link);
    await page.keyboard.down("Control");
    await page.mouse.click(link.x + 10, link.y + 5);
    await page.keyboard.up("Control");
    assert.equal(at.context.pages().length, pages);
    await page.keyboard.press("Shift+Escape");
    assert.equal(
      await page.evaluate(() => document.activeElement?.getAttribute("data-control")),
      "serial.view.terminal",
    );
    await at.control("serial.view.lineBuffer").click();
    await until(
      "whole lines",
      async () => await at.control("serial.view.lineBuffer").getAttribute("aria-pressed") === "true",
    );
    await page.locator(".xterm-helper-textarea").focus();
    await page.keyboard.type("lx");
    await page.keyboard.press("Backspace");
    await page.keyboard.type("s");
    await until("echo", async () => /(^|\n)\s*ls/.test(await screen()));
    await page.keyboard.press("Enter");
    assert.equal(await receive("\r\n"), "ls\r\n");
    quiet(at);
  },
);

deviceTest(
  "a plot is drawn from the numbers in the lines, chosen by a line; it can be paused and closed",
  async (d) => {
    const { at, send, shows } = d;
    const { page } = at;
    for (let i = 0; i < 20; i++) await send(`temp:${20 + i} rssi=-${50 + i}\r\n`);
    await send("1.5, 2.5, 3.5\r\n");
    await shows("1.5, 2.5");
    await at.control("serial.log.plot").click();
    const series = page.locator(".plot-series button");
    await until("two series", async () => (await series.allInnerTexts()).join().includes("rssi"));
    assert.equal(await page.locator(".plot canvas").count(), 1);
    await page.locator(".lr", { hasText: "1.5, 2.5" }).click({ button: "right" });
    await at.control("serial.log.plotLine").click();
    await send("4, 5, 6\r\n");
    await until("columns", async () => (await series.allInnerTexts()).join().replaceAll("\n", " ").includes("#3 6"));
    await at.control("serial.plot.pause").click();
    await send("7, 8, 9\r\n");
    await shows("7, 8, 9");
    assert.ok(!(await series.allInnerTexts()).join().includes("9"));
    await at.control("serial.plot.close").click();
    assert.equal(await page.locator(".plot").count(), 0);
    quiet(at);
  },
);
