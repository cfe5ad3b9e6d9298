import assert from "node:assert/strict";

import { isObject } from "../../src/mcp/protocol.ts";

import { type ToolRow, TOOLS } from "../../tools/mod.ts";

import { type AppRig, startApp, TOKEN } from "../rigs/app.ts";
import { connect, errorOf, resultOf, structured, textOf } from "../rigs/mcp_client.ts";
import { callAll, sampleArgs } from "../rigs/sample_args.ts";

const ROWS: readonly ToolRow[] = TOOLS;

Deno.test("no answer, log or record of calls ever has the token in it [C050]", async () => {
  await using rig = await startApp({ config: { callLog: { includeResults: true } } });
  const client = await connect(rig.origin, TOKEN);
  const answers = await callAll(client);
  await client.call("test_throw", { message: TOKEN });
  await client.call(TOKEN, {});
  await client.call("test_echo", { text: TOKEN });
  const failing = await client.call("log_tail", { channel: "nope", token: "x" });
  const all = [
    ...[...answers.values()].map((a) => JSON.stringify(a)),
    failing.text,
    ...await logs(rig),
    (await rig.callLog.flush(), await Deno.readTextFile(`${rig.folder}/ai-calls.jsonl`)),
    (await client.call("mcp_calls", { limit: 2000 })).text,
    (await client.call("mcp_calls", { format: "md" })).text,
    (await client.call("log_search", { pattern: "token" })).text,
  ];
  for (const text of all) assert.ok(!text.includes(TOKEN), text.slice(0, 300));
});

async function logs(rig: AppRig): Promise<string[]> {
  const client = await connect(rig.origin, TOKEN);
  const texts = [];
  for (const channel of rig.bench.hub.names()) {
    texts.push((await client.call("log_tail", { channel, lines: 2000, format: "text" })).text);
  }
  return texts;
}

Deno.test("read-only refuses every writing tool and lets every reading one through [C104] [C107] [C108]", async () => {
  await using rig = await startApp({ parts: { readOnly: true } });
  const client = await connect(rig.origin, TOKEN);
  const before = await Promise.all([
    client.ok("serial_get_state"),
    Deno.readTextFile(rig.settings.path).catch(() => "none"),
  ]);
  let writes = 0, reads = 0;
  for (const row of rig.gate.rows()) {
    if (row.name.startsWith("test_") && row.access === "read") continue;
    const args = sampleArgs(row);
    const { json } = await client.call(row.name, args);
    const code = isObject(structured(json)["error"]) ? structured(json)["error"] : undefined;
    const isRead = row.access === "read" || (row.readWhen?.(args) ?? false);
    const refused = isObject(code) && code["code"] === -32007;
    assert.equal(refused, !isRead, `${row.name}: ${JSON.stringify(json)}`);
    if (isRead) reads++;
    else {
      writes++;
      assert.equal(resultOf(json)["isError"], true);
      assert.match(textOf(json), /^-32007: /);
    }
  }
  assert.ok(writes >= 12 && reads >= 15);
  assert.deepEqual(rig.tools.runs, []);
  assert.deepEqual(
    await Promise.all([client.ok("serial_get_state"), Deno.readTextFile(rig.settings.path).catch(() => "none")]),
    before,
  );
});

Deno.test("an agent can switch read-only on and never off; a person can [C109] [C110] [C114]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const off = await client.call("mcp_config_set", { patch: { expose: { readOnly: false } } });
  assert.equal(errorOf(off.json)["code"], -32602);
  const set = await client.ok("mcp_config_set", { patch: { expose: { readOnly: true } } });
  assert.deepEqual(set, { applied: ["expose.readOnly"], needRestart: false });
  const status = await client.ok("mcp_status");
  assert.equal(status["readOnly"], true);
  assert.match(JSON.stringify(status["nextSteps"]), /Ask the person/);
  assert.match(textOf((await client.call("serial_send", { data: "x" })).json), /^-32007: /);
  for (const readOnly of [false, true]) {
    const again = await client.call("mcp_config_set", { patch: { expose: { readOnly } } });
    assert.match(textOf(again.json), /^-32007: /);
  }
  assert.equal(rig.server.readOnly, true);
  await rig.server.setReadOnly(false);
  assert.equal((await client.ok("mcp_status"))["readOnly"], false);
  assert.match(textOf((await client.call("serial_send", { data: "x" })).json), /^-32006: /);
});

Deno.test("dangerous tools without confirm name the consequence, and mcp_danger lists them all (a test-only tool: the three real ones come later) [C115] [C116] [C118]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const dangers = rig.gate.rows().filter((r) => r.danger);
  assert.ok(dangers.length >= 1);
  for (const row of dangers) {
    const { confirm: _, ...args } = sampleArgs(row);
    for (const confirm of [{}, { confirm: false }]) {
      const { json } = await client.call(row.name, { ...args, ...confirm });
      assert.match(textOf(json), /^-32006: .*confirm: true/s);
      assert.ok(textOf(json).includes(row.danger?.consequence ?? "?"));
    }
    const wrong = await client.call(row.name, { ...args, confirm: "true" });
    assert.equal(errorOf(wrong.json)["code"], -32602);
  }
  assert.deepEqual(rig.tools.runs, []);
  const listed = await client.ok("mcp_danger");
  const real = ROWS.filter((r) => r.danger);
  assert.deepEqual(
    listed["tools"],
    real.map((r) => ({ name: r.name, consequence: r.danger?.consequence, confirm: true })),
  );
  assert.equal(listed["total"], real.length);
});

Deno.test("no tool takes a token, and the token stays [C120]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  for (
    const patch of [{ server: { token: "another-token" } }, { token: "another-token" }, {
      server: { port: 7778 },
      token: "x",
    }]
  ) {
    const error = errorOf((await client.call("mcp_config_set", { patch })).json);
    assert.equal(error["code"], -32602);
    assert.match(String(error["message"]), /the token cannot be set by a tool/);
  }
  for (const row of ROWS) {
    const answer = await client.call(row.name, { ...sampleArgs(row), token: "another-token" });
    assert.equal(errorOf(answer.json)["code"], -32602, row.name);
  }
  assert.equal(rig.server.token, TOKEN);
});

Deno.test("agents leave no trace in the user's settings file [C121]", async () => {
  await using rig = await startApp();
  await callAll(await connect(rig.origin, TOKEN));
  const names = [];
  for await (const entry of Deno.readDir(rig.folder)) names.push(entry.name);
  assert.ok(names.every((n) => ["mcp.json", "ai-calls.jsonl", "config.json"].includes(n)), names.join());
  const config = await Deno.readTextFile(`${rig.folder}/config.json`).catch(() => "{}");
  assert.ok(!/mcp|calls|token|session/i.test(config), config);
});
