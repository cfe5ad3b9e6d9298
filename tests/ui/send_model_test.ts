import assert from "node:assert/strict";
import { hexPairs, lineCount, pacedMs, preview, Recall, textBytes } from "../../ui/panes/send_model.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

Deno.test("the preview of hex input is what will be sent [SO14]", () => {
  const table: [string, string][] = [
    ["0x01,02", "01 02"],
    ["0 1 2", "00 01 02"],
    ["0xA", "0A"],
    ["48656C", "48 65 6C"],
    ["01 03 00 02", "01 03 00 02"],
  ];
  for (const [input, wanted] of table) {
    const look = preview(input, "hex", "crlf");
    assert.equal(look.kind, "bytes", input);
    if (look.kind === "bytes") assert.equal(hexPairs(look.bytes, 100), wanted, input);
  }
});

Deno.test("bad hex names the exact column [SO14]", () => {
  const cases: [string, number][] = [["01 0G", 5], ["zz", 1], ["01 02 x3", 7]];
  for (const [input, column] of cases) {
    const look = preview(input, "hex", "none");
    assert.equal(look.kind, "bad", input);
    if (look.kind === "bad") assert.equal(look.column, column, input);
  }
});

Deno.test("each line of a paste gets the line ending, the last one too, and none is doubled", () => {
  assert.equal(text(textBytes("a\nb\r\nc", "crlf")), "a\r\nb\r\nc\r\n");
  assert.equal(text(textBytes("a\nb\n", "lf")), "a\nb\n");
  assert.equal(text(textBytes("AT", "cr")), "AT\r");
  assert.equal(text(textBytes("a\nb", "none")), "a\nb");
  assert.equal(lineCount("a\nb\n"), 2);
  assert.equal(lineCount(""), 0);
});

Deno.test("the preview counts bytes, not characters, with the line ending", () => {
  const look = preview("23 °C", "text", "crlf");
  assert.ok(look.kind === "bytes" && look.bytes.length === 8 && look.lines === 1);
  assert.equal(preview("", "text", "crlf").kind, "empty");
  assert.equal(preview("  ", "hex", "none").kind, "empty");
});

Deno.test("the time a paced paste takes is at least its pauses and its time on the wire [SO08]", () => {
  assert.equal(pacedMs(1000, 10, { charMs: 2, lineMs: 50 }, 115_200), 2500);
  assert.equal(Math.round(pacedMs(960, 1, { charMs: 0, lineMs: 0 }, 9600)), 1000);
});

Deno.test("history: up walks to older entries, down comes back to what was being typed", () => {
  const recall = new Recall();
  recall.items = ["AT+CSQ", "AT"];
  assert.equal(recall.step(-1, "dra"), undefined);
  assert.equal(recall.step(1, "dra"), "AT+CSQ");
  assert.equal(recall.step(1, "AT+CSQ"), "AT");
  assert.equal(recall.step(1, "AT"), undefined);
  assert.equal(recall.step(-1, "AT"), "AT+CSQ");
  assert.equal(recall.step(-1, "AT+CSQ"), "dra");
  recall.add("ATI");
  recall.add("AT");
  assert.deepEqual(recall.items, ["AT", "ATI", "AT+CSQ"]);
});
