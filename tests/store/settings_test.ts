import assert from "node:assert/strict";
import { join } from "node:path";
import { defaultConfig, loadConfig } from "../../src/store/config.ts";
import { answers, endpointOf, readEndpoint, removeEndpoint, writeEndpoint } from "../../src/store/endpoint.ts";
import { sweepTemporary, writeAtomic } from "../../src/store/files.ts";
import { SettingsError } from "../../src/store/json_file.ts";
import { loadMcpConfig, maskToken, tokenPattern } from "../../src/store/mcp_config.ts";
import { defaultConfigDir, pathsIn } from "../../src/store/paths.ts";
import { inFolder } from "./log_rig.ts";
import { skipped } from "../rigs/skip.ts";

const unix = Deno.build.os !== "windows";
const entries = (folder: string) => [...Deno.readDirSync(folder)].map((e) => e.name).sort();
const modeOf = async (path: string) => ((await Deno.stat(path)).mode ?? 0) & 0o777;

Deno.test("the configuration folder follows the custom of each system, and FIELDBENCH_CONFIG_DIR wins", () => {
  const env = (values: Record<string, string>) => (name: string) => values[name];
  assert.equal(defaultConfigDir(env({ HOME: "/home/a" }), "linux"), "/home/a/.config/fieldbench");
  assert.equal(defaultConfigDir(env({ HOME: "/home/a", XDG_CONFIG_HOME: "/x" }), "linux"), "/x/fieldbench");
  assert.equal(defaultConfigDir(env({ HOME: "/home/a", XDG_CONFIG_HOME: "x" }), "linux"), "/home/a/.config/fieldbench");
  assert.equal(
    defaultConfigDir(env({ HOME: "/Users/a" }), "darwin"),
    "/Users/a/Library/Application Support/fieldbench",
  );
  assert.ok(defaultConfigDir(env({ APPDATA: "C:\\Users\\a" }), "windows")?.endsWith("fieldbench"));
  assert.equal(defaultConfigDir(env({ HOME: "/home/a", FIELDBENCH_CONFIG_DIR: "/own" }), "linux"), "/own");
  assert.equal(defaultConfigDir(env({}), "linux"), undefined);
});

Deno.test("no name of a configuration folder never means the folder that the program was started in", () => {
  for (const name of ["", " "]) assert.throws(() => pathsIn(name), RangeError);
  const home = (name: string) => ({ HOME: "/home/a", FIELDBENCH_CONFIG_DIR: " " })[name];
  assert.equal(defaultConfigDir(home, "linux"), "/home/a/.config/fieldbench");
});

Deno.test({
  name: "settings, MCP settings and the endpoint file have mode 0600 and leave nothing else behind [C122]" +
    skipped(!unix, "needs PTYs and signals"),
  ignore: !unix,
  fn: () =>
    inFolder(async (folder) => {
      const paths = pathsIn(folder);
      // A file that others could read is replaced by one that they cannot.
      await Deno.writeTextFile(paths.config, "{}", { mode: 0o644 });
      const config = await loadConfig(paths.config);
      await config.update((c) => ({ ...c, panes: { main: { port: "COM3", baud: 9600 } } }));
      await loadMcpConfig(paths.mcpConfig);
      await writeEndpoint(paths.endpoint, endpointOf("http://127.0.0.1:7777", "testtoken"));
      for (const path of [paths.config, paths.mcpConfig, paths.endpoint]) assert.equal(await modeOf(path), 0o600, path);
      assert.deepEqual(entries(folder), ["config.json", "mcp-endpoint.json", "mcp.json"]);
      assert.deepEqual((await loadConfig(paths.config)).value.panes, { main: { port: "COM3", baud: 9600 } });
    }),
});

Deno.test("a writer killed at any moment leaves a whole file, the old or a new one [C122]", () =>
  inFolder(async (folder) => {
    const path = join(folder, "config.json");
    await writeAtomic(path, JSON.stringify({ n: 0, filler: "x".repeat(100_000) }));
    for (let round = 0; round < 5; round++) {
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--quiet", new URL("./save_me.ts", import.meta.url).pathname, path],
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
      const reader = child.stdout.getReader();
      await reader.read(); // it is saving now
      await new Promise((go) => setTimeout(go, round * 7));
      child.kill("SIGKILL");
      await child.status;
      await reader.cancel();
      const found: { n: number; filler: string } = JSON.parse(await Deno.readTextFile(path));
      assert.equal(found.filler.length, 100_000);
    }
    // What it left is swept by the next one who owns the folder, and nothing else.
    await Deno.writeTextFile(join(folder, ".config.json.1-1.tmp"), "");
    await Deno.writeTextFile(join(folder, "mine.tmp"), "");
    await sweepTemporary(folder);
    assert.deepEqual(entries(folder), ["config.json", "mine.tmp"]);
  }));

Deno.test("a broken settings file is told with its place, kept as it was, and copied aside once [C123]", () =>
  inFolder(async (folder) => {
    const { config: path } = pathsIn(folder);
    for (
      const [text, told] of [
        ["{ not json", /config\.json is broken: not JSON/],
        ["", /is broken: it is empty/],
        ['{"panes":{"main":{"baud":"fast"}}}', /panes\.main\.baud/],
        ["[]", /the whole/],
      ] as const
    ) {
      await Deno.writeTextFile(path, text);
      for (let again = 0; again < 2; again++) {
        await assert.rejects(loadConfig(path), (error: unknown) => {
          assert.ok(error instanceof SettingsError);
          assert.match(error.message, told);
          assert.equal(Deno.readTextFileSync(error.keptAs ?? ""), text);
          return true;
        });
      }
      assert.equal(await Deno.readTextFile(path), text);
      assert.equal(entries(folder).length, 2);
      for (const name of entries(folder)) if (name.includes(".broken-")) await Deno.remove(join(folder, name));
    }
    await Deno.remove(path);
    assert.deepEqual((await loadConfig(path)).value, defaultConfig());
    assert.deepEqual(entries(folder), []);
  }));

Deno.test("a folder of session logs is told in full: a relative one would depend on where the program is started", () =>
  inFolder(async (folder) => {
    const path = join(folder, "config.json");
    await Deno.writeTextFile(path, JSON.stringify({ sessionLog: { folder: "logs" } }));
    await assert.rejects(loadConfig(path), /sessionLog\.folder: .*whole path/);
  }));

Deno.test("keys that this version does not know stay in the settings file", () =>
  inFolder(async (folder) => {
    const { config: path } = pathsIn(folder);
    await Deno.writeTextFile(path, '\uFEFF{"later":{"a":1},"panes":{"main":{"baud":300,"colour":"red"}}}');
    const file = await loadConfig(path);
    await file.update((c) => ({ ...c, panes: { ...c.panes, "extra-1": { port: "COM9" } } }));
    const now = JSON.parse(await Deno.readTextFile(path));
    assert.deepEqual(now.later, { a: 1 });
    assert.deepEqual(now.panes, { main: { baud: 300, colour: "red" }, "extra-1": { port: "COM9" } });
    assert.equal(now.token, undefined);
  }));

Deno.test("settings that cannot be saved are told, and memory and file still agree", () =>
  inFolder(async (folder) => {
    const path = join(folder, "sub", "config.json");
    const file = await loadConfig(path);
    await assert.rejects(
      file.update((c) => ({ ...c, panes: { main: {} } })),
      /config\.json cannot be written: the file/,
    );
    assert.deepEqual(file.value, defaultConfig());
    await Deno.mkdir(join(folder, "sub"));
    const saved = [1, 2, 3, 4].map((baud) =>
      file.update((c) => ({ ...c, panes: { ...c.panes, [`extra-${baud}`]: { baud: baud * 1000 } } }))
    );
    await Promise.all(saved);
    assert.deepEqual(Object.keys(JSON.parse(await Deno.readTextFile(path)).panes).length, 4);
  }));

Deno.test("the token is made once, is 32 random bytes, and old spellings of the transport still count", () =>
  inFolder(async (folder) => {
    const { mcpConfig: path } = pathsIn(folder);
    const { token } = (await loadMcpConfig(path)).value;
    assert.match(token, tokenPattern);
    assert.equal(atob(token.replaceAll("-", "+").replaceAll("_", "/")).length, 32);
    assert.equal((await loadMcpConfig(path)).value.token, token);
    assert.ok(!maskToken(token).includes(token.slice(2, -2)));
    await Deno.writeTextFile(path, '{"token":"testtoken","server":{"streamableHttp":false,"port":7799}}');
    const old = (await loadMcpConfig(path)).value;
    assert.equal(old.server.transport, "sse");
    assert.equal(old.server.port, 7799);
    await Deno.writeTextFile(path, '{"token":"testtoken","server":{"host":"0.0.0.0"}}');
    await assert.rejects(loadMcpConfig(path), /server\.host/);
  }));

Deno.test("an endpoint file is removed by its writer only, and one of a server that is gone does not answer", () =>
  inFolder(async (folder) => {
    const { endpoint: path } = pathsIn(folder);
    assert.equal(await readEndpoint(path), undefined);
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      () => Response.json({ ok: true }),
    );
    const mine = endpointOf(`http://127.0.0.1:${server.addr.port}`, "testtoken");
    assert.equal(mine.urlStreamable, `http://127.0.0.1:${server.addr.port}/mcp?token=testtoken`);
    assert.equal(mine.url, `http://127.0.0.1:${server.addr.port}/sse?token=testtoken`);
    await writeEndpoint(path, mine);
    assert.deepEqual(await readEndpoint(path), mine);
    assert.equal(await answers(mine), true);
    await server.shutdown();
    assert.equal(await answers(mine), false);
    await removeEndpoint(path, Deno.pid + 1);
    assert.deepEqual(entries(folder), ["mcp-endpoint.json"]);
    await removeEndpoint(path);
    await removeEndpoint(path);
    assert.deepEqual(entries(folder), []);
    await Deno.writeTextFile(path, "{}");
    assert.equal(await readEndpoint(path), undefined);
  }));
