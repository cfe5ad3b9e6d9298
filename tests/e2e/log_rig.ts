/** A page with one open pane on a virtual port, and ways to read its log as a person sees it. */
import { openPty } from "../../src/drivers/serial/pty.ts";
import { BenchPage, type BenchPageOptions, named, noBrowser } from "../rigs/browser.ts";
import { until } from "./rig.ts";

export interface Device {
  readonly at: BenchPage;
  send(text: string | Uint8Array<ArrayBuffer>): Promise<void>;
  /** What arrives at the device until it holds `wanted`. */
  receive(wanted: string): Promise<string>;
  /** Rows of the log in the order in which they are seen. */
  rows(): Promise<{ row: number; text: string; classes: string }[]>;
  /** Waits for a row with this text. */
  shows(text: string, ms?: number): Promise<void>;
}

export function deviceTest(name: string, test: (device: Device) => Promise<void>, options: BenchPageOptions = {}) {
  Deno.test({
    name: named(name),
    ignore: noBrowser,
    fn: async () => {
      const pty = openPty();
      const at = await BenchPage.open({
        ...options,
        args: ["--port-path", `DUT=${pty.path}`, ...(options.args ?? [])],
      });
      try {
        await at.control("serial.conn.portSelect").selectOption(pty.path);
        await at.control("serial.conn.start").click();
        await until("open", async () => await at.control("serial.conn.start").innerText() === "Stop");
        await test(deviceOf(at, pty));
      } finally {
        await at[Symbol.asyncDispose]();
        await pty.close();
      }
    },
  });
}

function deviceOf(at: BenchPage, pty: ReturnType<typeof openPty>): Device {
  let received = "";
  const rows = () =>
    at.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>("#pane-main .lr:not([hidden])")].map((row) => ({
        row: Number(row.dataset["row"]),
        text: row.querySelector(".lx")?.textContent ?? "",
        classes: row.className,
      }))
    );
  return {
    at,
    rows,
    send: async (text) => {
      await pty.write(typeof text === "string" ? new TextEncoder().encode(text) : text);
    },
    receive: async (wanted) => {
      const buffer = new Uint8Array(4096);
      while (!received.includes(wanted)) {
        received += new TextDecoder().decode(buffer.subarray(0, await pty.read(buffer)));
      }
      const all = received;
      received = "";
      return all;
    },
    shows: (text, ms) => until(`a row with ${text}`, async () => (await rows()).some((r) => r.text.includes(text)), ms),
  };
}
