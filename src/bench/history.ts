import { LIMITS } from "../../tools/limits.ts";

/** What was sent lately from a pane: newest first, no entry twice, {@link LIMITS.maxHistory} at most. */
export class History {
  #items: string[] = [];

  get count(): number {
    return this.#items.length;
  }

  /** An entry that is there already moves to the front. An empty one is not kept. */
  add(text: string): void {
    if (text === "") return;
    this.#items = [text, ...this.#items.filter((t) => t !== text)].slice(0, LIMITS.maxHistory);
  }

  newest(limit: number): string[] {
    return this.#items.slice(0, limit);
  }
}
