import assert from "node:assert/strict";

import { startApp, TOKEN } from "../rigs/app.ts";
import { connect, errorOf, textOf } from "../rigs/mcp_client.ts";

Deno.test("app_info tells the program, its platform and how long it runs [C303]", async () => {
  let now = 1_000_000;
  await using rig = await startApp({ parts: { now: () => now } });
  const client = await connect(rig.origin, TOKEN);
  assert.deepEqual(await client.ok("app_info"), {
    name: "fieldbench",
    version: "0.0.0-test",
    profile: "debug",
    os: Deno.build.os,
    arch: Deno.build.arch,
    pid: Deno.pid,
    uptimeSecs: 0,
  });
  now += 3_600_000;
  assert.equal((await client.ok("app_info"))["uptimeSecs"], 3600);
});

Deno.test("the next steps depend on whether a page is open, a port is open, and the mode [C304]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const without = await client.ok("mcp_status");
  assert.equal(without["hasUi"], false);
  rig.server.pages = () => 1;
  const withPage = await client.ok("mcp_status");
  assert.equal(withPage["hasUi"], true);
  assert.notDeepEqual(withPage["nextSteps"], without["nextSteps"]);
  const names = new Set(rig.gate.rows().map((r) => r.name));
  for (const steps of [without["nextSteps"], withPage["nextSteps"]]) {
    assert.ok(Array.isArray(steps) && steps.length > 0);
    for (const step of steps) {
      const named = String(step).match(/\b(serial|log|mcp|ui)_[a-z_]+/g) ?? [];
      assert.ok(named.length >= 1, String(step));
      assert.ok(named.every((n) => names.has(n)), String(step));
    }
  }
});

Deno.test("mcp_status has every field, no token and no full address [C305]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  await client.ok("app_info");
  const status = await client.ok("mcp_status");
  for (
    const field of [
      "running",
      "enabled",
      "host",
      "port",
      "streamableHttp",
      "tokenMasked",
      "sessions",
      "statusEmits",
      "readOnly",
      "requests",
      "dropped",
      "toolCalls",
      "registry",
      "logHub",
      "errorReports",
      "callLog",
      "limits",
      "version",
      "uptimeSecs",
      "nextSteps",
      "urlMasked",
      "streamableUrlMasked",
    ]
  ) {
    assert.ok(field in status, field);
  }
  assert.ok(!JSON.stringify(status).includes(TOKEN));
  assert.deepEqual([status["sessions"], status["running"], status["port"]], [1, true, rig.listening.port]);
  assert.deepEqual(status["toolCalls"], { app_info: 1, mcp_status: 1 });
  assert.equal(status["requests"], 4); // initialize, initialized, two calls
});

Deno.test("mcp_config_get shows the settings and only a masked token [C319]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const config = await client.ok("mcp_config_get");
  assert.deepEqual(Object.keys(config).sort(), ["callLog", "expose", "server", "version"]);
  assert.deepEqual(config["server"], {
    enabled: true,
    host: "127.0.0.1",
    port: 7777,
    transport: "both",
    streamableHttp: true,
    tokenMasked: rig.server.tokenMasked,
  });
  assert.deepEqual(config["callLog"], {
    enabled: true,
    includeArgs: true,
    includeResults: false,
    maxPayloadChars: 2000,
    maxFileMiB: 8,
    rotateKeep: 3,
  });
  assert.deepEqual(config["expose"], { autoControlTools: false, namespaces: [], readOnly: false, askPerson: false });
  assert.ok(!JSON.stringify(config).includes(TOKEN));
});

Deno.test("a changed server setting is saved and waits for the next start [C321]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const set = await client.ok("mcp_config_set", { patch: { server: { port: 7778, transport: "sse" } } });
  assert.deepEqual(set, { applied: ["server.port", "server.transport"], needRestart: true });
  const status = await client.ok("mcp_status");
  assert.deepEqual([status["port"], status["transport"]], [rig.listening.port, "both"]);
  const saved = JSON.parse(await Deno.readTextFile(rig.settings.path));
  assert.deepEqual([saved.server.port, saved.server.transport], [7778, "sse"]);
  await client.ok("mcp_config_set", { patch: { server: { streamableHttp: true } } });
  assert.equal(rig.settings.value.server.transport, "both");
});

Deno.test("a key that may not be set is -32602 and changes nothing, also beside good ones [C322] [C323]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  await client.ok("mcp_config_set", { patch: { callLog: { rotateKeep: 5 } } });
  const before = await Deno.readTextFile(rig.settings.path);
  const bad: [unknown, RegExp][] = [
    [{ nonsense: 1 }, /unknown key nonsense/],
    [{ server: { nonsense: 1 } }, /unknown key server\.nonsense/],
    [{ server: { token: "abcdefghijkl" } }, /token cannot be set/],
    [{ server: { host: "0.0.0.0" } }, /loopback only/],
    [{ server: { port: 0 } }, /server\.port/],
    [{ server: { port: 65536 } }, /server\.port/],
    [{ callLog: { maxPayloadChars: 31 } }, /maxPayloadChars/],
    [{ callLog: { includeResults: "yes" } }, /includeResults/],
    [{ expose: { autoControlTools: true } }, /unknown key expose\.autoControlTools/],
    [{ rateLimitPerMin: 0 }, /unknown key rateLimitPerMin/],
    [{}, /empty/],
    [{ callLog: {} }, /empty/],
    [{ callLog: { includeResults: true }, server: { port: 0 } }, /server\.port/],
    [{ callLog: { includeResults: true, nonsense: 1 } }, /nonsense/],
  ];
  for (const [patch, pattern] of bad) {
    const error = errorOf((await client.call("mcp_config_set", { patch })).json);
    assert.equal(error["code"], -32602, JSON.stringify(patch));
    assert.match(String(error["message"]), pattern);
  }
  for (const patch of [null, 5, "x", []]) {
    assert.equal(errorOf((await client.call("mcp_config_set", { patch })).json)["code"], -32602);
  }
  assert.equal(await Deno.readTextFile(rig.settings.path), before);
  assert.equal(rig.settings.value.callLog.includeResults, false);
});

Deno.test("settings that cannot be written are a failure of the tool, and memory agrees with the file [C324]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  await client.ok("mcp_config_set", { patch: { callLog: { rotateKeep: 5 } } });
  const before = await Deno.readTextFile(rig.settings.path);
  // A folder in the place of the file: it cannot be replaced by a file, as on a full disk, for any user.
  await Deno.rename(rig.settings.path, `${rig.settings.path}.aside`);
  await Deno.mkdir(`${rig.settings.path}/x`, { recursive: true });
  const { json } = await client.call("mcp_config_set", { patch: { callLog: { rotateKeep: 7 } } });
  assert.match(textOf(json), /^-32006: The settings could not be saved; nothing was changed\./);
  assert.match(JSON.stringify(json), /"reason":"write_failed"/);
  assert.equal(rig.settings.value.callLog.rotateKeep, 5);
  await Deno.remove(rig.settings.path, { recursive: true });
  await Deno.rename(`${rig.settings.path}.aside`, rig.settings.path);
  assert.equal(await Deno.readTextFile(rig.settings.path), before);
  await client.ok("mcp_config_set", { patch: { callLog: { rotateKeep: 7 } } });
  assert.equal(rig.settings.value.callLog.rotateKeep, 7);
});
