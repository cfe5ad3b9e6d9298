import assert from "node:assert/strict";
import { TOOLS } from "../../tools/mod.ts";
import { openNamedPty } from "../rigs/pty.ts";
import { listAll, type Listed, pageTest, pane, until, withAgent } from "./rig.ts";

/** Controls on the page that no registry has, and why. Nothing else may be missing. */
const UNLISTED: Readonly<Record<string, string>> = {
  row: "a row of a list that comes with data; mcp_calls and log_search give the same list whole",
  notice: "closes a message that leaves by itself",
};
/** Parts of a control that is listed as a whole, and what the browser needs beside one. */
const PARTS = [
  { selector: "[data-part-of]", why: "opens the list of a field that is listed" },
  { selector: "input[type=file]", why: "hidden; the button that opens it is listed; only a person can choose a file" },
  { selector: "nav a", why: "a link to a workspace" },
  {
    selector: "[role=log], [role=tabpanel], [role=application], .xterm textarea",
    why: "focusable to be scrolled or typed into by keys, no control",
  },
];

/** Where the page shows or does what a tool does, when no single control is for that tool. */
const PLACES: Readonly<Record<string, { selector: string; why: string }>> = {
  serial_get_state: { selector: ".pane .status", why: "the pane shows its state" },
  serial_get_history: { selector: ".send textarea", why: "recalled with the arrow keys" },
  log_channels: { selector: ".centre ul", why: "the list of channels" },
  log_stats: { selector: ".centre .chan small", why: "rates, losses and warnings beside each channel" },
  mcp_config_get: { selector: '[data-control="mcp.callLog.enabled"]', why: "the switches show the settings" },
  app_info: { selector: ".connect dl", why: "About" },
  mcp_limits: { selector: '[data-control="mcp.server.figures"]', why: "figures and limits" },
  mcp_stats: { selector: '[data-control="mcp.server.figures"]', why: "figures and limits" },
  mcp_danger: { selector: '[data-control="mcp.server.figures"]', why: "figures and limits" },
};
/** Tools that are about the page itself: the person has the page. */
const ABOUT_THE_PAGE = ["ui_list", "ui_describe", "ui_get", "ui_set", "ui_click", "ui_get_state"];

const dut = openNamedPty();
pageTest("every control of the page is in ui_list, and every tool has a place on the page", {
  args: ["--demo", "--port-path", `Bench DUT=${dut.path}`],
}, async (at) => {
  const { page } = at;
  const listed = new Map<string, Listed>();
  const tools = new Set<string>();
  const places = new Set<string>();
  const missing = new Set<string>();
  await withAgent(at, async (agent) => {
    const look = async () => {
      await page.waitForTimeout(200);
      for (const control of await listAll(agent)) listed.set(control.path, control);
      const found = await page.evaluate((parts) => {
        const all = [
          ...document.querySelectorAll<HTMLElement>(
            'button, input, select, textarea, a[href], [role=separator], [tabindex="0"]',
          ),
        ];
        return all.filter((e) => !parts.some((p) => e.matches(p))).map((e) => ({
          path: e.dataset.control ?? "",
          unlisted: e.dataset.unlisted ?? "",
          html: e.outerHTML.slice(0, 160),
        }));
      }, PARTS.map((p) => p.selector));
      for (const one of found) {
        if (one.path !== "") {
          if (!listed.has(one.path)) missing.add(one.path);
        } else if (!(one.unlisted in UNLISTED)) missing.add(one.html);
      }
      for (const [tool, { selector }] of Object.entries(PLACES)) {
        if (await page.locator(selector).count() > 0) places.add(tool);
      }
    };
    await look();
    await at.control("serial.view.more").click();
    await at.control("serial.send.data").fill("AT");
    await look();
    for (const tab of ["agents", "logs", "connect"]) {
      await at.control(`global.side.${tab}`).click();
      if (tab === "connect") await page.locator(".connect .client").first().waitFor();
      await look();
    }
    await at.control("mcp.server.figures").click();
    await page.locator(".figures").waitFor();
    await look();
    await page.keyboard.press("Escape");
    await at.control("mcp.connect.resetToken").click();
    await page.locator("dialog[open]").waitFor();
    await look();
    await page.keyboard.press("Escape");
    await at.control("global.side.logs").click();
    await at.control("global.logs.open-serial_main_rx").click();
    await at.control("global.logs.showEmpty").click();
    await look();
    await at.control("global.logs.clearAll").click();
    await page.locator("dialog[open]").waitFor();
    await look();
    await at.control("dialog.clearAll.cancel").click();
    await at.control("global.top.look").click();
    await look();
    await page.keyboard.press("Escape");
    await page.keyboard.press("F1");
    await page.locator("dialog[open]").waitFor();
    await look();
    await at.control("dialog.shortcuts.tour").click();
    await page.locator(".tour").waitFor();
    await look();
    await at.control("dialog.tour.skip").click();
    await at.control("serial.view.terminal").click();
    await look();
    await at.control("serial.view.terminal").click();
    // States of a pane: ready, lost.
    await at.control("serial.panes.add").click();
    await pane(at, "extra-1").waitFor();
    await at.control("serial.extra-1-conn.portSelect").selectOption(dut.path);
    await look();
    await at.control("serial.extra-1-conn.start").click();
    await until("open", async () => await at.control("serial.extra-1-conn.start").innerText() === "Stop");
    await look();
    await dut.close();
    await pane(at, "extra-1").locator(".empty").waitFor();
    await look();
    await at.control("mcp.agents.pause").click();
    await page.locator(".banner").waitFor();
  });
  assert.deepEqual([...missing], [], "on the page and not in ui_list");
  // Which tool a control is for is told to the server, not to agents: asked of the page's own registry.
  const source = await Array.fromAsync(sourcesOf("ui"));
  for (const text of source) {
    for (const m of text.matchAll(/tool[=:]\s*[{"]?\s*(?:live \? )?"(\w+)"(?:\s*:\s*"(\w+)")?/g)) {
      if (m[1]) tools.add(m[1]);
      if (m[2]) tools.add(m[2]);
    }
    // Toggles of the tool row share one tool.
    for (const m of text.matchAll(/tool="(\w+)"/g)) tools.add(m[1] ?? "");
  }
  const without = TOOLS.filter((one) => one.surface === "device").map((one) => one.name).filter((name) =>
    !tools.has(name) && !places.has(name) && !ABOUT_THE_PAGE.includes(name)
  );
  assert.deepEqual(without, [], "tools without a place on the page");
  const names = new Set<string>(TOOLS.map((one) => one.name));
  for (const tool of tools) assert.ok(names.has(tool), `a control is for the unknown tool ${tool}`);
  for (const control of listed.values()) assert.ok(control.label.trim() !== "", control.path);
});

async function* sourcesOf(folder: string): AsyncGenerator<string> {
  const root = new URL(`../../${folder}/`, import.meta.url);
  for await (const entry of Deno.readDir(root)) {
    if (entry.isDirectory) {
      if (entry.name !== "dist") yield* sourcesOf(`${folder}/${entry.name}`);
    } else if (entry.name.endsWith(".tsx")) yield await Deno.readTextFile(new URL(entry.name, root));
  }
}
