import assert from "node:assert/strict";
import { LIMITS } from "../../tools/mod.ts";
import type { Control } from "../../src/core/page_protocol.ts";
import { isObject } from "../../src/mcp/protocol.ts";
import { until } from "../rigs/bench.ts";
import type { Json, RawMcp } from "../rigs/mcp_client.ts";
import { pageRig } from "../rigs/page.ts";
import { control, type PageClient } from "../rigs/page_client.ts";

const LINE_ENDINGS = ["crlf", "lf", "cr", "none"].map((value) => ({ value, label: value.toUpperCase() }));

/** Controls of a small page, one of each kind. */
const CONTROLS: Control[] = [
  control("serial.conn.start", { label: "Start", tool: "serial_open" }),
  control("serial.conn.portSelect", {
    kind: "select",
    label: "Port",
    value: "mem1",
    options: [{ value: "mem1", label: "Adapter" }],
  }),
  control("serial.conn.baud", { kind: "number", label: "Baud rate", value: 115200, min: 110, max: 4_000_000 }),
  control("serial.send.send", { label: "Send", enabled: false, disabledReason: "the port is closed" }),
  control("serial.send.text", { kind: "text", label: "Text", value: "" }),
  control("serial.send.ending", { kind: "select", label: "Line ending", value: "crlf", options: LINE_ENDINGS }),
  control("serial.view.echo", { kind: "toggle", label: "Echo", value: true }),
  control("mcp.server.readOnly", { kind: "toggle", panel: "mcp", label: "Read-only", value: false }),
  control("mcp.server.resetToken", { panel: "mcp", label: "Reset token", personOnly: true }),
  control("global.look.theme", {
    kind: "select",
    panel: "global",
    label: "Theme",
    value: "dark",
    options: [{ value: "dark", label: "Dark" }],
  }),
];

/** The failure of a call: the code and reason of an isError result. */
async function failure(agent: RawMcp, name: string, args: unknown) {
  const { json, text } = await agent.call(name, args);
  const { result } = json;
  assert.ok(isObject(result) && result["isError"] === true && isObject(result["structuredContent"]), text);
  const { error } = result["structuredContent"];
  assert.ok(isObject(error));
  const [content] = Array.isArray(result["content"]) ? result["content"] : [];
  return { code: error["code"], reason: error["reason"], text: String(content?.["text"]), result };
}

/** The message of a -32602. */
async function refusal(agent: RawMcp, name: string, args: unknown): Promise<string> {
  const { json, text } = await agent.call(name, args);
  assert.ok(isObject(json["error"]), text);
  assert.equal(json["error"]["code"], -32602, text);
  return String(json["error"]["message"]);
}

const list = (value: unknown): Json[] => {
  assert.ok(Array.isArray(value));
  return value;
};

async function setup(controls = CONTROLS) {
  const rig = await pageRig();
  const page = await rig.page(controls);
  const agent = await rig.agent();
  await until(() => rig.hub.bridge.controls().length > 0, "the controls arrived");
  return { rig, page, agent, [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose]() };
}

Deno.test("without a page the tools over it say so and nothing waits [C098]", async () => {
  await using rig = await pageRig();
  const agent = await rig.agent();
  const calls: [string, Json][] = [
    ["ui_list", {}],
    ["ui_describe", { path: "a.b.c" }],
    ["ui_get", { path: "a.b.c" }],
    ["ui_set", { path: "a.b.c", value: 1 }],
    ["ui_click", { path: "a.b.c" }],
  ];
  for (const [name, args] of calls) {
    const f = await failure(agent, name, args);
    assert.deepEqual([f.code, f.reason], [-32006, "no_page"], name);
    assert.match(f.text, /^\S*-32006.*no page/i, name);
  }
  const status = await agent.ok("mcp_status");
  assert.equal(status["hasUi"], false);
});

Deno.test("ui_list gives every control with all fields, and a cursor for more than a page [C325]", async () => {
  const many = Array.from({ length: 120 }, (_, i) => control(`serial.many.c${String(i).padStart(3, "0")}`));
  await using s = await setup([...CONTROLS, ...many]);
  const first = await s.agent.ok("ui_list");
  assert.equal(first["total"], 130);
  const controls = list(first["controls"]);
  assert.equal(controls.length, 100);
  for (const c of controls) {
    for (const field of ["path", "kind", "panel", "group", "label", "enabled", "disabledReason"]) assert.ok(field in c);
  }
  const second = await s.agent.ok("ui_list", { cursor: first["nextCursor"] });
  assert.equal(second["nextCursor"], undefined);
  const paths = [...controls, ...list(second["controls"])].map((c) => c["path"]);
  assert.equal(new Set(paths).size, 130);
  assert.match(await refusal(s.agent, "ui_list", { cursor: "nonsense" }), /cursor/);
  assert.equal((await s.agent.ok("mcp_status"))["hasUi"], true);
});

Deno.test("ui_list filters by panel, kind and query, and cuts a limit over 500 [C326]", async () => {
  const many = Array.from({ length: 600 }, (_, i) => control(`serial.many.c${i}`));
  await using s = await setup([...CONTROLS, ...many]);
  const paths = async (args: Json) => list((await s.agent.ok("ui_list", args))["controls"]).map((c) => c["path"]);
  assert.deepEqual(await paths({ panel: "global" }), ["global.look.theme"]);
  assert.deepEqual(await paths({ kind: "number" }), ["serial.conn.baud"]);
  assert.deepEqual(await paths({ query: "LINE END" }), ["serial.send.ending"]);
  assert.equal((await paths({ limit: 999 })).length, 500);
  assert.match(await refusal(s.agent, "ui_list", { limit: 0 }), /limit/);
  assert.match(await refusal(s.agent, "ui_list", { panel: "nope" }), /serial, wsl, adb, ble, global, mcp, dialog/);
});

Deno.test("with the port closed Send is listed as disabled with the reason [C327]", async () => {
  await using s = await setup();
  const output = await s.agent.ok("ui_list", { panel: "serial", query: "send.send" });
  assert.deepEqual(list(output["controls"]).map((c) => [c["enabled"], c["disabledReason"]]), [[
    false,
    "the port is closed",
  ]]);
});

Deno.test("ui_describe gives public fields, what it does, and the input that ui_set takes [C328]", async () => {
  await using s = await setup();
  const output = await s.agent.ok("ui_describe", { path: "serial.send.ending" });
  assert.equal(output["kind"], "select");
  assert.equal(typeof output["description"], "string");
  assert.ok(isObject(output["inputSchema"]));
  const properties = output["inputSchema"]["properties"];
  assert.ok(isObject(properties) && isObject(properties["value"]));
  assert.deepEqual(properties["value"]["enum"], ["crlf", "lf", "cr", "none"]);
  assert.equal("tool" in output || "personOnly" in output, false);
  await s.agent.ok("ui_set", { path: "serial.send.ending", value: "lf" });
});

Deno.test("ui_get gives what a person has typed, though it is saved nowhere [C329]", async () => {
  await using s = await setup();
  const field = s.page.controls.get("serial.send.text");
  assert.ok(field);
  field.control = { ...field.control, value: "half a comm" };
  assert.deepEqual(await s.agent.ok("ui_get", { path: "serial.send.text" }), {
    path: "serial.send.text",
    value: "half a comm",
    enabled: true,
    disabledReason: null,
  });
});

Deno.test("ui_set changes the control and tells from, to and effects; to is the value after normalising [C330]", async () => {
  await using s = await setup();
  const output = await s.agent.ok("ui_set", { path: "serial.conn.baud", value: 9600.4 });
  assert.deepEqual(output, {
    results: [{ path: "serial.conn.baud", ok: true, from: 115200, to: 9600 }],
    effects: [{ path: "serial.conn.baud", from: 115200, to: 9600 }],
  });
  assert.equal(s.page.controls.get("serial.conn.baud")?.control.value, 9600);
});

Deno.test("what ui_set changed is in the record of calls [C315]", async () => {
  await using s = await setup();
  await s.agent.ok("ui_set", { path: "serial.conn.baud", value: 9600 });
  await until(
    async () => list((await s.agent.ok("mcp_calls", { tool: "ui_set" }))["calls"]).length > 0,
    "it is recorded",
  );
  const [call] = list((await s.agent.ok("mcp_calls", { tool: "ui_set" }))["calls"]);
  assert.deepEqual(call?.["effects"], [{ path: "serial.conn.baud", from: 115200, to: 9600 }]);
});

Deno.test("a select takes the value of an option; anything else is refused with the options [C331]", async () => {
  await using s = await setup();
  await s.agent.ok("ui_set", { path: "serial.send.ending", value: "lf" });
  for (const value of ["LF", "nonsense", true, 3]) {
    assert.match(await refusal(s.agent, "ui_set", { path: "serial.send.ending", value }), /crlf, lf, cr, none/);
  }
});

Deno.test("one target that is unknown or disabled fails the call [C332]", async () => {
  await using s = await setup();
  const message = await refusal(s.agent, "ui_set", { path: "serial.conn.bauds", value: 9600 });
  assert.match(message, /serial\.conn\.baud/, "says what is like it");
  const f = await failure(s.agent, "ui_set", { path: "serial.send.send", value: true });
  assert.deepEqual([f.code, f.reason], [-32006, "disabled"]);
  assert.match(f.text, /the port is closed/);
  const content = f.result["structuredContent"];
  assert.ok(isObject(content) && !("results" in content));
  assert.match(await refusal(s.agent, "ui_get", { path: "nope" }), /ui_list/);
  assert.match(await refusal(s.agent, "ui_describe", { path: "nope" }), /ui_list/);
  assert.match(await refusal(s.agent, "ui_click", { path: "nope" }), /ui_list/);
  assert.equal((await failure(s.agent, "ui_click", { path: "serial.send.send" })).reason, "disabled");
});

Deno.test("a batch gives one result for each, in order; effects only for what changed [C333]", async () => {
  await using s = await setup();
  const output = await s.agent.ok("ui_set", {
    items: [
      { path: "serial.nope.x", value: 1 },
      { path: "serial.conn.baud", value: 9600 },
      { path: "serial.send.send", value: true },
      { path: "serial.view.echo", value: true },
    ],
  });
  assert.deepEqual(
    list(output["results"]).map((r) => [r["path"], r["ok"], r["notFound"] ?? false, typeof r["error"]]),
    [
      ["serial.nope.x", false, true, "string"],
      ["serial.conn.baud", true, false, "undefined"],
      ["serial.send.send", false, false, "string"],
      ["serial.view.echo", true, false, "undefined"],
    ],
  );
  assert.deepEqual(output["effects"], [{ path: "serial.conn.baud", from: 115200, to: 9600 }]);
});

Deno.test("200 items and 8,192 characters are taken, one more is refused [C334]", async () => {
  await using s = await setup();
  const items = (n: number) => Array.from({ length: n }, () => ({ path: "serial.send.text", value: "x" }));
  const output = await s.agent.ok("ui_set", { items: items(LIMITS.maxUiSetItems) });
  assert.equal(list(output["results"]).length, 200);
  assert.match(await refusal(s.agent, "ui_set", { items: items(201) }), /200/);
  assert.match(await refusal(s.agent, "ui_set", { items: [] }), /items/);
  await s.agent.ok("ui_set", { path: "serial.send.text", value: "x".repeat(8192) });
  for (
    const args of [{ path: "serial.send.text", value: "x".repeat(8193) }, {
      items: [{ path: "a", value: "x".repeat(8193) }],
    }]
  ) {
    assert.match(await refusal(s.agent, "ui_set", args), /8192/);
  }
  for (const args of [{}, { path: "a" }, { value: 1 }, { path: "a", value: 1, items: items(1) }]) {
    await refusal(s.agent, "ui_set", args);
  }
});

Deno.test("ui_click clicks, and twice is two clicks [C335] [C336]", async () => {
  await using s = await setup();
  for (let i = 0; i < 2; i++) {
    const output = await s.agent.ok("ui_click", { path: "serial.conn.start" });
    assert.deepEqual(output, { results: [{ path: "serial.conn.start", ok: true }], effects: [] });
  }
  assert.deepEqual(s.page.controls.get("serial.conn.start")?.events, ["click", "click"]);
});

Deno.test("a control whose tool needs a confirmation is in no list and cannot be reached [C089]", async () => {
  const run = control("serial.rule.run", { tool: "test_danger" });
  await using s = await setup([...CONTROLS, run, control("serial.rule.rename", { tool: "test_write" })]);
  const output = await s.agent.ok("ui_list", { query: "rule" });
  assert.deepEqual(list(output["controls"]).map((c) => c["path"]), ["serial.rule.rename"]);
  await refusal(s.agent, "ui_click", { path: "serial.rule.run" });
  await refusal(s.agent, "ui_set", { path: "serial.rule.run", value: true });
  const batch = await s.agent.ok("ui_set", { items: [{ path: "serial.rule.run", value: true }] });
  assert.equal(list(batch["results"])[0]?.["notFound"], true);
  assert.deepEqual(s.page.controls.get("serial.rule.run")?.events, [], "the page was never asked");
});

Deno.test("what only a person may use is listed and never touched by an agent", async () => {
  await using s = await setup();
  const shown = await s.agent.ok("ui_get", { path: "mcp.server.resetToken" });
  assert.deepEqual([shown["enabled"], shown["disabledReason"]], [false, "only a person may use this control"]);
  assert.equal((await failure(s.agent, "ui_click", { path: "mcp.server.resetToken" })).reason, "disabled");
  const batch = await s.agent.ok("ui_set", { items: [{ path: "mcp.server.resetToken", value: true }] });
  assert.equal(list(batch["results"])[0]?.["ok"], false);
  assert.deepEqual(s.page.controls.get("mcp.server.resetToken")?.events, []);
});

Deno.test("with read-only on, a click on the read-only switch is refused and not made [C113]", async () => {
  await using s = await setup();
  await s.page.act("server.setReadOnly", { on: true });
  for (
    const [name, args] of [
      ["ui_click", { path: "mcp.server.readOnly" }],
      ["ui_set", { path: "mcp.server.readOnly", value: false }],
    ] as const
  ) {
    assert.equal((await failure(s.agent, name, args)).code, -32007);
  }
  assert.deepEqual(s.page.controls.get("mcp.server.readOnly")?.events, []);
  assert.equal((await s.agent.ok("ui_get", { path: "mcp.server.readOnly" }))["value"], false, "reading goes on");
});

Deno.test("a page that does not answer: -32004 after five seconds, no sooner [C099] [C377]", async () => {
  await using s = await setup();
  s.page.mute = true;
  const begun = performance.now();
  const f = await failure(s.agent, "ui_get", { path: "serial.conn.baud" });
  const took = performance.now() - begun;
  assert.deepEqual([f.code, f.reason], [-32004, "timed_out"]);
  assert.match(f.text, /^\S*-32004/);
  assert.ok(took >= LIMITS.uiTimeoutMs - 20, `${took} ms`);
  // An answer that comes later is nobody's any more.
  s.page.mute = false;
  s.page.send({ type: "ack", id: s.page.commands.at(-1)?.id ?? 0, ok: true, result: {} });
  await s.agent.ok("ui_get", { path: "serial.conn.baud" });
});

Deno.test("32 requests in flight, one more is refused at once with -32005 [C100]", async () => {
  await using s = await setup();
  s.page.mute = true;
  const waiting = Array.from(
    { length: LIMITS.maxUiInFlight },
    () => failure(s.agent, "ui_get", { path: "serial.conn.baud" }),
  );
  await until(() => s.page.commands.length >= LIMITS.maxUiInFlight, "32 commands are with the page");
  const f = await failure(s.agent, "ui_get", { path: "serial.conn.baud" });
  assert.equal(f.code, -32005);
  assert.match(f.text, /^\S*-32005/);
  assert.equal(s.page.commands.length, LIMITS.maxUiInFlight, "it was not sent");
  await s.page.close();
  for (const one of await Promise.all(waiting)) assert.deepEqual([one.code, one.reason], [-32006, "no_page"]);
});

Deno.test("of several pages the one last focused acts [C344]", async () => {
  await using s = await setup();
  const second = await s.rig.page(CONTROLS);
  const events = (page: PageClient) => page.controls.get("serial.conn.start")?.events.length;
  const click = () => s.agent.ok("ui_click", { path: "serial.conn.start" });
  const focus = async (page: PageClient) => {
    page.focus();
    // What comes after the focus comes after it: an answer means that it was heard.
    await page.call("app_info");
  };
  await focus(s.page);
  await click();
  assert.deepEqual([events(s.page), events(second)], [1, 0]);
  await focus(second);
  await click();
  assert.deepEqual([events(s.page), events(second)], [1, 1]);
  await second.close();
  await until(() => s.rig.hub.pages === 1, "the second page is gone");
  await click();
  assert.deepEqual([events(s.page), events(second)], [2, 1]);
});

Deno.test("a page that goes away in the middle of a command: a prompt failure, never a hang [C345]", async () => {
  await using s = await setup();
  s.page.onCommand = async (command) => {
    if (command.kind === "set") await s.page.close();
  };
  const begun = performance.now();
  const f = await failure(s.agent, "ui_set", { path: "serial.conn.baud", value: 9600 });
  assert.deepEqual([f.code, f.reason], [-32006, "no_page"]);
  assert.ok(performance.now() - begun < LIMITS.uiTimeoutMs - 500, "not by the deadline");
});

Deno.test("a page whose answers make no sense fails the call and nothing else", async () => {
  await using s = await setup();
  s.page.mute = true;
  s.page.onCommand = (command) => s.page.send({ type: "ack", id: command.id, ok: true, result: { nonsense: true } });
  assert.equal((await failure(s.agent, "ui_get", { path: "serial.conn.baud" })).code, -32006);
  s.page.onCommand = (command) =>
    s.page.send({ type: "ack", id: command.id, ok: false, error: { reason: "failed", message: "boom" } });
  assert.match((await failure(s.agent, "ui_get", { path: "serial.conn.baud" })).text, /boom/);
});

Deno.test("what has only begun is told as not settled, in words that say not to retry", async () => {
  await using s = await setup();
  s.page.mute = true;
  const note = "Windows asks the person first.";
  s.page.onCommand = (command) => {
    const path = "serial.conn.start";
    const result = { path, ok: true, mapRequest: { settled: false, note } };
    s.page.send({ type: "ack", id: command.id, ok: true, result: { results: [result], effects: [] } });
  };
  for (
    const [name, args] of [
      ["ui_set", { path: "serial.conn.start", value: true }],
      ["ui_click", { path: "serial.conn.start" }],
    ] as const
  ) {
    const { json } = await s.agent.call(name, args);
    const { result } = json;
    assert.ok(isObject(result) && isObject(result["structuredContent"]));
    assert.deepEqual(list(result["structuredContent"]["results"])[0]?.["mapRequest"], { settled: false, note });
    assert.match(JSON.stringify(result["content"]), /do not retry/);
  }
});

Deno.test("a call that is canceled no longer waits for the page", async () => {
  await using s = await setup();
  s.page.mute = true;
  const stop = new AbortController();
  const call = s.rig.parts.gate.call("ui_get", { path: "serial.conn.baud" }, {
    caller: { kind: "agent", session: "t", src: "ai" },
    signal: stop.signal,
    progress: () => {},
  });
  await until(() => s.page.commands.length > 0, "the command is with the page");
  stop.abort();
  await assert.rejects(call, { reason: "canceled" });
});

Deno.test("a write on another pane brings it to the front of the page; a read does not [C142]", async () => {
  await using s = await setup();
  const shows = () => s.page.commands.flatMap((c) => c.kind === "show" ? [c.pane] : []);
  await s.agent.ok("serial_set_baud", { baud: 9600, pane: "extra-1" });
  await until(() => shows().length > 0, "the page was asked");
  assert.deepEqual(shows(), ["extra-1"]);
  await s.agent.ok("serial_get_state", { pane: "main" });
  await s.agent.ok("serial_get_output", { pane: "main" });
  await s.page.call("app_info");
  assert.deepEqual(shows(), ["extra-1"]);
});
