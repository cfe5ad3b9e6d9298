import assert from "node:assert/strict";
import { startApp, TOKEN } from "../rigs/app.ts";
import { connect, RawMcp } from "../rigs/mcp_client.ts";

Deno.test("initialize answers in the POST's own body with a session id [C001]", async () => {
  await using rig = await startApp();
  const client = new RawMcp(rig.origin, TOKEN);
  const answer = await client.initialize();
  assert.equal(answer.headers.get("content-type"), "application/json");
  const result = answer.json["result"];
  assert.ok(typeof result === "object" && result && "serverInfo" in result && "capabilities" in result);
});

Deno.test("a call is answered in the same response, and 202 with nothing goes to a notification [C002] [C003]", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  const answer = await client.call("app_info");
  assert.equal(answer.headers.get("content-type"), "application/json");
  assert.match(answer.text, /"name":"fieldbench"/);
  const notified = await client.notify("notifications/initialized");
  assert.deepEqual([notified.status, notified.text], [202, ""]);
});
