import assert from "node:assert/strict";
import { connect } from "../rigs/mcp_client.ts";
import { failing, logText, pageTest, pane, quiet, until } from "./rig.ts";
import { openNamedPty, openPort, openPty } from "../rigs/pty.ts";

pageTest(
  "a person's walk: choose the simulated modem, start, banner, AT, OK, hex, search, save, stop; and an agent's beside it",
  { args: ["--demo"] },
  async (at) => {
    const { page } = at;
    // The demo opens pane main: the walk starts from a closed one.
    await at.control("serial.conn.start").click();
    await until("closed", async () => await at.control("serial.conn.start").innerText() === "Start");
    const port = at.control("serial.conn.portSelect");
    const modem = await port.locator("option", { hasText: "modem" }).first().getAttribute("value");
    assert.ok(modem);
    await port.selectOption(modem);
    await at.control("serial.conn.start").click();
    await until("open", async () => await at.control("serial.conn.start").innerText() === "Stop");
    await until("the banner", async () => (await logText(at)).includes("READY"));

    await at.control("serial.send.data").fill("AT");
    assert.match(await pane(at).locator(".preview").innerText(), /4 bytes with CRLF\s*41 54 0D 0A/);
    await page.keyboard.press("Enter");
    await until("OK", async () => /\bOK\b/.test(await logText(at)));
    assert.equal(await at.control("serial.send.data").inputValue(), "");

    // The agent's walk, on the same live session.
    const agent = await connect(at.server.origin, at.server.token);
    const sent = await agent.ok("serial_send", { data: "ATI", lineEnding: "crlf", mode: "text" });
    assert.equal(sent["bytes"], 5);
    await until("the agent's line on the page", async () => (await logText(at)).includes("ATI"));
    const log = await agent.ok("log_tail", { channel: "serial:main:tx", lines: 50 });
    const lines = log["lines"] as { text: string; src: string; seq: number }[];
    assert.deepEqual(lines.map((l) => [l.text, l.src]), [["AT", "ui"], ["ATI", "ai"]]);
    await until("who sent it is shown", async () => /you/.test(await logText(at)) && /agent/.test(await logText(at)));
    await at.control("global.side.agents").click();
    const calls = page.locator(".calls");
    await until("the call in the live list", async () => (await calls.innerText()).includes("serial_send"));

    // Hex view.
    await at.control("serial.view.mode").selectOption("hex");
    await at.control("serial.send.data").fill("AT");
    await page.keyboard.press("Enter");
    await until("bytes in hex", async () => /41 54 0D/.test(await logText(at)));
    await at.control("serial.view.mode").selectOption("text");

    // Search over all logs.
    await at.control("global.side.logs").click();
    await at.control("global.logs.pattern").fill("READY");
    await page.keyboard.press("Enter");
    await until("hits", async () => /READY/.test(await page.locator(".hits").innerText()));

    // Save: a download with what was shown.
    const [download] = await Promise.all([page.waitForEvent("download"), at.control("serial.view.save").click()]);
    const saved = await Deno.readTextFile(await download.path());
    assert.match(download.suggestedFilename(), /main/);
    for (const wanted of ["READY", "[tx] AT", "OK"]) {
      assert.ok(saved.includes(wanted), `${wanted} in the saved session`);
    }

    await at.control("serial.conn.start").click();
    await until("stopped", async () => await at.control("serial.conn.start").innerText() === "Start");
    assert.equal((await failing(agent, "serial_send", { data: "AT" })).code, -32006);
    await agent.delete();
    quiet(at);
  },
);

pageTest("the same walk by keyboard alone", { args: ["--demo"] }, async (at) => {
  const { page } = at;
  await page.keyboard.press("Alt+S");
  await until("closed", async () => await at.control("serial.conn.start").innerText() === "Start");
  await page.keyboard.press("Alt+S");
  await until("open", async () => await at.control("serial.conn.start").innerText() === "Stop");
  await page.keyboard.press("Alt+K");
  await page.keyboard.type("AT+CSQ");
  await page.keyboard.press("Enter");
  await until("answer", async () => /CSQ: /.test(await logText(at)));
  await page.keyboard.press("ArrowUp");
  assert.equal(await at.control("serial.send.data").inputValue(), "AT+CSQ");
  await page.keyboard.press("ArrowDown");
  assert.equal(await at.control("serial.send.data").inputValue(), "");
  await page.keyboard.press("Alt+I");
  await until(
    "timestamps off",
    async () => await at.control("serial.view.timestamps").getAttribute("aria-pressed") === "false",
  );
  await page.keyboard.press("F1");
  await page.locator("dialog[open]").waitFor();
  assert.ok(await page.locator("dialog[open] kbd").count() > 20);
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  await page.keyboard.press("Alt+X");
  await page.locator("#pane-extra-1").waitFor();
  await page.keyboard.press("Alt+2");
  await until(
    "the second pane is current",
    async () => await page.locator("#pane-extra-1[data-current]").count() === 1,
  );
  await page.keyboard.press("Alt+W");
  await page.locator("#pane-extra-1").waitFor({ state: "detached" });
  quiet(at);
});

pageTest(
  "the first-run tour has five steps, can be skipped, and does not come again",
  { args: ["--demo"], tour: true },
  async (at) => {
    const { page } = at;
    const tour = page.locator(".tour");
    await tour.waitFor();
    for (let i = 1; i <= 5; i++) {
      assert.match(await tour.innerText(), new RegExp(`${i} of 5`));
      if (i < 5) await at.control("dialog.tour.next").click();
    }
    await at.control("dialog.tour.back").click();
    await at.control("dialog.tour.skip").click();
    await tour.waitFor({ state: "detached" });
    // Kept by the server: another browser does not show it either.
    await until(
      "saved",
      async () => (await Deno.readTextFile(`${at.server.configDir}/config.json`).catch(() => "")).includes("tourDone"),
    );
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await page.locator("section.pane").first().waitFor();
    assert.equal(await page.locator(".tour").count(), 0);
  },
);

pageTest("the server goes and comes back: the page says so, keeps what it shows, and reconnects by itself", {
  args: ["--demo"],
}, async (at) => {
  const { page } = at;
  await until("the banner", async () => (await logText(at)).includes("READY"));
  const port = new URL(at.server.origin).port;
  at.server.signal("SIGKILL");
  await at.server.ended();
  await page.locator(".banner[role=alert]").waitFor();
  assert.match(await page.locator(".banner[role=alert]").innerText(), /server is gone/);
  assert.ok((await logText(at)).includes("READY"), "what was shown stays");
  assert.match(await pane(at).locator(".status").innerText(), /Last known/);
  assert.equal(await at.control("serial.conn.start").getAttribute("aria-disabled"), "true");
  const { startServer } = await import("../rigs/server.ts");
  await using again = await startServer({ args: ["--demo", "--port", port], configDir: at.server.configDir });
  assert.equal(new URL(again.origin).port, port);
  await page.locator(".banner[role=alert]").waitFor({ state: "detached" });
  await until("usable again", async () => await at.control("serial.conn.start").getAttribute("aria-disabled") === null);
});

const dut = openNamedPty();
pageTest("an unplugged device: its pane says which one it waits for and what is kept, and can stop waiting", {
  args: ["--port-path", `Bench DUT=${dut.path}`],
}, async (at) => {
  try {
    await at.control("serial.conn.portSelect").selectOption(dut.path);
    await at.control("serial.conn.start").click();
    await until("open", async () => await at.control("serial.conn.start").innerText() === "Stop");
    await dut.write(new TextEncoder().encode("hello\n"));
    await until("a line", async () => (await logText(at)).includes("hello"));
  } finally {
    await dut.close();
  }
  const notice = pane(at).locator(".notice");
  await notice.waitFor();
  assert.match(await notice.innerText(), /Waiting for Bench DUT/);
  assert.match(await notice.innerText(), /1 line is kept/);
  assert.ok((await logText(at)).includes("hello"));
  assert.match(await at.page.locator(".rail").innerText(), /waiting/);
  await at.control("serial.notice.stopWaiting").click();
  await notice.waitFor({ state: "detached" });
  assert.match(await pane(at).locator(".status").innerText(), /Closed/);
});

const held = openPty();
pageTest("a refused port: the pane says by whom, what to do, and tries again", {
  args: ["--port-path", `Bench DUT=${held.path}`],
}, async (at) => {
  const holder = await openPort(held.path);
  try {
    await at.control("serial.conn.portSelect").selectOption(held.path);
    await until("ready", async () => /Ready to open/.test(await pane(at).innerText()));
    await at.control("serial.empty.start").click();
    await until("refused", async () => /could not be opened/.test(await pane(at).locator(".empty").innerText()));
    assert.match(await pane(at).locator(".empty").innerText(), new RegExp(`in use by .*${Deno.pid}|in use by`));
    assert.match(await pane(at).locator(".empty").innerText(), /Close it there, or choose another port/);
    await holder.close();
    await at.control("serial.notice.again").click();
    await until("open", async () => /Open for/.test(await pane(at).locator(".status").innerText()));
  } finally {
    await holder.close();
    await held.close();
  }
});

const second = openPty();
pageTest(
  "panes are resized by keys and by dragging, remembered, and closed; a click on a port never takes a device away",
  { args: ["--demo", "--port-path", `Bench DUT=${second.path}`] },
  async (at) => {
    const { page } = at;
    try {
      // Main is open on the modem: the port goes to a pane of its own.
      await page.locator(".rail").getByText("Bench DUT").click();
      await pane(at, "extra-1").waitFor();
      await until(
        "chosen there",
        async () => await at.control("serial.extra-1-conn.portSelect").inputValue() === second.path,
      );
      assert.match(await pane(at).locator(".status").innerText(), /Open for/);
      const width = async () => (await pane(at).boundingBox())?.width ?? 0;
      const before = await width();
      const divider = page.locator("[role=separator]");
      await divider.focus();
      for (let i = 0; i < 5; i++) {
        await page.keyboard.press("ArrowRight");
      }
      await until("wider", async () => await width() > before + 20);
      const box = await divider.boundingBox();
      assert.ok(box);
      await page.mouse.move(box.x + box.width / 2, box.y + 200);
      await page.mouse.down();
      await page.mouse.move(box.x - 110, box.y + 200, { steps: 4 });
      await page.mouse.up();
      await until("narrower again", async () => await width() < before + 20);
      const kept = Math.round(await width());
      await until(
        "saved",
        async () => (await Deno.readTextFile(`${at.server.configDir}/config.json`).catch(() => "")).includes("weights"),
      );
      await page.reload();
      await pane(at, "extra-1").waitFor();
      await until("as it was left", async () => Math.abs(await width() - kept) <= 2);
      await at.control("serial.extra-1-conn.closePane").click();
      await pane(at, "extra-1").waitFor({ state: "detached" });
      assert.equal(await divider.count(), 0);
      quiet(at);
    } finally {
      await second.close();
    }
  },
);

const other = openPty();
pageTest(
  "another port chosen while one is open: the pane says which is open and which is next, and switches on request",
  { args: ["--demo", "--port-path", `Bench DUT=${other.path}`] },
  async (at) => {
    try {
      await at.control("serial.conn.portSelect").selectOption(other.path);
      const notice = pane(at).locator(".notice");
      await notice.waitFor();
      assert.match(await notice.innerText(), /Open on Demo modem/);
      assert.match(await notice.innerText(), /Bench DUT.* is chosen for the next start/);
      await at.control("serial.notice.switch").click();
      await notice.waitFor({ state: "detached" });
      await other.write(new TextEncoder().encode("from the other\n"));
      await until("the other's line", async () => (await logText(at)).includes("from the other"));
    } finally {
      await other.close();
    }
  },
);

pageTest("a page whose sign-in ended says so, instead of that the server is gone", { args: ["--demo"] }, async (at) => {
  const { page } = at;
  const port = new URL(at.server.origin).port;
  at.server.signal("SIGKILL");
  await at.server.ended();
  const { startServer } = await import("../rigs/server.ts");
  await using _again = await startServer({ args: ["--demo", "--port", port, "--token", "another-token-1"] });
  const banner = page.locator(".banner[role=alert]");
  await until("not signed in", async () => /no longer signed in/.test(await banner.innerText().catch(() => "")));
});

pageTest("a new token: this page stays signed in, what it copies is new, and every other page and agent is out", {
  args: ["--demo"],
}, async (at) => {
  const { page } = at;
  const second = await at.context.browser()?.newContext();
  assert.ok(second);
  const other = await second.newPage();
  await other.goto(`${at.server.origin}/?token=${at.server.token}`);
  await other.locator("section.pane").first().waitFor();
  await at.control("global.side.connect").click();
  await at.control("mcp.connect.resetToken").click();
  await at.control("dialog.resetToken.reset").click();
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  await until(
    "the other page is out",
    async () => /no longer signed in/.test(await other.locator(".banner").innerText().catch(() => "")),
  );
  await at.control("mcp.connect.address-http").click();
  const address = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(address, /\/mcp\?token=/);
  assert.ok(!address.includes(at.server.token));
  await page.reload();
  await page.locator("section.pane").first().waitFor();
  const status = await fetch(address.replace("/mcp?", "/status?"));
  await status.body?.cancel();
  assert.equal(status.status, 200, "the new token works");
  const old = await fetch(`${at.server.origin}/status?token=${at.server.token}`);
  await old.body?.cancel();
  assert.equal(old.status, 401, "the old one does not");
  await second.close();
});

pageTest("on a narrow page both columns are drawers: opened by their buttons, closed by Escape", {
  args: ["--demo"],
  width: 800,
  height: 700,
}, async (at) => {
  const { page } = at;
  const wide = async () => (await pane(at).boundingBox())?.width ?? 0;
  assert.equal(await page.locator(".side").count(), 0);
  assert.equal(await page.locator(".rail").count(), 0);
  assert.ok(await wide() > 780, "the pane has the whole width");
  await at.control("global.top.side").click();
  await page.locator(".side").waitFor();
  assert.ok(await wide() > 780, "a drawer takes no room from the pane");
  await page.keyboard.press("Escape");
  await page.locator(".side").waitFor({ state: "detached" });
  await at.control("global.top.rail").click();
  await page.locator(".rail").waitFor();
  await at.control("serial.panes.show-main").click();
  await page.locator(".rail").waitFor({ state: "detached" });
  await page.keyboard.press("Alt+G");
  await page.locator(".side").waitFor();
  assert.equal(await page.locator("#tab-logs").getAttribute("aria-selected"), "true");
  // Nothing is wider than the page.
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  quiet(at);
});
