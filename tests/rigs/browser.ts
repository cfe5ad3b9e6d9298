/** Debian's Chromium under playwright, with a page signed in at a real server. */
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { buildIfStale } from "../../scripts/build_ui.ts";
import { type ServerOptions, type ServerProcess, startServer } from "./server.ts";
import { existsSync } from "node:fs";

const CHROMIUM = "/usr/bin/chromium";

/** For `ignore` of a test; its name then says why. */
export const noBrowser = !existsSync(CHROMIUM);
export const named = (name: string): string => noBrowser ? `${name} (skipped: no ${CHROMIUM} here)` : name;

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export interface BenchPageOptions extends ServerOptions {
  width?: number;
  height?: number;
  language?: "en-US" | "zh-CN";
  dark?: boolean;
  /** The first-run tour is shown; else it is marked as seen. */
  tour?: boolean;
}

/** A server, a browser and a page of it; what the page says to its console is kept. */
export class BenchPage implements AsyncDisposable {
  readonly console: string[] = [];
  /** Addresses that the page asked for. */
  readonly requests: string[] = [];
  constructor(
    readonly server: ServerProcess,
    readonly browser: Browser,
    readonly context: BrowserContext,
    readonly page: Page,
  ) {
    page.on("console", (m) => {
      if (m.type() === "error" || m.type() === "warning") this.console.push(m.text());
    });
    page.on("pageerror", (error) => this.console.push(`${error.message}\n${error.stack ?? ""}`));
    page.on("request", (r) => this.requests.push(r.url()));
  }

  static async open(options: BenchPageOptions = {}): Promise<BenchPage> {
    await buildIfStale();
    const [server, browser] = await Promise.all([startServer(options), launch()]);
    const context = await browser.newContext({
      viewport: { width: options.width ?? 1366, height: options.height ?? 768 },
      locale: options.language ?? "en-US",
      colorScheme: options.dark === false ? "light" : "dark",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    if (!options.tour) {
      await context.addInitScript(() => {
        try {
          const held = JSON.parse(localStorage.getItem("fieldbench.ui") ?? "{}");
          localStorage.setItem("fieldbench.ui", JSON.stringify({ tourDone: true, ...held }));
        } catch {
          // About:blank has no storage.
        }
      });
    }
    const page = await context.newPage();
    const bench = new BenchPage(server, browser, context, page);
    await page.goto(`${server.origin}/?token=${server.token}`);
    await page.locator("section.pane").first().waitFor();
    return bench;
  }

  /** The element of a control. */
  control(path: string) {
    return this.page.locator(`[data-control="${path}"]`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
    await this.server.stop();
  }
}
