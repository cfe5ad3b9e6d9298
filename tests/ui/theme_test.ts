import assert from "node:assert/strict";
import { join } from "node:path";

const file = join(import.meta.dirname ?? ".", "../../ui/theme/tokens.css");
const css = (await Deno.readTextFile(file)).replace(/\/\*[\s\S]*?\*\//g, "");

type Tokens = Record<string, string>;

/** Tokens of every rule whose selector names all of these attributes and no other. */
function tokens(theme: string, extra: string): Tokens {
  const out: Tokens = {};
  for (const m of css.matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
    const selectors = (m[1] ?? "").split(",").map((s) => s.trim());
    const wanted = [`[data-theme="${theme}"]`, ...(extra === "" ? [] : [`[data-theme="${theme}"]${extra}`])];
    if (!selectors.some((s) => wanted.includes(s))) continue;
    for (const v of (m[2] ?? "").matchAll(/(--[\w-]+):\s*(#[0-9a-f]{3,8})/g)) out[v[1] ?? ""] = v[2] ?? "";
  }
  return out;
}

function luminance(hex: string): number {
  const part = (i: number) => {
    const v = parseInt(hex.slice(i, i + 2), 16) / 255;
    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

function contrast(a: string, b: string): number {
  const [x = 0, y = 0] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}

const accents = ["", ...["ocean", "iris", "rose", "copper", "graphite"].map((a) => `[data-accent="${a}"]`)];

for (const theme of ["dark", "light"]) {
  for (const extra of [...accents, '[data-contrast="more"]']) {
    Deno.test(`text has a contrast of 4.5 on every ground: ${theme}${extra}`, () => {
      const t = tokens(theme, extra);
      const least = extra.includes("contrast") ? 7 : 4.5;
      const grounds = ["--bg", "--s1", "--s2", "--s3"];
      for (const fore of ["--text", "--soft", "--faint", "--accent", "--tx", "--ai", "--warn", "--err", "--ok"]) {
        for (const ground of grounds) {
          const found = contrast(t[fore] ?? "", t[ground] ?? "");
          assert.ok(found >= least, `${fore} on ${ground}: ${found.toFixed(2)}`);
        }
      }
      for (
        const [fore, ground] of [
          ["--on-accent", "--accent"],
          ["--accent", "--sel"],
          ["--text", "--sel"],
          ["--text", "--warn-bg"],
          ["--soft", "--warn-bg"],
          ["--text", "--err-bg"],
          ["--soft", "--err-bg"],
          ["--err", "--s1"],
        ]
      ) {
        const found = contrast(t[fore ?? ""] ?? "", t[ground ?? ""] ?? "");
        assert.ok(found >= 4.5, `${fore} on ${ground}: ${found.toFixed(2)}`);
      }
    });
  }
}

Deno.test("colours stand in the tokens only", async () => {
  const folder = join(import.meta.dirname ?? ".", "../../ui/theme");
  for await (const entry of Deno.readDir(folder)) {
    if (!entry.name.endsWith(".css") || entry.name === "tokens.css") continue;
    const text = await Deno.readTextFile(join(folder, entry.name));
    const found = [...text.matchAll(/#[0-9a-f]{3,8}\b/gi)].map((m) => m[0]).filter((c) =>
      c !== "#0007" && c !== "#0008"
    );
    assert.deepEqual(found, [], entry.name);
  }
});
