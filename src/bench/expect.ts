/** What an {@link Expectation} found in what came. */
export interface Expected {
  /** Everything that came before the match. */
  before: string;
  match: string;
  /** Groups of a regular expression. */
  groups: string[];
  /** What had come after the match by then. */
  after: string;
}

/** Text that is held back for a match; the oldest goes beyond this. */
const MAX_HELD_CHARS = 262_144;

/**
 * Looks for a text or a pattern in a stream of bytes, wherever it is cut. It only knows what was pushed, so stale data
 * cannot match. In a pattern `$` is the end of what has come so far, or with the flag `m` the end of a line: a prompt is
 * better told by its own characters, such as `/\$ /`.
 */
export class Expectation {
  readonly #pattern: string | RegExp;
  readonly #decoder = new TextDecoder();
  #held = "";

  constructor(pattern: string | RegExp) {
    this.#pattern = typeof pattern === "string"
      ? pattern
      : new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""));
  }

  /** What came and did not match. */
  get seen(): string {
    return this.#held;
  }

  push(bytes: Uint8Array): Expected | undefined {
    this.#held += this.#decoder.decode(bytes, { stream: true });
    const found = this.#find();
    if (!found && this.#held.length > MAX_HELD_CHARS) this.#held = this.#held.slice(-MAX_HELD_CHARS);
    return found;
  }

  #find(): Expected | undefined {
    const [index, match, groups] = this.#locate();
    if (index < 0) return undefined;
    return {
      before: this.#held.slice(0, index),
      match,
      groups,
      after: this.#held.slice(index + match.length),
    };
  }

  #locate(): [number, string, string[]] {
    if (typeof this.#pattern === "string") return [this.#held.indexOf(this.#pattern), this.#pattern, []];
    const found = this.#pattern.exec(this.#held);
    return found ? [found.index, found[0], found.slice(1).map((g) => g ?? "")] : [-1, "", []];
  }
}
