import assert from "node:assert/strict";
import { LIMITS, TOOLS } from "../../tools/mod.ts";
import { ROOT } from "../rigs/server.ts";

/** Limit → a test that breaks when it is not enforced: the folder of the test, and a part of its name. */
const PROOF: Readonly<Record<string, [folder: string, name: string]>> = {
  maxSessions: ["mcp", "a fifth session takes the place"],
  sessionQueue: ["mcp", "257 notifications without a reader"],
  heartbeatSecs: ["mcp", "an idle stream carries a comment at least every 15 seconds"],
  maxBodyBytes: ["mcp", "a body of 1 MiB is taken, one byte more is 413"],
  toolsPage: ["mcp", "tools of controls follow the built-in ones by 50 a page"],
  idleTimeoutSecs: ["mcp", "a session without calls for 30 minutes is gone"],
  rateLimitPerMin: ["mcp", "the 61st call within a minute is -32000"],
  sessionQueueChars: ["mcp", "notifications that are too large to wait are dropped like too many"],
  maxListeners: ["mcp", "there are so many event streams of subscribers and no more"],
  maxBatch: ["mcp", "a batch is answered as one on 2025-03-26"],
  maxJsonDepth: ["mcp", "a body of a million nested brackets is refused"],
  maxPages: ["page", "more pages than the limit, all at once, are turned away"],
  maxCallRecords: ["mcp", "mcp_calls gives at most so many records"],
  callLogTailBytes: ["mcp", "older records than the end of the file are not looked at"],
  protocolVersion: ["mcp", "each version that is asked for is agreed"],
  protocolFallback: ["mcp", "over SSE a POST is answered 202"],
  maxAnswerTokens: ["bench", "no page costs over 20,000 tokens"],
  maxSummaryChars: ["mcp", "no summary is longer than 600 characters"],
  logMaxLineBytes: ["core", "endless data without a line break is given in marked parts of at most 8 KiB"],
  logTotalCapBytes: ["bench", "over 16 MiB in all the largest channel is cut"],
  logMaxChannels: ["bench", "the 65th channel is not made"],
  logCapSerialBytes: ["bench", "a serial channel past its cap drops the oldest lines"],
  logCapWslBytes: ["bench", "with the caps of the limits"],
  logCapAdbBytes: ["bench", "with the caps of the limits"],
  logCapBleBytes: ["bench", "with the caps of the limits"],
  logCapOtherBytes: ["bench", "with the caps of the limits"],
  maxLogReadLines: ["handlers", "asked for more lines than 2,000"],
  maxLogSearchHits: ["handlers", "limit bounds fragments"],
  maxSearchPatternChars: ["handlers", "an empty, too long or bad pattern is refused"],
  maxSearchContextLines: ["handlers", "context gives at most so many lines"],
  searchTimeoutMs: ["bench", "a regular expression that never ends is stopped at its limit"],
  minBaud: ["handlers", "a baud rate out of range"],
  maxBaud: ["handlers", "a baud rate out of range"],
  maxPanes: ["handlers", "a write to the next free name makes the pane, up to sixteen"],
  maxSendChars: ["handlers", "64 K characters go whole, one more is refused"],
  maxHistory: ["handlers", "fifty are kept"],
  maxHistoryRead: ["handlers", "a limit over 200 is cut"],
  serialOpenWaitMs: ["handlers", "a driver that never opens is given up after six seconds"],
  serialCloseWaitMs: ["handlers", "a driver that never closes"],
  deviceTimeoutMs: ["bench", "a send that is blocked"],
  hexFrameGapMs: ["bench", "a frame ends after a silence by itself"],
  hexRowBytes: ["core", "in frames mode a silence or a full row ends a row"],
  maxUiSetItems: ["page", "200 items and 8,192 characters are taken, one more is refused"],
  maxUiSetValueChars: ["page", "200 items and 8,192 characters are taken, one more is refused"],
  maxUiListPage: ["page", "cuts a limit over 500"],
  maxUiInFlight: ["page", "32 requests in flight, one more is refused"],
  uiTimeoutMs: ["page", "-32004 after five seconds"],
  maxCtlTools: ["page", "of 500 controls 400 are tools"],
  maxBleDevicePage: ["page", "a limit out of range is refused"],
};

/** Limits of tools that are not there yet: the beginning of their names. */
const LATER: Readonly<Record<string, string>> = {
  maxQuickCmd: "serial_quick_cmd",
  maxBle: "ble_",
  bleConnect: "ble_",
  maxAdb: "adb_",
};

Deno.test("each limit that mcp_limits reports has a test that shows it enforced [C307]", async () => {
  const sources = new Map<string, string>();
  for (const folder of new Set(Object.values(PROOF).map(([f]) => f))) {
    let text = "";
    for await (const entry of Deno.readDir(`${ROOT}tests/${folder}`)) {
      if (entry.name.endsWith("_test.ts")) text += await Deno.readTextFile(`${ROOT}tests/${folder}/${entry.name}`);
    }
    sources.set(folder, text);
  }
  for (const limit of Object.keys(LIMITS)) {
    const later = Object.entries(LATER).find(([prefix]) => limit.startsWith(prefix) && !(limit in PROOF))?.[1];
    if (later !== undefined && !TOOLS.some((t) => t.name.startsWith(later))) continue;
    const proof = PROOF[limit];
    assert.ok(proof, `${limit}: name a test that shows it enforced in PROOF`);
    const [folder, name] = proof;
    const pattern = new RegExp(
      `(Deno\\.test\\(|name: )\\s*["\`][^"\`]*${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}`,
    );
    assert.match(sources.get(folder) ?? "", pattern, `${limit}: no test in tests/${folder} is named so: ${name}`);
  }
});
