/** What a send bar would send, worked out before it does. Pure. */
import { type HexFault, parseHex } from "../../src/core/hex_input.ts";

export type Ending = "crlf" | "lf" | "cr" | "none";
export const ENDINGS: Readonly<Record<Ending, string>> = { crlf: "\r\n", lf: "\n", cr: "\r", none: "" };

export type Preview =
  | { kind: "empty" }
  | { kind: "bytes"; bytes: Uint8Array; lines: number }
  /** 1-based column of the first wrong character in `line`, which is the line of the input that holds it. */
  | { kind: "bad"; fault: HexFault; what: string; column: number; line: string };

const encoder = new TextEncoder();

/** Text as it goes out: each line of a paste gets the pane's line ending, the last one too. */
export function textBytes(text: string, ending: Ending): Uint8Array<ArrayBuffer> {
  const end = ENDINGS[ending];
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n");
  // Without an ending the breaks of a paste stay as they were typed.
  const joined = ending === "none" ? lines.join("\n") : lines.join(end) + end;
  return encoder.encode(joined);
}

export const lineCount = (text: string): number =>
  text === "" ? 0 : text.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n").length;

export function preview(text: string, mode: "text" | "hex", ending: Ending): Preview {
  if (mode === "hex") {
    if (text.trim() === "") return { kind: "empty" };
    const parsed = parseHex(text);
    if ("bytes" in parsed) return { kind: "bytes", bytes: parsed.bytes, lines: 1 };
    return { kind: "bad", fault: parsed.fault, what: parsed.what, column: parsed.column, line: text };
  }
  if (text === "") return { kind: "empty" };
  return { kind: "bytes", bytes: textBytes(text, ending), lines: lineCount(text) };
}

export function hexPairs(bytes: Uint8Array, most: number): string {
  const pairs: string[] = [];
  for (let i = 0; i < Math.min(bytes.length, most); i++) {
    pairs.push((bytes[i] ?? 0).toString(16).toUpperCase().padStart(2, "0"));
  }
  return pairs.join(" ") + (bytes.length > most ? " …" : "");
}

/** How long paced sending takes at least, in ms. */
export function pacedMs(
  bytes: number,
  lines: number,
  pacing: { charMs: number; lineMs: number },
  baud: number,
): number {
  // Ten bits a byte on the wire.
  const wire = (bytes * 10_000) / Math.max(1, baud);
  return Math.max(wire, bytes * pacing.charMs) + lines * pacing.lineMs;
}

/** Lines of a history, newest first, walked with the arrow keys; what was being typed is kept at the start. */
export class Recall {
  #items: readonly string[] = [];
  #at = -1;
  #draft = "";
  set items(items: readonly string[]) {
    this.#items = items;
    this.#at = -1;
  }
  get items(): readonly string[] {
    return this.#items;
  }
  add(item: string): void {
    this.items = [item, ...this.#items.filter((one) => one !== item)].slice(0, 50);
  }
  /** The older (+1) or newer (-1) entry; undefined at the end. */
  step(by: 1 | -1, now: string): string | undefined {
    const next = this.#at + by;
    if (next < -1 || next >= this.#items.length) return undefined;
    if (this.#at === -1) this.#draft = now;
    this.#at = next;
    return next === -1 ? this.#draft : this.#items[next];
  }
  /** Something else was typed: walk from the start again. */
  reset(): void {
    this.#at = -1;
  }
}
