/** What every browser test needs: a page that is closed whatever happens, and ways to look at it. */
import assert from "node:assert/strict";
import { BenchPage, type BenchPageOptions, named, noBrowser } from "../rigs/browser.ts";
import { connect, type RawMcp } from "../rigs/mcp_client.ts";

/** A browser test. Without a browser it is skipped, and its name says why. */
export function pageTest(name: string, options: BenchPageOptions, test: (at: BenchPage) => Promise<void>): void {
  Deno.test({
    name: named(name),
    ignore: noBrowser,
    fn: async () => {
      await using at = await BenchPage.open(options);
      await test(at);
    },
  });
}

/** An agent of its own session, which ends with the test. */
export async function withAgent(at: BenchPage, use: (agent: RawMcp) => Promise<void>): Promise<void> {
  const agent = await connect(at.server.origin, at.server.token);
  try {
    await use(agent);
  } finally {
    await agent.delete();
  }
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;

/** The error of a call that must fail: of JSON-RPC, or of the tool. */
export async function failing(agent: RawMcp, tool: string, args: Json): Promise<{ code: number; message: string }> {
  const { json, text } = await agent.call(tool, args);
  const { error, result } = json;
  if (isObject(error)) return { code: Number(error["code"]), message: String(error["message"]) };
  assert.ok(isObject(result) && result["isError"] === true, `${tool} did not fail: ${text.slice(0, 500)}`);
  const structured = result["structuredContent"];
  const told = isObject(structured) && isObject(structured["error"]) ? structured["error"] : {};
  const content = Array.isArray(result["content"]) ? result["content"] : [];
  const first: unknown = content[0];
  return { code: Number(told["code"]), message: isObject(first) ? String(first["text"]) : "" };
}

/** What the log of a pane shows, as text. */
export const logText = async (at: BenchPage, pane = "main"): Promise<string> =>
  await at.page.locator(`#pane-${pane} [role=log]`).innerText();

export const pane = (at: BenchPage, name = "main") => at.page.locator(`#pane-${name}`);

/** Waits until something is so. */
export async function until(what: string, check: () => Promise<boolean> | boolean, ms = 20_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await check())) {
    if (performance.now() > end) assert.fail(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** The page said nothing is wrong. */
export const quiet = (at: BenchPage): void => assert.deepEqual(at.console, []);

export const str = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value);

export interface Listed {
  path: string;
  kind: string;
  panel: string;
  label: string;
  enabled: boolean;
  disabledReason: string | null;
  value?: unknown;
  options?: { value: string; label: string }[];
}

/** Everything that `ui_list` gives, over all its pages. */
export async function listAll(agent: RawMcp, args: Json = {}): Promise<Listed[]> {
  const all: Listed[] = [];
  for (let cursor: string | undefined, i = 0; i < 50; i++) {
    const page = await agent.ok("ui_list", { ...args, limit: 500, ...(cursor && { cursor }) });
    assert.ok(Array.isArray(page["controls"]));
    all.push(...page["controls"] as Listed[]);
    const next = page["nextCursor"];
    if (typeof next !== "string") return all;
    cursor = next;
  }
  return assert.fail("the cursor of ui_list never ends");
}
