import assert from "node:assert/strict";
import { openPty } from "../rigs/pty.ts";
import type { BenchPage } from "../rigs/browser.ts";
import { pageTest, pane, quiet, str, until, withAgent } from "./rig.ts";

type Bytes = Uint8Array<ArrayBuffer>;
const encoder = new TextEncoder();
const bytesOf = (text: string): Bytes => encoder.encode(text);

/** A pane open on a device of the test. */
function deviceTest(
  name: string,
  test: (at: BenchPage, device: { write(bytes: Bytes): Promise<unknown>; path: string }) => Promise<void>,
): void {
  const pty = openPty();
  pageTest(name, { args: ["--port-path", `Bench DUT=${pty.path}`] }, async (at) => {
    try {
      await at.control("serial.conn.portSelect").selectOption(pty.path);
      await at.control("serial.conn.start").click();
      await until("open", async () => await at.control("serial.conn.start").innerText() === "Stop");
      await test(at, pty);
      quiet(at);
    } finally {
      await pty.close();
    }
  });
}

const received = async (at: BenchPage): Promise<{ lines: number; bytes: number }> => {
  let out = { lines: 0, bytes: 0 };
  await withAgent(at, async (agent) => {
    const state = await agent.ok("serial_get_state", {});
    out = { lines: Number(state["outputLines"]), bytes: Number(state["outputBytes"]) };
  });
  return out;
};

deviceTest(
  "what is saved holds what came: every line, in order, colours resolved in the text, and every byte in the raw copy [SR07]",
  async (at, device) => {
    const sent: string[] = [];
    for (let i = 0; i < 500; i++) sent.push(`\x1b[0;32maaa bbb ${String(i).padStart(4, "0")}\x1b[0m`);
    const data = bytesOf(sent.map((line) => `${line}\n`).join(""));
    for (let i = 0; i < data.length; i += 333) await device.write(data.subarray(i, i + 333));
    await until("all lines", async () => (await received(at)).lines >= 500, 60_000);
    const [download] = await Promise.all([at.page.waitForEvent("download"), at.control("serial.view.save").click()]);
    const lines = (await Deno.readTextFile(await download.path())).split("\n").filter((line) =>
      line.includes("aaa bbb")
    );
    assert.deepEqual(
      lines.map((line) => /aaa bbb (\d+)/.exec(line)?.[1]),
      sent.map((_, i) => String(i).padStart(4, "0")),
    );
    assert.ok(lines.every((line) => /^\d\d:\d\d:\d\d\.\d{3} \[rx\] /.test(line)), lines[0] ?? "");
    assert.ok(lines.every((line) => !line.includes("\x1b")), "no escape in the readable copy");
    const folder = `${at.server.configDir}/log-cache`;
    let raw = 0;
    for await (const entry of Deno.readDir(folder)) {
      if (entry.name.endsWith(".rx.bin")) raw += (await Deno.stat(`${folder}/${entry.name}`)).size;
    }
    assert.equal(raw, data.length);
  },
);

deviceTest(
  "endless data without a line break and random bytes: all counted, the page goes on, a keystroke shows at once (printed) [SR10]",
  async (at, device) => {
    const { page } = at;
    const block = bytesOf("hello".repeat(13_107));
    const noise = crypto.getRandomValues(new Uint8Array(65_536));
    let total = 0;
    let flooding = true;
    const flood = (async () => {
      for (let i = 0; i < 160; i++) {
        const bytes = i < 110 ? block : noise;
        await device.write(bytes);
        total += bytes.length;
      }
      flooding = false;
    })();
    const waits: number[] = [];
    await at.control("serial.send.data").focus();
    while (flooding && waits.length < 40) {
      const from = performance.now();
      await page.keyboard.press("a");
      await page.waitForFunction(
        (n) => {
          const field = document.querySelector<HTMLTextAreaElement>('[data-control="serial.send.data"]');
          return (field?.value.length ?? 0) >= n;
        },
        waits.length + 1,
        { polling: 5 },
      );
      waits.push(performance.now() - from);
    }
    await flood;
    await until("every byte is counted", async () => (await received(at)).bytes === total, 60_000);
    waits.sort((a, b) => a - b);
    console.log(
      `keystrokes during ${(total / 1e6).toFixed(0)} MB: p50 ${
        waits[Math.floor(waits.length / 2)]?.toFixed(0)
      } ms, p95 ${waits[Math.floor(waits.length * 0.95)]?.toFixed(0)} ms, ${waits.length} measured`,
    );
    assert.equal((await at.control("serial.send.data").inputValue()).length, waits.length);
    assert.match(await pane(at).locator(".status").innerText(), /Open for/);
  },
);

deviceTest(
  "3,000 short lines a second: every counter once in the log, none lost on the way; frame times printed [SR12]",
  async (at, device) => {
    const { page } = at;
    const seconds = 8;
    await page.evaluate(() => {
      const frames: number[] = [];
      let last = performance.now();
      const tick = () => {
        const now = performance.now();
        frames.push(now - last);
        last = now;
        requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
      Object.assign(globalThis, { frameTimes: frames });
    });
    let n = 0;
    for (let slice = 0; slice < seconds * 20; slice++) {
      let text = "";
      for (let i = 0; i < 150; i++) text += `can0 ${String(n++).padStart(6, "0")} 11 22 33\n`;
      await device.write(bytesOf(text));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await until("all lines counted", async () => (await received(at)).lines === n, 60_000);
    await withAgent(at, async (agent) => {
      const output = await agent.ok("serial_get_output", { direction: "rx", lines: 2000 });
      const items = output["items"] as { text: string; seq: number }[];
      const counters = items.map((item) => Number(/can0 (\d+)/.exec(item.text)?.[1]));
      assert.ok(counters.length > 100);
      for (let i = 1; i < counters.length; i++) assert.equal(counters[i], (counters[i - 1] ?? 0) + 1);
      assert.equal(counters.at(-1), n - 1);
      // The page counts the same.
      const shown = await pane(at).locator(".status").innerText();
      assert.match(shown, new RegExp(`in ${n.toLocaleString("en-US")} lines`), str(shown));
    });
    const frames = (await page.evaluate(() => Reflect.get(globalThis, "frameTimes") as number[])).sort((a, b) => a - b);
    console.log(
      `frames at 3,000 lines/s: p50 ${frames[Math.floor(frames.length / 2)]?.toFixed(0)} ms, p95 ${
        frames[Math.floor(frames.length * 0.95)]?.toFixed(0)
      } ms`,
    );
  },
);
