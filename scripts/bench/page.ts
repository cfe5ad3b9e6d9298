/// <reference lib="dom" />
/**
 * Measures the page in Chromium against a real server on virtual ports and prints what it finds: first paint, what it
 * weighs, scrolling in a million lines, the echo of a keystroke during a flood, memory.
 *
 * deno run -A scripts/bench/page.ts [--seconds 60] [--lines 1000000]
 */
import { parseArgs } from "node:util";
import { openPty } from "../../src/drivers/serial/pty.ts";
import { BenchPage } from "../../tests/rigs/browser.ts";
import { firstLoad } from "../build_ui.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "60" }, lines: { type: "string", default: "1000000" } },
});
const SECONDS = Number(values.seconds);
const LINES = Number(values.lines);
const RATE = 5000;
const KEYS = 100;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const encoder = new TextEncoder();

function percentile(list: readonly number[], part: number): number {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}
const say = (what: string, figure: string) => console.log(`${what.padEnd(52)} ${figure}`);
const ms = (n: number) => `${n.toFixed(n < 10 ? 1 : 0)} ms`;

/** A page with two panes, the first of them open on the port. */
async function open(path: string): Promise<BenchPage> {
  const at = await BenchPage.open({ args: ["--port-path", `Flood=${path}`] });
  await at.control("serial.conn.portSelect").selectOption(path);
  await at.control("serial.conn.start").click();
  await at.page.locator("#pane-main .dot.on").waitFor();
  return at;
}

/** Heap in use after a collection, in MB. */
async function heap(at: BenchPage): Promise<number> {
  const session = await at.context.newCDPSession(at.page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / 1e6;
}

/** All memory of the page's process, in MB: what the heap alone does not tell. */
async function resident(at: BenchPage): Promise<number> {
  const session = await at.browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  let most = 0;
  for (const one of processInfo) {
    if (one.type !== "renderer") continue;
    const status = await Deno.readTextFile(`/proc/${one.id}/status`).catch(() => "");
    most = Math.max(most, Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1000);
  }
  return most;
}

async function showsLine(at: BenchPage, text: string): Promise<void> {
  const end = performance.now() + 120_000;
  for (;;) {
    const seen = await at.page.evaluate(
      (wanted) => [...document.querySelectorAll(".lr:not([hidden]) .lx")].some((e) => e.textContent?.includes(wanted)),
      text,
    );
    if (seen) return;
    if (performance.now() > end) throw new Error(`never shown: ${text}`);
    await wait(50);
  }
}

async function weightAndPaint(): Promise<void> {
  await using at = await BenchPage.open({ args: ["--demo"] });
  const paints: number[] = [];
  for (let i = 0; i < 5; i++) {
    await at.page.reload();
    await at.page.locator("section.pane").first().waitFor();
    const paint = await at.page.evaluate(() => {
      const first = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN;
      const navigation = performance.getEntriesByType("navigation")[0];
      const answered = navigation && "responseStart" in navigation ? Number(navigation.responseStart) : 0;
      return first - answered;
    });
    paints.push(paint);
  }
  say("first paint after the server answered (median of 5)", ms(percentile(paints, 0.5)));
  const loads = await firstLoad("ui/dist", "devices.html");
  say("first load, gzip", `${(loads.reduce((sum, one) => sum + one.gzip, 0) / 1000).toFixed(0)} kB`);
}

/** Sends numbered lines at a rate; gives when each could be sent. */
async function flood(pty: ReturnType<typeof openPty>, from: number, count: number, rate: number): Promise<void> {
  const start = performance.now();
  const step = Math.max(1, Math.round(rate / 100));
  for (let i = 0; i < count;) {
    let text = "";
    for (let k = 0; k < step && i < count; k++, i++) text += `I (${from + i}) sensor: counter in each line\r\n`;
    await pty.write(encoder.encode(text));
    const due = start + (i / rate) * 1000 - performance.now();
    if (due > 1) await wait(due);
  }
}

async function keystrokes(): Promise<void> {
  const pty = openPty();
  const at = await open(pty.path);
  try {
    await at.control("serial.panes.add").click();
    await at.page.locator("#pane-extra-1").waitFor();
    const before = { heap: await heap(at), rss: await resident(at) };
    await at.page.evaluate(() => {
      const frames: number[] = [];
      Reflect.set(globalThis, "benchFrames", frames);
      let last = performance.now();
      const frame = () => {
        const now = performance.now();
        frames.push(now - last);
        last = now;
        requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
    const total = RATE * SECONDS;
    const sending = flood(pty, 1, total, RATE);
    await wait(2000);
    // From the key to the frame after it that shows the character.
    await at.page.evaluate(() => {
      const times: number[] = [];
      Reflect.set(globalThis, "echoes", times);
      const field = document.querySelector('[data-control="serial.extra-1-log.find"]');
      let down = 0;
      field?.addEventListener("keydown", (event) => down = event.timeStamp);
      field?.addEventListener("input", () => {
        requestAnimationFrame(() => {
          const channel = new MessageChannel();
          channel.port1.onmessage = () => times.push(performance.now() - down);
          channel.port2.postMessage(0);
        });
      });
    });
    await at.control("serial.extra-1-log.find").focus();
    const every = Math.max(20, Math.min(200, ((SECONDS - 4) * 1000) / KEYS));
    for (let i = 0; i < KEYS; i++) {
      await at.page.keyboard.press(i % 20 === 19 ? "Control+a" : "x");
      await wait(every);
    }
    await sending;
    await showsLine(at, `(${total}) `);
    const echoes: number[] = await at.page.evaluate(() => Reflect.get(globalThis, "echoes"));
    const frames: number[] = await at.page.evaluate(() => Reflect.get(globalThis, "benchFrames"));
    const losses = await at.page.evaluate(() => document.querySelectorAll(".lr.loss").length);
    say(
      `keystroke to echo, ${RATE} lines/s (p50 / p95, ${echoes.length} keys)`,
      `${ms(percentile(echoes, 0.5))} / ${ms(percentile(echoes, 0.95))}`,
    );
    say("frame time meanwhile (p50 / p95)", `${ms(percentile(frames, 0.5))} / ${ms(percentile(frames, 0.95))}`);
    say("losses in view", String(losses));
    const after = { heap: await heap(at), rss: await resident(at) };
    say("heap of the page before / after", `${before.heap.toFixed(1)} / ${after.heap.toFixed(1)} MB`);
    say("memory of its process before / after", `${before.rss.toFixed(0)} / ${after.rss.toFixed(0)} MB`);
  } finally {
    await at[Symbol.asyncDispose]();
    await pty.close();
  }
}

async function scrolling(): Promise<void> {
  const pty = openPty();
  const at = await open(pty.path);
  try {
    await flood(pty, 1, LINES, 40_000);
    await showsLine(at, `(${LINES}) `);
    const times: number[] = [];
    for (let i = 0; i < 40; i++) {
      // Points all over, the same in each run.
      const part = (i * 0.618_034) % 1;
      times.push(
        await at.page.evaluate(async (part) => {
          const box = document.querySelector<HTMLElement>(".log-box");
          const first = () => document.querySelector<HTMLElement>(".lr:not([hidden])");
          const before = first()?.dataset["row"];
          const from = performance.now();
          if (box) box.scrollTop = (box.scrollHeight - box.clientHeight) * part;
          for (let n = 0; n < 600; n++) {
            await new Promise((resolve) => requestAnimationFrame(resolve));
            const row = first();
            if (row?.dataset["row"] !== before && /counter|faster/.test(row?.textContent ?? "")) break;
          }
          return performance.now() - from;
        }, part),
      );
      await wait(250);
    }
    const rows = await at.page.evaluate(() => Number(document.querySelector<HTMLElement>(".log-sizer")?.offsetHeight));
    say(
      `to any point in ${LINES.toLocaleString("en-US")} lines (p50 / p95 / most)`,
      `${ms(percentile(times, 0.5))} / ${ms(percentile(times, 0.95))} / ${ms(Math.max(...times))}`,
    );
    say("height of the scrolled element", `${rows.toLocaleString("en-US")} px`);
    say("heap of the page with them", `${(await heap(at)).toFixed(1)} MB`);
    say("memory of its process with them", `${(await resident(at)).toFixed(0)} MB`);
  } finally {
    await at[Symbol.asyncDispose]();
    await pty.close();
  }
}

await weightAndPaint();
await keystrokes();
await scrolling();
