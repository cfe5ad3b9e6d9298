/** What is kept of a log line beside its bytes: 16 bits, stored with each record of a ring. */
export const FLAG = {
  /** Who caused it: bits 0-1. */
  srcMask: 0b11,
  srcNone: 0,
  srcAi: 1,
  srcUi: 2,
  /** Direction: bits 2-3. */
  dirMask: 0b11 << 2,
  dirNone: 0,
  dirRx: 1 << 2,
  dirTx: 2 << 2,
  /** Level: bits 4-5. */
  levelMask: 0b11 << 4,
  levelInfo: 0,
  levelDebug: 1 << 4,
  levelWarn: 2 << 4,
  levelError: 3 << 4,
  /** What ended it: bits 6-7. The end itself is not among the stored bytes. */
  eolMask: 0b11 << 6,
  eolNone: 0,
  eolLf: 1 << 6,
  eolCr: 2 << 6,
  eolCrLf: 3 << 6,
  /** Longer than the cap: it goes on in the next record. */
  continues: 1 << 8,
  /** It is the rest of the record before. */
  continued: 1 << 9,
  /** A frame of bytes (hex view), not a line of text: shown as hex pairs. */
  frame: 1 << 10,
  /** Holds bytes of 0x80 and more. */
  high: 1 << 11,
  /** Holds bytes under 0x20, or 0x7f. */
  control: 1 << 12,
  /** Cut at the cap (messages only): the record's raw size tells the real one. */
  cut: 1 << 13,
} as const;

export type Level = "debug" | "info" | "warn" | "error";
export type Direction = "none" | "rx" | "tx";
export type Source = "none" | "ai" | "ui";

const LEVELS = ["info", "debug", "warn", "error"] as const;
const DIRECTIONS = ["none", "rx", "tx", "none"] as const;
const SOURCES = ["none", "ai", "ui", "none"] as const;

export const levelOf = (flags: number): Level => LEVELS[(flags & FLAG.levelMask) >> 4] ?? "info";
export const directionOf = (flags: number): Direction => DIRECTIONS[(flags & FLAG.dirMask) >> 2] ?? "none";
export const sourceOf = (flags: number): Source => SOURCES[flags & FLAG.srcMask] ?? "none";
export const levelFlag = (level: Level): number => LEVELS.indexOf(level) << 4;
export const directionFlag = (dir: Direction): number => DIRECTIONS.indexOf(dir) << 2;
export const sourceFlag = (src: Source): number => SOURCES.indexOf(src);

/** Receives finished lines: `bytes[from, to)` is only valid during the call. `t` is ms on the monotonic clock. */
export type LineSink = (t: number, flags: number, bytes: Uint8Array, from: number, to: number) => void;
