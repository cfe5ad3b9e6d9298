import assert from "node:assert/strict";
import axe from "axe-core";
import type { BenchPage } from "../rigs/browser.ts";
import { openPty } from "../rigs/pty.ts";
import { logText, pageTest, pane, quiet, until, withAgent } from "./rig.ts";

const EVIL = '<img src=x onerror="window.__p=1"><b>bold</b><script>window.__p=2</script>';

/** A label takes 64 characters. */
const LABEL = "<img src=x onerror=window.__p=3><b>label</b>";

const evil = openPty();
pageTest(
  "markup in what a device, a person or an agent sets is shown, never parsed [SR18]",
  { args: ["--port-path", `${EVIL.replaceAll("=", "＝")}=${evil.path}`, "--demo"] },
  async (at) => {
    const { page } = at;
    const name = EVIL.replaceAll("=", "＝");
    try {
      await until("the port's name as text", async () => (await page.locator(".rail").innerText()).includes(name));
      await at.control("serial.panes.add").click();
      await pane(at, "extra-1").waitFor();
      await at.control("serial.extra-1-conn.portSelect").selectOption(evil.path);
      await at.control("serial.extra-1-conn.start").click();
      await until("open", async () => await at.control("serial.extra-1-conn.start").innerText() === "Stop");
      await evil.write(new TextEncoder().encode(`${EVIL}\r\n`));
      await until("received as text", async () => (await logText(at, "extra-1")).includes(EVIL));
      await at.control("serial.extra-1-send.data").fill(`sent ${EVIL}`);
      await page.keyboard.press("Enter");
      await until("sent as text", async () => (await logText(at, "extra-1")).includes(`sent ${EVIL}`));
      for (const view of ["hex", "both", "text"]) {
        await at.control("serial.extra-1-view.mode").selectOption(view);
        await evil.write(new TextEncoder().encode(`${EVIL}\r\n`));
        await page.waitForTimeout(250);
      }
      await at.control("serial.extra-1-view.more").click();
      await at.control("serial.extra-1-adv.label").fill(LABEL);
      await page.keyboard.press("Enter");
      await until("the label as text", async () => (await page.locator(".rail").innerText()).includes(LABEL));
      await withAgent(at, async (agent) => {
        await agent.call("serial_send", { data: EVIL, pane: "extra-1" });
        await agent.call("serial_open", { port: EVIL });
        await agent.call("log_search", { pattern: EVIL });
        await until("the call as text", async () => (await page.locator(".calls").innerText()).includes("<img src=x"));
        await agent.ok("ui_set", { path: "serial.extra-1-send.data", value: EVIL });
        await agent.ok("ui_set", { path: "serial.extra-1-adv.label", value: `x${LABEL}` });
      });
      await at.control("global.side.logs").click();
      await at.control("global.logs.pattern").fill("<img");
      await page.keyboard.press("Enter");
      await until("hits as text", async () => (await page.locator(".hits").innerText()).includes(EVIL));
      await at.control("global.logs.closeHits").click();
      await at.control("global.logs.open-serial_extra-1_rx").click();
      await until(
        "a channel as text",
        async () => (await page.locator(".chan-view [role=log]").innerText()).includes(EVIL),
      );
    } finally {
      await evil.close();
    }
    await pane(at, "extra-1").locator(".notice, .empty").first().waitFor();
    assert.equal(await page.evaluate(() => Reflect.get(globalThis, "__p")), undefined);
    assert.equal(await page.locator("main img, main script, aside img, aside script, section b b").count(), 0);
    quiet(at);
  },
);

pageTest("the document is served under a strict policy, nothing breaks it, and no request leaves the origin", {
  args: ["--demo"],
}, async (at) => {
  const { page } = at;
  const response = await page.goto(`${at.server.origin}/devices`);
  const policy = response?.headers()["content-security-policy"] ?? "";
  const scripts = /script-src ([^;]*)/.exec(policy)?.[1] ?? /default-src ([^;]*)/.exec(policy)?.[1] ?? "";
  assert.match(scripts, /'self'/);
  assert.ok(!/unsafe-inline|unsafe-eval|\*|data:|blob:/.test(scripts), policy);
  await page.locator("section.pane").first().waitFor();
  for (const tab of ["logs", "connect", "agents"]) await at.control(`global.side.${tab}`).click();
  await at.control("global.top.look").click();
  await page.keyboard.press("Escape");
  await at.control("serial.view.terminal").click();
  await page.waitForTimeout(500);
  await at.control("serial.view.terminal").click();
  for (const url of at.requests) {
    assert.ok(url.startsWith(at.server.origin) || url.startsWith("data:") || url.startsWith("blob:"), url);
  }
  assert.ok(at.requests.length > 3);
  assert.equal(new URL(page.url()).search, "", "the token left the address");
  assert.ok(!(await page.content()).includes(at.server.token), "the token is nowhere in the page");
  quiet(at);
});

interface Violation {
  id: string;
  help: string;
  nodes: { html: string; failureSummary: string }[];
}

async function violations(at: BenchPage): Promise<string[]> {
  await at.page.evaluate(axe.source);
  const found = await at.page.evaluate(async () => {
    const run: unknown = Reflect.get(globalThis, "axe");
    const { violations } =
      await (run as { run: (root: Document, options: unknown) => Promise<{ violations: Violation[] }> }).run(document, {
        runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] },
      });
    return violations;
  });
  return found.map((v) =>
    `${v.id}: ${v.help}\n${v.nodes.map((n) => `  ${n.html.slice(0, 200)}\n  ${n.failureSummary}`).join("\n")}`
  );
}

/** Goes through the states of the page and looks at each. */
async function audit(at: BenchPage): Promise<void> {
  const { page } = at;
  const look = async (what: string) => {
    // Colours in the middle of a transition are not those of the design.
    await page.waitForTimeout(250);
    assert.deepEqual(await violations(at), [], what);
  };
  await look("as it opens");
  await at.control("serial.send.data").fill("AT");
  await page.keyboard.press("Enter");
  await until("an answer", async () => /OK/.test(await logText(at)));
  await withAgent(at, async (agent) => {
    await agent.ok("serial_send", { data: "ATI", lineEnding: "crlf" });
    await agent.call("serial_send", { data: "x", pane: "extra-9" });
    await look("with agent calls");
  });
  await at.control("serial.view.more").click();
  await at.control("serial.send.mode").selectOption("hex");
  await at.control("serial.send.data").fill("0G");
  await look("more settings, bad hex");
  await at.control("global.side.logs").click();
  await look("log centre");
  await at.control("global.logs.pattern").fill("OK");
  await page.keyboard.press("Enter");
  await page.locator(".hits").waitFor();
  await look("hits");
  await at.control("global.side.connect").click();
  await page.locator(".connect .client").first().waitFor();
  await look("connecting");
  await at.control("mcp.server.figures").click();
  await page.locator(".figures").waitFor();
  await look("figures");
  await page.keyboard.press("Escape");
  await at.control("global.top.look").click();
  await look("theme menu");
  await page.keyboard.press("Escape");
  await page.keyboard.press("F1");
  await page.locator("dialog[open]").waitFor();
  await look("shortcuts");
  await page.keyboard.press("Escape");
  await at.control("mcp.agents.pause").click();
  await at.control("serial.panes.add").click();
  await pane(at, "extra-1").waitFor();
  await look("two panes, agents paused");
  await at.control("mcp.agents.resume").click();
  at.server.signal("SIGKILL");
  await page.locator(".banner[role=alert]").waitFor();
  await look("server gone");
}

for (const dark of [true, false]) {
  for (const language of ["en-US", "zh-CN"] as const) {
    pageTest(`axe finds nothing in any state: ${dark ? "dark" : "light"}, ${language}`, {
      args: ["--demo"],
      dark,
      language,
    }, audit);
  }
}

pageTest(
  "axe finds nothing in high contrast, with the tour, and on a narrow page",
  { args: ["--demo"], tour: true },
  async (at) => {
    await at.page.locator(".tour").waitFor();
    assert.deepEqual(await violations(at), [], "tour");
    await at.page.keyboard.press("Escape");
    await at.control("global.top.look").click();
    await at.control("global.look.theme").selectOption("contrast");
    await at.page.keyboard.press("Escape");
    await at.page.waitForTimeout(250);
    assert.equal(await at.page.evaluate(() => document.documentElement.dataset.contrast), "more");
    assert.deepEqual(await violations(at), [], "high contrast");
    await at.page.setViewportSize({ width: 800, height: 600 });
    await at.page.waitForTimeout(250);
    assert.deepEqual(await violations(at), [], "narrow");
  },
);

pageTest("the page follows the system: scheme, contrast, and less motion", { args: ["--demo"] }, async (at) => {
  const { page } = at;
  const root = () => page.evaluate(() => ({ ...document.documentElement.dataset }));
  assert.equal((await root()).theme, "dark");
  await page.emulateMedia({ colorScheme: "light" });
  await until("light", async () => (await root()).theme === "light");
  await page.emulateMedia({ contrast: "more" });
  await until("contrast", async () => (await root()).contrast === "more");
  await page.emulateMedia({ reducedMotion: "reduce" });
  const duration = await page.evaluate(() =>
    getComputedStyle(document.querySelector(".pane") ?? document.body).animationDuration
  );
  assert.ok(parseFloat(duration) < 0.01, duration);
});

pageTest("languages switch live, every accent can be chosen, and both are kept for the next visit", {
  args: ["--demo"],
}, async (at) => {
  const { page } = at;
  await at.control("global.top.language").click();
  await until("Chinese", async () => (await at.control("serial.conn.start").innerText()) === "停止");
  assert.equal(await page.evaluate(() => document.documentElement.lang), "zh-CN");
  await at.control("global.top.look").click();
  const seen = new Set<string>();
  for (const accent of ["ocean", "iris", "rose", "copper", "graphite", "teal", "iris"]) {
    await at.control(`global.look.accent-${accent}`).click();
    seen.add(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--accent")));
  }
  assert.equal(seen.size, 6);
  await until(
    "kept by the server",
    async () => /"iris"/.test(await Deno.readTextFile(`${at.server.configDir}/config.json`).catch(() => "")),
  );
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await until("Chinese again", async () => (await at.control("serial.conn.start").innerText()) === "停止");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.accent), "iris");
});
