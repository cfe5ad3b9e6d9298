import { invalid } from "./errors.ts";
import { FLAG } from "./line.ts";
import { renderText } from "./text.ts";

export interface SearchSpec {
  pattern: string;
  /** JavaScript syntax with the u flag; otherwise the pattern is literal. */
  regex: boolean;
  caseSensitive: boolean;
}

/** The expression that a search means, also of a literal one. Throws -32602 with the reason for a bad pattern. */
export function compilePattern({ pattern, regex, caseSensitive }: SearchSpec): RegExp {
  if (pattern === "") throw invalid("pattern must not be empty");
  try {
    return new RegExp(regex ? pattern : RegExp.escape(pattern), caseSensitive ? "gu" : "giu");
  } catch (error) {
    throw invalid(`Bad regular expression: ${error instanceof Error ? error.message : error}`, { pattern });
  }
}

/** Places where the expression (flags g and u) matches, left to right; empty matches are none. At most `most`. */
export function placesIn(text: string, expression: RegExp, most = Infinity): string[] {
  const found: string[] = [];
  expression.lastIndex = 0;
  for (let match; found.length < most && (match = expression.exec(text)) !== null;) {
    if (match[0] === "") {
      // Past a whole character, as the u flag counts.
      expression.lastIndex += (text.codePointAt(expression.lastIndex) ?? 0) > 0xffff ? 2 : 1;
    } else {
      found.push(match[0]);
    }
  }
  return found;
}

/** Lower case by byte, for ASCII. */
const FOLD = Uint8Array.from({ length: 256 }, (_, b) => b >= 65 && b <= 90 ? b + 32 : b);
const SAME = Uint8Array.from({ length: 256 }, (_, b) => b);
const ESC = 0x1b;

/** Finds a literal in records: on the bytes where they are the text, else in the rendered text. */
export class LiteralFinder {
  readonly #expression: RegExp;
  /** The pattern in bytes (folded); undefined when it is not ASCII and so cannot be in a plain line. */
  readonly #needle: Uint8Array | undefined;
  readonly #fold: Uint8Array;
  /** Horspool: how far on after this last byte. */
  readonly #skip = new Uint16Array(256);

  constructor(pattern: string, caseSensitive: boolean) {
    this.#expression = compilePattern({ pattern, regex: false, caseSensitive });
    this.#fold = caseSensitive ? SAME : FOLD;
    // The two characters outside ASCII that Unicode folds into it.
    const plain = caseSensitive ? pattern : pattern.replaceAll("\u212a", "k").replaceAll("\u017f", "s");
    // deno-lint-ignore no-control-regex
    if (!/^[\x00-\x7f]*$/.test(plain)) return;
    const needle = new TextEncoder().encode(plain).map((b) => this.#fold[b] ?? b);
    this.#needle = needle;
    this.#skip.fill(needle.length);
    needle.subarray(0, -1).forEach((b, i) => this.#skip[b] = needle.length - 1 - i);
  }

  /** How many places a record has; overlaps count once. */
  count(bytes: Uint8Array, from: number, to: number, flags: number): number {
    if (!this.#bytesAreText(bytes, from, to, flags)) {
      return placesIn(renderText(bytes.subarray(from, to), flags), this.#expression).length;
    }
    let count = 0;
    for (let at = this.#find(bytes, from, to); at >= 0; at = this.#find(bytes, at, to)) count++;
    return count;
  }

  /** Whether a record has a place at all. */
  has(bytes: Uint8Array, from: number, to: number, flags: number): boolean {
    if (this.#bytesAreText(bytes, from, to, flags)) return this.#find(bytes, from, to) >= 0;
    return placesIn(renderText(bytes.subarray(from, to), flags), this.#expression, 1).length > 0;
  }

  /** The text of each place in a record. */
  places(bytes: Uint8Array, flags: number): string[] {
    return placesIn(renderText(bytes, flags), this.#expression);
  }

  #bytesAreText(bytes: Uint8Array, from: number, to: number, flags: number): boolean {
    if (flags & (FLAG.high | FLAG.frame)) return false;
    if (flags & FLAG.control) { for (let i = from; i < to; i++) if (bytes[i] === ESC) return false; }
    return true;
  }

  /** The end of the next place; -1 when there is none. */
  #find(bytes: Uint8Array, from: number, to: number): number {
    const needle = this.#needle;
    if (!needle) return -1;
    const fold = this.#fold;
    const skip = this.#skip;
    const last = needle.length - 1;
    const end = needle[last];
    if (last === 0) {
      for (let i = from; i < to; i++) if (fold[bytes[i] ?? 0] === end) return i + 1;
      return -1;
    }
    for (let i = from + last; i < to;) {
      const b = fold[bytes[i] ?? 0] ?? 0;
      if (b === end) {
        let k = 1;
        while (k <= last && fold[bytes[i - k] ?? 0] === needle[last - k]) k++;
        if (k > last) return i + 1;
      }
      i += skip[b] ?? 1;
    }
    return -1;
  }
}
