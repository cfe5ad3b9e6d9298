import assert from "node:assert/strict";
import { join } from "node:path";
import { createDemo, withoutDemoPort } from "../../src/cli/demo.ts";
import { systemDriver } from "../../src/drivers/serial/mod.ts";
import type { SerialPort } from "../../src/drivers/serial/port.ts";
import { defaultConfig } from "../../src/store/config.ts";
import { openOptions, openPort, readExactly } from "../rigs/pty.ts";
import { inFolder } from "../store/log_rig.ts";
import { fieldbench, Living } from "./run.ts";
import { skipped } from "../rigs/skip.ts";

const unix = Deno.build.os !== "windows";
const bytes = (text: string) => new TextEncoder().encode(text);

/** Reads text until it holds `wanted`. */
async function readUntil(port: SerialPort, wanted: string): Promise<string> {
  const buffer = new Uint8Array(4096);
  let text = "";
  while (!text.includes(wanted)) {
    const n = await port.read(buffer);
    text += String.fromCharCode(...buffer.subarray(0, n));
  }
  return text;
}

Deno.test({
  name: "pair prints the paths of joined ports and takes them away when it is stopped" +
    skipped(!unix, "needs PTYs and signals"),
  ignore: !unix,
  fn: async () => {
    await using pair = new Living(["pair", "--count", "2"]);
    for (const line of await pair.lines(2)) {
      const [one = "", two = ""] = line.split(" ");
      const [a, b] = [await openPort(one), await openPort(two)];
      const sent = crypto.getRandomValues(new Uint8Array(1000));
      await a.write(sent);
      assert.deepEqual(await readExactly(b, 1000), sent);
      await b.write(bytes("back"));
      assert.deepEqual(await readExactly(a, 4), bytes("back"));
      await a.close();
      await b.close();
    }
    assert.equal(await pair.stop("SIGINT"), 0);
    const [first = ""] = pair.out.text.split(" ");
    await assert.rejects(Deno.stat(first));
  },
});

Deno.test({
  name: "pair and sim make links with names that are known beforehand, and never replace a file" +
    skipped(!unix, "needs PTYs and signals"),
  ignore: !unix,
  fn: () =>
    inFolder(async (folder) => {
      await using pair = new Living(["pair", "--link", join(folder, "v")]);
      assert.deepEqual(await pair.lines(1), [`${folder}/v-1a ${folder}/v-1b`]);
      await using sim = new Living(["sim", "echo", "--link", join(folder, "echo")]);
      assert.deepEqual(await sim.lines(1), [`${folder}/echo`]);
      const port = await openPort(join(folder, "echo"));
      await port.write(bytes("hello"));
      assert.deepEqual(await readExactly(port, 5), bytes("hello"));
      await port.close();
      await Deno.writeTextFile(join(folder, "mine"), "keep");
      const refused = await fieldbench(["sim", "echo", "--link", join(folder, "mine")]);
      assert.equal(refused.code, 1);
      assert.match(refused.err, /mine cannot be made: something else has that name/);
      assert.equal(await Deno.readTextFile(join(folder, "mine")), "keep");
      assert.equal(await sim.stop("SIGTERM"), 0);
      assert.equal(await pair.stop("SIGTERM"), 0);
      assert.deepEqual([...Deno.readDirSync(folder)].map((e) => e.name), ["mine"]);
    }),
});

Deno.test({
  name: "sim at-modem answers, nmea and flood speak by themselves" + skipped(!unix, "needs PTYs and signals"),
  ignore: !unix,
  fn: async () => {
    await using modem = new Living(["sim", "at-modem"]);
    await using gps = new Living(["sim", "nmea"]);
    await using flood = new Living(["sim", "flood", "--rate", "5000"]);
    const [atPath = ""] = await modem.lines(1);
    const at = await openPort(atPath, { flush: true });
    await at.write(bytes("AT+COPS?\r"));
    assert.match(await readUntil(at, "OK\r\n"), /\+COPS: 0,0,"Fieldbench Mobile",7/);
    await at.close();
    const [gpsPath = ""] = await gps.lines(1);
    const nmea = await openPort(gpsPath);
    assert.match(await readUntil(nmea, "$GPGSV"), /\$GPGGA,[^*]*\*[0-9A-F]{2}\r\n/);
    await nmea.close();
    const [floodPath = ""] = await flood.lines(1);
    const port = await openPort(floodPath);
    const lines = (await readUntil(port, "000003000 ")).split("\r\n").slice(0, -1);
    const first = Number(lines[1]?.slice(0, 9));
    lines.slice(1).forEach((line, i) => assert.equal(Number(line.slice(0, 9)), first + i));
    await port.close();
    assert.deepEqual(await Promise.all([modem.stop(), gps.stop(), flood.stop()]), [0, 0, 0]);
  },
});

Deno.test("the demo on a system without pseudo terminals is a modem in this process", async () => {
  const demo = createDemo(systemDriver(), "windows");
  try {
    assert.ok((await demo.driver.list()).some((p) => p.path === demo.path));
    const before = demo.driver.fingerprint();
    const port = await demo.driver.open(openOptions(demo.path));
    demo.start();
    await readUntil(port, "READY\r\n");
    await port.write(bytes("AT\r"));
    await readUntil(port, "OK\r\n");
    await port.close();
    assert.equal(demo.driver.fingerprint(), before);
    await assert.rejects(demo.driver.open(openOptions("no-such-port")));
  } finally {
    await demo.close();
  }
});

Deno.test("the demo's port is not kept in the settings; the user's own port is", () => {
  const keep = withoutDemoPort("/dev/pts/9");
  const own = { ...defaultConfig(), panes: { main: { port: "COM3", baud: 9600 } } };
  const demo = { ...own, panes: { main: { port: "/dev/pts/9", baud: 300, identity: {} }, "extra-1": {} } };
  assert.deepEqual(keep(demo, own).panes, { main: { port: "COM3", baud: 300 }, "extra-1": {} });
  assert.deepEqual(keep(demo, defaultConfig()).panes["main"], { baud: 300 });
  const other = { ...own, panes: { main: { port: "COM4" } } };
  assert.equal(keep(other, own), other);
});
