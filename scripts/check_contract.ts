/**
 * How much of the contract is proved: which checks of docs/checks.md have a test whose name carries their id.
 * `deno task contract` prints a line a section and the open ids; `--section 5,7` limits it, `--strict` exits 1 when
 * one of those is open and no browser, no other system and no later tool is needed for it.
 */
import { parseArgs } from "node:util";
import process from "node:process";
import { resolve } from "node:path";

export interface Check {
  id: string;
  section: number;
  title: string;
  /** wire, core, rig, page or windows. */
  mark: string;
  text: string;
}

/** The checks of the document, in its order. */
export function parseChecks(markdown: string): Check[] {
  const checks: Check[] = [];
  let section = 0, title = "";
  for (const line of markdown.split("\n")) {
    const head = /^## (\d+) (.+)$/.exec(line);
    if (head) [section, title] = [Number(head[1]), head[2] ?? ""];
    const item = /^- \*\*(C\d{3})\*\* \[(\w+)\]†? (.+)$/.exec(line);
    if (item) checks.push({ id: item[1] ?? "", section, title, mark: item[2] ?? "", text: item[3] ?? "" });
  }
  return checks;
}

/** Ids in the names of a source's tests and steps, such as `[C173]` or `[C173][C174]`; elsewhere they do not count. */
export function idsIn(source: string): Set<string> {
  const ids = new Set<string>();
  const named =
    /(?:\btest(?!\.ignore)(?:\.\w+)?|\.step|\bit)\s*\(\s*(?:\{\s*name:\s*)?(["'`])((?:\\.|(?!\1)[^\\])*)\1/g;
  for (const name of source.matchAll(named)) {
    for (const m of (name[2] ?? "").matchAll(/\[(C\d{3})\]/g)) if (m[1]) ids.add(m[1]);
  }
  return ids;
}

async function proved(dir: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const e of Deno.readDir(dir)) {
    const path = resolve(dir, e.name);
    if (e.isDirectory) { for (const id of await proved(path)) ids.add(id); }
    else if (/_test\.tsx?$/.test(e.name)) { for (const id of idsIn(await Deno.readTextFile(path))) ids.add(id); }
  }
  return ids;
}

if (import.meta.main) {
  const root = resolve(import.meta.dirname ?? ".", "..");
  const { values } = parseArgs({ options: { section: { type: "string" }, strict: { type: "boolean" } } });
  const wanted = values.section?.split(",").map(Number);
  const checks = parseChecks(await Deno.readTextFile(resolve(root, "docs/checks.md")));
  const have = await proved(resolve(root, "tests"));
  let open = 0;
  for (const section of new Set(checks.map((c) => c.section))) {
    if (wanted && !wanted.includes(section)) continue;
    const all = checks.filter((c) => c.section === section);
    const missing = all.filter((c) => !have.has(c.id));
    console.log(`${String(section).padStart(2)} ${all[0]?.title}: ${all.length - missing.length} of ${all.length}`);
    for (const c of missing) {
      if (c.mark !== "page" && c.mark !== "windows") open++;
      console.log(`     ${c.id} [${c.mark}] ${c.text}`);
    }
  }
  const total = checks.filter((c) => have.has(c.id)).length;
  console.log(`\n${total} of ${checks.length} checks have a test`);
  if (values.strict && open) process.exit(1);
}
