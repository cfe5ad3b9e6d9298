/**
 * Makes the pictures of the documentation: the Devices workspace at two sizes, dark and light, English and Chinese, with
 * a person, an agent and two devices at work. Needs Debian's Chromium. `deno task screenshots`
 */
import { join } from "node:path";
import { openPty } from "../src/drivers/serial/pty.ts";
import { BenchPage } from "../tests/rigs/browser.ts";
import { INITIALIZE, RawMcp } from "../tests/rigs/mcp_client.ts";
import { ROOT } from "../tests/rigs/server.ts";
import { palettePng } from "./palette_png.ts";

const SIZES = [[1366, 768], [1920, 1080]] as const;
const LANGUAGES = [["en", "en-US"], ["zh", "zh-CN"]] as const;
const FOLDER = join(ROOT, "docs/images");

/** What a small Wi-Fi board says when it starts. */
const BOOT = [
  "rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)",
  "\x1b[0;32mI (312) cpu_start: Starting scheduler on PRO CPU.\x1b[0m",
  "\x1b[0;32mI (498) wifi: mode : sta (24:6f:28:00:00:01)\x1b[0m",
  "\x1b[0;33mW (1020) wifi: no AP found, retry 1\x1b[0m",
  "\x1b[0;31mE (11713) wifi: auth error, reason 15\x1b[0m",
  "\x1b[0;32mI (14204) wifi: connected, channel 6, rssi -58\x1b[0m",
  "\x1b[0;32mI (15950) app: got ip 192.168.4.17\x1b[0m",
];

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** An agent with a name that tells what it is. */
async function hello(at: BenchPage): Promise<RawMcp> {
  const agent = new RawMcp(at.server.origin, at.server.token);
  const { headers } = await agent.request("initialize", {
    ...INITIALIZE,
    clientInfo: { name: "bench-agent", version: "1" },
  });
  agent.session = headers.get("mcp-session-id") ?? "";
  await agent.notify("notifications/initialized");
  return agent;
}

async function scene(
  width: number,
  height: number,
  language: "en-US" | "zh-CN",
  take: (at: BenchPage, dark: boolean) => Promise<void>,
): Promise<void> {
  const board = openPty();
  try {
    await using at = await BenchPage.open({
      args: ["--demo", "--port-path", `CP2102 USB to UART=${board.path}`],
      width,
      height,
      language,
    });
    const say = async (text: string) => {
      await at.control("serial.send.data").fill(text);
      await at.page.keyboard.press("Enter");
      await wait(120);
    };
    const agent = await hello(at);
    await agent.ok("serial_get_state", {});
    await agent.ok("serial_open", { pane: "extra-1", port: board.path, baud: 115_200 });
    for (const line of BOOT) {
      await board.write(new TextEncoder().encode(`${line}\r\n`));
      await wait(110);
    }
    await say("AT+CSQ");
    await agent.ok("serial_send", { data: "ATI", lineEnding: "crlf" });
    await wait(150);
    await agent.call("serial_send", { data: "AT", pane: "extra-9" });
    await agent.ok("log_search", { pattern: "reason", mode: "count" });
    for (let i = 0; i < 6; i++) {
      const rssi = 58 - (i % 3);
      await board.write(
        new TextEncoder().encode(
          `\x1b[0;32mI (${16_204 + i * 1000}) app: rssi -${rssi} dBm, batt 3.91 V, temp 24.${i} C\x1b[0m\r\n`,
        ),
      );
      await wait(90);
    }
    await at.control("serial.send.data").fill("AT+CIPSTATUS");
    await wait(1300);
    for (const dark of [true, false]) {
      await at.page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
      await wait(300);
      await take(at, dark);
    }
    await agent.delete();
  } finally {
    await board.close();
  }
}

await Deno.mkdir(FOLDER, { recursive: true });
for (const [width, height] of SIZES) {
  for (const [short, language] of LANGUAGES) {
    await scene(width, height, language, async (at, dark) => {
      const name = `devices-${width}x${height}-${dark ? "dark" : "light"}-${short}.png`;
      await Deno.writeFile(join(FOLDER, name), await palettePng(await at.page.screenshot()));
      console.error(name);
    });
  }
}
