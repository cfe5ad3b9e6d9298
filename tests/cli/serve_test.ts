import assert from "node:assert/strict";
import { join } from "node:path";
import { startServer as startInProcess } from "../../src/cli/server.ts";
import { openPty } from "../../src/drivers/serial/pty.ts";
import { pathsIn } from "../../src/store/paths.ts";
import { startServer } from "../rigs/server.ts";
import { inFolder, joined, rows, until } from "../store/log_rig.ts";
import { assertForPeople, fieldbench, Living } from "./run.ts";
import { skipped } from "../rigs/skip.ts";

const unix = Deno.build.os !== "windows";
const entries = (folder: string) => [...Deno.readDirSync(folder)].map((e) => e.name).sort();

Deno.test("serve tells on one line of JSON that it is ready, and nothing else on standard output", () =>
  inFolder(async (configDir) => {
    const server = await startServer({ configDir });
    const health = await fetch(`${server.origin}/healthz`);
    assert.deepEqual(await health.json(), { ok: true });
    assert.equal(await server.stop(), 0);
    const out = await server.stdout;
    assert.equal(out.split("\n").length, 2);
    const ready = JSON.parse(out);
    assert.deepEqual(Object.keys(ready), ["ready", "url", "urlStreamable", "token", "pid"]);
    assert.deepEqual([ready.ready, ready.pid, ready.token], [true, server.pid, server.token]);
    assert.ok(new URL(server.origin).hostname === "127.0.0.1");
    // The words for people go to standard error: folders, ports, how to connect; the token is not among them.
    assert.match(server.stderr, new RegExp(`settings +${configDir}\\n.*logs +${configDir}/log-cache`));
    assert.match(server.stderr, /MCP at http:\/\/127\.0\.0\.1:\d+\/mcp/);
    assert.ok(!server.stderr.includes(server.token));
  }));

Deno.test("the endpoint file holds the two addresses that really work [C017]", () =>
  inFolder(async (configDir) => {
    await using server = await startServer({ configDir });
    const file = join(configDir, "mcp-endpoint.json");
    const endpoint = JSON.parse(await Deno.readTextFile(file));
    assert.deepEqual(endpoint, { url: server.url, urlStreamable: server.urlStreamable, pid: server.pid });
    if (unix) assert.equal(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
    const sse = await fetch(endpoint.url);
    assert.equal(sse.status, 200);
    assert.match(sse.headers.get("content-type") ?? "", /^text\/event-stream/);
    await sse.body?.cancel();
    const answer = await fetch(endpoint.urlStreamable, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
      }),
    });
    assert.equal(answer.status, 200);
    assert.equal((await answer.json()).result.serverInfo.name, "fieldbench");
    const refused = await fetch(endpoint.urlStreamable.replace(/token=.*/, "token=wrongwrong"), { method: "POST" });
    assert.equal(refused.status, 401);
    await refused.body?.cancel();
  }));

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test({
    name: `${signal} ends the server with status 0 and takes the endpoint file away [C018]` +
      skipped(!unix, "needs PTYs and signals"),
    ignore: !unix,
    fn: () =>
      inFolder(async (configDir) => {
        const server = await startServer({ configDir, args: ["--demo"] });
        assert.ok(entries(configDir).includes("mcp-endpoint.json"));
        const stream = await fetch(`${server.origin}/sse?token=${server.token}`); // a client that stays
        const before = performance.now();
        assert.equal(await server.stop(signal), 0);
        const took = performance.now() - before;
        assert.ok(took < 10_000, `took ${took} ms`); // 2 s on a machine that is not busy
        await stream.body?.cancel().catch(() => {});
        assert.ok(!entries(configDir).includes("mcp-endpoint.json"));
        await assert.rejects(fetch(`${server.origin}/healthz`));
        // What the demo had said by then is on disk.
        assert.ok(rows(await joined(join(configDir, "log-cache"), "log")).some((r) => r.text === "READY"));
      }),
  });
}

Deno.test("a port that was asked for and is taken is refused; the default one gives way to the next free one", () =>
  inFolder(async (configDir) => {
    const holder = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const refused = await fieldbench([
      "serve",
      "--headless",
      "--port",
      String(holder.addr.port),
      "--config-dir",
      configDir,
    ]);
    holder.close();
    assert.equal(refused.code, 1);
    assert.match(refused.err, new RegExp(`port ${holder.addr.port} is in use; choose another with --port`));
    assertForPeople(refused.err);
    assert.ok(!entries(configDir).includes("mcp-endpoint.json"));

    // Whoever has 7777, this test or another program: it is taken.
    let taken: Deno.Listener | undefined;
    try {
      taken = Deno.listen({ hostname: "127.0.0.1", port: 7777 });
    } catch { /* by another program */ }
    try {
      await using server = await startServer({ configDir, defaultPort: true });
      const port = Number(new URL(server.origin).port);
      assert.ok(port > 7777 && port <= 7797, server.origin);
      const endpoint = JSON.parse(await Deno.readTextFile(join(configDir, "mcp-endpoint.json")));
      assert.equal(new URL(endpoint.urlStreamable).port, String(port));
    } finally {
      taken?.close();
    }
  }));

Deno.test("a broken settings file ends the start with a clear word, and stays as it was [C123]", () =>
  inFolder(async (configDir) => {
    for (const name of ["config.json", "mcp.json"]) {
      const path = join(configDir, name);
      await Deno.writeTextFile(path, '{"panes": oops}');
      const { code, out, err } = await fieldbench([
        "serve",
        "--headless",
        "--ready-json",
        "--port",
        "0",
        "--config-dir",
        configDir,
      ]);
      assert.equal(code, 1);
      assert.equal(out, "");
      assert.ok(err.includes(path) && err.includes(".broken-"), err);
      assertForPeople(err);
      assert.equal(await Deno.readTextFile(path), '{"panes": oops}');
      const copy = entries(configDir).find((e) => e.startsWith(`${name}.broken-`)) ?? "";
      assert.equal(await Deno.readTextFile(join(configDir, copy)), '{"panes": oops}');
      await Deno.remove(path);
    }
    // Without it the defaults count, and the copy is still there.
    const server = await startServer({ configDir });
    assert.equal(await server.stop(), 0);
    assert.equal(entries(configDir).filter((e) => e.includes(".broken-")).length, 2);
  }));

Deno.test("a folder that cannot be written ends the start with a clear word", () =>
  inFolder(async (root) => {
    await Deno.writeTextFile(join(root, "file"), "");
    const folders = [join(root, "file", "config")];
    if (Deno.build.os === "linux") folders.push("/proc/fieldbench"); // refuses also root
    for (const folder of folders) {
      const { code, err } = await fieldbench(["serve", "--headless", "--port", "0", "--config-dir", folder]);
      assert.equal(code, 1);
      assert.ok(err.includes(`the folder ${folder} cannot be written`), err);
      assert.match(err, /--config-dir/);
      assertForPeople(err);
    }
    const { code: isFile, err: told } = await fieldbench(["serve", "--headless", "--config-dir", join(root, "file")]);
    assert.equal(isFile, 1);
    assert.match(told, /file cannot be written: something that is no folder has that name/);
    // The folder of the session logs as well.
    const config = { sessionLog: { folder: join(root, "file", "logs") } };
    await Deno.writeTextFile(join(root, "config.json"), JSON.stringify(config));
    const { code, err } = await fieldbench(["serve", "--headless", "--port", "0", "--config-dir", root]);
    assert.equal(code, 1);
    assert.match(err, /logs cannot be written/);
  }));

Deno.test("with server.enabled false the page is served and no MCP endpoint answers", () =>
  inFolder(async (configDir) => {
    await Deno.writeTextFile(join(configDir, "mcp.json"), JSON.stringify({ server: { enabled: false } }));
    await using server = await startServer({ configDir });
    for (const path of ["/mcp", "/sse", "/messages"]) {
      const response = await fetch(`${server.origin}${path}?token=${server.token}`);
      assert.equal(response.status, 404, path);
      assert.match(await response.text(), /server\.enabled is false in mcp\.json/);
    }
    assert.equal((await fetch(`${server.origin}/healthz`)).status, 200);
    assert.match(server.stderr, /agents +MCP is switched off: server\.enabled is false in mcp\.json/);
    const { code, err } = await fieldbench(["call", "app_info", "--config-dir", configDir]);
    assert.equal(code, 1);
    assert.match(err, /switched off/);
  }));

Deno.test("a second start with the same folder says where the first one is", () =>
  inFolder(async (configDir) => {
    const first = await startServer({ configDir });
    const second = await fieldbench(["serve", "--headless", "--port", "0", "--config-dir", configDir]);
    assert.equal(second.code, 1);
    assert.ok(second.err.includes(`running already at ${first.origin} (pid ${first.pid})`), second.err);
    assert.ok(!second.err.includes(first.token));
    // After a kill its endpoint file is left; that keeps nobody from starting.
    await first.stop("SIGKILL");
    assert.ok(entries(configDir).includes("mcp-endpoint.json"));
    const doctor = await fieldbench(["doctor", "--config-dir", configDir]);
    assert.match(doctor.out, /note .*mcp-endpoint\.json is left from a server/);
    const third = await startServer({ configDir });
    assert.equal(third.token, first.token); // the saved one
    assert.equal(JSON.parse(await Deno.readTextFile(join(configDir, "mcp-endpoint.json"))).pid, third.pid);
    assert.equal(await third.stop(), 0);
  }));

Deno.test({
  name: "a second start of a person opens the page of the one that runs" +
    skipped(Deno.build.os !== "linux", "needs a system that opens pages with xdg-open"),
  ignore: Deno.build.os !== "linux",
  fn: () =>
    inFolder(async (configDir) => {
      await using first = await startServer({ configDir });
      const opened = join(configDir, "opened");
      const bin = join(configDir, "bin");
      await Deno.mkdir(bin);
      // Whichever is tried first: this is what opens a browser here.
      for (const name of ["xdg-open", "powershell.exe"]) {
        await Deno.writeTextFile(join(bin, name), `#!/bin/sh\necho "$@" > ${opened}\n`, { mode: 0o755 });
      }
      const env = { PATH: `${bin}:${Deno.env.get("PATH") ?? ""}`, CI: "" };
      const second = await fieldbench(["serve", "--config-dir", configDir], { env });
      assert.equal(second.code, 0, second.err);
      assert.ok((await Deno.readTextFile(opened)).includes(`${first.origin}/?token=${first.token}`));
      assert.match(second.err, /running already at http:.*its page is opened/);
      assert.ok(!second.err.includes(first.token));
      // No browser: it says where the first one is, and fails.
      const none = await fieldbench(["serve", "--config-dir", configDir], { env: { ...env, CI: "true" } });
      assert.equal(none.code, 1);
      assert.match(none.err, /running already at/);
    }),
});

Deno.test("variables of the environment stand for flags", () =>
  inFolder(async (configDir) => {
    const env = {
      FIELDBENCH_PORT: "0",
      FIELDBENCH_CONFIG_DIR: configDir,
      FIELDBENCH_TOKEN: "token-of-a-test",
      FIELDBENCH_HEADLESS: "1",
      FIELDBENCH_READY_JSON: "1",
      FIELDBENCH_READ_ONLY: "true",
      FIELDBENCH_RATE_LIMIT: "0",
    };
    await using server = new Living(["serve"], env);
    const [line = ""] = await server.lines(1);
    assert.equal(JSON.parse(line).token, "token-of-a-test");
    const refused = await fieldbench(["call", "serial_set_baud", '{"baud":9600}'], { env });
    assert.equal(refused.code, 1);
    assert.match(refused.err, /[Rr]ead-only/);
    assert.equal((await fieldbench(["call", "mcp_status"], { env })).code, 0);
    assert.equal(await server.stop("SIGTERM"), 0);
    assert.ok(!(await Deno.readTextFile(join(configDir, "mcp.json"))).includes("token-of-a-test"));
  }));

Deno.test("call finds the running server, and its exit status tells how it went", () =>
  inFolder(async (configDir) => {
    const call = (args: string[], stdin?: string) =>
      fieldbench(["call", ...args, "--config-dir", configDir], stdin === undefined ? {} : { stdin });
    const none = await call(["app_info"]);
    assert.equal(none.code, 3);
    assert.match(none.err, /no Fieldbench is running .*fieldbench serve/);
    const server = await startServer({ configDir });
    const info = await call(["app_info"]);
    assert.deepEqual([info.code, info.err], [0, ""]);
    assert.match(info.out, /^fieldbench \d/);
    assert.equal(JSON.parse((await call(["app_info", "--json"])).out).pid, server.pid);
    const set = await call(["serial_set_baud", "-", "--json"], '{"baud": 4800}');
    assert.equal(JSON.parse(set.out).applied[0].to, 4800);
    const bad = await call(["serial_set_baud", '{"baud":1}']);
    assert.deepEqual([bad.code, bad.out], [2, ""]);
    assert.match(bad.err, /baud/);
    const failed = await call(["serial_send", '{"data":"x"}']);
    assert.deepEqual([failed.code, failed.out], [1, ""]);
    const json = await call(["serial_send", '{"data":"x"}', "--json"]);
    assert.equal(json.code, 1);
    assert.equal(JSON.parse(json.out).error.code, -32006);
    // Each call has ended its session: they take no place.
    assert.equal(JSON.parse((await call(["mcp_status", "--json"])).out).sessions, 1);
    // A tool call leaves no trace in the user's settings.
    await server.stop();
    const config = await Deno.readTextFile(join(configDir, "config.json"));
    assert.doesNotMatch(config, /token|mcp|serial_set_baud|callLog/i);
    assert.equal(JSON.parse(config).panes.main.baud, 4800);
    // Its endpoint file may still be there, but nobody listens.
    await Deno.writeTextFile(
      join(configDir, "mcp-endpoint.json"),
      JSON.stringify({ url: server.url, urlStreamable: server.urlStreamable, pid: server.pid }),
    );
    const gone = await call(["app_info"]);
    assert.equal(gone.code, 3);
    assert.ok(!gone.err.includes(server.token));
  }));

for (
  const { what, signal, told } of [
    {
      what: "a server that stops in the middle of a blocked send tells the caller how many bytes went",
      signal: "SIGTERM",
      told: /closed while sending: [1-9]\d* of 60\d{3} bytes went/,
    },
    {
      what: "a server that is killed in the middle of a call is told as that, not as one that was never there",
      signal: "SIGKILL",
      told: /the server ended before it answered/,
    },
  ] as const
) {
  Deno.test({
    name: what + skipped(!unix, "needs PTYs and signals"),
    ignore: !unix,
    fn: () =>
      inFolder(async (configDir) => {
        const pty = openPty();
        try {
          await using server = await startServer({ configDir, args: ["--port-path", `blocked=${pty.path}`] });
          const call = (...args: string[]) => fieldbench(["call", ...args, "--config-dir", configDir]);
          assert.equal((await call("serial_open", JSON.stringify({ port: pty.path }))).code, 0);
          // Nobody reads the other end: the send waits until the server ends.
          const sending = call("serial_send", JSON.stringify({ data: "x".repeat(60_000) }));
          const sent = async () => JSON.parse((await call("serial_get_state", "--json")).out).outputBytes > 0;
          await until(sent, "the buffer of the port is full");
          await server.stop(signal);
          const { code, err } = await sending;
          assert.equal(code, 1);
          assert.match(err, told);
        } finally {
          await pty.close();
        }
      }),
  });
}

Deno.test("agents at work leave the user's settings free of MCP [C121]", () =>
  inFolder(async (configDir) => {
    const server = await startServer({ configDir });
    for (const tool of ["mcp_status", "serial_list_ports", "log_channels"]) {
      assert.equal((await fieldbench(["call", tool, "--config-dir", configDir])).code, 0);
    }
    await fieldbench(["call", "serial_set_display", '{"echo":false}', "--config-dir", configDir]);
    await server.stop();
    const config = await Deno.readTextFile(join(configDir, "config.json"));
    assert.ok(config.includes('"echo": false'));
    assert.doesNotMatch(config, /token|mcp|callLog|readOnly|serial_/i);
  }));

Deno.test("the demo is a modem that answers through the whole chain, and is not kept", () =>
  inFolder(async (configDir) => {
    const call = (tool: string, args: unknown = {}) =>
      fieldbench(["call", tool, JSON.stringify(args), "--config-dir", configDir]);
    await Deno.writeTextFile(join(configDir, "config.json"), JSON.stringify({ panes: { main: { port: "COM77" } } }));
    const server = await startServer({ configDir, args: ["--demo"] });
    const state = await call("serial_get_state");
    assert.match(state.out, /main/);
    assert.equal((await call("serial_send", { data: "AT+CREG?", lineEnding: "cr" })).code, 0);
    await until(
      async () => (await call("serial_get_output", { format: "text" })).out.includes("+CREG: 0,1"),
      "it answers",
    );
    assert.match(server.stderr, /demo +a simulated modem on /);
    assert.equal(await server.stop(), 0);
    const { panes } = JSON.parse(await Deno.readTextFile(join(configDir, "config.json")));
    assert.equal(panes.main.port, "COM77");
  }));

Deno.test({
  name: "a server killed with -9 leaves all but the last second of the log on disk [SO17]" +
    skipped(!unix, "needs PTYs and signals"),
  ignore: !unix,
  fn: () =>
    inFolder(async (configDir) => {
      await using flood = new Living(["sim", "flood", "--rate", "2000"]);
      const [path = ""] = await flood.lines(1);
      const server = await startServer({ configDir, args: ["--port-path", `flood=${path}`] });
      const opened = await fieldbench([
        "call",
        "serial_open",
        JSON.stringify({ port: path }),
        "--config-dir",
        configDir,
      ]);
      assert.equal(opened.code, 0, opened.err);
      const folder = join(configDir, "log-cache");
      const numbers = async () => {
        const text = new TextDecoder().decode(await joined(folder, "rx.bin"));
        return [...text.matchAll(/^(\d{9}) the quick brown fox jumps over the lazy dog\r$/gm)].map((m) => Number(m[1]));
      };
      await until(async () => (await numbers().catch(() => [])).length > 3000, "lines are on disk");
      // What has been read over MCP a second before the kill is on disk after it.
      const output = await fieldbench([
        "call",
        "serial_get_output",
        '{"lines":1,"format":"text"}',
        "--config-dir",
        configDir,
      ]);
      const seen = Number(/(\d{9}) the quick/.exec(output.out)?.[1]);
      assert.ok(seen > 0, output.out + output.err);
      await new Promise((go) => setTimeout(go, 1000));
      await server.stop("SIGKILL");
      const found = await numbers();
      found.forEach((n, i) => assert.ok(i === 0 || n === (found[i - 1] ?? 0) + 1, `after ${found[i - 1]} comes ${n}`));
      assert.ok((found.at(-1) ?? 0) >= seen, `${seen} was read, on disk is ${found.at(-1)}`);
      for (const name of entries(folder)) assert.match(name, /^session-main-pts_\d+-\d{4}-\d\d-\d\d-\d{3}\./);
    }),
});

Deno.test({
  name: "a second signal ends the server at once" + skipped(!unix, "needs PTYs and signals"),
  ignore: !unix,
  fn: () =>
    inFolder(async (configDir) => {
      await using server = new Living([
        "serve",
        "--headless",
        "--ready-json",
        "--port",
        "0",
        "--config-dir",
        configDir,
      ]);
      await server.lines(1);
      server.signal("SIGINT");
      try {
        server.signal("SIGINT");
      } catch { /* it was quicker */ }
      assert.ok([0, 130].includes(await server.ended()));
    }),
});

Deno.test({
  name: "the server ends in time although a write to a port is blocked" + skipped(!unix, "needs PTYs and signals"),
  ignore: !unix,
  fn: () =>
    inFolder(async (configDir) => {
      const device = openPty(); // it takes about 20 kB, and nobody reads
      const server = await startServer({ configDir, args: ["--port-path", `dut=${device.path}`] });
      const port = JSON.stringify({ port: device.path });
      assert.equal((await fieldbench(["call", "serial_open", port, "--config-dir", configDir])).code, 0);
      const data = JSON.stringify({ data: "x".repeat(60_000) });
      await using send = new Living(["call", "serial_send", data, "--config-dir", configDir]);
      const written = async () => (await joined(join(configDir, "log-cache"), "tx.bin").catch(() => [])).length;
      await until(async () => await written() > 0, "the write has begun");
      const before = performance.now();
      assert.equal(await server.stop("SIGTERM"), 0);
      const took = performance.now() - before;
      assert.ok(took < 10_000, `took ${took} ms`); // 2 s on a machine that is not busy
      assert.notEqual(await send.ended(), 0);
      await device.close();
    }),
});

Deno.test("the address for people leads to the page, and a token that is reset is in the endpoint file at once", () =>
  inFolder(async (configDir) => {
    const server = await startInProcess({
      paths: pathsIn(configDir),
      version: "test",
      port: 0,
      demo: false,
      readOnly: false,
      extraPorts: [],
    });
    try {
      const page = await fetch(`${server.origin}/?token=${server.token}`, { redirect: "manual" });
      assert.equal(page.status, 303);
      assert.match(page.headers.get("set-cookie") ?? "", /HttpOnly/);
      await page.body?.cancel();
      await server.parts.server.settings.update((now) => ({ ...now, token: "another-token" }));
      await server.parts.app.tokenChanged();
      const file = join(configDir, "mcp-endpoint.json");
      await until(async () => (await Deno.readTextFile(file)).includes("another-token"), "the file has the new token");
      const { urlStreamable } = JSON.parse(await Deno.readTextFile(file));
      const status = await fetch(urlStreamable.replace("/mcp?", "/status?"));
      assert.equal(status.status, 200);
      await status.body?.cancel();
    } finally {
      await server.close();
    }
    assert.ok(!entries(configDir).includes("mcp-endpoint.json"));
  }));
