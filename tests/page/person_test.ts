import assert from "node:assert/strict";
import { CLIENTS, entriesFor } from "../../src/core/client_entries.ts";
import { isObject } from "../../src/mcp/protocol.ts";
import { TOKEN } from "../rigs/app.ts";
import { until } from "../rigs/bench.ts";
import type { RawMcp } from "../rigs/mcp_client.ts";
import { pageRig } from "../rigs/page.ts";
import { AnswerError, control } from "../rigs/page_client.ts";

async function reasonOf(agent: RawMcp, name: string, args: unknown): Promise<unknown> {
  const { json, text } = await agent.call(name, args);
  const { result } = json;
  assert.ok(isObject(result) && result["isError"] === true && isObject(result["structuredContent"]), text);
  const { error } = result["structuredContent"];
  assert.ok(isObject(error));
  return error["reason"] ?? error["code"];
}

Deno.test("a person switches read-only mode off on the page, and tools write again; it is kept [C111]", async () => {
  await using rig = await pageRig({ mcp: { expose: { readOnly: true } } });
  const agent = await rig.agent();
  const page = await rig.page();
  assert.equal(await reasonOf(agent, "serial_set_baud", { baud: 9600 }), "read_only");
  assert.equal(page.state.server?.readOnly, true);
  await page.act("server.setReadOnly", { on: false });
  await agent.ok("serial_set_baud", { baud: 9600 });
  assert.equal(rig.settings.value.expose.readOnly, false);
  await until(() => page.state.server?.readOnly === false, "the page shows it");
});

Deno.test("read-only binds agents, never the person on the page [C112]", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  const agent = await rig.agent();
  await page.call("serial_open", { port: "mem1" });
  await page.act("server.setReadOnly", { on: true });
  await page.call("serial_send", { data: "AT", lineEnding: "crlf" });
  await until(() => rig.device.peer.take().length > 0, "the device got it");
  assert.equal(await reasonOf(agent, "serial_send", { data: "AT" }), "read_only");
  const output = await agent.ok("serial_get_output", { direction: "tx" });
  assert.ok(Array.isArray(output["items"]));
  assert.deepEqual(output["items"].map((i) => [i["text"], i["src"]]), [["AT", "ui"]]);
});

Deno.test("paused agents are refused with the reason, the status still answers, the person goes on", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  const agent = await rig.agent();
  await page.act("server.pauseAgents", { on: true });
  for (const name of ["serial_set_baud", "serial_get_state"]) {
    assert.equal(await reasonOf(agent, name, name === "serial_set_baud" ? { baud: 9600 } : {}), "paused");
  }
  await agent.ok("mcp_status");
  await page.call("serial_set_baud", { baud: 4800 });
  await until(() => page.state.server?.paused === true, "the page shows it");
  await page.act("server.pauseAgents", { on: false });
  assert.equal((await agent.ok("serial_get_state"))["baud"], 4800);
});

Deno.test("when the person wants to be asked, a dangerous call waits for a yes on the page", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  const agent = await rig.agent();
  assert.equal(await reasonOf(agent, "test_danger", {}), "confirm_required");
  await agent.ok("test_danger", { confirm: true });
  await page.act("server.setAskPerson", { on: true });
  assert.equal(rig.settings.value.expose.askPerson, true, "it is kept");
  assert.equal(await reasonOf(agent, "test_danger", {}), "confirm_required", "confirm stays as it is");
  const call = agent.ok("test_danger", { confirm: true });
  await until(() => (page.state.asks ?? []).length > 0, "the page is asked");
  const [ask] = page.state.asks ?? [];
  assert.ok(ask);
  assert.deepEqual([ask.tool, ask.consequence], ["test_danger", "it would send what cannot be taken back."]);
  assert.deepEqual(rig.tools.runs, ["danger"], "it has not run yet");
  await page.act("server.answerAsk", { askId: ask.askId, yes: true });
  await call;
  assert.deepEqual(rig.tools.runs, ["danger", "danger"]);
  await until(() => page.state.asks?.length === 0, "the question is gone");

  const refused = reasonOf(agent, "test_danger", { confirm: true });
  await until(() => (page.state.asks ?? []).length > 0, "the page is asked again");
  const second = page.state.asks?.[0]?.askId ?? 0;
  await page.act("server.answerAsk", { askId: second, yes: false });
  assert.equal(await refused, "refused");
  assert.equal(rig.tools.runs.length, 2);
  await assert.rejects(page.act("server.answerAsk", { askId: second, yes: true }), AnswerError);
});

Deno.test("nobody answers, or nobody is there to ask: the call is not run", async () => {
  await using rig = await pageRig({ timing: { askMs: 60 } });
  const page = await rig.page();
  const agent = await rig.agent();
  await page.act("server.setAskPerson", { on: true });
  assert.equal(await reasonOf(agent, "test_danger", { confirm: true }), "timed_out");
  await page.close();
  await until(() => rig.hub.pages === 0, "the page is gone");
  assert.equal(await reasonOf(agent, "test_danger", { confirm: true }), "no_page");
  assert.deepEqual(rig.tools.runs, []);
});

Deno.test("an agent cannot answer for the person", async () => {
  await using rig = await pageRig();
  const page = await rig.page([control("global.ask.yes", { panel: "global", personOnly: true })]);
  const agent = await rig.agent();
  await until(() => rig.hub.bridge.controls().length > 0, "the controls arrived");
  assert.equal(await reasonOf(agent, "ui_click", { path: "global.ask.yes" }), "disabled");
  assert.deepEqual(page.controls.get("global.ask.yes")?.events, []);
});

Deno.test("the live list shows who called what, how it went and what it changed, and no secret", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  const agent = await rig.agent();
  await agent.ok("serial_set_baud", { baud: 9600 });
  await agent.call("serial_select_port", { port: "nope" });
  await agent.call("test_secret", { password: "hunter2", data: "kept" });
  const slow = agent.call("test_slow", { ms: 100_000 }, { id: 77 });
  await page.call("serial_set_baud", { baud: 4800 });
  const calls = () => page.state.calls ?? [];
  await until(() => calls().length === 5 && calls().filter((c) => c.ok !== null).length === 4, "five calls are shown");
  const [set, select, secret, running, own] = calls().toSorted((a, b) =>
    Number(a.kind === "page") - Number(b.kind === "page")
  );
  assert.match(set?.who ?? "", /^raw [0-9a-f]{4}$/, "the client by its name");
  assert.deepEqual([own?.kind, own?.tool, own?.effects], ["page", "serial_set_baud", ["baud: 9600 → 4800"]]);
  assert.deepEqual([set?.tool, set?.kind, set?.argsShort, set?.ok, set?.effects], [
    "serial_set_baud",
    "agent",
    "baud: 9600",
    true,
    ["baud: 115200 → 9600"],
  ]);
  assert.ok(set && set.ms !== null && set.ms >= 0);
  assert.deepEqual([select?.ok, typeof select?.error], [false, "string"]);
  assert.equal(JSON.stringify(secret).includes("hunter2"), false);
  assert.deepEqual([running?.tool, running?.ok, running?.ms], ["test_slow", null, null]);
  assert.equal(page.state.server?.hasAgents, true);
  await agent.notify("notifications/cancelled", { requestId: 77 });
  await slow;
  // A script that looks at the state is nobody in the list.
  await (await fetch(`${rig.origin}/status?token=${TOKEN}`)).body?.cancel();
  await page.call("app_info");
  await until(() => calls().some((c) => c.tool === "app_info"), "what came later is shown");
  assert.equal(calls().some((c) => c.tool === "mcp_status"), false);
  await until(() => calls().find((c) => c.tool === "test_slow")?.ok === false, "the end of the running one is shown");
});

Deno.test("a person switches the transport at once, and it is kept [C015]", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  const agent = await rig.agent();
  await agent.ok("app_info");
  await page.act("server.setTransport", { transport: "sse" });
  assert.equal((await agent.call("app_info")).status, 404);
  assert.equal(rig.settings.value.server.transport, "sse");
  await page.act("server.setTransport", { transport: "both" });
  assert.notEqual((await agent.call("app_info")).status, 404);
});

Deno.test("the entries for clients are those of the command line, for the transport that is switched on", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  const { clients, streamableUrl, sseUrl } = await page.act("server.connectInfo", {});
  const launch = { command: "fieldbench", args: ["mcp"] };
  for (const id of CLIENTS) {
    assert.equal(clients.find((c) => c.id === id)?.snippet, entriesFor(id, streamableUrl, launch).http.text, id);
  }
  await page.act("server.setTransport", { transport: "sse" });
  const sse = (await page.act("server.connectInfo", {})).clients;
  assert.ok(sse.every((c) => !c.snippet.includes("/mcp")), JSON.stringify(sse));
  assert.equal(sse.find((c) => c.id === "vscode")?.snippet, entriesFor("vscode", sseUrl, launch).http.text);
});

Deno.test("a new token ends the old one everywhere, and the page learns the new addresses", async () => {
  await using rig = await pageRig();
  const page = await rig.page();
  const agent = await rig.agent();
  const other = await rig.page();
  const before = await page.act("server.connectInfo", {});
  assert.ok(before.streamableUrl.startsWith(`${rig.origin}/mcp?token=`));
  const info = await page.act("server.resetToken", {});
  assert.notEqual(info.token, before.token);
  assert.equal((await agent.call("app_info")).status, 401);
  const reply = await fetch(info.streamableUrl, { method: "DELETE" });
  await reply.body?.cancel();
  assert.notEqual(reply.status, 401);
  assert.ok(info.clients.length >= 6 && info.clients.every((c) => c.snippet.includes(info.token)));
  for (const c of info.clients) if (c.language === "json") JSON.parse(c.snippet);
  await other.closed;
  // The page itself goes on, and can sign in again for its next load.
  await page.call("app_info");
  assert.equal(JSON.stringify(page.state).includes(info.token), false);
});
