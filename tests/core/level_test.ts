import assert from "node:assert/strict";
import { detectLevel } from "../../src/core/level.ts";
import { levelOf } from "../../src/core/line.ts";

const level = (text: string) => {
  const bytes = new TextEncoder().encode(text);
  return levelOf(detectLevel(bytes, 0, bytes.length));
};

const forms = {
  error: [
    "E (123) wifi: no ap",
    "\x1b[0;31mE (4242) boot: bad image\x1b[0m",
    "E (12:34:56.789) tag: text",
    "E/ActivityManager( 585): ANR",
    "ERROR",
    "+CME ERROR: 10",
    "+CMS ERROR: 500",
    "error: no such file",
    "Error: timeout",
    "[ERROR] disk",
    "[error] disk",
    "[ERR] disk",
    "2024-01-02 03:04:05.678 ERROR main: boom",
    "[00:00:01.234,000] <err> bt_hci: no controller",
    "FATAL exception",
    "Kernel panic - not syncing: VFS",
    "[   12.345678] Kernel panic - not syncing",
    "panic: runtime error",
    "Guru Meditation Error: Core 0 panic'ed (LoadProhibited)",
    "assert: x > 0",
    "CRITICAL battery",
    "*** HARDFAULT ***",
  ],
  warn: [
    "W (99) tag: slow",
    "W/Zygote: x",
    "WARN  low battery",
    "warning: x",
    "[warn] y",
    "<wrn> z",
    "12:00:01 WARNING a",
  ],
  debug: ["D (1) a: b", "V (1) a: b", "DEBUG x", "[debug] x", "<dbg> y", "trace: z"],
  info: [
    "I (123) wifi: error counter is 0",
    "",
    "OK",
    "+CSQ: 21,99",
    "no errors found",
    "0 errors, 0 warnings",
    "the word error in running text",
    "terror: x",
    "ERRORS: none",
    "E = mc2",
    "E (x) y",
    "INFO nothing failed, ERROR count 0",
    "$GPGGA,123519,4807.038,N",
    `${"x ".repeat(60)}ERROR far away`,
    "错误",
    "EÒÒ: x",
  ],
} as const;

for (const [wanted, lines] of Object.entries(forms)) {
  Deno.test(`lines of devices that are ${wanted}`, () => {
    for (const line of lines) assert.equal(level(line), wanted, line);
  });
}
