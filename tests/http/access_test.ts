import assert from "node:assert/strict";
import { cookieName, isAuthorized, isLoopbackOrigin, isOwnHost, sameSecret } from "../../src/http/guard.ts";
import { listen } from "../../src/http/listen.ts";
import { mcpConfigSchema } from "../../src/store/mcp_config.ts";
import { startApp, TOKEN } from "../rigs/app.ts";
import { connect, INITIALIZE, RawMcp } from "../rigs/mcp_client.ts";
import { rawRequest } from "../rigs/raw_http.ts";

const ROUTES: [method: string, path: string][] = [
  ["POST", "/mcp"],
  ["GET", "/mcp"],
  ["DELETE", "/mcp"],
  ["GET", "/sse"],
  ["POST", "/messages?sessionId=x"],
  ["GET", "/status"],
  ["GET", "/"],
  ["GET", "/devices"],
  ["GET", "/stream"],
  ["GET", "/assets/app.js"],
  ["GET", "/no/such/thing"],
];
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE });

async function ask(origin: string, [method, path]: [string, string], headers: Record<string, string> = {}, query = "") {
  const url = `${origin}${path}${query && (path.includes("?") ? "&" : "?") + query}`;
  const response = await fetch(url, {
    method,
    headers: {
      ...(method === "POST" && { "content-type": "application/json" }),
      accept: "text/event-stream",
      ...headers,
    },
    ...(method === "POST" && { body }),
  });
  // An event stream goes on for ever.
  const isStream = response.headers.get("content-type") === "text/event-stream";
  if (isStream) await response.body?.cancel();
  return { status: response.status, text: isStream ? "" : await response.text() };
}

Deno.test("healthz says ok to anyone on this computer, and nothing else [C031]", async () => {
  await using rig = await startApp();
  const response = await fetch(`${rig.origin}/healthz`);
  assert.equal(response.status, 200);
  assert.equal(await response.text(), '{"ok":true}');
});

Deno.test("without a token or with a wrong one every other route is 401, helpful and without leaks [C032] [C033]", async () => {
  await using rig = await startApp();
  for (const route of ROUTES) {
    const attempts = [
      await ask(rig.origin, route),
      await ask(rig.origin, route, { authorization: "Bearer wrong-token-wrong-token" }),
      await ask(rig.origin, route, {}, "token=wrong-token-wrong-token"),
      await ask(rig.origin, route, { authorization: `Basic ${TOKEN}` }),
      await ask(rig.origin, route, { authorization: "" }),
      await ask(rig.origin, route, {}, "token="),
    ];
    for (const { status, text } of attempts) {
      assert.equal(status, 401, `${route.join(" ")}: ${text}`);
      assert.match(text, /mcp-endpoint\.json/);
      assert.ok(!text.includes("jsonrpc") && !text.includes(TOKEN));
    }
  }
});

Deno.test("the token is taken from the query and from the header, on all routes [C034] [C035]", async () => {
  await using rig = await startApp();
  for (const route of ROUTES) {
    const byQuery = await ask(rig.origin, route, {}, `token=${TOKEN}`);
    const byHeader = await ask(rig.origin, route, { authorization: `Bearer ${TOKEN}` });
    assert.equal(byQuery.status, byHeader.status, route.join(" "));
    assert.ok(![401, 403].includes(byQuery.status), `${route.join(" ")}: ${byQuery.text}`);
    assert.notEqual((await ask(rig.origin, route, { authorization: `bearer  ${TOKEN}` })).status, 401);
  }
});

Deno.test("token in query and header: both must be right [C036]", async () => {
  await using rig = await startApp();
  const route: [string, string] = ["POST", "/mcp"];
  const wrong = { authorization: "Bearer wrong-token-wrong-token" };
  assert.equal((await ask(rig.origin, route, wrong, `token=${TOKEN}`)).status, 401);
  assert.equal((await ask(rig.origin, route, { authorization: `Bearer ${TOKEN}` }, "token=wrong")).status, 401);
  assert.equal((await ask(rig.origin, route, { authorization: `Bearer ${TOKEN}` }, `token=${TOKEN}`)).status, 200);
});

Deno.test("a token that is a prefix, an extension or one character off is refused [C037]", async () => {
  await using rig = await startApp();
  const near = [
    TOKEN.slice(0, -1),
    TOKEN + "x",
    TOKEN + TOKEN,
    `${TOKEN.slice(0, -1)}x`,
    `x${TOKEN.slice(1)}`,
    TOKEN.toUpperCase(),
  ];
  for (const token of near) {
    assert.equal((await ask(rig.origin, ["POST", "/mcp"], { authorization: `Bearer ${token}` })).status, 401, token);
    assert.equal((await ask(rig.origin, ["POST", "/mcp"], {}, `token=${token}`)).status, 401, token);
    assert.equal(sameSecret(token, TOKEN), false);
  }
  assert.equal(sameSecret(TOKEN, TOKEN), true);
});

Deno.test("a page from elsewhere is refused on every route, also with the right token [C038] [C039] [C040] [C041] [C044]", async () => {
  await using rig = await startApp();
  const origins = [
    "http://evil.com",
    "https://evil.com",
    "null",
    "http://localhost.evil.com",
    "file://",
    "http://127.0.0.1.evil.com",
    "garbage",
  ];
  for (const origin of origins) {
    for (const route of [...ROUTES, ["GET", "/healthz"] as [string, string]]) {
      const { status, text } = await ask(rig.origin, route, { origin, authorization: `Bearer ${TOKEN}` });
      assert.equal(status, 403, `${origin} ${route.join(" ")}`);
      assert.ok(!text.includes(TOKEN));
    }
  }
  assert.equal(rig.app.endpoints.sessions, 0);
});

Deno.test("pages of this computer and clients that are no browsers may use /mcp [C042] [C043]", async () => {
  await using rig = await startApp();
  const port = rig.listening.port;
  const origins = [
    `http://127.0.0.1:${port}`,
    `http://localhost:${port}`,
    `http://[::1]:${port}`,
    "http://localhost:5173",
    "https://localhost:8443",
  ];
  for (const origin of origins) {
    assert.equal(
      (await ask(rig.origin, ["POST", "/mcp"], { origin, authorization: `Bearer ${TOKEN}` })).status,
      200,
      origin,
    );
  }
  assert.equal((await ask(rig.origin, ["POST", "/mcp"], { authorization: `Bearer ${TOKEN}` })).status, 200);
  // The page's own routes are for the page that this server gave.
  const foreignPort = await ask(rig.origin, ["GET", "/devices"], {
    origin: "http://localhost:5173",
    authorization: `Bearer ${TOKEN}`,
  });
  assert.equal(foreignPort.status, 403);
});

Deno.test("a Host that is not loopback with our port is refused on every route, healthz too [C045]", async () => {
  await using rig = await startApp();
  const port = rig.listening.port;
  const bad = [
    "evil.com",
    `evil.com:${port}`,
    "localhost",
    `localhost:${port + 1}`,
    `localhost.evil.com:${port}`,
    `127.0.0.2:${port}`,
    "",
    `localhost:${port}x`,
  ];
  for (const path of ["/healthz", "/mcp", "/sse", "/status", "/", `/mcp?token=${TOKEN}`]) {
    for (const host of bad) {
      const answer = await rawRequest(
        port,
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`,
      );
      assert.match(answer, /^HTTP\/1\.1 40[03] /, `${path} ${host}: ${answer.slice(0, 80)}`);
      assert.ok(!answer.includes(TOKEN));
    }
  }
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`]) {
    const answer = await rawRequest(port, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    assert.match(answer, /^HTTP\/1\.1 200 /, host);
  }
});

Deno.test("the matrix of Host and Origin by token keeps every route shut to others [MC06]", async () => {
  await using rig = await startApp();
  const port = rig.listening.port;
  const hosts = [[`127.0.0.1:${port}`, true], [`localhost:${port}`, true], [`[::1]:${port}`, true], [
    `evil.com:${port}`,
    false,
  ], ["localhost:1", false]] as const;
  const origins = [["", true], [`http://localhost:${port}`, true], ["http://evil.com", false], [
    `http://localhost.evil.com:${port}`,
    false,
  ], ["null", false]] as const;
  for (const [, path] of ROUTES.filter(([m]) => m === "GET")) {
    for (const [host, hostOk] of hosts) {
      for (const [origin, originOk] of origins) {
        for (const token of [TOKEN, "wrong-token-wrong-token", ""]) {
          const head = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n` +
            (origin && `Origin: ${origin}\r\n`) + (token && `Authorization: Bearer ${token}\r\n`) + "\r\n";
          const status = Number((await rawRequest(port, head, { untilHead: true })).slice(9, 12));
          const what = `${path} ${host} ${origin} ${token}`;
          if (!hostOk || !originOk) assert.equal(status, 403, what);
          else if (token !== TOKEN) assert.equal(status, 401, what);
          else assert.ok(![401, 403].includes(status), what);
        }
      }
    }
  }
});

Deno.test("only loopback listens: the machine's own addresses refuse the connection [C046]", async () => {
  await using rig = await startApp();
  const others = Deno.networkInterfaces().filter((n) => n.family === "IPv4" && !n.address.startsWith("127."));
  for (const { address } of others) {
    await assert.rejects(Deno.connect({ hostname: address, port: rig.listening.port }), Deno.errors.ConnectionRefused);
  }
  assert.throws(() => listen(rig.app, "0.0.0.0", 0), /not a loopback address/);
});

Deno.test("the host setting takes loopback only [C047]", () => {
  for (const host of ["0.0.0.0", "192.168.1.5", "example.com", "::", "127.0.0.1 "]) {
    assert.equal(mcpConfigSchema.safeParse({ server: { host } }).success, false, host);
  }
  for (const host of ["127.0.0.1", "::1", "localhost"]) {
    assert.equal(mcpConfigSchema.safeParse({ server: { host } }).success, true, host);
  }
});

Deno.test("the server works over IPv6 loopback [C048]", async () => {
  await using rig = await startApp({ host: "::1" });
  assert.ok(rig.origin.startsWith("http://[::1]:"));
  const client = await connect(rig.origin, TOKEN);
  assert.equal((await client.ok("app_info"))["name"], "fieldbench");
});

Deno.test("/status is mcp_status with masked addresses [C049]", async () => {
  await using rig = await startApp();
  const response = await fetch(`${rig.origin}/status`, { headers: { authorization: `Bearer ${TOKEN}` } });
  assert.equal(response.status, 200);
  const text = await response.text();
  const status = JSON.parse(text);
  assert.ok(!text.includes(TOKEN));
  assert.match(status.urlMasked, /\/sse\?token=/);
  assert.match(status.streamableUrlMasked, /\/mcp\?token=/);
  assert.equal(status.running, true);
  assert.equal(status.port, rig.listening.port);
});

Deno.test("the page's cookie counts only for this server's own pages, and holds no token", async () => {
  await using rig = await startApp();
  const { secrets } = rig.app;
  const port = rig.listening.port;
  assert.ok(!secrets.cookie.includes(TOKEN));
  const cookie = `theme=dark; ${cookieName(port)}=${secrets.cookie}`;
  const request = (headers: Record<string, string>) => new Request(`http://localhost:${port}/status`, { headers });
  const allowed = (headers: Record<string, string>) => {
    const r = request(headers);
    return isAuthorized(r, new URL(r.url), secrets, port);
  };
  assert.equal(allowed({ cookie }), true);
  assert.equal(allowed({ cookie, origin: `http://localhost:${port}`, "sec-fetch-site": "same-origin" }), true);
  assert.equal(allowed({ cookie, origin: "http://localhost:5173" }), false);
  assert.equal(allowed({ cookie, "sec-fetch-site": "same-site" }), false);
  assert.equal(allowed({ cookie, "sec-fetch-site": "cross-site" }), false);
  assert.equal(allowed({ cookie: `${cookieName(port + 1)}=${secrets.cookie}` }), false);
  assert.equal(allowed({ cookie: `${cookieName(port)}=${TOKEN}` }), false);
  assert.equal(allowed({ cookie, authorization: "Bearer wrong" }), false);
  const before = secrets.cookie;
  await rig.settings.update((s) => ({ ...s, token: "another-token-of-good-length" }));
  await rig.app.tokenChanged();
  assert.notEqual(secrets.cookie, before);
});

Deno.test("a reset token ends what used the old one", async () => {
  await using rig = await startApp();
  const client = await connect(rig.origin, TOKEN);
  await rig.settings.update((s) => ({ ...s, token: "another-token-of-good-length" }));
  await rig.app.tokenChanged();
  assert.equal((await client.request("ping")).status, 401);
  assert.equal(rig.app.endpoints.sessions, 0);
  await connect(rig.origin, "another-token-of-good-length");
});

Deno.test("host and origin names are compared whole", () => {
  for (const host of ["localhost:80", "127.0.0.1:80", "[::1]:80", "localhost"]) assert.ok(isOwnHost(host, 80), host);
  for (const host of [null, "", "localhost:8080", "[::1]x:80", "a:b:80", "localhost:80:80", "127.0.0.1@evil:80"]) {
    assert.ok(!isOwnHost(host, 80), String(host));
  }
  for (
    const origin of [
      "http://localhost.evil.com",
      "http://evil.com/localhost",
      "ftp://localhost",
      "null",
      "",
      "http://localhost@evil.com",
    ]
  ) {
    assert.ok(!isLoopbackOrigin(origin), origin);
  }
});

Deno.test("an unknown path with the token is 404 and says where clients go", async () => {
  await using rig = await startApp();
  for (const path of ["/mcpx", "/__proto__", "/constructor", "//mcp", "/MCP", "/mcp/"]) {
    const { status, text } = await ask(rig.origin, ["GET", path], { authorization: `Bearer ${TOKEN}` });
    assert.equal(status, 404, path);
    assert.match(text, /\/mcp/);
  }
  assert.equal((await new RawMcp(rig.origin, TOKEN).initialize()).status, 200);
});

Deno.test("a request line that names another server is refused, whatever its Host says", async () => {
  await using rig = await startApp();
  const { port } = rig.listening;
  const ask = async (target: string) => {
    const head = `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n`;
    return Number((await rawRequest(port, `${head}Connection: close\r\n\r\n`)).split(" ")[1]);
  };
  assert.equal(await ask(`http://127.0.0.1:${port}/status`), 200);
  for (const other of ["http://evil.com/status", `http://evil.com:${port}/status`, "http://127.0.0.1:1/status"]) {
    assert.equal(await ask(other), 403, other);
  }
});
