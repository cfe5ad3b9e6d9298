import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { openPty } from "../rigs/pty.ts";
import { pageTest, pane, quiet, until } from "./rig.ts";
import type { BenchPage } from "../rigs/browser.ts";

/** A device that notes every byte and when it came. */
class Device {
  readonly pty = openPty();
  readonly bytes: number[] = [];
  readonly times: number[] = [];
  readonly #reading: Promise<void>;
  #paused = false;
  constructor() {
    this.#reading = this.#read();
  }
  async #read(): Promise<void> {
    const buffer = new Uint8Array(4096); // small, so that a pause takes effect at once
    try {
      while (!this.#paused) {
        const n = await this.pty.read(buffer);
        const now = performance.now();
        for (let i = 0; i < n; i++) {
          this.bytes.push(buffer[i] ?? 0);
          this.times.push(now);
        }
      }
    } catch {
      // Closed.
    }
  }
  /** Takes 4 KiB more at most: the driver's buffer of about 20 kB fills, and writes wait. */
  pause(): void {
    this.#paused = true;
  }
  get text(): string {
    return new TextDecoder().decode(new Uint8Array(this.bytes));
  }
  async close(): Promise<void> {
    await this.pty.close();
    await this.#reading;
  }
}

function sendingTest(name: string, test: (at: BenchPage, device: Device) => Promise<void>): void {
  const device = new Device();
  pageTest(name, { args: ["--port-path", `Bench DUT=${device.pty.path}`] }, async (at) => {
    try {
      await at.control("serial.conn.portSelect").selectOption(device.pty.path);
      await at.control("serial.conn.start").click();
      await until("open", async () => await at.control("serial.conn.start").innerText() === "Stop");
      await test(at, device);
      quiet(at);
    } finally {
      await device.close();
    }
  });
}

sendingTest("hex input shows its bytes before they go, and exactly those go [SO14]", async (at, device) => {
  await at.control("serial.send.mode").selectOption("hex");
  const table: [string, string][] = [["0x01,02", "01 02"], ["0 1 2", "00 01 02"], ["0xA", "0A"], [
    "48656C",
    "48 65 6C",
  ]];
  let wanted = "";
  for (const [input, bytes] of table) {
    await at.control("serial.send.data").fill(input);
    await until(`preview of ${input}`, async () => (await pane(at).locator(".preview").innerText()).includes(bytes));
    await at.page.keyboard.press("Enter");
    wanted += (wanted === "" ? "" : " ") + bytes;
    const want = wanted.split(" ").map((b) => parseInt(b, 16));
    await until(`bytes of ${input}`, () => device.bytes.length >= want.length);
    assert.deepEqual(device.bytes, want);
  }
});

sendingTest("what is typed while a send is on its way stays, and what could not go comes back", async (at, device) => {
  const field = at.control("serial.send.data");
  const typed = () => field.inputValue();
  await field.fill("first");
  await at.page.keyboard.press("Enter");
  await at.page.keyboard.type("second");
  await until("the first went", () => device.bytes.length > 0);
  await at.page.waitForTimeout(300); // its answer has come too
  assert.equal(await typed(), "second");
  await field.fill("x".repeat(60_000));
  device.pause();
  await at.page.keyboard.press("Enter");
  await until("it was taken", async () => await typed() === "");
  await at.page.keyboard.press("Alt+S");
  await until("it came back", async () => (await typed()).length === 60_000);
});

sendingTest("bad hex names its column, marks the character, and nothing goes [SO14]", async (at, device) => {
  await at.control("serial.send.mode").selectOption("hex");
  await at.control("serial.send.data").fill("01 03 0G 02");
  const preview = pane(at).locator(".preview");
  await until("the column", async () => /Column 8\b/.test(await preview.innerText()));
  assert.equal(await preview.locator("u").innerText(), "G");
  assert.equal(await at.control("serial.send.data").getAttribute("aria-invalid"), "true");
  assert.equal(await at.control("serial.send.send").getAttribute("aria-disabled"), "true");
  await at.page.keyboard.press("Enter");
  await at.page.waitForTimeout(200);
  assert.equal(device.bytes.length, 0);
});

sendingTest(
  "a paste of 200 lines goes in order with its pacing, shows progress, and is cancelled within a line [SO08]",
  async (at, device) => {
    const { page } = at;
    await at.control("serial.view.more").click();
    await at.control("serial.adv.lineMs").fill("20");
    await page.keyboard.press("Enter");
    await until("pacing is set", async () => await at.control("serial.adv.lineMs").inputValue() === "20");
    const lines = Array.from({ length: 200 }, (_, i) => `line ${String(i).padStart(3, "0")}`);
    await at.control("serial.send.data").fill(lines.join("\n"));
    await until(
      "the preview counts lines",
      async () => /200 lines/.test(await pane(at).locator(".preview").innerText()),
    );
    await page.keyboard.press("Enter");
    const progress = pane(at).locator("progress");
    await progress.waitFor();
    await until("some lines have come", () => device.text.includes("line 020"));
    assert.ok(Number(await progress.getAttribute("value")) > 0);
    await at.control("serial.send.cancel").click();
    await progress.waitFor({ state: "detached" });
    const atCancel = device.text;
    await page.waitForTimeout(400);
    assert.ok(device.text.length - atCancel.length <= 12, "nothing more goes after the cancel");
    const came = device.text.split("\r\n").filter((l) => l !== "");
    assert.ok(came.length < 200);
    assert.deepEqual(came.slice(0, -1), lines.slice(0, came.length - 1), "in order, none lost");
    // What was not sent is still in the field.
    assert.ok((await at.control("serial.send.data").inputValue()).includes("line 199"));
    // The gaps that the device saw: no line came sooner after the one before than the pause allows.
    const ends = device.times.filter((_, i) => device.bytes[i] === 0x0a);
    const total = (ends.at(-1) ?? 0) - (ends[0] ?? 0);
    assert.ok(total >= (ends.length - 1) * 20 * 0.9, `${ends.length} lines in ${total} ms`);
  },
);

sendingTest("a file is offered, then sent byte for byte; a dropped one waits for a yes too", async (at, device) => {
  const { page } = at;
  const data = new Uint8Array(10_000).map((_, i) => (i * 7) % 256);
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), at.control("serial.send.file").click()]);
  await chooser.setFiles({ name: "firmware.bin", mimeType: "application/octet-stream", buffer: Buffer.from(data) });
  await until("the offer", async () => /firmware\.bin/.test(await pane(at).locator(".send").innerText()));
  assert.equal(device.bytes.length, 0, "nothing goes before a yes");
  await at.control("serial.send.sendFile").click();
  await until("all bytes", () => device.bytes.length === data.length, 40_000);
  assert.deepEqual(new Uint8Array(device.bytes), data);

  const transfer = await page.evaluateHandle(() => {
    const files = new DataTransfer();
    files.items.add(new File(["dropped"], "<b>drop</b>.txt"));
    return files;
  });
  await pane(at).dispatchEvent("dragenter", { dataTransfer: transfer });
  assert.match(await page.locator(".drop").innerText(), /Drop to send to main/);
  await pane(at).dispatchEvent("drop", { dataTransfer: transfer });
  await until(
    "the name as text",
    async () => (await pane(at).locator(".send").innerText()).includes("<b>drop</b>.txt"),
  );
  await at.control("serial.send.dropFile").click();
  await page.waitForTimeout(150);
  assert.equal(device.bytes.length, data.length);
});

sendingTest(
  "Ctrl+Enter sends without the line ending, which stays chosen; Shift+Enter makes a line",
  async (at, device) => {
    const { page } = at;
    await at.control("serial.send.data").focus();
    await page.keyboard.type("ab");
    await page.keyboard.press("Control+Enter");
    await until("two bytes", () => device.text === "ab");
    await until("the field is empty", async () => await at.control("serial.send.data").inputValue() === "");
    await until("CRLF stays", async () => await at.control("serial.conn.lineEnding").inputValue() === "crlf");
    await page.keyboard.type("c");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("d");
    await page.keyboard.press("Enter");
    await until("two lines", () => device.text === "abc\r\nd\r\n");
    await until("CRLF still", async () => await at.control("serial.conn.lineEnding").inputValue() === "crlf");
  },
);

sendingTest("any baud rate can be typed or chosen, and the pane shows what the driver set", async (at) => {
  const { page } = at;
  await at.control("serial.conn.baud").fill("74880");
  await page.keyboard.press("Enter");
  await until("the driver's rate", async () => /74880 8N1/.test(await pane(at).locator(".status").innerText()));
  await page.keyboard.press("ArrowDown");
  await page.locator("[role=listbox]").waitFor();
  await page.locator("[role=option]", { hasText: /^9600$/ }).click();
  await until("chosen", async () => /\b9600 8N1/.test(await pane(at).locator(".status").innerText()));
  // Nonsense goes back to what is true.
  await at.control("serial.conn.baud").fill("5");
  await page.keyboard.press("Enter");
  await until("back", async () => await at.control("serial.conn.baud").inputValue() === "9600");
});
