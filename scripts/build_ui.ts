/**
 * Builds the page into `ui/dist`: a document and a module graph for each workspace, with chunks that load when they are
 * needed. `--if-stale` builds only when a source is newer in content than what was built; it is part of `deno task
 * start`, so a fresh clone needs no other step.
 */
import { createHash } from "node:crypto";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

const root = join(import.meta.dirname ?? ".", "..");
const out = join(root, "ui/dist");
const STAMP = "stamp.txt";
/** What the page may weigh at first load, gzip; the stated limit of the product. */
const MOST_FIRST_LOAD = 250_000;

/** A workspace: its door, and the document that loads it. */
const WORKSPACES = [{
  name: "devices",
  door: "ui/workspaces/devices/main.tsx",
  document: "ui/workspaces/devices/index.html",
}];
/** Style sheets in this order, then every other `.css` under `ui`. */
const STYLES = ["tokens.css", "base.css", "shell.css", "pane.css", "side.css"].map((name) => `ui/theme/${name}`);

async function* filesUnder(folder: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(join(root, folder))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) {
      if (!path.startsWith("ui/dist")) yield* filesUnder(path);
    } else yield path;
  }
}

/** Everything that the page is made of. */
async function sources(): Promise<string[]> {
  const found: string[] = ["deno.json", "deno.lock", "scripts/build_ui.ts"];
  for (const folder of ["ui", "src/core", "tools"]) for await (const file of filesUnder(folder)) found.push(file);
  return found.sort();
}

async function fingerprint(files: readonly string[]): Promise<string> {
  const hash = createHash("sha256").update(Deno.version.deno);
  for (const file of files) hash.update(file).update(await Deno.readFile(join(root, file)));
  return hash.digest("hex");
}

/** Comments and blank space out; nothing cleverer, so that what runs is what was written. */
export function minifyCss(css: string): string {
  return css.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\s+/g, " ").replace(/\s*([{};])\s*/g, "$1").replace(/;}/g, "}")
    .trim();
}

async function bundle(target: string): Promise<void> {
  const doors = WORKSPACES.map((w) => join(root, w.door));
  // One door keeps its own name, several keep their folders: each gets a folder of its own here.
  for (const [i, workspace] of WORKSPACES.entries()) {
    const door = doors[i];
    if (door === undefined) continue;
    const folder = join(target, `.${workspace.name}`);
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "bundle",
        "--quiet",
        "--platform",
        "browser",
        "--minify",
        "--code-splitting",
        "--sourcemap",
        "linked",
        "--outdir",
        folder,
        door,
      ],
      cwd: root,
      env: { NO_COLOR: "1" },
      stdout: "null",
      stderr: "piped",
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    for await (const entry of Deno.readDir(folder)) {
      const name = entry.name.replace(/^main\.(js|js\.map)$/, `${workspace.name}.$1`);
      const from = join(folder, entry.name);
      const to = join(target, "assets", name);
      if (name !== entry.name && name.endsWith(".js")) {
        const code = await Deno.readTextFile(from);
        await Deno.writeTextFile(
          to,
          code.replace("sourceMappingURL=main.js.map", `sourceMappingURL=${workspace.name}.js.map`),
        );
      } else await Deno.copyFile(from, to);
    }
    await Deno.remove(folder, { recursive: true });
  }
}

async function styles(target: string): Promise<void> {
  const others: string[] = [];
  for await (const file of filesUnder("ui")) if (file.endsWith(".css") && !STYLES.includes(file)) others.push(file);
  const texts = await Promise.all([...STYLES, ...others.sort()].map((file) => Deno.readTextFile(join(root, file))));
  await Deno.writeTextFile(join(target, "assets/app.css"), minifyCss(texts.join("\n")));
}

/** Files that a document loads before anything is asked for, with what they import at once; names under `assets`. */
export async function firstLoad(folder: string, document: string): Promise<{ name: string; gzip: number }[]> {
  const html = await Deno.readTextFile(join(folder, document));
  const wanted = [...html.matchAll(/(?:src|href)="\/assets\/([^"]+)"/g)].map((m) => m[1] ?? "");
  const seen = new Map<string, number>();
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (seen.has(name)) continue;
    const bytes = await Deno.readFile(join(folder, "assets", name));
    seen.set(name, gzipSync(bytes).length);
    if (!name.endsWith(".js")) continue;
    const code = new TextDecoder().decode(bytes);
    for (const m of code.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) if (m[1]) wanted.push(m[1]);
  }
  return [...seen].map(([name, gzip]) => ({ name, gzip }));
}

/** Builds when there is need to; also when several processes or threads ask at once. True: it built. */
export async function buildIfStale(): Promise<boolean> {
  if (!await isStale()) return false;
  await Deno.mkdir(join(root, ".cache"), { recursive: true });
  using lock = await Deno.open(join(root, ".cache/build_ui.lock"), { write: true, create: true });
  await lock.lock(true);
  if (!await isStale()) return false;
  await build();
  return true;
}

/** Builds into `folder`; whole or not at all. */
export async function build(folder = out): Promise<void> {
  const files = await sources();
  const stamp = await fingerprint(files);
  const target = `${folder}.new-${crypto.randomUUID()}`;
  await Deno.mkdir(join(target, "assets"), { recursive: true });
  try {
    await bundle(target);
    await styles(target);
    await Deno.copyFile(join(root, "ui/theme/icon.svg"), join(target, "assets/icon.svg"));
    for (const w of WORKSPACES) await Deno.copyFile(join(root, w.document), join(target, `${w.name}.html`));
    await Deno.writeTextFile(join(target, STAMP), stamp);
    await Deno.remove(folder, { recursive: true }).catch(() => {});
    await Deno.mkdir(dirname(folder), { recursive: true });
    await Deno.rename(target, folder);
  } finally {
    await Deno.remove(target, { recursive: true }).catch(() => {});
  }
}

export async function isStale(folder = out): Promise<boolean> {
  const held = await Deno.readTextFile(join(folder, STAMP)).catch(() => "");
  return held !== await fingerprint(await sources());
}

if (import.meta.main) {
  const { values } = parseArgs({ args: Deno.args, options: { "if-stale": { type: "boolean" } } });
  const from = performance.now();
  const stale = await isStale();
  if (stale || !values["if-stale"]) console.error("Building the page …");
  const built = values["if-stale"] ? await buildIfStale() : await build().then(() => true);
  if (built) {
    const loads = await firstLoad(out, "devices.html");
    const total = loads.reduce((sum, one) => sum + one.gzip, 0);
    console.error(
      `Page built in ${((performance.now() - from) / 1000).toFixed(1)} s into ${relative(Deno.cwd(), out)}, ${
        (total / 1000).toFixed(0)
      } kB gzip at first load.`,
    );
    if (total > MOST_FIRST_LOAD) {
      console.error(`Over the ${MOST_FIRST_LOAD / 1000} kB that the page may weigh at first load.`);
      process.exit(1);
    }
  }
}
