import assert from "node:assert/strict";
import { ctlName } from "../../src/core/ctl_names.ts";
import { isObject } from "../../src/mcp/protocol.ts";
import type { RawMcp } from "../rigs/mcp_client.ts";
import { failing, listAll, pageTest, pane, quiet, until, withAgent } from "./rig.ts";

const DEMO = { args: ["--demo"] };

pageTest(
  "ui_list gives the controls of the real page: filtered, paged, with values, reasons and options [C325] [C326] [C327]",
  DEMO,
  async (at) => {
    await withAgent(at, async (agent) => {
      const all = await listAll(agent);
      assert.ok(all.length > 40, `${all.length} controls`);
      const port = all.find((c) => c.path === "serial.conn.portSelect");
      assert.ok(port && port.kind === "select" && port.enabled && (port.options?.length ?? 0) > 0);
      const serial = await listAll(agent, { panel: "serial" });
      assert.ok(serial.length > 20 && serial.every((c) => c.panel === "serial"));
      const toggles = await listAll(agent, { kind: "toggle" });
      assert.ok(toggles.length > 5 && toggles.every((c) => c.kind === "toggle"));
      const query = await listAll(agent, { query: "baud" });
      assert.ok(query.some((c) => c.path === "serial.conn.baud"));
      await agent.ok("serial_close", {});
      await until("Send is disabled with its reason", async () => {
        const send = (await listAll(agent, { panel: "serial" })).find((c) => c.path === "serial.send.send");
        return send !== undefined && !send.enabled && /not open/.test(send.disabledReason ?? "");
      });
    });
    quiet(at);
  },
);

pageTest(
  "ui_describe, ui_get, ui_set and ui_click act on the real elements with native events, and the person sees it [C328] [C329] [C330] [C335] [C337]",
  DEMO,
  async (at) => {
    const { page } = at;
    await withAgent(at, async (agent) => {
      const described = await agent.ok("ui_describe", { path: "serial.conn.baud" });
      assert.ok(isObject(described["inputSchema"]) && String(described["description"]).length > 5);

      await at.control("serial.send.data").fill("typed, not sent");
      assert.equal((await agent.ok("ui_get", { path: "serial.send.data" }))["value"], "typed, not sent");

      await page.evaluate(() => {
        const heard: string[] = [];
        Object.assign(globalThis, { heard });
        for (const type of ["input", "change", "click"]) {
          document.addEventListener(type, (event) => {
            const { target } = event;
            if (target instanceof HTMLElement) heard.push(`${type} ${target.dataset.control}`);
          }, { capture: true });
        }
      });
      const set = await agent.ok("ui_set", { path: "serial.conn.baud", value: 9600 });
      assert.deepEqual((set["results"] as { to: unknown }[]).map((r) => r.to), [9600]);
      assert.ok((set["effects"] as { path: string }[]).some((e) => e.path === "serial.conn.baud"));
      assert.equal((await agent.ok("serial_get_state", {}))["baud"], 9600);
      assert.equal(await at.control("serial.conn.baud").inputValue(), "9600");
      assert.equal(await at.control("serial.conn.baud").getAttribute("data-touched"), "", "a short highlight");
      const heard = await page.evaluate(() => Reflect.get(globalThis, "heard") as string[]);
      assert.ok(heard.includes("change serial.conn.baud"), heard.join());

      await agent.ok("ui_click", { path: "serial.conn.start" });
      await until(
        "stopped as if clicked",
        async () => (await agent.ok("serial_get_state", {}))["isConnected"] === false,
      );
      await agent.ok("ui_click", { path: "serial.conn.start" });
      await until(
        "started as if clicked",
        async () => (await agent.ok("serial_get_state", {}))["isConnected"] === true,
      );
      await until("the highlight ends", async () => await page.locator("[data-touched]").count() === 0);
    });
    quiet(at);
  },
);

pageTest(
  "a select takes its values; nonsense, unknown and disabled are told apart; a batch answers for each [C331] [C332] [C333] [C334]",
  DEMO,
  async (at) => {
    await withAgent(at, async (agent) => {
      await agent.ok("ui_set", { path: "serial.conn.lineEnding", value: "lf" });
      assert.equal((await agent.ok("serial_get_state", {}))["lineEnding"], "lf");
      const nonsense = await failing(agent, "ui_set", { path: "serial.conn.lineEnding", value: "wat" });
      assert.equal(nonsense.code, -32602);
      assert.match(nonsense.message, /crlf/);
      assert.equal((await failing(agent, "ui_set", { path: "serial.no.such", value: 1 })).code, -32602);
      await agent.ok("serial_close", {});
      await until("disabled", async () => await at.control("serial.send.data").isDisabled());
      assert.equal((await failing(agent, "ui_set", { path: "serial.send.data", value: "x" })).code, -32006);
      assert.equal((await failing(agent, "ui_click", { path: "serial.send.send" })).code, -32006);
      const batch = await agent.ok("ui_set", {
        items: [
          { path: "serial.conn.lineEnding", value: "cr" },
          { path: "serial.no.such", value: 1 },
          { path: "serial.send.data", value: "x" },
        ],
      });
      const results = batch["results"] as { ok: boolean; notFound?: boolean; error?: string }[];
      assert.deepEqual(results.map((r) => r.ok), [true, false, false]);
      assert.equal(results[1]?.notFound, true);
      assert.match(results[2]?.error ?? "", /not open/);
      assert.ok((batch["effects"] as { path: string }[]).every((e) => e.path !== "serial.send.data"));

      const many = await agent.ok("ui_set", {
        items: Array.from(
          { length: 200 },
          (_, i) => ({ path: "serial.conn.lineEnding", value: i % 2 ? "lf" : "crlf" }),
        ),
      });
      assert.equal((many["results"] as unknown[]).length, 200);
      assert.ok((many["results"] as { ok: boolean }[]).every((r) => r.ok));
      assert.equal(
        (await failing(agent, "ui_set", { items: Array.from({ length: 201 }, () => ({ path: "a", value: 1 })) })).code,
        -32602,
      );
      await agent.ok("serial_open", {});
      await until("open", async () => !await at.control("serial.send.data").isDisabled());
      await agent.ok("ui_set", { path: "serial.send.data", value: "y".repeat(8192) });
      assert.equal((await at.control("serial.send.data").inputValue()).length, 8192);
      assert.equal(
        (await failing(agent, "ui_set", { path: "serial.send.data", value: "y".repeat(8193) })).code,
        -32602,
      );
    });
    quiet(at);
  },
);

pageTest("two clicks are two clicks [C336]", DEMO, async (at) => {
  await withAgent(at, async (agent) => {
    const before = await at.control("serial.view.echo").getAttribute("aria-pressed");
    await agent.ok("ui_click", { path: "serial.view.echo" });
    assert.notEqual(await at.control("serial.view.echo").getAttribute("aria-pressed"), before);
    await agent.ok("ui_click", { path: "serial.view.echo" });
    assert.equal(await at.control("serial.view.echo").getAttribute("aria-pressed"), before);
  });
});

pageTest("what ui_set changed stands in the record of calls [C315]", DEMO, async (at) => {
  await withAgent(at, async (agent) => {
    await agent.ok("ui_set", { path: "serial.conn.lineEnding", value: "lf" });
    const { calls } = await agent.ok("mcp_calls", { tool: "ui_set", limit: 5 });
    assert.match(JSON.stringify(calls), /serial\.conn\.lineEnding/);
    assert.match(JSON.stringify(calls), /effects/);
  });
});

pageTest(
  "a write on another pane brings it to the front; a read does not; the page follows serial_set_display [C142] [C159] [C140]",
  DEMO,
  async (at) => {
    const { page } = at;
    await withAgent(at, async (agent) => {
      await agent.ok("serial_set_baud", { pane: "extra-1", baud: 19_200 });
      await page.locator("#pane-extra-1").waitFor();
      await at.control("serial.send.data").focus();
      await until("main is current", async () => await page.locator("#pane-main[data-current]").count() === 1);
      await agent.ok("serial_get_state", { pane: "extra-1" });
      await page.waitForTimeout(300);
      assert.equal(await page.locator("#pane-main[data-current]").count(), 1, "a read moves nothing");
      await agent.ok("serial_set_display", { pane: "extra-1", viewMode: "hex" });
      await until("extra-1 is shown", async () => await page.locator("#pane-extra-1[data-current]").count() === 1);
      await until(
        "its view control follows",
        async () => await at.control("serial.extra-1-view.mode").inputValue() === "hex",
      );
      assert.equal(await at.control("serial.view.mode").inputValue(), "text");
    });
    quiet(at);
  },
);

pageTest(
  "read-only binds agents, not the person; the person switches it off again [C111] [C112] [C113]",
  DEMO,
  async (at) => {
    await withAgent(at, async (agent) => {
      await at.control("mcp.agents.readOnly").click();
      await until("on", async () => await at.control("mcp.agents.readOnly").getAttribute("aria-checked") === "true");
      assert.equal((await failing(agent, "serial_send", { data: "AT" })).code, -32007);
      assert.equal((await failing(agent, "ui_click", { path: "mcp.agents.readOnly" })).code, -32007);
      assert.equal(await at.control("mcp.agents.readOnly").getAttribute("aria-checked"), "true");
      await at.control("serial.send.data").fill("AT+CSQ");
      await at.control("serial.send.send").click();
      await until(
        "the person's line went",
        async () => JSON.stringify(await agent.ok("serial_get_history", {})).includes("AT+CSQ"),
      );
      await at.control("mcp.agents.readOnly").click();
      await until("off", async () => await at.control("mcp.agents.readOnly").getAttribute("aria-checked") === "false");
      await agent.ok("serial_send", { data: "AT" });
    });
    quiet(at);
  },
);

pageTest(
  "what only a person may do is listed and refused to agents: pause, ask, transport, token, answers",
  DEMO,
  async (at) => {
    await withAgent(at, async (agent) => {
      await at.control("global.side.connect").click();
      await at.control("mcp.connect.resetToken").waitFor();
      const all = await listAll(agent);
      for (const path of ["mcp.agents.pause", "mcp.connect.transport", "mcp.connect.resetToken"]) {
        const control = all.find((c) => c.path === path);
        assert.ok(control && !control.enabled, `${path} is listed as not for agents`);
        assert.match(control.disabledReason ?? "", /person/);
        assert.equal((await failing(agent, "ui_click", { path })).code, -32006);
      }
      await at.control("global.side.agents").click();
      await until(
        "the agents panel",
        async () => (await listAll(agent)).some((c) => c.path === "mcp.agents.askPerson" && !c.enabled),
      );
    });
  },
);

pageTest(
  "of two pages the one last focused acts; one that closes in the middle of a command ends it promptly [C344] [C345]",
  DEMO,
  async (at) => {
    const second = await at.context.newPage();
    await second.goto(`${at.server.origin}/devices`);
    await second.locator("section.pane").first().waitFor();
    await withAgent(at, async (agent) => {
      await second.bringToFront();
      await second.locator('[data-control="serial.send.data"]').click();
      await second.waitForTimeout(200);
      await agent.ok("ui_set", { path: "serial.send.data", value: "to the second" });
      assert.equal(await second.locator('[data-control="serial.send.data"]').inputValue(), "to the second");
      assert.equal(await at.control("serial.send.data").inputValue(), "");
      await at.page.bringToFront();
      await at.control("serial.send.data").click();
      await at.page.waitForTimeout(200);
      await agent.ok("ui_set", { path: "serial.send.data", value: "to the first" });
      assert.equal(await at.control("serial.send.data").inputValue(), "to the first");

      await second.bringToFront();
      await second.locator('[data-control="serial.send.data"]').click();
      await second.waitForTimeout(200);
      const before = performance.now();
      // The page is busy, so that the command is under way when it goes.
      const busy = second.evaluate(() => {
        const end = performance.now() + 600;
        while (performance.now() < end);
      }).catch(() => {});
      const answer = failing(agent, "ui_set", { path: "serial.send.data", value: "x" });
      await second.close({ runBeforeUnload: false });
      await busy;
      const { code } = await answer;
      assert.ok(code === -32006 || code === -32004);
      assert.ok(performance.now() - before < 5000, "promptly");
    });
  },
);

pageTest("a page that is busy for six seconds: -32004 after five [C377] [C099]", DEMO, async (at) => {
  await withAgent(at, async (agent) => {
    // It is busy from within: the evaluation itself comes back at once.
    await at.page.evaluate(() => {
      setTimeout(() => {
        const end = performance.now() + 7000;
        while (performance.now() < end);
      }, 30);
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const before = performance.now();
    assert.equal((await failing(agent, "ui_get", { path: "serial.send.data" })).code, -32004);
    assert.ok(performance.now() - before >= 4900);
    await until(
      "it answers again",
      async () => (await agent.call("ui_get", { path: "serial.send.data" })).text.includes('"value"'),
    );
  });
});

async function ctlTools(agent: RawMcp): Promise<{ name: string; description: string; inputSchema: unknown }[]> {
  const all: { name: string; description: string; inputSchema: unknown }[] = [];
  let cursor: unknown;
  do {
    const { json } = await agent.request("tools/list", cursor === undefined ? {} : { cursor });
    assert.ok(isObject(json["result"]));
    all.push(...json["result"]["tools"] as typeof all);
    cursor = json["result"]["nextCursor"];
  } while (cursor !== undefined);
  return all.filter((one) => one.name.startsWith("ctl_"));
}

pageTest(
  "control tools of the real page: switched on by the person, one each, changing the real control, none dangerous [C077] [C078] [C081] [C082] [C086] [C089]",
  DEMO,
  async (at) => {
    await withAgent(at, async (agent) => {
      assert.deepEqual(await ctlTools(agent), []);
      await at.control("global.side.connect").click();
      await at.control("mcp.connect.controlTools").click();
      await until("control tools", async () => (await ctlTools(agent)).length > 30);
      await until("one for each control that is not a person's", async () => {
        const names = new Set((await ctlTools(agent)).map((one) => one.name));
        const wanted = (await listAll(agent)).filter((c) => !/only a person/.test(c.disabledReason ?? ""));
        return wanted.every((c) => names.has(ctlName(c.path))) && names.size === wanted.length;
      });
      const all = await ctlTools(agent);
      for (
        const path of [
          "mcp.agents.pause",
          "mcp.connect.resetToken",
          "mcp.connect.transport",
          "mcp.connect.controlTools",
        ]
      ) {
        assert.ok(!all.some((one) => one.name === ctlName(path)), path);
      }
      const schemaOf = (path: string) => JSON.stringify(all.find((one) => one.name === ctlName(path))?.inputSchema);
      assert.match(schemaOf("serial.view.echo"), /boolean/);
      assert.match(schemaOf("serial.conn.baud"), /"(?:number|integer)"/);
      assert.match(schemaOf("serial.conn.lineEnding"), /"enum":\["crlf","lf","cr","none"\]/);
      await agent.ok(ctlName("serial.conn.lineEnding"), { value: "cr" });
      await until(
        "the real control changed",
        async () => await at.control("serial.conn.lineEnding").inputValue() === "cr",
      );
      await agent.ok("serial_close", {});
      await until(
        "a disabled control says why",
        async () =>
          /not open/.test(
            (await ctlTools(agent)).find((one) => one.name === ctlName("serial.send.send"))?.description ?? "",
          ),
      );
    });
    quiet(at);
  },
);

pageTest("the list of control tools changes when a pane comes or goes, and only then [C085]", DEMO, async (at) => {
  await withAgent(at, async (agent) => {
    await at.control("global.side.connect").click();
    await at.control("mcp.connect.controlTools").click();
    await until("on", async () => (await ctlTools(agent)).length > 30);
    await at.page.waitForTimeout(500);
    const stop = new AbortController();
    const events = await agent.listen(stop.signal);
    let changes = 0;
    const reading = (async () => {
      for (;;) {
        const event = await events.event().catch(() => undefined);
        if (event === undefined) return;
        if (event.includes("list_changed")) changes++;
      }
    })();
    // Calls, typing and data change no control.
    for (let i = 0; i < 5; i++) await agent.ok("serial_send", { data: "AT", lineEnding: "crlf" });
    await at.page.waitForTimeout(600);
    assert.equal(changes, 0, "none while the set is the same");
    await at.control("serial.panes.add").click();
    await pane(at, "extra-1").waitFor();
    await until("told", () => changes > 0);
    const told = changes;
    await at.control("serial.extra-1-conn.closePane").click();
    await until("told again", () => changes > told);
    stop.abort();
    await reading;
  });
});
