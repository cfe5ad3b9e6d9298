import assert from "node:assert/strict";
import { join } from "node:path";
import { en } from "../../ui/i18n/en.ts";
import { fill, languageOf, TEXTS } from "../../ui/i18n/mod.ts";
import { zh } from "../../ui/i18n/zh.ts";

const ui = join(import.meta.dirname ?? ".", "../../ui");

async function* sources(folder: string): AsyncGenerator<{ path: string; text: string }> {
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) {
      if (entry.name !== "dist" && entry.name !== "i18n") yield* sources(path);
    } else if (/\.tsx?$/.test(entry.name)) yield { path, text: await Deno.readTextFile(path) };
  }
}

/** `{name}` and `{name:one|many}` of a text. */
const params = (text: string): string[] => [...new Set([...text.matchAll(/\{(\w+)/g)].map((m) => m[1] ?? ""))].sort();

Deno.test("every text is there in both languages, none is empty, and none is the other language's", () => {
  assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
  // Names that are the same everywhere.
  const same = new Set(["kind.usb", "connect.http", "tour.step", "unit.perSec", "unit.bytesPerSec"]);
  for (const key of Object.keys(en) as (keyof typeof en)[]) {
    assert.ok(en[key].trim() !== "" && zh[key].trim() !== "", `${key} is empty`);
    assert.ok(!/[\u4e00-\u9fff]/.test(en[key]), `${key} in English holds Chinese`);
    if (!same.has(key)) assert.ok(/[\u4e00-\u9fff]/.test(zh[key]) || zh[key] !== en[key], `${key} is not translated`);
  }
});

Deno.test("a text takes the same parameters in both languages", () => {
  for (const key of Object.keys(en) as (keyof typeof en)[]) {
    const left = params(en[key]);
    for (const name of params(zh[key])) assert.ok(left.includes(name), `${key}: {${name}} is only in Chinese`);
    for (const name of left) assert.ok(params(zh[key]).includes(name), `${key}: {${name}} is only in English`);
  }
});

Deno.test("every key is used by the page, and every key that the page uses exists", async () => {
  const known = new Set<string>(Object.keys(en));
  const groups = new Set([...known].map((key) => key.split(".")[0]));
  const used = new Set<string>();
  for await (const { path, text } of sources(ui)) {
    for (const m of text.matchAll(/["'`]([a-z][a-zA-Z]*\.[a-zA-Z]+)["'`]/g)) used.add(m[1] ?? "");
    for (const m of text.matchAll(/\bt\(\s*["'`]([^"'`]+)["'`]/g)) {
      assert.ok(known.has(m[1] ?? ""), `${path} uses the unknown key ${m[1]}`);
    }
  }
  assert.deepEqual([...known].filter((key) => !used.has(key)), [], "keys that nothing uses");
  assert.ok(groups.size > 5);
});

Deno.test("no component writes words of its own into the page", async () => {
  const found: string[] = [];
  for await (const { path, text } of sources(ui)) {
    if (!path.endsWith(".tsx")) continue;
    // Words between tags, and in attributes that are read out or shown.
    for (const m of text.matchAll(/>\s*([A-Z][a-z]+(?: [a-z]+)+)\s*<\//g)) found.push(`${path}: ${m[1]}`);
    for (const m of text.matchAll(/\b(?:aria-label|placeholder|title|alt|label)="([^"]*[a-z] [^"]*)"/g)) {
      found.push(`${path}: ${m[1]}`);
    }
  }
  assert.deepEqual(found, []);
});

Deno.test("a count chooses its form, a number is grouped, and a parameter stays text", () => {
  assert.equal(fill("{n} {n:line|lines}", { n: 1 }), "1 line");
  assert.equal(fill("{n} {n:line|lines}", { n: 48_112 }), "48,112 lines");
  assert.equal(fill("{who} is here", { who: "<b>{n}</b>" }), "<b>{n}</b> is here");
  assert.equal(fill("{missing}", {}), "{missing}");
});

Deno.test("the browser's first language decides", () => {
  assert.equal(languageOf(["zh-CN", "en"]), "zh");
  assert.equal(languageOf(["en-GB", "zh"]), "en");
  assert.equal(languageOf(["de"]), "en");
  assert.equal(languageOf([]), "en");
  assert.deepEqual(Object.keys(TEXTS), ["en", "zh"]);
});
