/**
 * Fails on an import that points the wrong way or on a cycle between files. The order of layers is the design's:
 * tools ← core ← store, drivers ← bench ← handlers ← gate ← mcp, page, http ← cli; `ui` sees tools and core only.
 */
import { dirname, relative, resolve } from "node:path";
import process from "node:process";

const MAY_IMPORT: Record<string, readonly string[]> = {
  "tools": [],
  "src/core": ["tools"],
  "src/store": ["tools", "src/core"],
  "src/drivers": ["tools", "src/core"],
  "src/bench": ["tools", "src/core", "src/store", "src/drivers"],
  "src/handlers": ["tools", "src/core", "src/store", "src/bench"],
  "src/gate": ["tools", "src/core", "src/store", "src/bench", "src/handlers"],
  "src/mcp": ["tools", "src/core", "src/store", "src/bench", "src/handlers", "src/gate"],
  "src/page": ["tools", "src/core", "src/store", "src/bench", "src/handlers", "src/gate"],
  "src/http": ["tools", "src/core", "src/store", "src/bench", "src/handlers", "src/gate", "src/mcp", "src/page"],
  "src/cli": [
    "tools",
    "src/core",
    "src/store",
    "src/drivers",
    "src/bench",
    "src/handlers",
    "src/gate",
    "src/mcp",
    "src/page",
    "src/http",
  ],
  "ui": ["tools", "src/core"],
  "main.ts": ["src/cli"],
};

/** The layer of a file (path relative to the root, with slashes), or undefined for files that are free (tests, scripts). */
export function layerOf(path: string): string | undefined {
  return Object.keys(MAY_IMPORT).find((layer) => path === layer || path.startsWith(`${layer}/`));
}

/** Relative imports of a module, static and dynamic, types too. */
export function importsOf(source: string): string[] {
  const found: string[] = [];
  const pattern =
    /(?:^|[\s;}])(?:import|export)\s(?:[^"'`;]*?\sfrom\s)?["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)/g;
  for (const m of source.matchAll(pattern)) {
    const target = m[1] ?? m[2];
    if (target?.startsWith(".")) found.push(target);
  }
  return found;
}

/** What is wrong among these files (path → source): wrong arrows and cycles, one sentence each. */
export function problems(files: ReadonlyMap<string, string>): string[] {
  const out: string[] = [];
  const graph = new Map<string, string[]>();
  for (const [path, source] of files) {
    const from = layerOf(path);
    const targets = importsOf(source).map((t) => relative("/", resolve("/", dirname(path), t)));
    graph.set(path, targets);
    if (from === undefined) continue;
    for (const target of targets) {
      const to = layerOf(target);
      if (to === from || (to !== undefined && MAY_IMPORT[from]?.includes(to))) continue;
      out.push(
        `${path} imports ${target}: ${from} may only import ${MAY_IMPORT[from]?.join(", ") || "nothing of ours"}`,
      );
    }
  }
  return [...out, ...cycles(graph)];
}

function cycles(graph: ReadonlyMap<string, string[]>): string[] {
  const out: string[] = [];
  const state = new Map<string, "open" | "done">();
  const trail: string[] = [];
  const visit = (node: string): void => {
    if (state.get(node) === "done") return;
    if (state.get(node) === "open") {
      out.push(`cycle: ${[...trail.slice(trail.indexOf(node)), node].join(" → ")}`);
      return;
    }
    state.set(node, "open");
    trail.push(node);
    for (const next of graph.get(node) ?? []) if (graph.has(next)) visit(next);
    trail.pop();
    state.set(node, "done");
  };
  for (const node of graph.keys()) visit(node);
  return out;
}

async function sources(root: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const walk = async (dir: string): Promise<void> => {
    for await (const e of Deno.readDir(resolve(root, dir))) {
      const path = dir ? `${dir}/${e.name}` : e.name;
      if (e.isDirectory && !["node_modules", "dist"].includes(e.name)) await walk(path);
      else if (/\.tsx?$/.test(e.name)) files.set(path, await Deno.readTextFile(resolve(root, path)));
    }
  };
  for (const dir of ["tools", "src", "ui"]) await walk(dir);
  files.set("main.ts", await Deno.readTextFile(resolve(root, "main.ts")));
  return files;
}

if (import.meta.main) {
  const found = problems(await sources(resolve(import.meta.dirname ?? ".", "..")));
  for (const p of found) console.error(p);
  if (found.length) process.exit(1);
}
