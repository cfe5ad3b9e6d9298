import assert from "node:assert/strict";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { isObject } from "../../src/mcp/protocol.ts";
import { LIMITS } from "../../tools/mod.ts";
import { type AppRig, startApp, TOKEN } from "../rigs/app.ts";
import { connect, errorOf, type Json, type RawMcp, resultOf, textOf } from "../rigs/mcp_client.ts";

async function callsOf(client: RawMcp, args: Json = {}): Promise<Json[]> {
  const { calls } = await client.ok("mcp_calls", args);
  assert.ok(Array.isArray(calls) && calls.every(isObject));
  return calls;
}
async function recordOf(rig: AppRig): Promise<string> {
  await rig.callLog.flush();
  return await Deno.readTextFile(`${rig.folder}/ai-calls.jsonl`);
}

Deno.test("mcp_calls gives the calls with all their fields, newest last [C310]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  await client.call("app_info");
  await client.call("serial_send", { data: "AT" });
  await client.call("log_tail", { channel: "nope" });
  const calls = await callsOf(client, { limit: 10 });
  assert.deepEqual(calls.map((c) => [c["seq"], c["tool"], c["ok"]]), [
    [1, "app_info", true],
    [2, "serial_send", false],
    [3, "log_tail", false],
  ]);
  for (const call of calls) {
    assert.deepEqual(Object.keys(call).sort(), [
      "args",
      "durationMs",
      "effects",
      "error",
      "ok",
      "seq",
      "session",
      "tool",
      "ts",
    ]);
    assert.match(String(call["ts"]), /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.equal(call["session"], client.session.slice(0, 8));
    assert.ok(Number(call["durationMs"]) >= 0);
  }
  assert.deepEqual(calls[1]?.["args"], { data: "AT" });
  assert.match(String(calls[1]?.["error"]), /not open/i);
  assert.equal(calls[0]?.["error"], null);
});

Deno.test("mcp_calls filters by tool and by outcome, and limits [C311]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  for (let i = 0; i < 3; i++) await client.call("test_echo", { text: `${i}` });
  await client.call("test_fail");
  assert.equal((await callsOf(client, { tool: "test_echo" })).length, 3);
  assert.deepEqual((await callsOf(client, { okOnly: false })).map((c) => c["tool"]), ["test_fail"]);
  assert.ok((await callsOf(client, { okOnly: true })).every((c) => c["ok"] === true));
  const last = await callsOf(client, { tool: "test_echo", limit: 2 });
  assert.deepEqual(last.map((c) => c["args"]), [{ text: "1" }, { text: "2" }]);
  for (const limit of [0, -1, 1.5]) {
    assert.equal(errorOf((await client.call("mcp_calls", { limit })).json)["code"], -32602);
  }
  await client.ok("mcp_calls", { limit: 1_000_000 });
});

Deno.test("mcp_calls gives at most so many records, and an answer that stays within what an agent can take", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const record = (seq: number, text: string) =>
    JSON.stringify({
      seq,
      ts: "2020-01-01T00:00:00.000Z",
      session: "x",
      tool: "app_info",
      args: text,
      ok: true,
      error: null,
      durationMs: 1,
      effects: [],
    });
  const short = Array.from({ length: 3000 }, (_, i) => record(i + 1, ""));
  await Deno.writeTextFile(`${rig.folder}/ai-calls.jsonl`, short.join("\n") + "\n");
  const many = await client.ok("mcp_calls", { limit: 1_000_000 });
  assert.equal(many["scanned"], 3000);
  assert.ok(Number(many["returned"]) <= LIMITS.maxCallRecords);
  assert.equal(many["truncated"], Number(many["returned"]) < LIMITS.maxCallRecords);
  for (const format of ["jsonl", "md"]) {
    const { text } = await client.call("mcp_calls", { limit: 1_000_000, format });
    assert.ok(countTokens(text) < 25_000, `${countTokens(text)} tokens`);
  }
  const calls = await callsOf(client, { limit: 3 });
  assert.deepEqual(calls.slice(0, 2).map((c) => c["tool"]), ["mcp_calls", "mcp_calls"]);
});

Deno.test("no summary is longer than 600 characters", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  for (let i = 0; i < 60; i++) await client.call("serial_send", { data: "x".repeat(200) });
  rig.server.pages = () => 1;
  await rig.server.setReadOnly(true);
  for (
    const name of ["mcp_calls", "mcp_stats", "mcp_status", "mcp_limits", "mcp_danger", "mcp_config_get", "app_info"]
  ) {
    const text = textOf((await client.call(name)).json);
    assert.ok(text.length > 0 && text.length <= LIMITS.maxSummaryChars, `${name}: ${text.length}`);
  }
});

Deno.test("format md is a table whose cells cannot break it [C312]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  await client.call("test_echo", { text: "a|b\\|c\nd" });
  const { json } = await client.call("mcp_calls", { format: "md" });
  const lines = textOf(json).split("\n");
  assert.match(lines[0] ?? "", /^\| seq \| time \| session \| tool \| arguments \| ok \| ms \| error \|$/);
  const row = lines[2] ?? "";
  assert.match(row, /a\\\|b/);
  assert.equal(row.replaceAll(/\\./g, "").split("|").length, 10);
  assert.equal(resultOf(json)["isError"], undefined);
});

Deno.test("older records than the end of the file are not looked at, and that is said [C313]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  await client.call("app_info");
  assert.equal((await client.ok("mcp_calls"))["tailOnly"], false);
  await rig.callLog.flush();
  const line = JSON.stringify({
    seq: 1,
    ts: "2020-01-01T00:00:00.000Z",
    session: "x",
    tool: "old",
    args: {},
    ok: true,
    error: null,
    durationMs: 1,
    effects: [],
  }) + "\n";
  const old = line.repeat(Math.ceil(LIMITS.callLogTailBytes / line.length));
  const now = await Deno.readTextFile(`${rig.folder}/ai-calls.jsonl`);
  await Deno.writeTextFile(`${rig.folder}/ai-calls.jsonl`, `not a record\n${old}${now}`);
  const answer = await client.ok("mcp_calls", { limit: 1 });
  assert.equal(answer["tailOnly"], true);
  assert.match(String(answer["note"]), /not looked at/);
  assert.equal((await callsOf(client, { tool: "app_info" })).length, 1);
});

Deno.test("results are kept only when asked for, and cut with a mark [C314] [C320]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  await client.call("test_secret", { password: "hunter2", data: "plain" });
  const [before] = await callsOf(client, { tool: "test_secret" });
  assert.ok(before && !("result" in before));
  const set = await client.ok("mcp_config_set", { patch: { callLog: { includeResults: true, maxPayloadChars: 100 } } });
  assert.deepEqual(set, { applied: ["callLog.includeResults", "callLog.maxPayloadChars"], needRestart: false });
  await client.call("test_secret", { password: "hunter2", data: "x".repeat(1000) });
  await client.call("test_echo", { text: "short" });
  const [, after] = await callsOf(client, { tool: "test_secret" });
  assert.match(String(after?.["result"]), /^\{"big":"x+… \[cut, \d+ characters\]$/);
  assert.match(String(after?.["args"]), /^\{"password":"\*\*\*","data":"x+… \[cut, \d+ characters\]$/);
  const [echo] = await callsOf(client, { tool: "test_echo" });
  assert.deepEqual(echo?.["result"], { text: "short", count: 0 });
});

Deno.test("arguments that carry secrets are masked; data and confirm stay", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  await client.call("test_secret", { password: "hunter2", data: "AT" });
  await client.call("test_danger", { confirm: true });
  await client.call("test_echo", {
    text: "a",
    apiKey: "hunter2",
    nested: { token: ["hunter2"], deep: { Secret: "hunter2" } },
  });
  const text = await recordOf(rig);
  assert.ok(!text.includes("hunter2"), text);
  assert.match(text, /"data":"AT"/);
  assert.match(text, /"confirm":true/);
});

Deno.test("effects of a call are recorded: what a setting was and is", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  await client.ok("serial_set_baud", { baud: 9600 });
  const [call] = await callsOf(client, { tool: "serial_set_baud" });
  assert.ok(Array.isArray(call?.["effects"]));
  assert.match(JSON.stringify(call["effects"]), /"name":"baud".*"to":9600/);
});

Deno.test("the record is a JSON object a line, and rotates by size [C316]", async () => {
  await using rig = await startApp({ config: { callLog: { maxFileMiB: 1, rotateKeep: 2, maxPayloadChars: 20_000 } } });
  const client = await connect(rig.origin, TOKEN);
  const text = "x".repeat(9_000);
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 100; i++) await client.call("test_echo", { text });
    await rig.callLog.flush();
  }
  const names = [];
  for await (const { name } of Deno.readDir(rig.folder)) if (name.startsWith("ai-calls")) names.push(name);
  assert.deepEqual(names.sort(), ["ai-calls.1.jsonl", "ai-calls.2.jsonl", "ai-calls.jsonl"]);
  for (const name of names) {
    const file = await Deno.readTextFile(`${rig.folder}/${name}`);
    assert.ok(file.length <= 1024 * 1024);
    for (const line of file.trimEnd().split("\n")) assert.equal(JSON.parse(line).tool, "test_echo");
    assert.equal((await Deno.stat(`${rig.folder}/${name}`)).mode ?? 0o600, 0o100600);
  }
  assert.equal((await client.ok("mcp_calls"))["tailOnly"], true);
});

Deno.test("numbers go on after a restart", async () => {
  const folder = await Deno.makeTempDir();
  for (const expected of [[1], [1, 2]]) {
    await using rig = await startApp({ folder });
    const client = await connect(rig.origin, TOKEN);
    await client.call("test_echo", { text: "a" });
    assert.deepEqual(
      (await callsOf(client, { tool: "test_echo" })).map((c) => c["seq"]).slice(-2).length,
      expected.length,
    );
    await rig.callLog.flush();
  }
  const seqs = (await Deno.readTextFile(`${folder}/ai-calls.jsonl`)).trimEnd().split("\n").map((l) =>
    JSON.parse(l).seq
  );
  assert.deepEqual(seqs, [1, 2, 3, 4]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("with recording off nothing is written, and that is said [C317]", async () => {
  await using rig = await startApp({ config: { callLog: { enabled: false } } });
  const client = await connect(rig.origin, TOKEN);
  await client.call("app_info");
  const answer = await client.ok("mcp_calls");
  assert.deepEqual([answer["enabled"], answer["returned"]], [false, 0]);
  await rig.callLog.flush();
  await assert.rejects(Deno.stat(`${rig.folder}/ai-calls.jsonl`), Deno.errors.NotFound);
});

Deno.test("the person's own clicks are not recorded as calls of agents", async () => {
  await using rig = await startApp();
  await rig.gate.call("app_info", {}, {
    caller: { kind: "page", session: "p", src: "ui" },
    signal: new AbortController().signal,
    progress: () => {},
  });
  await rig.callLog.flush();
  assert.equal(rig.callLog.totalCalls, 0);
});

Deno.test("mcp_stats agrees with the calls made [C318]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  for (let i = 0; i < 3; i++) await client.call("app_info");
  await client.call("test_fail");
  const stats = await client.ok("mcp_stats");
  assert.ok(isObject(stats["callLog"]));
  const log = stats["callLog"];
  assert.deepEqual(log["byTool"], { app_info: 3, test_fail: 1 });
  assert.deepEqual([log["totalCalls"], log["seq"], log["dropped"], log["enabled"], log["file"]], [
    4,
    4,
    0,
    true,
    "ai-calls.jsonl",
  ]);
  assert.ok(Number(log["fileBytes"]) > 0);
  assert.ok(String(log["firstAt"]) <= String(log["lastAt"]));
  assert.deepEqual(stats["sessionToolCalls"], { app_info: 3, test_fail: 1, mcp_stats: 1 });
});

Deno.test("a record that cannot be written slows and fails no call, is counted, and told once", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  await Deno.mkdir(`${rig.folder}/ai-calls.jsonl`);
  for (let i = 0; i < 3; i++) {
    await client.ok("app_info");
    await rig.callLog.flush();
  }
  const stats = await client.ok("mcp_stats");
  assert.ok(isObject(stats["callLog"]));
  assert.equal(stats["callLog"]["dropped"], 3);
  const app = await client.ok("log_search", { channel: "app", pattern: "call log cannot be written", mode: "count" });
  assert.equal(app["total"], 1);
  await Deno.remove(`${rig.folder}/ai-calls.jsonl`);
  await rig.callLog.flush();
  assert.equal((await callsOf(client)).length >= 1, true);
});
