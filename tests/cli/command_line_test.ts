import assert from "node:assert/strict";
import { join } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { TOOLS } from "../../tools/mod.ts";
import { type Flags, nearest, parseFlags, UsageError, wholeNumber } from "../../src/cli/args.ts";
import { browserCommands } from "../../src/cli/open_browser.ts";
import { parsePortPaths } from "../../src/cli/port_path.ts";
import { VERSION } from "../../src/cli/version.ts";
import { inFolder } from "../store/log_rig.ts";
import { assertForPeople, fieldbench } from "./run.ts";
import { skipped } from "../rigs/skip.ts";

const unix = Deno.build.os !== "windows";

Deno.test("the version is the one of deno.json", async () => {
  assert.equal(VERSION, config.version);
  assert.deepEqual(await fieldbench(["--version"]), { code: 0, out: `fieldbench ${VERSION}\n`, err: "" });
});

Deno.test("help names every command, and each command's help its flags and their variables", async () => {
  const help = await fieldbench(["--help"]);
  assert.equal(help.code, 0);
  const names = ["serve", "ports", "tools", "call", "pair", "sim", "doctor"];
  for (const name of names) {
    assert.match(help.out, new RegExp(`^ {2}${name} `, "m"));
    const own = await fieldbench([name, "--help"]);
    assert.equal(own.code, 0, own.err);
    assert.match(own.out, new RegExp(`^Usage: fieldbench ${name}`));
  }
  const serve = await fieldbench(["help", "serve"]);
  const flags = "port config-dir token headless no-open demo read-only port-path rate-limit ready-json".split(" ");
  for (const flag of flags) {
    assert.match(serve.out, new RegExp(`--${flag}\\b.*\\[FIELDBENCH_${flag.toUpperCase().replaceAll("-", "_")}\\]`));
  }
});

Deno.test("a wrong command line is told with what was meant, exit status 2, without a stack", async () => {
  const cases: [string[], Record<string, string>, RegExp][] = [
    [["srve"], {}, /unknown command srve\. Did you mean serve\?/],
    [["--prot"], {}, /unknown flag --prot/],
    [["serve", "--prot", "1"], {}, /unknown flag --prot\. Did you mean --port\?.*--ready-json/],
    [["serve", "--port"], {}, /--port needs a value/],
    [["serve", "--port", "--demo"], {}, /--port needs a value/],
    [["serve", "--port", "70000"], {}, /--port must be a whole number from 0 to 65535, not "70000"/],
    [["serve"], { FIELDBENCH_PORT: "x" }, /FIELDBENCH_PORT must be a whole number/],
    [["serve"], { FIELDBENCH_DEMO: "maybe" }, /FIELDBENCH_DEMO must be 1 or 0/],
    [["serve", "--headless=yes"], {}, /--headless takes no value/],
    [["serve", "--config-dir", ""], {}, /--config-dir needs a value/],
    [["serve", "--config-dir", " "], {}, /--config-dir needs a value/],
    [["sim", "echo", "--link="], {}, /--link needs a value/],
    [["serve", "--token", "short"], {}, /--token must be 8 to 256/],
    [["serve", "--port-path", "nolabel"], {}, /--port-path must be LABEL=PATH/],
    [["serve", "extra"], {}, /"extra" is too much/],
    [["serve", "--rate-limit", "-1"], {}, /--rate-limit/],
    [["sim"], {}, /at-modem\|nmea\|echo\|flood/],
    [["sim", "fload"], {}, /unknown device fload\. Did you mean flood\?/],
    [["sim", "echo", "--rate", "5"], {}, /--rate is for flood only/],
    [["pair", "--count", "0"], {}, /--count must be a whole number from 1 to 64/],
    [["call"], {}, /something is missing/],
    [["call", "serial_snd"], {}, /unknown tool serial_snd\. Did you mean serial_send\?/],
    [["call", "app_info", "{"], {}, /not JSON/],
    [["call", "app_info", "[1]"], {}, /must be a JSON object/],
  ];
  for (const [args, env, told] of cases) {
    const { code, out, err } = await fieldbench(args, { env });
    assert.equal(code, 2, `${args.join(" ")}: ${err}`);
    assert.equal(out, "");
    assert.match(err, told);
    assertForPeople(err);
  }
  const { code, out } = await fieldbench([]);
  assert.equal(code, 2);
  assert.match(out, /Usage: fieldbench COMMAND/);
});

Deno.test("a flag wins over its variable, and a variable stands for a flag that is not given", () => {
  const flags: Flags = {
    port: { type: "string", env: true, help: "" },
    demo: { type: "boolean", env: true, help: "" },
    "port-path": { type: "string", env: true, multiple: true, help: "" },
    json: { type: "boolean", help: "" },
  };
  const read = (args: string[], env: Record<string, string>) =>
    parseFlags(flags, args, (name) => env[name], { least: 0, most: 9, usage: "" });
  const env = {
    FIELDBENCH_PORT: "1",
    FIELDBENCH_DEMO: "yes",
    FIELDBENCH_PORT_PATH: "a=/x; b=/y;",
    FIELDBENCH_JSON: "1",
  };
  const byEnv = read([], env);
  assert.equal(wholeNumber(byEnv, "port", 0, 9), 1);
  assert.equal(byEnv.origin("port"), "FIELDBENCH_PORT");
  assert.equal(byEnv.boolean("demo"), true);
  assert.equal(byEnv.boolean("json"), false);
  assert.deepEqual(byEnv.strings("port-path"), ["a=/x", "b=/y"]);
  const byFlag = read(["--port=7", "--port-path", "c=/z", "word", "--port", "8"], env);
  assert.equal(byFlag.string("port"), "8");
  assert.deepEqual(byFlag.strings("port-path"), ["c=/z"]);
  assert.deepEqual(byFlag.positionals, ["word"]);
  assert.equal(read([], { FIELDBENCH_DEMO: "0" }).boolean("demo"), false);
  assert.throws(() => read(["--dmeo"], {}), UsageError);
  assert.equal(nearest("serial_gte_state", TOOLS.map((t) => t.name)), "serial_get_state");
  assert.equal(nearest("xyz", ["serve", "call"]), undefined);
  assert.deepEqual(parsePortPaths(["dut=/dev/a=b"], ""), [{ label: "dut", path: "/dev/a=b" }]);
  // It is kept in the settings, and the next start may be in another folder.
  assert.deepEqual(parsePortPaths(["dut=ports/a"], "")[0]?.path, join(Deno.cwd(), "ports/a"));
  assert.deepEqual(parsePortPaths(["dut=COM7"], "")[0]?.path, "COM7");
});

Deno.test("tools lists the table, and with --json the schemas", async () => {
  const plain = await fieldbench(["tools"]);
  const json: { name: string; inputSchema: { type: string } }[] = JSON.parse(
    (await fieldbench(["tools", "--json"])).out,
  );
  assert.deepEqual(json.map((t) => t.name), TOOLS.map((t) => t.name));
  for (const t of json) {
    assert.equal(t.inputSchema.type, "object");
    assert.ok(plain.out.includes(t.name));
  }
});

Deno.test({
  name: "ports lists configured paths and globs as well" + skipped(!unix, "needs PTYs and signals"),
  ignore: !unix,
  fn: () =>
    inFolder(async (folder) => {
      await Deno.symlink("/dev/null", join(folder, "dut-1"));
      const { code, out } = await fieldbench([
        "ports",
        "--json",
        "--config-dir",
        folder,
        "--port-path",
        `dut=${folder}/dut-*`,
      ]);
      assert.equal(code, 0);
      const found: { path: string; kind: string; friendlyName: string }[] = JSON.parse(out);
      const dut = found.find((p) => p.path === `${folder}/dut-1`);
      assert.equal(dut?.kind, "virtual");
      assert.match(dut?.friendlyName ?? "", /^dut/);
      assert.deepEqual([...Deno.readDirSync(folder)].map((e) => e.name), ["dut-1"]);
    }),
});

Deno.test("the page is opened in the way of each system, and the address is never a command", () => {
  const url = "http://127.0.0.1:7777/?token=a'b&c";
  assert.deepEqual(browserCommands("darwin", false, url)[0], ["open", url]);
  assert.deepEqual(browserCommands("linux", false, url)[0], ["xdg-open", url]);
  assert.deepEqual(browserCommands("windows", false, url)[0], ["rundll32", "url.dll,FileProtocolHandler", url]);
  const wsl = browserCommands("linux", true, url)[0];
  assert.equal(wsl?.[0], "powershell.exe");
  assert.equal(wsl?.at(-1), "Start-Process 'http://127.0.0.1:7777/?token=a''b&c'");
});
