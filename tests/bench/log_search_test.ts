import assert from "node:assert/strict";
import fc from "fast-check";
import { LIMITS } from "../../tools/limits.ts";
import { BenchError } from "../../src/core/errors.ts";
import { LogSearch, type SearchRequest } from "../../src/bench/log_search.ts";
import { searchWorker, type WorkerReply, type WorkerScope } from "../../src/bench/search_worker.ts";
import { renderText } from "../../src/core/text.ts";
import { bytesOf, rig } from "./log_rig.ts";

const never = new AbortController().signal;

function searchRig(options: Parameters<typeof rig>[0] = {}) {
  const made = rig(options);
  const search = new LogSearch();
  made.hub.onClose(() => search.close());
  const all = () => made.hub.names().map(made.need);
  const run = (request: Partial<SearchRequest> & { pattern: string }, signal = never) =>
    search.run({ channels: all(), mode: "lines", limit: 100, regex: false, caseSensitive: false, ...request }, signal);
  return { ...made, search, run };
}

Deno.test("literal and regular search over any lines agree with the plainest search there is [C370]", async () => {
  const { hub, rx, run, need } = searchRig();
  const word = fc.constantFrom("ab", "Ab", "a", "b", " ", "中", "é", "\t", "\x1b[0m", "\xff", "AbAb", "😀");
  const pattern = fc.constantFrom("ab", "AB", "a", "aba", "中", "É", " b", "zz");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(word, { maxLength: 8 }), { maxLength: 30, size: "max" }),
      pattern,
      fc.boolean(),
      async (lines, given, caseSensitive) => {
        hub.clear();
        lines.forEach((parts, i) => rx.push(bytesOf(`${parts.join("")}\n`), i, "none"));
        const channel = need("serial:main:rx");
        const fold = (text: string) => caseSensitive ? text : text.toLowerCase();
        const places: string[] = [];
        channel.ring.scan(0, Infinity, (seq, _t, flags, _raw, bytes, from, to) => {
          const count = fold(renderText(bytes.subarray(from, to), flags)).split(fold(given)).length - 1;
          for (let i = 0; i < count; i++) places.push(`${seq}`);
        });
        for (const regex of [false, true]) {
          const request = { pattern: given, caseSensitive, regex, limit: 500, channels: [channel] };
          const count = await run({ ...request, mode: "count" });
          assert.deepEqual(
            [count.total, count.totalMatches, count.scanned, count.hits],
            [new Set(places).size, places.length, lines.length, []],
          );
          const matches = await run({ ...request, mode: "matches" });
          assert.deepEqual(matches.hits.map((hit) => `${hit.seq}`), places);
          for (const hit of matches.hits) assert.equal(fold(hit.match ?? ""), fold(given));
          const whole = await run({ ...request, mode: "lines" });
          assert.deepEqual(whole.hits.map((hit) => `${hit.seq}`), [...new Set(places)]);
          assert.equal(whole.totalMatches, places.length);
        }
      },
    ),
    { numRuns: 60 },
  );
  hub.close();
});

Deno.test("the newest hits of all channels are given, in the order of time; counts are of all [C363]", async () => {
  const { hub, rx, tx, run, clock } = searchRig();
  for (let i = 0; i < 300; i++) {
    rx.push(bytesOf(`hit ${i} hit\n`), clock.t += 1, "none");
    tx.push(bytesOf(`hit ${i}\nmiss\n`), clock.t += 1, "ai");
  }
  for (const regex of [false, true]) {
    const result = await run({ pattern: "HIT", limit: 7, regex });
    assert.deepEqual(result.hits.map((hit) => `${hit.channel.name}#${hit.seq}`), [
      "serial:main:tx#593",
      "serial:main:rx#298",
      "serial:main:tx#595",
      "serial:main:rx#299",
      "serial:main:tx#597",
      "serial:main:rx#300",
      "serial:main:tx#599",
    ]);
    assert.deepEqual([result.total, result.totalMatches, result.scanned], [600, 900, 900]);
    assert.deepEqual(result.channels.filter((c) => c.count > 0), [
      { channel: "serial:main:rx", count: 300, scanned: 300 },
      { channel: "serial:main:tx", count: 300, scanned: 600 },
    ]);
  }
  hub.close();
});

Deno.test("a regular expression that never ends is stopped at its limit while others are served [C367]", async () => {
  const { hub, rx, run } = searchRig();
  rx.push(bytesOf("fine\n"), 0, "none");
  rx.push(bytesOf(`${"a".repeat(4000)}!\n`), 1, "none");
  let served = 0;
  const others = setInterval(() => served++, 10);
  const began = performance.now();
  const error = await run({ pattern: "(a+)+$", regex: true }).then(() => undefined, (reason) => reason);
  const took = performance.now() - began;
  clearInterval(others);
  assert.ok(error instanceof BenchError);
  assert.equal(error.reason, "timed_out");
  assert.deepEqual(error.data, { scanned: 1, lines: 2, total: 0, channel: "serial:main:rx", seq: 2 });
  assert.match(error.message, /1 of 2 lines searched.*serial:main:rx seq 2/);
  assert.ok(took >= LIMITS.searchTimeoutMs * 0.9, `${took}`);
  assert.ok(served > 20, `the loop turned ${served} times meanwhile`);
  // The same worker goes on as if nothing was.
  assert.equal((await run({ pattern: "f[aeiou]ne", regex: true })).total, 1);
  hub.close();
});

Deno.test("two searches that never end do not keep a third from its turn", async () => {
  const { hub, rx, run } = searchRig();
  rx.push(bytesOf(`${"a".repeat(4000)}!\n`), 1, "none");
  const slow = [1, 2].map(() => run({ pattern: "(a+)+$", regex: true }).then(() => "done", (error) => error.reason));
  const third = run({ pattern: "a!", regex: true });
  assert.equal((await run({ pattern: "a!" })).total, 1, "a literal search needs no turn");
  assert.equal((await third).total, 1);
  assert.deepEqual(await Promise.all(slow), ["timed_out", "timed_out"]);
  hub.close();
});

Deno.test("a search can be canceled, while it runs and while it waits", async () => {
  const { hub, rx, run, lines } = searchRig({ capOf: () => 4_000_000 });
  lines(40_000, (i) => `line ${i}`);
  rx.push(bytesOf(`${"a".repeat(4000)}!\n`), 1, "none");
  const reason = (promise: Promise<unknown>) => promise.then(() => "done", (error) => error.reason);
  const cancel = new AbortController();
  const searches = [
    run({ pattern: "line 39999" }, cancel.signal),
    ...[1, 2, 3].map(() => run({ pattern: "(a+)+$", regex: true }, cancel.signal)),
  ].map(reason);
  setTimeout(() => cancel.abort(), 0);
  assert.deepEqual((await Promise.all(searches)).slice(1), ["canceled", "canceled", "canceled"]);
  assert.equal(await reason(run({ pattern: "x", regex: true }, AbortSignal.abort())), "canceled");
  assert.equal((await run({ pattern: "line 39999$", regex: true })).total, 1);
  hub.close();
});

Deno.test("closing the log ends searches under way", async () => {
  const { hub, rx, run } = searchRig();
  rx.push(bytesOf(`${"a".repeat(4000)}!\n`), 1, "none");
  const slow = [1, 2, 3].map(() => run({ pattern: "(a+)+$", regex: true }).then(() => "done", () => "failed"));
  setTimeout(() => hub.close(), 50);
  assert.deepEqual(await Promise.all(slow), ["failed", "failed", "failed"]);
});

Deno.test("lines that come and go while a search runs do no harm", async () => {
  const { hub, rx, run, need } = searchRig({ capOf: () => 1_000_000 });
  let n = 0;
  const flood = () => {
    for (let i = 0; i < 2000; i++) rx.push(bytesOf(`flood ${n++} of lines\n`), n, "none");
  };
  for (let i = 0; i < 20; i++) flood();
  const timer = setInterval(flood, 0);
  for (const regex of [false, true]) {
    for (let i = 0; i < 5; i++) {
      const result = await run({ pattern: "flood", regex, channels: [need("serial:main:rx")] });
      assert.equal(result.total, result.scanned);
      assert.equal(result.totalMatches, result.scanned);
      assert.ok(result.scanned > 0);
    }
  }
  clearInterval(timer);
  hub.close();
});

Deno.test("frames are searched by their hex, coloured lines by their text", async () => {
  const { hub, rx, tx, run } = searchRig();
  rx.push(bytesOf("\x1b[31mER\x1b[1mROR\x1b[0m x\n"), 0, "none");
  tx.mode = "frames";
  tx.push(Uint8Array.of(0xa0, 0xff, 1), 1, "ai");
  tx.end();
  for (const regex of [false, true]) {
    assert.equal((await run({ pattern: "error x", regex })).total, 1);
    assert.deepEqual((await run({ pattern: "a0 ff", regex, mode: "matches" })).hits.map((hit) => hit.match), ["A0 FF"]);
  }
  hub.close();
});

Deno.test("the worker's code needs nothing from outside itself", () => {
  const replies: WorkerReply[] = [];
  const scope: WorkerScope = { onmessage: null, postMessage: (reply) => replies.push(reply) };
  class Script {
    runInThisContext() {
      scope.searchBatch?.();
    }
  }
  // As the worker gets it: from its source text.
  const alone: typeof searchWorker = new Function(`return (${searchWorker.toString()})`)();
  alone(scope, { Script });
  scope.onmessage?.({ data: { kind: "start", source: "b+", flags: "gu", keep: 2, fragments: true } });
  const bytes = bytesOf("abbcbbbb");
  scope.onmessage?.({ data: { kind: "batch", bytes, ends: Uint32Array.of(3, 5, 8), ascii: false, timeoutMs: 1 } });
  assert.deepEqual(replies, [
    { lines: 3, places: 3, hits: [1, 2], fragments: ["b", "bbb"], done: 3, timedOut: false },
  ]);
});
