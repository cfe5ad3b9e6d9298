import { CAPITALISED, COSTS, LOWER, SIGNS, UPPER } from "./token_costs.ts";

/*
 * The o200k tokenizer cuts text into words, numbers of three digits, signs and blanks, then merges bytes in each. The
 * first step is done here as it does it. The second would need its 200,000 merges; instead: exact for common words
 * and signs, the cost of each single character for other scripts, and for everything else what random letters cost.
 */

const lower = new Set(LOWER.split(" "));
const capitalised = new Set(CAPITALISED.split(" "));
const upper = new Set(UPPER.split(" "));
const signs = new Set(SIGNS.split(" "));

/** Pairs of letters that common words have: a long word with others too is no word but noise. */
const usual = new Uint8Array(26 * 26);
for (const word of lower) {
  for (let i = 1; i < word.length; i++) {
    const at = (word.charCodeAt(i - 1) - 97) * 26 + word.charCodeAt(i) - 97;
    usual[at] = Math.min(255, (usual[at] ?? 0) + 1);
  }
}
const USUAL = 12;

interface CostRange {
  readonly first: number;
  readonly costs: Uint8Array;
}
const ranges: CostRange[] = COSTS.map(([first, runs]) => {
  const costs: number[] = [];
  for (const [, cost = "c", length] of runs.matchAll(/([a-d])([0-9A-Z]*)/g)) {
    const count = length ? Number.parseInt(length, 36) : 1;
    for (let i = 0; i < count; i++) costs.push(cost.charCodeAt(0) - 96);
  }
  return { first, costs: Uint8Array.from(costs) };
});

function costOf(codePoint: number): number {
  for (const { first, costs } of ranges) {
    if (codePoint >= first && codePoint < first + costs.length) return costs[codePoint - first] ?? 3;
  }
  return codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
}

const isUpper = (c: number): boolean => c >= 65 && c <= 90;
const isLower = (c: number): boolean => c >= 97 && c <= 122;
const isDigit = (c: number): boolean => c >= 48 && c <= 57;
const isBlank = (c: number): boolean => c === 32 || (c >= 9 && c <= 13);

/** Letters that are no known word: what random ones cost. */
const noise = (letters: number): number => letters < 2 ? letters : 0.8 + 0.545 * letters;

function lowerCost(text: string, from: number, to: number): number {
  const n = to - from;
  if (n < 3) {
    return n === 2 && (usual[(text.charCodeAt(from) - 97) * 26 + text.charCodeAt(from + 1) - 97] ?? 0) > 0
      ? 1
      : noise(n);
  }
  if (n < 16 && lower.has(text.slice(from, to))) return 1;
  return wordCost(text, from, to);
}

function wordCost(text: string, from: number, to: number): number {
  const n = to - from;
  if (n < 5) return noise(n);
  let rare = 0;
  for (let i = from + 1; i < to; i++) {
    const at = ((text.charCodeAt(i - 1) | 32) - 97) * 26 + text.charCodeAt(i) - 97;
    if ((usual[at] ?? 0) < USUAL) rare++;
  }
  return Math.min(noise(n), 1.2 + 0.17 * n + 0.8 * rare);
}

function lettersCost(text: string, from: number, middle: number, to: number): number {
  const big = middle - from;
  if (big === 0) return lowerCost(text, from, to);
  if (middle === to) return big > 2 && big < 16 && upper.has(text.slice(from, to)) ? 1 : big < 2 ? 1 : 0.9 + 0.59 * big;
  if (big > 1) return 0.9 + 0.59 * big + noise(to - middle);
  return to - from > 2 && capitalised.has(text.slice(from, to)) ? 1 : wordCost(text, from, to) + 0.2;
}

function signsCost(text: string, from: number, to: number): number {
  const n = to - from;
  if (n === 1) return 1;
  if (n <= 6 && signs.has(text.slice(from, to))) return 1;
  const first = text.charCodeAt(from);
  let same = from + 1;
  while (same < to && text.charCodeAt(same) === first) same++;
  if (first < 32 || first === 127) return n;
  return same === to ? 1 + n / 12 : 0.35 + 0.7 * n;
}

/**
 * About how many o200k tokens the text costs, as a sum that may be added up over parts of a text: without the margin
 * that {@link estimateTokens} adds for short ones.
 */
export function tokenWeight(text: string): number {
  const n = text.length;
  let sum = 0;
  let i = 0;
  while (i < n) {
    const from = i;
    const c = text.charCodeAt(i);
    if (isUpper(c) || isLower(c)) {
      while (i < n && isUpper(text.charCodeAt(i))) i++;
      const middle = i;
      while (i < n && isLower(text.charCodeAt(i))) i++;
      sum += lettersCost(text, from, middle, i);
    } else if (isDigit(c)) {
      while (i < n && isDigit(text.charCodeAt(i))) i++;
      sum += Math.ceil((i - from) / 3);
    } else if (isBlank(c)) {
      while (i < n && text.charCodeAt(i) === c) i++;
      if (c !== 32) {
        // CRLF is one.
        sum += c === 10 && i - from === 1 && text.charCodeAt(from - 1) === 13 ? 0 : Math.ceil((i - from) / 12);
        continue;
      }
      // The last blank goes with the word after it, but not with a number.
      if (i - from > 1) sum += Math.ceil((i - from - 1) / 60);
      const next = text.charCodeAt(i);
      if (i === n || isDigit(next) || isBlank(next)) sum += 1;
    } else if (c < 0x80) {
      while (i < n) {
        const d = text.charCodeAt(i);
        if (d >= 0x80 || isBlank(d) || isDigit(d) || isUpper(d) || isLower(d)) break;
        i++;
      }
      // `\x` is one.
      if (i - from === 1 && c === 92 && text.charCodeAt(i) === 120) i++;
      sum += signsCost(text, from, c === 92 && i - from === 2 && text.charCodeAt(from + 1) === 120 ? from + 1 : i);
    } else {
      const codePoint = text.codePointAt(i) ?? 0;
      i += codePoint > 0xffff ? 2 : 1;
      sum += costOf(codePoint);
    }
  }
  return sum;
}

/** Tokens (o200k) that a text costs an agent at most; cheap, and rather over than under. */
export const estimateTokens = (text: string): number => text === "" ? 0 : Math.ceil(tokenWeight(text) + 3);
