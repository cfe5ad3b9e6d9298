import assert from "node:assert/strict";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { LIMITS } from "../../tools/mod.ts";
import { BenchError } from "../../src/core/errors.ts";
import { bytesOf } from "../bench/log_rig.ts";
import { toolRig } from "./log_tool_rig.ts";

const feed = (made: ReturnType<typeof toolRig>, lines: readonly string[]) =>
  lines.forEach((line) => made.rx.push(bytesOf(`${line}\n`), made.clock.t += 1, "none"));

Deno.test("a pattern is literal and the case is ignored unless said otherwise [C360] [C361] [C129]", async () => {
  const made = toolRig();
  feed(made, ["at+csq", "AT+CSQ", "ATTCSQ", "AT CSQ", "a.b", "axb"]);
  const seqs = async (args: Record<string, unknown>) =>
    (await made.call("log_search", args)).output.hits?.map((hit) => hit.seq);
  assert.deepEqual(await seqs({ pattern: "AT+CSQ" }), [1, 2]);
  assert.deepEqual(await seqs({ pattern: "AT+CSQ", caseSensitive: true }), [2]);
  assert.deepEqual(await seqs({ pattern: "AT+CSQ", case_sensitive: true }), [2]);
  assert.deepEqual(await seqs({ pattern: "AT+CSQ", regex: true }), [3]);
  assert.deepEqual(await seqs({ pattern: "a.b", regex: true }), [5, 6]);
  assert.deepEqual(await seqs({ pattern: "a.b" }), [5]);
  assert.deepEqual(await seqs({ pattern: "^A[T ]+", regex: true, caseSensitive: true }), [2, 3, 4]);
  made.hub.close();
});

Deno.test("a line with three places: three hits in matches, one line in count [C362]", async () => {
  const made = toolRig();
  feed(made, ["err Err ERR", "fine"]);
  for (const regex of [false, true]) {
    const matches = (await made.call("log_search", { pattern: "err", regex, mode: "matches" })).output;
    assert.deepEqual(matches.hits?.map((hit) => hit.match), ["err", "Err", "ERR"]);
    assert.ok(matches.hits?.every((hit) => hit.text === undefined && hit.seq === 1));
    const count = (await made.call("log_search", { pattern: "err", regex, mode: "count" })).output;
    assert.deepEqual([count.total, count.totalMatches, count.scanned, count.hits], [1, 3, 2, undefined]);
  }
  made.hub.close();
});

Deno.test("without a channel all are searched; hits carry channel and seq, to go on with log_tail [C363]", async () => {
  const made = toolRig();
  feed(made, ["one needle"]);
  made.clock.t += 1;
  made.hub.log("app", "warn", "needle two");
  const { output, text } = await made.call("log_search", { pattern: "needle" });
  assert.deepEqual(output.hits?.map((hit) => [hit.channel, hit.seq, hit.level, hit.dir, hit.text]), [
    ["serial:main:rx", 1, "info", "rx", "one needle"],
    ["app", 1, "warn", "none", "needle two"],
  ]);
  assert.match(text, /serial:main:rx#1 one needle/);
  const one = (await made.call("log_search", { pattern: "needle", channel: "app" })).output;
  assert.deepEqual(one.hits?.map((hit) => hit.channel), ["app"]);
  assert.equal(one.scanned, 1);
  const none = (await made.call("log_search", { pattern: "needle", channel: "mcp", mode: "count" })).output;
  assert.deepEqual(none.channels, [{ channel: "mcp", count: 0, scanned: 0 }]);
  made.hub.close();
});

Deno.test("context gives at most so many lines before and after [C364]", async () => {
  const made = toolRig();
  feed(made, ["a", "b", "hit", "d", "e", "f", "hit"]);
  const { hits } = (await made.call("log_search", { pattern: "hit", context: 2 })).output;
  assert.deepEqual(hits?.map((hit) => [hit.before?.map((l) => l.text), hit.after?.map((l) => l.text)]), [
    [["a", "b"], ["d", "e"]],
    [["e", "f"], []],
  ]);
  assert.deepEqual(hits?.[0]?.before?.map((line) => line.seq), [1, 2]);
  const plain = (await made.call("log_search", { pattern: "hit" })).output;
  assert.equal(plain.hits?.[0]?.before, undefined);
  made.hub.close();
});

Deno.test("context over 5, or with another mode, is refused [C365]", async () => {
  const { hub, refused } = toolRig();
  await refused("log_search", { pattern: "x", context: 6 }, /context/);
  await refused("log_search", { pattern: "x", context: -1 }, /context/);
  await refused("log_search", { pattern: "x", context: 1, mode: "matches" }, /context/);
  await refused("log_search", { pattern: "x", context: 1, mode: "count" }, /context/);
  hub.close();
});

Deno.test("an empty, too long or bad pattern is refused with the reason [C366] [C096]", async () => {
  const { hub, call, refused } = toolRig();
  await refused("log_search", { pattern: "" }, /pattern/);
  await refused("log_search", { pattern: "x".repeat(513) }, /512/);
  await refused("log_search", { pattern: "[a", regex: true }, /regular expression: .*(class|bracket|Unterminated)/i);
  await refused("log_search", {}, /pattern/);
  assert.equal((await call("log_search", { pattern: "x".repeat(512) })).output.hits?.length, 0);
  assert.equal((await call("log_search", { pattern: "[a" })).output.hits?.length, 0);
  hub.close();
});

Deno.test("a catastrophic expression ends as timed_out while other calls are answered [C367]", async () => {
  const made = toolRig();
  feed(made, [`${"a".repeat(3000)}!`]);
  const slow = made.call("log_search", { pattern: "(a+)+$", regex: true, mode: "count" })
    .then(() => undefined, (error: unknown) => error);
  let answered = 0;
  let ended = false;
  slow.then(() => ended = true);
  while (!ended) {
    await made.call("log_tail", { channel: "serial:main:rx", lines: 1 });
    answered++;
    await new Promise((go) => setTimeout(go, 5));
  }
  assert.ok(answered > 20, `${answered}`);
  const error = await slow;
  assert.ok(error instanceof BenchError && error.reason === "timed_out" && error.hint !== undefined);
  made.hub.close();
});

Deno.test("limit bounds fragments, is told, and does not touch a count [C368] [C369]", async () => {
  const made = toolRig();
  feed(made, ["x1 x2", "x3", "x4"]);
  for (const regex of [false, true]) {
    const two = (await made.call("log_search", { pattern: "x", regex, mode: "matches", limit: 2 })).output;
    assert.deepEqual([two.hits?.length, two.truncated], [2, true]);
    const all = (await made.call("log_search", { pattern: "x", regex, mode: "matches", limit: 4 })).output;
    assert.deepEqual([all.hits?.length, all.truncated], [4, false]);
    const count = (await made.call("log_search", { pattern: "x", regex, mode: "count", limit: 1 })).output;
    assert.deepEqual([count.total, count.totalMatches, count.truncated], [3, 4, false]);
  }
  await made.refused("log_search", { pattern: "x", limit: 0 }, /limit/);
  assert.equal((await made.call("log_search", { pattern: "x", limit: 100_000 })).output.hits?.length, 3);
  made.hub.close();
});

Deno.test("count and matches agree on the same data; empty matches do not count [C370]", async () => {
  const made = toolRig();
  feed(made, ["aab", "", "b", "aaaa a", "😀"]);
  for (const pattern of ["a*", "a", "a|", "\\b", ".", "(?=a)", "aa"]) {
    const count = (await made.call("log_search", { pattern, regex: true, mode: "count" })).output;
    const matches = (await made.call("log_search", { pattern, regex: true, mode: "matches", limit: 500 })).output;
    assert.equal(matches.hits?.length, count.totalMatches, pattern);
    assert.equal(new Set(matches.hits?.map((hit) => hit.seq)).size, count.total, pattern);
    assert.ok(matches.hits?.every((hit) => hit.match !== ""));
  }
  made.hub.close();
});

Deno.test("an answer of long lines is cut at whole hits, the newest stay, under 20,000 tokens [MC08]", async () => {
  const made = toolRig();
  feed(made, Array.from({ length: 600 }, (_, i) => `needle ${i} ${"some more words ".repeat(20)}`));
  const { output, text } = await made.call("log_search", { pattern: "needle", limit: 500, context: 1 });
  const cost = countTokens(JSON.stringify(output)) + countTokens(text);
  assert.ok(cost < LIMITS.maxAnswerTokens, `${cost}`);
  assert.equal(output.truncated, true);
  assert.equal(output.total, 600);
  assert.equal(output.hits?.at(-1)?.seq, 600);
  feed(made, ["needle".repeat(1365)]);
  const huge = (await made.call("log_search", { pattern: "needle", limit: 1 })).output;
  assert.equal(huge.hits?.[0]?.seq, 601);
  made.hub.close();
});
