import assert from "node:assert/strict";
import { BenchError, CODE } from "../../src/core/errors.ts";
import { type CallRecord, Gate, type GateOptions } from "../../src/gate/gate.ts";
import { KeyedLocks } from "../../src/gate/locks.ts";
import { RollingRate } from "../../src/gate/rate.ts";
import type { CallContext, Caller } from "../../src/handlers/types.ts";
import { TEST_ROWS, TestTools } from "../rigs/test_rows.ts";

const agent: Caller = { kind: "agent", session: "a", src: "ai" };
const page: Caller = { kind: "page", session: "p", src: "ui" };
const context = (caller: Caller = agent, signal = new AbortController().signal): CallContext => ({
  caller,
  signal,
  progress: () => {},
});

function makeGate(options: Partial<GateOptions> = {}) {
  const tools = new TestTools();
  const logged: string[] = [];
  const gate = new Gate(tools.handlers, {
    rateLimitPerMin: 0,
    readOnly: () => false,
    hub: { log: (_channel, _level, text) => void logged.push(text) },
    extraRows: TEST_ROWS,
    ...options,
  });
  return { gate, tools, logged };
}

/** The BenchError that a call ends with; anything else fails the test. */
async function refused(call: Promise<unknown>): Promise<BenchError> {
  const error = await call.then(() => undefined, (e: unknown) => e);
  assert.ok(error instanceof BenchError, String(error));
  return error;
}

Deno.test("a missing, mistyped or unknown argument is -32602 that names it and what is expected [C090] [C091] [C092]", async () => {
  const { gate } = makeGate();
  const cases: [unknown, RegExp][] = [
    [{}, /missing argument "text"/],
    [undefined, /missing argument "text"/],
    [{ text: 5 }, /"text" must be a string, not a number/],
    [{ text: "a", mode: "soft" }, /"mode" must be one of: plain, loud/],
    [{ text: "a", count: 1.5 }, /"count" must be a whole number, not 1.5/],
    [{ text: "a", count: 0 }, /"count" must be at least 1/],
    [{ text: "a", cuont: 1 }, /unknown argument "cuont"/],
    [{ text: "x".repeat(10_001) }, /"text" must be at most 10000 characters/],
    [[], /must be an object, not an array/],
    [null, /must be an object, not null/],
    ["text", /must be an object, not a string/],
    [{ text: "forbidden" }, /text must not be forbidden/],
    [JSON.parse('{"text":"a","__proto__":1}'), /unknown argument "__proto__"/],
  ];
  for (const [args, pattern] of cases) {
    const error = await refused(gate.call("test_echo", args, context()));
    assert.equal(error.code, -32602);
    assert.match(error.message, pattern);
    assert.match(error.message, /Expected: text \(required\), mode, count\./);
  }
  const none = await refused(gate.call("test_fail", { a: 1 }, context()));
  assert.match(none.message, /It takes no arguments/);
});

Deno.test("an unknown tool is -32602 with names that are near", async () => {
  const { gate } = makeGate();
  for (const name of ["serial_snd", "serialOpen", "", "x".repeat(500), "__proto__", "constructor"]) {
    const error = await refused(gate.call(name, {}, context()));
    assert.equal(error.code, -32602);
    assert.ok(error.message.length < 200);
  }
  for (const near of ["echo_test", "testEcho", "test-echo", "TEST_ECHO"]) {
    assert.match((await refused(gate.call(near, {}, context()))).message, /Did you mean test_echo/);
  }
});

Deno.test("old spellings work like new ones, and the new one wins when both are given", async () => {
  const { gate } = makeGate();
  assert.equal((await gate.call("test_echo", { old_text: "old" }, context())).text, "old");
  assert.equal((await gate.call("test_echo", { old_text: "old", text: "new" }, context())).text, "new");
});

Deno.test("a number over its limit is cut, not refused", async () => {
  const { gate } = makeGate();
  assert.deepEqual((await gate.call("test_echo", { text: "a", count: 99 }, context())).output, { text: "a", count: 4 });
});

Deno.test("the rate is counted per session over any rolling minute, refusals do not count", () => {
  let now = 0;
  const rate = new RollingRate(60, () => now);
  for (let i = 0; i < 60; i++) {
    assert.equal(rate.take("a"), 0);
    now += 100;
  }
  const wait = rate.take("a");
  assert.equal(wait, 60_000 - 6000);
  assert.equal(rate.take("b"), 0);
  now += wait - 1;
  assert.equal(rate.take("a"), 1);
  now += 1;
  assert.equal(rate.take("a"), 0);
  assert.equal(rate.take("a"), 100);
  now += 60_000;
  for (let i = 0; i < 60; i++) assert.equal(rate.take("a"), 0);
  assert.ok(rate.take("a") > 0);
  rate.forget("a");
  assert.equal(rate.take("a"), 0);
  const free = new RollingRate(0, () => now);
  for (let i = 0; i < 1000; i++) assert.equal(free.take("a"), 0);
});

Deno.test("the page's calls are never counted against the rate", async () => {
  const { gate } = makeGate({ rateLimitPerMin: 2, now: () => 0 });
  for (let i = 0; i < 10; i++) await gate.call("test_echo", { text: "a" }, context(page));
  for (let i = 0; i < 2; i++) await gate.call("test_echo", { text: "a" }, context());
  const error = await refused(gate.call("test_echo", { text: "a" }, context()));
  assert.deepEqual([error.code, error.data], [-32000, { retryAfterMs: 60_000, rateLimitPerMin: 2 }]);
  assert.equal(gate.rateLimited, 1);
});

Deno.test("read-only refuses writes of agents before anything else is looked at, and binds no person [C108]", async () => {
  const { gate, tools } = makeGate({ readOnly: () => true });
  for (
    const [name, args] of [["test_write", {}], ["test_danger", { confirm: true }], ["test_danger", {}], [
      "test_sometimes",
      { index: 0 },
    ]] as const
  ) {
    const error = await refused(gate.call(name, args, context()));
    assert.deepEqual([error.code, error.reason], [-32007, "read_only"], name);
    assert.match(error.hint ?? "", /person/);
  }
  assert.deepEqual(tools.runs, []);
  // A bad argument is told first: it is the caller's fault in any mode.
  assert.equal((await refused(gate.call("test_danger", { confirm: "true" }, context()))).code, -32602);
  await gate.call("test_sometimes", {}, context());
  await gate.call("test_echo", { text: "a" }, context());
  await gate.call("test_write", {}, context(page));
  assert.deepEqual(tools.runs, ["begin main", "end main"]);
});

Deno.test("a danger without confirm: true names its consequence and does nothing (a test-only tool: the three real ones come later) [C115] [C116] [C119]", async () => {
  const { gate, tools } = makeGate();
  for (const args of [{}, { confirm: false }]) {
    const error = await refused(gate.call("test_danger", args, context()));
    assert.deepEqual([error.code, error.reason], [-32006, "confirm_required"]);
    assert.match(error.message, /cannot be taken back/);
    assert.match(error.hint ?? "", /confirm: true/);
  }
  for (const confirm of ["true", 1, null]) {
    assert.equal((await refused(gate.call("test_danger", { confirm }, context()))).code, -32602);
  }
  assert.deepEqual(tools.runs, []);
  await gate.call("test_danger", { confirm: true }, context());
  assert.deepEqual(tools.runs, ["danger"]);
  // Where none is needed it is an unknown argument like any other.
  assert.equal((await refused(gate.call("test_echo", { text: "a", confirm: true }, context()))).code, -32602);
});

Deno.test("writes to one pane run one after another, other panes do not wait", async () => {
  const { gate, tools } = makeGate();
  const first = gate.call("test_write", { pane: "extra-1", ms: 0 }, context());
  const second = gate.call("test_write", { pane: "extra-1" }, context());
  await gate.call("test_write", {}, context());
  await gate.call("test_write", { pane: "main" }, context());
  assert.deepEqual(tools.runs, ["begin extra-1", "begin main", "end main", "begin main", "end main"]);
  tools.release();
  await Promise.all([first, second]);
  assert.deepEqual(tools.runs.slice(5), ["end extra-1", "begin extra-1", "end extra-1"]);
});

Deno.test("a call that is canceled while it waits for a pane does nothing and leaves the queue", async () => {
  const { gate, tools } = makeGate();
  const first = gate.call("test_write", { ms: 0 }, context());
  const abort = new AbortController();
  const second = gate.call("test_write", {}, context(agent, abort.signal));
  const third = gate.call("test_write", {}, context());
  await Promise.resolve();
  abort.abort();
  assert.equal((await refused(second)).reason, "canceled");
  tools.release();
  await Promise.all([first, third]);
  assert.deepEqual(tools.runs, ["begin main", "end main", "begin main", "end main"]);
});

Deno.test("a failure in a handler gives the pane back", async () => {
  const locks = new KeyedLocks();
  const signal = new AbortController().signal;
  const release = await locks.acquire("a", signal);
  const waiting = locks.acquire("a", signal);
  release();
  release();
  const again = await waiting;
  assert.equal(locks.size, 1);
  again();
  assert.equal(locks.size, 0);
  const { gate, tools } = makeGate();
  const abort = new AbortController();
  const write = gate.call("test_write", { ms: 0 }, context(agent, abort.signal));
  await new Promise((r) => setTimeout(r));
  abort.abort();
  assert.equal((await refused(write)).reason, "canceled");
  await gate.call("test_write", {}, context());
  assert.deepEqual(tools.runs, ["begin main", "begin main", "end main"]);
});

Deno.test("a bug is -32603 without a stack, and so is an answer that does not fit its schema", async () => {
  const { gate, logged } = makeGate();
  for (const name of ["test_throw", "test_bad_output"]) {
    const error = await refused(gate.call(name, {}, context()));
    assert.equal(error.code, CODE.internal);
    assert.equal(error.message, `Internal error in ${name}. It was written to the log channel "error".`);
    assert.equal(error.data, undefined);
  }
  assert.match(logged[0] ?? "", /^Internal error in test_throw: TypeError: boom \(at test_rows\.ts:\d+\)$/);
  assert.match(logged[1] ?? "", /answer does not fit its schema at n/);
});

Deno.test("the same internal error within five minutes is told once, counted, and has no token in it [C102]", async () => {
  let now = 0;
  const { gate, logged } = makeGate({ now: () => now, mask: (text) => text.replaceAll("s3cret", "[token]") });
  for (let i = 0; i < 10; i++) await refused(gate.call("test_throw", { message: "with s3cret inside" }, context()));
  assert.equal(logged.length, 1);
  assert.match(logged[0] ?? "", /with \[token\] inside/);
  assert.deepEqual([gate.reports.total, gate.reports.duplicates], [1, 9]);
  await refused(gate.call("test_throw", { message: "another" }, context()));
  assert.equal(logged.length, 2);
  now += 5 * 60_000;
  await refused(gate.call("test_throw", { message: "with s3cret inside" }, context()));
  assert.equal(logged.length, 3);
  assert.match(logged[2] ?? "", /and 9 times more before/);
});

Deno.test("watchers hear of every call that the rate let in: what, by whom, how it ended", async () => {
  const { gate } = makeGate({ rateLimitPerMin: 4, now: () => 0 });
  const ended: CallRecord[] = [];
  const unwatch = gate.watch({ end: (r) => void ended.push({ ...r }) });
  await gate.call("test_echo", { text: "a" }, context());
  await refused(gate.call("test_echo", {}, context()));
  await refused(gate.call("test_fail", {}, context()));
  await refused(gate.call("nonsense", {}, context()));
  await refused(gate.call("test_echo", { text: "a" }, context()));
  assert.deepEqual(ended.map((r) => [r.tool, r.ok, r.code]), [
    ["test_echo", true, undefined],
    ["test_echo", false, -32602],
    ["test_fail", false, -32006],
    ["nonsense", false, -32602],
  ]);
  unwatch();
  await gate.call("test_echo", { text: "a" }, context(page));
  assert.equal(ended.length, 4);
  assert.deepEqual([...gate.toolCalls], [["test_echo", 3], ["test_fail", 1]]);
});
