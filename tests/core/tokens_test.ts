import assert from "node:assert/strict";
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { estimateTokens } from "../../src/core/tokens.ts";

const bytes = fc.uint8Array({ maxLength: 2000, size: "max" });
const words = (list: string, gap = " ") =>
  fc.array(fc.constantFrom(...list.split(" ")), { maxLength: 200, size: "max" }).map((parts) => parts.join(gap));
const chars = (from: number, to: number) =>
  fc.array(fc.integer({ min: from, max: to }), { maxLength: 200, size: "max" }).map((list) =>
    list.map((c) => String.fromCodePoint(c)).join("").toWellFormed()
  );

const english =
  "the quick brown fox jumps over a lazy dog while initialising peripherals, timeout expired after retransmission; " +
  "Unfortunately nobody noticed misaligned accelerometer calibration Bluetooth firmware re-enumerates don't won't it's";
const code =
  "const x = await fn(a[i]?.b ?? 0x1F); } else { return `${name}: ${value}`; // TODO: => !== && || #include <stdio.h> " +
  "std::vector<int>& snake_case_name camelCaseName SCREAMING_CASE __init__ /dev/ttyUSB0 --flag=1";
const log =
  'I (12345) wifi: state: init -> auth (b0) ERROR [0x3ffb1234] rssi=-42 2026-01-02T03:04:05.678Z {"seq":1,"dir":"rx"} ' +
  "AT+CSQ +CSQ: 21,99 OK $GPGGA,123519,4807.038,N*47";
const russian = "Ошибка подключения устройство не отвечает проверьте кабель питание Повтор через пять секунд ёж съёмка";

const kinds: Record<string, fc.Arbitrary<string>> = {
  "English": words(english),
  "code": words(code),
  "logs": words(log),
  "code without blanks": words(code, ""),
  "base64": bytes.map((b) => b.toBase64()),
  "hex": bytes.map((b) => b.toHex()),
  "hex pairs": bytes.map((b) => b.toHex().toUpperCase().replace(/../g, "$& ")),
  "random bytes as Latin-1": bytes.map((b) => new TextDecoder("latin1").decode(b)),
  "random bytes in escapes": bytes.map((b) =>
    Array.from(b, (x) => `\\x${x.toString(16).padStart(2, "0").toUpperCase()}`).join("")
  ),
  "random printable ASCII": chars(32, 126),
  "random letters": chars(97, 122),
  "CJK": chars(0x4e00, 0x9fff),
  "Hangul": chars(0xac00, 0xd7a3),
  "Cyrillic words": words(russian),
  "Cyrillic letters": chars(0x410, 0x44f),
  "Greek, Hebrew, Arabic, Hindi": chars(0x370, 0x97f),
  "emoji": chars(0x1f300, 0x1faff),
  "any characters": chars(0, 0xd7ff),
  "blanks": fc.array(fc.constantFrom(" ", "  ", "\n", "\r\n", "\t", "x", "1", "."), { maxLength: 100, size: "max" })
    .map((parts) => parts.join("")),
};

for (const [kind, text] of Object.entries(kinds)) {
  Deno.test(`the token estimate is never under the real count: ${kind}`, () => {
    fc.assert(
      fc.property(text, (given) => {
        const real = countTokens(given);
        assert.ok(estimateTokens(given) >= real, `${estimateTokens(given)} < ${real}`);
      }),
      { numRuns: 60 },
    );
  });
}

Deno.test("the token estimate is close for what our answers are made of", () => {
  const rows = Array.from(
    { length: 300 },
    (_, i) => `[+${i * 31}] [rx] I (${12345 + i * 13}) wifi: state: auth rssi=-${40 + i % 40}`,
  );
  const lines = rows.map((text, i) => ({
    seq: 1000 + i,
    ts: new Date(1.7e12 + i * 137).toISOString(),
    t: 12345.6 + i * 137,
    level: "info",
    dir: "rx",
    src: "none",
    bytes: text.length,
    rawBytes: text.length,
    text,
  }));
  for (const text of [rows.join("\n"), JSON.stringify(lines)]) {
    const ratio = estimateTokens(text) / countTokens(text);
    assert.ok(ratio >= 1 && ratio < 1.25, `${ratio}`);
  }
  assert.equal(estimateTokens(""), 0);
});
