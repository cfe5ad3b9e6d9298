/** Clients that people really have, unmodified. */
import assert from "node:assert/strict";
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as SseV1 } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { isObject } from "../../src/mcp/protocol.ts";
import { startApp, TOKEN } from "../rigs/app.ts";
import { until } from "../rigs/until.ts";

const INFO = { name: "test-client", version: "1" };
const bearer = { requestInit: { headers: { authorization: `Bearer ${TOKEN}` } } };

/** What every client has to be able to do. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<Record<string, unknown>>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
}

async function useIt(client: AnyClient): Promise<void> {
  const { tools } = await client.listTools();
  assert.ok(tools.some((t) => t.name === "serial_open"));
  const info = await client.callTool({ name: "app_info" });
  assert.ok(isObject(info["structuredContent"]));
  assert.equal(info["structuredContent"]["name"], "fieldbench");
  const failed = await client.callTool({ name: "serial_send", arguments: { data: "AT" } });
  assert.equal(failed["isError"], true);
  await assert.rejects(client.callTool({ name: "nope" }), /-32602|Unknown tool/);
  assert.ok((await client.listResources()).resources.length > 5);
}

for (const mode of ["auto", { pin: "2026-07-28" }, "legacy"] as const) {
  Deno.test(`the SDK's v2 client works, version ${JSON.stringify(mode)}`, async () => {
    await using rig = await startApp();
    const client = new Client(INFO, { versionNegotiation: { mode } });
    const transport = new StreamableHTTPClientTransport(new URL(`${rig.origin}/mcp`), bearer);
    await client.connect(transport);
    await useIt(client);
    assert.equal(rig.app.endpoints.sessions, mode === "legacy" ? 1 : 0);
    if (mode === "legacy") await transport.terminateSession();
    await client.close();
    await until(() => rig.app.endpoints.sessions === 0);
  });
}

Deno.test("the SDK's v2 client works over SSE, with the token in the address only", async () => {
  await using rig = await startApp();
  const client = new Client(INFO);
  await client.connect(new SSEClientTransport(new URL(`${rig.origin}/sse?token=${TOKEN}`)));
  await useIt(client);
  await client.close();
  await until(() => rig.app.endpoints.sessions === 0);
});

Deno.test("the SDK's v1 client works over streamable HTTP, with the token in the address only", async () => {
  await using rig = await startApp();
  const client = new ClientV1(INFO);
  const transport = new HttpV1(new URL(`${rig.origin}/mcp?token=${TOKEN}`));
  await client.connect(transport);
  await useIt(client);
  await transport.terminateSession();
  assert.equal(rig.app.endpoints.sessions, 0);
  await client.close();
});

Deno.test("the SDK's v1 client works over SSE", async () => {
  await using rig = await startApp();
  const client = new ClientV1(INFO);
  await client.connect(new SseV1(new URL(`${rig.origin}/sse?token=${TOKEN}`)));
  await useIt(client);
  await client.close();
  await until(() => rig.app.endpoints.sessions === 0);
});

Deno.test("v1 and v2 clients get progress, can cancel, and hear of a changed tool list", async () => {
  await using rig = await startApp();
  const v1 = new ClientV1(INFO);
  const v2 = new Client(INFO);
  await v1.connect(new HttpV1(new URL(`${rig.origin}/mcp?token=${TOKEN}`)));
  await v2.connect(new StreamableHTTPClientTransport(new URL(`${rig.origin}/mcp`), bearer));
  const steps: number[] = [];
  await v1.callTool({ name: "test_slow", arguments: { steps: 3, ms: 1 } }, undefined, {
    onprogress: (p: { progress: number }) => void steps.push(p.progress),
  });
  await v2.callTool({ name: "test_slow", arguments: { steps: 3, ms: 1 } }, {
    onprogress: (p: { progress: number }) => void steps.push(p.progress),
  });
  assert.deepEqual(steps, [1, 2, 3, 1, 2, 3]);
  for (
    const [i, start] of [
      (signal: AbortSignal): Promise<unknown> => v1.callTool({ name: "test_slow" }, undefined, { signal }),
      (signal: AbortSignal): Promise<unknown> => v2.callTool({ name: "test_slow" }, { signal }),
    ].entries()
  ) {
    const abort = new AbortController();
    const call = start(abort.signal);
    await until(() => rig.tools.running === 1);
    abort.abort("enough");
    await assert.rejects(call);
    await until(() => rig.tools.aborted === i + 1);
  }
  let heard = 0;
  v2.setNotificationHandler("notifications/tools/list_changed", () => void heard++);
  await until(() => {
    rig.app.endpoints.toolsChanged();
    return heard > 0;
  });
  await v1.close();
  await v2.close();
});
