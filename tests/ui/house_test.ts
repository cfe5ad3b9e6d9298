import assert from "node:assert/strict";
import { join } from "node:path";

const ui = join(import.meta.dirname ?? ".", "../../ui");

async function* sources(folder: string): AsyncGenerator<{ path: string; text: string }> {
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) {
      if (entry.name !== "dist") yield* sources(path);
    } else if (/\.(tsx?|html)$/.test(entry.name)) yield { path, text: await Deno.readTextFile(path) };
  }
}

Deno.test("nothing in the page makes markup from text [SR18]", async () => {
  let files = 0;
  for await (const { path, text } of sources(ui)) {
    files++;
    assert.ok(
      !/innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|DOMParser|createContextualFragment/
        .test(text),
      path,
    );
  }
  assert.ok(files > 20);
});

Deno.test("a document has no inline script, no inline style and nothing from elsewhere", async () => {
  for await (const { path, text } of sources(ui)) {
    if (!path.endsWith(".html")) continue;
    assert.ok(!/<script(?![^>]*\bsrc=)/i.test(text), path);
    assert.ok(!/<style|\sstyle=|\son\w+=/i.test(text), path);
    assert.ok(!/(?:src|href)="(?:https?:)?\/\//i.test(text), path);
  }
});
