/** Log tools over the wire: section 18 of the checks, and answers that stay within what a host takes. */
import assert from "node:assert/strict";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Json } from "../rigs/mcp_client.ts";
import { arrayIn, objectIn, startWire } from "./rig.ts";
import { skipped } from "../rigs/skip.ts";

const RX = "serial:extra-1:rx";
const unix = Deno.build.os !== "windows";

Deno.test({ name: "log tools on the wire" + skipped(!unix, "needs PTYs and signals"), ignore: !unix }, async (t) => {
  await using wire = await startWire();
  const { ok, refused, fails } = wire;
  const search = async (args: Json) => (await ok("log_search", { channel: RX, ...args })).output;
  const hits = async (args: Json) => arrayIn(await search(args), "hits");
  const channel = async (name: string) =>
    arrayIn((await ok("log_channels")).output, "channels").find((c) => c["channel"] === name);

  await t.step("a fresh start: all channels by name, with their counters and the totals [C346]", async () => {
    const { output } = await ok("log_channels");
    const channels = arrayIn(output, "channels");
    const names = channels.map((c) => String(c["channel"]));
    assert.deepEqual(names, [...names].sort());
    assert.deepEqual([output["enabled"], output["channelCount"]], [true, channels.length]);
    const fields = ["bytes", "capBytes", "channel", "dropped", "lastTs", "lines", "seqFrom", "seqTo"];
    for (const c of channels) assert.deepEqual(Object.keys(c).sort(), fields);
    for (const total of ["totalBytes", "totalCapBytes", "reclaims", "reclaimedBytes", "lockSkips", "channelSkips"]) {
      assert.equal(typeof output[total], "number", total);
    }
  });

  await t.step("app, error and mcp can be read from the start [C347]", async () => {
    for (const name of ["app", "error", "mcp"]) {
      assert.equal((await ok("log_tail", { channel: name })).output["channel"], name);
    }
  });

  await t.step("an unknown channel is refused and points to log_channels [C348]", async () => {
    for (const name of ["serial:main", "App", "app ", ""]) {
      assert.match(await refused("log_tail", { channel: name }), /log_channels/, name);
    }
  });

  await wire.openBoth();
  await wire.send("AT+CSQ\n+CSQ: 20,99\nOK\nERROR ERROR error\nat+csq\n", 5);

  await t.step("a pattern is literal and its case is ignored [C360]", async () => {
    assert.deepEqual((await hits({ pattern: "AT+CSQ" })).map((h) => h["seq"]), [1, 5]);
    assert.equal((await hits({ pattern: "A.+Q" })).length, 0);
  });

  await t.step("caseSensitive and regex do as they say [C361]", async () => {
    assert.deepEqual((await hits({ pattern: "AT+CSQ", caseSensitive: true })).map((h) => h["seq"]), [1]);
    assert.deepEqual((await hits({ pattern: "^A.+Q$", regex: true })).map((h) => h["seq"]), [1, 5]);
    assert.deepEqual((await hits({ pattern: "^a.+q$", regex: true, caseSensitive: true })).map((h) => h["seq"]), [5]);
  });

  await t.step("three places in a line: three hits in matches, one line in count [C362]", async () => {
    const matches = await search({ pattern: "error", mode: "matches" });
    assert.deepEqual(arrayIn(matches, "hits").map((h) => [h["seq"], h["match"]]), [
      [4, "ERROR"],
      [4, "ERROR"],
      [4, "error"],
    ]);
    const count = await search({ pattern: "error", mode: "count" });
    assert.deepEqual([count["total"], count["totalMatches"]], [1, 3]);
  });

  await t.step("without a channel all are searched; hits say where [C363]", async () => {
    const { output } = await ok("log_search", { pattern: "CSQ: 20" });
    assert.deepEqual(arrayIn(output, "hits").map((h) => `${h["channel"]}#${h["seq"]}`).sort(), [
      `${RX}#2`,
      "serial:main:tx#2",
    ]);
    const count = (await ok("log_search", { pattern: "CSQ: 20", mode: "count" })).output;
    const all = (await ok("log_channels")).output["channelCount"];
    assert.deepEqual([count["total"], count["scannedChannels"]], [2, all]);
  });

  await t.step("context gives at most so many lines before and after [C364]", async () => {
    const around = async (pattern: string) => {
      const [hit] = await hits({ pattern, context: 2 });
      return hit && [arrayIn(hit, "before").length, arrayIn(hit, "after").length];
    };
    assert.deepEqual(await around("OK"), [2, 2]);
    assert.deepEqual(await around("+CSQ: 20"), [1, 2]);
  });

  await t.step("context over five, or with fragments, is refused [C365]", async () => {
    assert.match(await refused("log_search", { pattern: "OK", context: 6 }), /context/);
    assert.match(await refused("log_search", { pattern: "OK", context: 1, mode: "matches" }), /mode lines/);
  });

  await t.step("an empty, a too long and a bad pattern are refused with the reason [C366]", async () => {
    assert.match(await refused("log_search", { pattern: "" }), /pattern/);
    assert.match(await refused("log_search", { pattern: "x".repeat(513) }), /512/);
    assert.match(await refused("log_search", { pattern: "(", regex: true }), /Unterminated group/);
    await ok("log_search", { pattern: "x".repeat(512) });
  });

  await t.step("a catastrophic expression ends, and other calls are answered meanwhile [C367]", async () => {
    await wire.send(`${"a".repeat(60)}!\n`, 1);
    let over = false;
    const searching = fails("log_search", { pattern: "^(a+)+$", regex: true, channel: RX }).finally(() => over = true);
    let answered = 0;
    for (; !over; answered++) await ok("serial_get_state");
    const { text, error } = await searching;
    assert.equal(error["reason"], "timed_out", text);
    assert.ok(answered > 5, `${answered} answers meanwhile`);
  });

  await t.step("limit bounds fragments and is told; a count counts all [C368] [C369]", async () => {
    const few = await search({ pattern: "error", mode: "matches", limit: 2 });
    assert.deepEqual([arrayIn(few, "hits").length, few["truncated"]], [2, true]);
    const count = await search({ pattern: "error", mode: "count", limit: 1 });
    assert.deepEqual([count["totalMatches"], count["truncated"]], [3, false]);
  });

  await t.step("log_clear with a name off by a blank is refused and erases nothing [C374]", async () => {
    assert.match(await refused("log_clear", { channel: `${RX} ` }), /log_channels/);
    assert.equal((await channel(RX))?.["lines"], 6);
  });

  await t.step("log_clear of one channel: it stays, without lines, and seq goes on [C372]", async () => {
    assert.deepEqual((await ok("log_clear", { channel: RX })).output, { clearedChannels: 1, channel: RX });
    const { output } = await ok("log_tail", { channel: RX });
    assert.deepEqual([output["returned"], output["dropped"]], [0, 0]);
    assert.equal((await channel("serial:main:tx"))?.["lines"], 6);
    await wire.send("after\n", 1);
    assert.equal((await channel(RX))?.["seqFrom"], 7);
  });

  await t.step("log_clear without a channel erases all [C373]", async () => {
    const { output } = await ok("log_clear");
    assert.equal(output["channel"], null);
    const channels = arrayIn((await ok("log_channels")).output, "channels");
    assert.equal(output["clearedChannels"], channels.length);
    assert.ok(channels.every((c) => c["lines"] === 0));
  });
});

Deno.test({
  name: "200,000 lines: no answer over 25,000 tokens, and following it gives every held line once [MC08]" +
    skipped(!unix, "needs PTYs and signals"),
  ignore: !unix,
}, async () => {
  await using wire = await startWire();
  await wire.openBoth();
  const total = 200_000;
  const perSend = 9000;
  for (let from = 0; from < total; from += perSend) {
    const count = Math.min(perSend, total - from);
    const data = Array.from({ length: count }, (_, i) => `${String(from + i).padStart(6, "0")}\n`).join("");
    await wire.send(data, count);
  }

  /** A call as its reader pays for it: the whole result, by the real tokenizer. */
  const read = async (tool: string, args: Json) => {
    const { json } = await wire.client.call(tool, args);
    const result = objectIn(json, "result");
    const tokens = countTokens(JSON.stringify(result));
    assert.ok(tokens < 25_000, `${tool} ${JSON.stringify(args)}: ${tokens} tokens`);
    return { output: objectIn(result, "structuredContent"), text: JSON.stringify(result["content"]), tokens };
  };

  for (const format of ["json", "text"]) {
    for (const lines of [undefined, 100_000]) {
      const size = { format, ...(lines !== undefined && { lines }) };
      const tail = await read("log_tail", { channel: RX, ...size });
      const left = Number(tail.output["seqTo"]) - Number(tail.output["returned"]);
      assert.equal(tail.output["seqTo"], total);
      assert.equal(tail.output["truncated"], true);
      assert.ok(left > 0);
      assert.match(tail.text, /sinceSeq/, "how to go on");
      const output = await read("serial_get_output", { pane: "extra-1", ...size });
      assert.equal(output.output["truncated"], true);
      assert.match(output.text, /log_tail/, "how to go on");
    }
  }

  // From the first line on, as an agent would that was told how: each held line once, in order.
  const seen: number[] = [];
  let dropped = 0;
  for (let since = 0, more = true; more;) {
    const { output, text } = await read("log_tail", { channel: RX, sinceSeq: since, lines: 100_000 });
    dropped = Number(output["dropped"]);
    for (const line of arrayIn(output, "lines")) {
      assert.equal(Number(line["text"]), Number(line["seq"]) - 1);
      seen.push(Number(line["seq"]));
    }
    since = Number(output["nextSinceSeq"]);
    more = output["truncated"] === true;
    if (more) {
      assert.match(
        text,
        new RegExp(`${total - since}\\D.*sinceSeq\\D*${since}`),
        "how many are left, and how to go on",
      );
    }
  }
  assert.equal(seen.length + dropped, total);
  assert.deepEqual(seen, Array.from({ length: seen.length }, (_, i) => dropped + 1 + i));
});
