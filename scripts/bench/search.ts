/**
 * Search over one million lines, and bytes through line assembler and ring, against the plainest JavaScript in the same
 * run: `String.includes` and `RegExp` over an array of the same lines, and a loop that only looks at every byte.
 *
 * deno run -A scripts/bench/search.ts [LINES]
 */
import { LogHub } from "../../src/bench/log_hub.ts";
import { LogSearch, type SearchRequest } from "../../src/bench/log_search.ts";
import { LineAssembler } from "../../src/core/line_assembler.ts";
import { FLAG } from "../../src/core/line.ts";
import { detectLevel } from "../../src/core/level.ts";
import { LineRing } from "../../src/core/ring.ts";

const LINES = Number(Deno.args[0] ?? 1_000_000);
const ROUNDS = 5;
const encoder = new TextEncoder();

const lineOf = (i: number): string =>
  `I (${1000 + i * 13}) wifi: state: init -> auth (b0) rssi=-${40 + i % 50} retry ${i}${
    i % 1000 === 7 ? " ERROR timeout" : ""
  }`;
const lines = Array.from({ length: LINES }, (_, i) => lineOf(i));

const hub = new LogHub({ capOf: () => LINES * 120, totalCapBytes: LINES * 240 });
const stream = hub.stream("serial:main:rx", "rx");
for (const line of lines) stream.push(encoder.encode(`${line}\n`), hub.now(), "none");
const channel = hub.find("serial:main:rx");
if (!channel || channel.ring.lines !== LINES) throw new Error("the log does not hold all lines");

/** The best of some rounds, ms; and the longest time in which nobody else got a turn. */
async function time(run: () => unknown): Promise<{ ms: number; gap: number }> {
  let ms = Infinity;
  let gap = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    let longest = 0;
    let last = performance.now();
    const turns = setInterval(() => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }, 1);
    const began = performance.now();
    await run();
    const took = performance.now() - began;
    longest = Math.max(longest, performance.now() - last);
    clearInterval(turns);
    if (took < ms) ms = took;
    gap = Math.min(gap, longest);
  }
  return { ms, gap };
}

const search = new LogSearch();
const never = new AbortController().signal;
const run = async (request: Omit<SearchRequest, "channels" | "mode" | "limit">) =>
  (await search.run({ channels: [channel], mode: "count", limit: 100, ...request }, never)).total;
const escaped = (pattern: string) => RegExp.escape(pattern);
const countBy = (test: (line: string) => boolean) => {
  let count = 0;
  for (const line of lines) if (test(line)) count++;
  return count;
};

const cases = [
  { name: "literal, rare, case as given", pattern: "ERROR timeout", regex: false, caseSensitive: true },
  { name: "literal, rare, any case", pattern: "error timeout", regex: false, caseSensitive: false },
  { name: "literal, in every line, any case", pattern: "RSSI=-", regex: false, caseSensitive: false },
  { name: "literal, one letter, any case", pattern: "z", regex: false, caseSensitive: false },
  { name: "regular, rare, case as given", pattern: "ERR\\w+ t\\w+t$", regex: true, caseSensitive: true },
  { name: "regular, any case", pattern: "rssi=-4[12]\\b", regex: true, caseSensitive: false },
];
console.log(`${LINES} lines, ${(channel.ring.bytes / 1e6).toFixed(1)} MB in the ring; best of ${ROUNDS} rounds`);
console.log("search".padEnd(36), "ours ms", "loop held ms", "baseline ms", "ours/baseline");
for (const { name, ...request } of cases) {
  const { pattern, regex, caseSensitive } = request;
  const expression = new RegExp(regex ? pattern : escaped(pattern), caseSensitive ? "u" : "iu");
  const plain = !regex && caseSensitive;
  const base = await time(() =>
    plain ? countBy((line) => line.includes(pattern)) : countBy((line) => expression.test(line))
  );
  const wanted = countBy((line) => expression.test(line));
  const found = await run(request);
  if (found !== wanted) throw new Error(`${name}: ${found} lines, ${wanted} wanted`);
  const ours = await time(() => run(request));
  console.log(
    name.padEnd(36),
    ours.ms.toFixed(1).padStart(7),
    ours.gap.toFixed(1).padStart(12),
    base.ms.toFixed(1).padStart(11),
    (ours.ms / base.ms).toFixed(2).padStart(13),
  );
}
search.close();
hub.close();

const CHUNK = 4096;
const mix: Record<string, Uint8Array> = {
  "log lines": encoder.encode(lines.slice(0, 20_000).join("\r\n")),
  "short lines": encoder.encode("+CSQ: 21,99\r\nOK\r\n".repeat(80_000)),
  "Chinese lines": encoder.encode("温度传感器读数正常，二十一度\n".repeat(30_000)),
  "no line end": encoder.encode("hello".repeat(300_000)),
  "random bytes": new Uint8Array(1_310_720).map((_, i) => Math.imul(i + 1, 2654435761) >>> 24),
};
const chunksOf = (bytes: Uint8Array) =>
  Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, i) => bytes.subarray(i * CHUNK, (i + 1) * CHUNK));
console.log(`\nbytes in chunks of ${CHUNK}`.padEnd(37), "   MB/s", "look MB/s", "ours/look");
for (const [name, bytes] of Object.entries(mix)) {
  const chunks = chunksOf(bytes);
  const ring = new LineRing(524_288);
  const assembler = new LineAssembler(
    (t, flags, from, start, end) => ring.append(t, flags, end - start, from, start, end),
    {
      flags: FLAG.dirRx,
      level: detectLevel,
    },
  );
  const repeats = Math.ceil(30e6 / bytes.length);
  const size = repeats * bytes.length / 1e3;
  const ours = await time(() => {
    for (let i = 0; i < repeats; i++) for (const chunk of chunks) assembler.push(chunk, i);
  });
  let sum = 0;
  const look = await time(() => {
    for (let i = 0; i < repeats; i++) {
      for (const chunk of chunks) for (let k = 0; k < chunk.length; k++) sum += chunk[k] === 10 ? 1 : 0;
    }
  });
  if (sum < 0) throw new Error("unreachable");
  console.log(
    name.padEnd(36),
    (size / ours.ms).toFixed(0).padStart(7),
    (size / look.ms).toFixed(0).padStart(9),
    (look.ms / ours.ms).toFixed(2).padStart(9),
  );
}
console.log("\nAgain: deno run -A scripts/bench/search.ts");
