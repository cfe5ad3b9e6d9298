import { FLAG } from "./line.ts";

/** A level stands near the start of a line or nowhere. */
const LOOK_BYTES = 80;
const ESC = 0x1b;

const WORDS: Readonly<Record<string, number>> = {
  "ERROR ERR FATAL PANIC CRITICAL CRIT EMERG ALERT ASSERT EXCEPTION FAULT HARDFAULT": FLAG.levelError,
  "WARN WARNING WRN": FLAG.levelWarn,
  "DEBUG DBG TRACE VERBOSE": FLAG.levelDebug,
  "INFO INF NOTICE": FLAG.levelInfo,
};
interface LevelWord {
  readonly bytes: Uint8Array;
  readonly level: number;
  readonly panic: boolean;
}
/** By first letter and length (letter × 16 + length), so that nearly every other word costs one look. */
const BY_SHAPE: (LevelWord[] | undefined)[] = new Array(128 * 16).fill(undefined);
for (const [words, level] of Object.entries(WORDS)) {
  for (const word of words.split(" ")) {
    const bytes = new TextEncoder().encode(word);
    (BY_SHAPE[(bytes[0] ?? 0) * 16 + bytes.length] ??= []).push({ bytes, level, panic: word === "PANIC" });
  }
}
const LONGEST = 9;
const LETTERS: Readonly<Record<string, number>> = {
  E: FLAG.levelError,
  F: FLAG.levelError,
  W: FLAG.levelWarn,
  I: FLAG.levelInfo,
  D: FLAG.levelDebug,
  V: FLAG.levelDebug,
};

/** Per byte: bit 0 a letter, bit 1 part of a word (letter, digit, underscore), bit 2 may start a level word. */
const KIND = new Uint8Array(256);
for (let b = 0; b < 256; b++) {
  const char = String.fromCharCode(b);
  if (/[A-Za-z]/.test(char)) KIND[b] = 1 | 2;
  else if (/[0-9_]/.test(char)) KIND[b] = 2;
  else if (b >= 0x80) KIND[b] = 2;
}
for (const words of Object.keys(WORDS)) {
  for (const char of words.match(/\b[A-Z]/g) ?? []) {
    for (const start of [char, char.toLowerCase()]) KIND[start.charCodeAt(0)] = 1 | 2 | 4;
  }
}

/** What may be, or may end, a level word that is not the first word of a line; every other byte is passed over. */
const CAPITAL = 1;
const CLOSER = 2;
const DASH = 3;
const MARK = new Uint8Array(256);
for (const words of Object.keys(WORDS)) {
  for (const char of words.match(/\b[A-Z]/g) ?? []) MARK[char.charCodeAt(0)] = CAPITAL;
}
for (const char of ":]>)") MARK[char.charCodeAt(0)] = CLOSER;
MARK[0x2d] = DASH;

const isUpper = (b: number): boolean => b >= 0x41 && b <= 0x5a;

/** ESP-IDF `E (123) tag: text` and Android `E/tag: text`, at `at`. */
function letterLevel(bytes: Uint8Array, at: number, to: number): number | undefined {
  const next = bytes[at + 1];
  if (next === 0x2f) {
    const b = bytes[at + 2] ?? 0;
    return at + 2 < to && (KIND[b] ?? 0) & 1 ? LETTERS[String.fromCharCode(bytes[at] ?? 0)] : undefined;
  }
  if (next !== 0x20 || bytes[at + 2] !== 0x28) return undefined;
  let i = at + 3;
  // A time: ms since boot, or a clock.
  while (i < to && (((bytes[i] ?? 0) >= 0x30 && (bytes[i] ?? 0) <= 0x3a) || bytes[i] === 0x2e)) i++;
  return i > at + 3 && bytes[i] === 0x29 ? LETTERS[String.fromCharCode(bytes[at] ?? 0)] : undefined;
}

/**
 * The level bits of a line of device output. Known forms, near the start of the line only: the letter of ESP-IDF
 * (`E (123) tag:`) and Android (`E/tag:`); a level word in capitals (`ERROR`, `+CME ERROR: 10`, `[WARN]`); in any
 * case when it comes first, in brackets or before a colon (`error: …`, `<wrn> …`, `Kernel panic - …`,
 * `Guru Meditation Error: …`). A word in running text (`no errors found`) is none.
 */
export function detectLevel(bytes: Uint8Array, from: number, to: number): number {
  let i = from;
  while (i < to && bytes[i] === ESC) {
    // Colours before the level.
    while (i < to && bytes[i] !== 0x6d) i++;
    i++;
  }
  while (i < to && bytes[i] === 0x20) i++;
  const first = bytes[i] ?? 0;
  if (i + 2 < to && isUpper(first) && (bytes[i + 1] === 0x20 || bytes[i + 1] === 0x2f)) {
    const level = letterLevel(bytes, i, to);
    if (level !== undefined) return level;
  }
  const end = Math.min(to, i + LOOK_BYTES);
  // Up to the first word that begins with a letter there are only times, brackets, blanks: that word may be in any case.
  for (let leading = true; leading && i < end;) {
    const kind = KIND[bytes[i] ?? 0] ?? 0;
    const start = i++;
    if (kind === 0) continue;
    while (i < to && ((KIND[bytes[i] ?? 0] ?? 0) & 2) !== 0) i++;
    const level = (kind & 4) === 0 ? undefined : wordLevel(bytes, start, i, to, true);
    if (level !== undefined) return level;
    leading = (kind & 1) === 0;
  }
  return laterLevel(bytes, i, end, to);
}

/**
 * Of the words after the first one, which begin before `end`: only those in capitals count, and those that a colon, a
 * bracket or (`panic -`) a dash follows. So it looks at capitals and at such marks, and at nothing else.
 */
function laterLevel(bytes: Uint8Array, from: number, end: number, to: number): number {
  const marks = Math.min(to, end + LONGEST + 1);
  let level: number | undefined;
  for (let i = from; i < marks; i++) {
    const mark = MARK[bytes[i] ?? 0] ?? 0;
    if (mark === 0) continue;
    if (mark === CAPITAL) {
      if (i >= end || ((KIND[bytes[i - 1] ?? 0] ?? 0) & 2) !== 0) continue;
      let stop = i + 1;
      while (stop < to && ((KIND[bytes[stop] ?? 0] ?? 0) & 2) !== 0) stop++;
      level = wordLevel(bytes, i, stop, to, false);
      if (level !== undefined) return level;
      i = stop - 1;
      continue;
    }
    let stop = i;
    if (mark === DASH && bytes[--stop] !== 0x20) continue;
    let start = stop;
    while (start > from && stop - start <= LONGEST && ((KIND[bytes[start - 1] ?? 0] ?? 0) & 2) !== 0) start--;
    if (start >= end) continue;
    level = wordLevel(bytes, start, stop, to, false);
    if (level !== undefined) return level;
  }
  return FLAG.levelInfo;
}

function wordLevel(bytes: Uint8Array, from: number, to: number, end: number, leading: boolean): number | undefined {
  if (to - from < 3 || to - from > LONGEST || (bytes[from] ?? 0) >= 0x80) return undefined;
  const same = BY_SHAPE[((bytes[from] ?? 0) & 0xdf) * 16 + to - from];
  if (!same) return undefined;
  for (const { bytes: word, level, panic } of same) {
    let capitals = true;
    let i = 0;
    for (; i < word.length; i++) {
      const b = bytes[from + i] ?? 0;
      if ((b & 0xdf) !== word[i]) break;
      if (!isUpper(b)) capitals = false;
    }
    if (i < word.length) continue;
    if (capitals) return level;
    const after = to < end ? bytes[to] : undefined;
    const before = bytes[from - 1];
    const bracketed = (before === 0x5b && after === 0x5d) || (before === 0x3c && after === 0x3e) ||
      (before === 0x28 && after === 0x29);
    if (leading || bracketed || after === 0x3a) return level;
    // `Kernel panic - not syncing`.
    if (panic && after === 0x20 && to + 1 < end && bytes[to + 1] === 0x2d) return level;
  }
  return undefined;
}
