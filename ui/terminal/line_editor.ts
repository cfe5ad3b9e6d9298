/** A line that is typed here, shown here, and sent whole. Pure. */

export interface Typed {
  /** What the terminal is to show. */
  echo: string;
  /** Whole lines, without their ends, to send; each with the pane's line ending. */
  lines: string[];
  /** Control keys that go out at once, as they are. */
  keys: string;
}

const ERASE = "\b \b";
/** Wide characters take two cells. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

export class LineEditor {
  #line: string[] = [];
  #history: string[] = [];
  #at = 0;

  get line(): string {
    return this.#line.join("");
  }

  /** Takes what was typed or pasted. */
  input(data: string): Typed {
    const out: Typed = { echo: "", lines: [], keys: "" };
    if (data === "\x1b[A" || data === "\x1bOA") return this.#recall(out, -1);
    if (data === "\x1b[B" || data === "\x1bOB") return this.#recall(out, 1);
    // Other keys that move within a line have no meaning here.
    if (data.startsWith("\x1b")) return out;
    for (const char of data.replaceAll("\r\n", "\r")) {
      if (char === "\r" || char === "\n") {
        out.echo += "\r\n";
        out.lines.push(this.line);
        if (this.line !== "") this.#history.push(this.line);
        this.#at = this.#history.length;
        this.#line = [];
      } else if (char === "\x7f" || char === "\b") {
        const gone = this.#line.pop();
        if (gone !== undefined) out.echo += WIDE.test(gone) ? ERASE + ERASE : ERASE;
      } else if (char === "\x15") out.echo += this.#erase();
      else if (char === "\x03" || char === "\x04" || char === "\x1a") {
        // To break off, to end: the device is to see them at once, and what was typed is void.
        out.echo += this.#erase();
        out.keys += char;
      } else if (char >= " " || char === "\t") {
        this.#line.push(char);
        out.echo += char;
      }
    }
    return out;
  }

  #erase(): string {
    const echo = this.#line.map((c) => WIDE.test(c) ? ERASE + ERASE : ERASE).join("");
    this.#line = [];
    return echo;
  }

  #recall(out: Typed, by: number): Typed {
    const at = Math.max(0, Math.min(this.#history.length, this.#at + by));
    if (at === this.#at) return out;
    this.#at = at;
    out.echo = this.#erase();
    const line = this.#history[at] ?? "";
    this.#line = [...line];
    out.echo += line;
    return out;
  }
}
