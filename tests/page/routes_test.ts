import assert from "node:assert/strict";
import { cookieName } from "../../src/http/guard.ts";
import { TOKEN } from "../rigs/app.ts";
import { until } from "../rigs/bench.ts";
import { type PageRig, pageRig } from "../rigs/page.ts";
import { rawRequest } from "../rigs/raw_http.ts";
import { LIMITS } from "../../tools/mod.ts";

const get = (rig: PageRig, path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(rig.origin + path, { headers, method, redirect: "manual" });

/** A signed-in page's cookie. */
async function signIn(rig: PageRig): Promise<string> {
  const reply = await get(rig, `/?token=${TOKEN}`);
  await reply.body?.cancel();
  return (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}
const text = async (reply: Response): Promise<string> => await reply.text();

Deno.test("the token in the address becomes a cookie and leaves the address", async () => {
  await using rig = await pageRig();
  for (
    const [path, to] of [["/", "/devices"], ["/devices", "/devices"], [
      "/devices?pane=extra-1",
      "/devices?pane=extra-1",
    ]]
  ) {
    const reply = await get(rig, `${path}${path?.includes("?") ? "&" : "?"}token=${TOKEN}`);
    assert.equal(await text(reply), "");
    assert.equal(reply.status, 303);
    assert.equal(reply.headers.get("location"), to);
    const cookie = reply.headers.get("set-cookie") ?? "";
    assert.ok(cookie.startsWith(`${cookieName(rig.port)}=`));
    for (const part of ["HttpOnly", "SameSite=Strict", "Path=/"]) assert.ok(cookie.includes(part), part);
    assert.equal(cookie.includes(TOKEN), false);
    assert.equal(reply.headers.get("referrer-policy"), "no-referrer");
  }
  const wrong = await get(rig, "/?token=wrong");
  assert.equal(wrong.status, 401);
  assert.equal(wrong.headers.get("set-cookie"), null);
  await wrong.body?.cancel();
});

Deno.test("from a link in another site the token is traded without a redirect that would lose the cookie", async () => {
  await using rig = await pageRig();
  const reply = await get(rig, `/?token=${TOKEN}`, { "sec-fetch-site": "cross-site" });
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get("refresh"), "0; url=/devices");
  assert.ok(reply.headers.get("set-cookie"));
  assert.equal((await text(reply)).includes(TOKEN), false);
});

Deno.test("with the cookie the page is served under a strict policy; without it nothing is [C032]", async () => {
  await using rig = await pageRig();
  const cookie = await signIn(rig);
  const root = await get(rig, "/", { cookie });
  assert.deepEqual([root.status, root.headers.get("location")], [303, "/devices"]);
  await root.body?.cancel();
  const reply = await get(rig, "/devices", { cookie });
  assert.equal(reply.status, 200);
  assert.match(await text(reply), /^<!doctype html>/);
  const policy = reply.headers.get("content-security-policy") ?? "";
  const directives = new Map(policy.split("; ").map((d) => [d.split(" ")[0], d.split(" ").slice(1)]));
  assert.deepEqual(directives.get("default-src"), ["'none'"]);
  assert.deepEqual(directives.get("script-src"), ["'self'"]);
  assert.deepEqual(directives.get("style-src"), ["'self'"]);
  assert.deepEqual(directives.get("connect-src"), ["'self'", `ws://127.0.0.1:${rig.port}`]);
  assert.deepEqual(directives.get("frame-ancestors"), ["'none'"]);
  assert.equal(/unsafe|https?:|\*/.test(policy), false);
  assert.equal(reply.headers.get("x-content-type-options"), "nosniff");
  for (const path of ["/", "/devices", "/assets/main.js", "/page/stream", "/page/save?channel=app"]) {
    const without = await get(rig, path);
    assert.equal(without.status, 401, path);
    await without.body?.cancel();
  }
});

Deno.test("a browser that is not signed in is told what to do; nothing of the server is in it", async () => {
  await using rig = await pageRig();
  for (const path of ["/", "/devices", "/nope"]) {
    const reply = await get(rig, path, { accept: "text/html,application/xhtml+xml" });
    assert.equal(reply.status, 401);
    const html = await text(reply);
    assert.match(html, /Not signed in/);
    assert.equal(/<script|<style|style=|7777|\/work|\/tmp/.test(html), false);
    assert.match(reply.headers.get("content-security-policy") ?? "", /default-src 'none'/);
  }
  const mcp = await get(rig, "/mcp", { accept: "text/html" });
  assert.equal(mcp.status, 401);
  assert.match(await text(mcp), /mcp-endpoint.json/);
});

Deno.test("files have an ETag and are sent once; what changed on disk is sent anew", async () => {
  await using rig = await pageRig();
  const cookie = await signIn(rig);
  const first = await get(rig, "/assets/main.js", { cookie });
  const etag = first.headers.get("etag") ?? "";
  assert.match(etag, /^"[\w-]{10,}"$/);
  assert.equal(first.headers.get("content-type"), "text/javascript; charset=utf-8");
  assert.equal(first.headers.get("x-content-type-options"), "nosniff");
  assert.equal(await text(first), "console.log('page')\n");
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
    const again = await get(rig, "/assets/main.js", { cookie, "if-none-match": known });
    assert.equal(again.status, 304);
    assert.equal(await text(again), "");
  }
  await Deno.writeTextFile(`${rig.rig.folder}/dist/assets/main.js`, "console.log('another page')\n");
  const changed = await get(rig, "/assets/main.js", { cookie, "if-none-match": etag });
  assert.equal(changed.status, 200);
  assert.match(await text(changed), /another/);
  const head = await get(rig, "/assets/main.js", { cookie }, "HEAD");
  assert.deepEqual([head.status, await text(head)], [200, ""]);
});

Deno.test("nothing outside the page's folder can be had, and what is not there says where to go", async () => {
  await using rig = await pageRig();
  const cookie = await signIn(rig);
  await Deno.writeTextFile(`${rig.rig.folder}/dist/assets/.hidden`, "secret");
  const paths = [
    "/assets/../../mcp.json",
    "/assets/..%2f..%2fmcp.json",
    "/assets/%2e%2e/%2e%2e/mcp.json",
    "/assets/..%5c..%5cmcp.json",
    "/assets//etc/passwd",
    "/assets/.hidden",
    "/assets/nope.js",
    "/assets/",
    "/page/nope",
  ];
  for (const path of paths) {
    const reply = await get(rig, path, { cookie });
    assert.equal(reply.status, 404, path);
    assert.equal((await text(reply)).includes("secret"), false);
  }
  const reply = await get(rig, "/page/nope", { cookie });
  assert.match(await text(reply), /\/devices/);
  const posted = await get(rig, "/devices", { cookie }, "POST");
  assert.equal(posted.status, 405);
  await posted.body?.cancel();
});

Deno.test("a page that is not built yet says how to build it", async () => {
  const empty = await Deno.makeTempDir();
  try {
    await using rig = await pageRig({ page: empty });
    const reply = await get(rig, "/devices", { cookie: await signIn(rig) });
    assert.equal(reply.status, 503);
    assert.match(await text(reply), /deno task build/);
  } finally {
    await Deno.remove(empty, { recursive: true });
  }
});

Deno.test("the stream is for WebSockets of this server's own pages [C044]", async () => {
  await using rig = await pageRig();
  const cookie = await signIn(rig);
  const plain = await get(rig, "/page/stream", { cookie });
  assert.equal(plain.status, 426);
  await plain.body?.cancel();
  const upgrade = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  for (const origin of ["http://evil.com", "null", `http://localhost:${rig.port + 1}`]) {
    const reply = await get(rig, "/page/stream", { ...upgrade, cookie, origin });
    assert.equal(reply.status, 403, origin);
    await reply.body?.cancel();
  }
});

Deno.test("a channel is saved as readable text, a session as its files, never another pane's", async () => {
  await using rig = await pageRig({ session: true });
  const cookie = await signIn(rig);
  const page = await rig.page();
  await page.call("serial_open", { port: "mem1" });
  await rig.device.peer.write(new TextEncoder().encode("one\r\ntwo <b>\n\xff"));
  await until(() => (rig.log.find("serial:main:rx")?.ring.lines ?? 0) === 2, "the lines are in");
  const channel = await page.act("log.saveAs", { channel: "serial:main:rx" });
  assert.equal(channel.name, "serial-main-rx.log");
  const saved = await get(rig, channel.url, { cookie });
  assert.equal(saved.headers.get("content-disposition"), 'attachment; filename="serial-main-rx.log"');
  assert.equal(saved.headers.get("content-type"), "text/plain; charset=utf-8");
  const rows = (await text(saved)).trimEnd().split("\n");
  assert.deepEqual(rows.map((r) => r.replace(/^\d\d:\d\d:\d\d\.\d\d\d /, "")), ["[rx] one", "[rx] two <b>"]);
  const session = await page.act("log.saveAs", { pane: "main" });
  assert.match(await text(await get(rig, session.url, { cookie })), /\[rx\] one\n.*\[rx\] two <b>\n/);
  const raw = await page.act("log.saveAs", { pane: "main", kind: "rx" });
  const reply = await get(rig, raw.url, { cookie });
  assert.equal(reply.headers.get("content-type"), "application/octet-stream");
  assert.deepEqual(new Uint8Array(await reply.arrayBuffer()), new TextEncoder().encode("one\r\ntwo <b>\n\xff"));
  for (const path of ["/page/save?channel=nope", "/page/save?pane=nope", "/page/save?pane=../x"]) {
    const refused = await get(rig, path, { cookie });
    assert.equal(refused.status, 404, path);
    await refused.body?.cancel();
  }
});

Deno.test("a page signed in before a restart of the server is signed in after it, until the token is another", async () => {
  let cookie: string;
  {
    await using rig = await pageRig();
    cookie = (await signIn(rig)).split("=")[1] ?? "";
  }
  await using rig = await pageRig();
  const reply = await get(rig, "/devices", { cookie: `${cookieName(rig.port)}=${cookie}` });
  assert.equal(reply.status, 200);
  await reply.body?.cancel();
  const page = await rig.page();
  const { token } = await page.act("server.resetToken", {});
  const ended = await get(rig, "/devices", { cookie: `${cookieName(rig.port)}=${cookie}` });
  assert.equal(ended.status, 401);
  await ended.body?.cancel();
  const again = await get(rig, `/?token=${token}`);
  assert.equal(again.status, 303);
  await again.body?.cancel();
});

/** The status that a raw request for the stream gets; the token is in it. */
async function upgrade(rig: PageRig, lines: string, method = "GET"): Promise<number> {
  const head = `${method} /page/stream HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nAuthorization: Bearer ${TOKEN}\r\n`;
  const answer = await rawRequest(rig.port, `${head}Upgrade: websocket\r\n${lines}\r\n`, { untilHead: true });
  return Number(answer.split(" ")[1]);
}
const KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

Deno.test("a broken WebSocket handshake is the client's fault and no internal error", async () => {
  await using rig = await pageRig();
  const version = "Sec-WebSocket-Version: 13\r\n";
  for (
    const lines of [
      "",
      "Connection: Upgrade\r\n",
      `Connection: Upgrade\r\n${version}`,
      `Connection: Upgrade\r\n${KEY}`,
      `Connection: keep-alive\r\n${version}${KEY}`,
    ]
  ) assert.equal(await upgrade(rig, lines), 400, lines);
  assert.equal(await upgrade(rig, `Connection: Upgrade\r\nSec-WebSocket-Version: 8\r\n${KEY}`), 426);
  for (const method of ["HEAD", "OPTIONS", "DELETE"]) {
    assert.equal(await upgrade(rig, `Connection: Upgrade\r\n${version}${KEY}`, method), 405, method);
  }
  assert.equal(rig.parts.gate.reports.total, 0);
  assert.equal(rig.hub.pages, 0);
  assert.equal(await upgrade(rig, `Connection: keep-alive, Upgrade\r\n${version}${KEY}`), 101);
});

Deno.test("more pages than the limit, all at once, are turned away", async () => {
  await using rig = await pageRig();
  const sockets = Array.from(
    { length: LIMITS.maxPages + 8 },
    () => new WebSocket(`ws://127.0.0.1:${rig.port}/page/stream?token=${TOKEN}`),
  );
  const ended = sockets.map((s) => new Promise((resolve) => s.addEventListener("close", resolve, { once: true })));
  const closed = () => sockets.filter((s) => s.readyState === WebSocket.CLOSED).length;
  await until(() => closed() === 8, "eight are turned away");
  await until(() => rig.hub.pages === LIMITS.maxPages, "the others are pages");
  assert.equal(closed(), 8);
  for (const s of sockets) s.close();
  await Promise.all(ended);
});
