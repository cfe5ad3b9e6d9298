/** What holds for the answer of every tool (section 7 of the checks), over the wire. */
import assert from "node:assert/strict";
import { isObject } from "../../src/mcp/protocol.ts";
import { isToolName } from "../../tools/mod.ts";
import type { Json } from "../rigs/mcp_client.ts";
import { arrayIn, objectIn, startWire, textOf } from "./rig.ts";

/** Good arguments for each tool, in an order in which none spoils the next; and what the text must say. */
const CALLS: readonly [tool: string, args: Json, says: RegExp][] = [
  ["app_info", {}, /fieldbench \d+\.\d+\.\d+/],
  ["serial_list_ports", {}, /near end \(\/dev\/pts\/\d+\).*far end/],
  ["serial_get_state", {}, /main: closed\. .*\/dev\/pts/],
  ["serial_set_baud", { baud: 57600 }, /115200 → 57600/],
  ["serial_set_frame", { dataBits: "8" }, /dataBits 8 → 8/],
  ["serial_set_lines", { dtr: true }, /dtr/],
  ["serial_set_display", { timestamp: false }, /timestamp true → false/],
  ["serial_select_port", { port: "$a" }, /port none → \/dev\/pts/],
  ["serial_open", {}, /main is open: \/dev\/pts\/\d+ at 57600 8N1/],
  ["serial_send", { data: "marker-1", lineEnding: "lf" }, /9 bytes \(text\): "marker-1"/],
  ["serial_get_history", {}, /"marker-1"/],
  ["serial_get_output", {}, /marker-1/],
  ["log_channels", {}, /serial:main:tx/],
  ["log_tail", { channel: "serial:main:tx" }, /marker-1/],
  ["log_search", { pattern: "marker-1" }, /serial:main:tx#1.*marker-1/],
  ["log_stats", {}, /serial:main:tx/],
  ["serial_clear", {}, /view and session files emptied/],
  ["serial_close", {}, /main is closed/],
  ["mcp_danger", {}, /No tool|dangerous|confirm/i],
  ["mcp_status", {}, /1 of 4 sessions/],
  ["mcp_limits", {}, /rateLimitPerMin|a minute/],
  ["mcp_calls", {}, /serial_send/],
  ["mcp_stats", {}, /Most: [a-z_]+ \d+/],
  ["mcp_config_get", {}, /127\.0\.0\.1/],
  ["mcp_config_set", { patch: { callLog: { includeResults: true } } }, /callLog\.includeResults/],
  ["ui_get_state", {}, /./],
  ["log_clear", { channel: "app" }, /app/],
];
/** They need a page: without one the answer is a failure, which is an answer all the same. */
const PAGE_CALLS: readonly [tool: string, args: Json][] = [
  ["ui_list", {}],
  ["ui_describe", { path: "serial.x" }],
  ["ui_get", { path: "serial.x" }],
  ["ui_set", { path: "serial.x", value: "1" }],
  ["ui_click", { path: "serial.x" }],
];

/** Names of fields anywhere in a value. A count by tool has the tools' names, which are data. */
const namesIn = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => [...isToolName(name) ? [] : [name], ...namesIn(inner)]);
};

Deno.test("answers of all tools on the wire", async (t) => {
  await using wire = await startWire();
  const answers: { tool: string; result: Json }[] = [];
  const call = async (tool: string, args: Json): Promise<Json> => {
    const { json, text } = await wire.client.call(tool, JSON.parse(JSON.stringify(args).replace("$a", wire.a)));
    assert.ok(isObject(json["result"]), `${tool}: ${text}`);
    answers.push({ tool, result: json["result"] });
    return json["result"];
  };

  await t.step("each says its data in content[0].text, not only how much there is [C126]", async () => {
    for (const [tool, args, says] of CALLS) {
      const result = await call(tool, args);
      assert.notEqual(result["isError"], true, `${tool}: ${textOf(result)}`);
      assert.match(textOf(result), says, tool);
    }
    for (const [tool, args] of PAGE_CALLS) assert.match(textOf(await call(tool, args)), /^-32006.*page/, tool);
  });

  await t.step("structuredContent is always an object; no tool of the list was left out [C125]", async () => {
    for (const { result } of answers) objectIn(result, "structuredContent");
    const { json } = await wire.client.request("tools/list");
    const listed = arrayIn(objectIn(json, "result"), "tools").map((tool) => String(tool["name"]));
    assert.deepEqual(answers.map(({ tool }) => tool).sort(), listed.sort());
  });

  await t.step("names of fields are camelCase [C127]", () => {
    for (const { tool, result } of answers) {
      const names = namesIn(result["structuredContent"]);
      assert.deepEqual(names.filter((name) => !/^[a-z][A-Za-z0-9]*$/.test(name)), [], tool);
    }
  });

  await t.step("format text has its body once, in the text, and only the metadata as structure [C128]", async () => {
    await wire.openBoth();
    await wire.send("once-upon\n", 1);
    for (
      const [tool, args, body] of [
        ["log_tail", { channel: "serial:main:tx", lines: 1 }, "lines"],
        ["serial_get_output", { lines: 1 }, "items"],
      ] as const
    ) {
      const { output, text } = await wire.ok(tool, { ...args, format: "text" });
      assert.equal(text.split("once-upon").length, 2, text);
      assert.ok(!JSON.stringify(output).includes("once-upon"));
      assert.ok(!(body in output));
      const { [body]: _, format: _json, ...metadata } = (await wire.ok(tool, args)).output;
      const { format: _text, ...same } = output;
      assert.deepEqual(same, metadata, tool);
    }
  });

  await t.step("old spellings do the same as the new ones, which win when both are given [C129]", async () => {
    await wire.send("One\none\nONE\n", 3);
    const tail = async (args: Json) => (await wire.ok("log_tail", { channel: "serial:extra-1:rx", ...args })).output;
    const last = Number((await tail({}))["nextSinceSeq"]);
    assert.equal((await tail({ since_seq: last - 2 }))["returned"], 2);
    assert.equal((await tail({ since_seq: last - 2, sinceSeq: last - 1 }))["returned"], 1);
    const search = async (args: Json) =>
      (await wire.ok("log_search", { pattern: "one", mode: "count", channel: "serial:extra-1:rx", ...args })).output;
    assert.equal((await search({}))["total"], 3);
    assert.equal((await search({ case_sensitive: true }))["total"], 1);
    assert.equal((await search({ case_sensitive: true, caseSensitive: false }))["total"], 3);
    await wire.fails("serial_set_frame", { parity: "even" });
    const calls = async (args: Json) => arrayIn((await wire.ok("mcp_calls", args)).output, "calls");
    assert.ok((await calls({ ok_only: false })).every((c) => c["ok"] === false));
    assert.ok((await calls({ ok_only: false, okOnly: true })).every((c) => c["ok"] === true));
  });
});
