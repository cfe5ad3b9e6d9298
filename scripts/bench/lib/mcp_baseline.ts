/** The least that answers tools/call app_info over HTTP: the ceiling that the real server is measured against. */
const started = Date.now();
const headers = { "content-type": "application/json" };

Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: (at) => console.log(at.port) }, async (request) => {
  const { id, method, params } = JSON.parse(await request.text());
  if (method !== "tools/call" || params?.name !== "app_info") {
    return new Response(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }), {
      headers,
    });
  }
  const output = {
    name: "fieldbench",
    version: "0",
    profile: "debug",
    os: Deno.build.os,
    arch: Deno.build.arch,
    pid: Deno.pid,
    uptimeSecs: Math.floor((Date.now() - started) / 1000),
  };
  const text =
    `${output.name} ${output.version} (${output.profile}) on ${output.os} ${output.arch}, pid ${output.pid}.`;
  const result = { content: [{ type: "text", text }], structuredContent: output };
  return new Response(JSON.stringify({ jsonrpc: "2.0", id, result }), { headers });
});
