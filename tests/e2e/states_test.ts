/** States that a person meets and that must be told truly, in both languages. */
import assert from "node:assert/strict";
import type { PageState, ServerMessage } from "../../src/core/page_protocol.ts";
import type { BenchPage } from "../rigs/browser.ts";
import { deviceTest } from "./log_rig.ts";
import { pageTest, pane, quiet, until } from "./rig.ts";

/** The page as it would be if the server said something else: for states that this machine cannot be brought into. */
async function asIf(at: BenchPage, change: (state: Partial<PageState>) => void): Promise<void> {
  await at.page.routeWebSocket(/\/page\/stream/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((data) => {
      if (typeof data !== "string") return socket.send(data);
      const message: ServerMessage = JSON.parse(data);
      if (message.type === "hello") change(message.state);
      else if (message.type === "state") change(message);
      socket.send(JSON.stringify(message));
    });
  });
  await at.page.reload();
  await pane(at).waitFor();
}

pageTest("without any port the page says so, in the list too, and what to do", {}, async (at) => {
  await asIf(at, (state) => {
    if (state.ports) state.ports = [];
    state.panes = state.panes?.map((p) => ({ ...p, portOptions: [] })) ?? [];
    if (state.panes.length === 0) delete state.panes;
  });
  const text = () => pane(at).locator(".empty").innerText();
  await until("told", async () => (await text()).includes("No serial port found"));
  assert.match(await text(), /Plug an adapter in/);
  const shown = await at.control("serial.conn.portSelect").evaluate((e) =>
    e instanceof HTMLSelectElement ? e.selectedOptions[0]?.textContent : undefined
  );
  assert.equal(shown, "No serial port found");
  assert.equal(await at.control("serial.send.data").getAttribute("placeholder"), "Choose a port first");
  quiet(at);
});

pageTest("while a port is being opened nothing says that it is to be started", { args: ["--demo"] }, async (at) => {
  await asIf(at, (state) => {
    if (state.panes) state.panes = state.panes.map((p) => ({ ...p, status: "opening", isConnected: false }));
  });
  const field = at.control("serial.send.data");
  await until("opening", async () => await field.getAttribute("placeholder") === "It is being opened");
  assert.equal(await at.control("serial.conn.start").innerText(), "Cancel");
  assert.ok(!(await pane(at).innerText()).includes("Press Start"));
});

pageTest("the fault in bad hex is told in Chinese too [SO14]", { args: ["--demo"], language: "zh-CN" }, async (at) => {
  await at.control("serial.send.mode").selectOption("hex");
  const preview = pane(at).locator(".preview");
  for (
    const [typed, told] of [["48 0G", "第 5 列：“G”不是十六进制数字"], ["0x", "0x 后没有数字"], ["123", "连续 3 个"]]
  ) {
    await at.control("serial.send.data").fill(typed ?? "");
    assert.ok((await preview.innerText()).includes(told ?? "-"), await preview.innerText());
  }
});

pageTest("a window made narrow puts the columns away, and made wide again brings them back", {
  args: ["--demo"],
}, async (at) => {
  const { page } = at;
  await page.locator(".side").waitFor();
  await page.setViewportSize({ width: 800, height: 700 });
  await page.locator(".side").waitFor({ state: "detached" });
  await page.locator(".rail").waitFor({ state: "detached" });
  await page.setViewportSize({ width: 1366, height: 768 });
  await page.locator(".side").waitFor();
  await page.locator(".rail").waitFor();
  // One that the person closed stays closed.
  await at.control("global.side.close").click();
  await page.setViewportSize({ width: 800, height: 700 });
  await page.locator(".rail").waitFor({ state: "detached" });
  await page.setViewportSize({ width: 1366, height: 768 });
  await page.locator(".rail").waitFor();
  assert.equal(await page.locator(".side").count(), 0);
  quiet(at);
});

deviceTest("a line that goes on beyond the edge says so, up to its end", async ({ at, send, shows }) => {
  // A little wider than the view is, and a little narrower: the gutter of times counts.
  const room = await at.page.locator("#pane-main .body").evaluate((e) => Math.floor(e.clientWidth / 7.3));
  await send(`short ${"-".repeat(room - 30)}\r\n`);
  await send(`over ${"+".repeat(room - 8)}\r\n`);
  await send(`long ${"0123456789".repeat(40)} end\r\n`);
  await shows("long");
  const marked = () => at.page.locator(".lr.more:not([hidden]) .lx").allInnerTexts();
  await until("the long one is marked", async () => (await marked()).length === 2);
  assert.deepEqual((await marked()).map((text) => text.slice(0, 6)), ["over +", "long 0"]);
  await at.page.locator(".log-box").evaluate((e) => e.scrollLeft = e.scrollWidth);
  await until("its end is no cut", async () => (await marked()).length === 0);
  quiet(at);
});
