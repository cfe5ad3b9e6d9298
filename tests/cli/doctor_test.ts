import assert from "node:assert/strict";
import { join } from "node:path";
import { accessFinding, missingModules, parseGroups } from "../../src/cli/doctor_linux.ts";
import { openPair, openPort } from "../rigs/pty.ts";
import { startServer } from "../rigs/server.ts";
import { inFolder } from "../store/log_rig.ts";
import { assertForPeople, fieldbench } from "./run.ts";
import { skipped } from "../rigs/skip.ts";

const unix = Deno.build.os !== "windows";

Deno.test({
  name: "doctor finds who holds a port and says how to end that" + skipped(Deno.build.os !== "linux", "Linux only"),
  ignore: Deno.build.os !== "linux",
  fn: () =>
    inFolder(async (configDir) => {
      const pair = await openPair();
      const held = await openPort(pair.a);
      try {
        const args = ["doctor", "--config-dir", configDir, "--port-path", `dut=${pair.a}`];
        const { code, out } = await fieldbench(args);
        assert.equal(code, 0, out);
        assert.match(out, new RegExp(`note  ${pair.a}: .*in use by .*pid ${Deno.pid}`));
        assert.match(out, new RegExp(`→ close it, or: kill ${Deno.pid}`));
        await held.close();
        assert.match((await fieldbench(args)).out, new RegExp(`ok +${pair.a}: dut`));
      } finally {
        await pair.close();
      }
    }),
});

Deno.test("doctor tells what is wrong with the settings, changes nothing, and says so by its exit status", () =>
  inFolder(async (configDir) => {
    const fine = await fieldbench(["doctor", "--json", "--config-dir", join(configDir, "not-yet")]);
    assert.equal(fine.code, 0, fine.out);
    assert.equal(JSON.parse(fine.out).ok, true);
    await Deno.writeTextFile(join(configDir, "config.json"), "{");
    const broken = await fieldbench(["doctor", "--config-dir", configDir]);
    assert.equal(broken.code, 1);
    assert.match(broken.out, /BAD +.*config\.json is broken/);
    assert.match(broken.out, /→ mend .*config\.json/);
    assertForPeople(broken.out + broken.err);
    assert.equal(await Deno.readTextFile(join(configDir, "config.json")), "{");
    assert.ok(![...Deno.readDirSync(configDir)].some((e) => e.name === "not-yet"));
    const file = join(configDir, "file");
    await Deno.writeTextFile(file, "");
    const unwritable = await fieldbench(["doctor", "--json", "--config-dir", file]);
    assert.equal(unwritable.code, 1);
    assert.equal(JSON.parse(unwritable.out).ok, false);
  }));

Deno.test("doctor knows the running server, and a port that this one has open", () =>
  inFolder(async (configDir) => {
    await using server = await startServer({ configDir, args: unix ? ["--demo"] : [] });
    const { out } = await fieldbench(["doctor", "--config-dir", configDir]);
    assert.match(out, new RegExp(`ok +a server runs at ${server.origin} \\(pid ${server.pid}\\)`));
    assert.ok(!out.includes(server.token));
  }));

Deno.test("permissions: who may open a port, and the command that mends it", () => {
  const groups = parseGroups("root:x:0:\ndialout:x:20:eve\nplugdev:x:46:\n");
  const tty = { uid: 0, gid: 20, mode: 0o20660 };
  const me = (name: string, uid: number, ...own: number[]) => ({ name, uid, groups: own });
  assert.equal(accessFinding("/dev/ttyUSB0", tty, me("root", 0), groups), undefined);
  assert.equal(accessFinding("/dev/ttyUSB0", tty, me("ada", 1000, 20), groups), undefined);
  assert.equal(accessFinding("/dev/ttyUSB0", { ...tty, mode: 0o20666 }, me("ada", 1000), groups), undefined);
  assert.equal(accessFinding("/dev/x", { uid: 1000, gid: 0, mode: 0o600 }, me("ada", 1000), groups), undefined);
  const ada = accessFinding("/dev/ttyUSB0", tty, me("ada", 1000, 46), groups);
  assert.equal(ada?.state, "bad");
  assert.match(ada?.fix ?? "", /^sudo usermod -aG dialout ada/);
  const eve = accessFinding("/dev/ttyUSB0", tty, me("eve", 1001), groups);
  assert.match(eve?.fix ?? "", /newgrp dialout/);
  const odd = accessFinding("/dev/ttyS0", { uid: 0, gid: 0, mode: 0o20600 }, me("ada", 1000), groups);
  assert.match(odd?.fix ?? "", /setfacl -m u:ada:rw \/dev\/ttyS0/);
});

Deno.test({
  name: "a serial chip on the USB without a kernel module is found" + skipped(!unix, "needs PTYs and signals"),
  ignore: !unix,
  fn: () =>
    inFolder(async (root) => {
      const device = async (name: string, vendor: string, driver: boolean) => {
        await Deno.mkdir(join(root, name, `${name}:1.0`), { recursive: true });
        await Deno.writeTextFile(join(root, name, "idVendor"), `${vendor}\n`);
        await Deno.writeTextFile(join(root, name, "product"), "USB Serial\n");
        if (driver) await Deno.symlink("/nowhere", join(root, name, `${name}:1.0`, "driver"));
      };
      await device("1-2", "1a86", true);
      await device("1-3.1", "0403", false);
      await device("1-4", "046d", false);
      const found = missingModules(root);
      assert.equal(found.length, 1);
      assert.match(found[0]?.text ?? "", /USB Serial on USB 1-3\.1 has no driver/);
      assert.match(found[0]?.fix ?? "", /modprobe ftdi_sio/);
    }),
});
