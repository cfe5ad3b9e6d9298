import type { PageState } from "../core/page_protocol.ts";

export type PartName = keyof PageState;
/** How each part is made. Called at most once a tick; may wait for the ports of this computer. */
export type PartMakers = { readonly [K in PartName]: () => PageState[K] | Promise<PageState[K]> };

/** These say themselves when they change; the others are made anew at each tick and compared. */
const TOLD: ReadonlySet<PartName> = new Set(["ports", "calls", "asks", "settings"]);
const NAMES = ["panes", "ports", "channels", "server", "calls", "asks", "settings"] as const;

/**
 * The state as pages see it, part by part: made anew at a steady pace, handed on only where it differs. One feed for
 * all pages. A part is compared as text, so that two equal ones are never sent.
 */
export class StateFeed {
  readonly #makers: PartMakers;
  readonly #onProblem: (part: PartName, error: unknown) => void;
  readonly #json = new Map<PartName, string>();
  readonly #dirty = new Set<PartName>(NAMES);
  #running: Promise<PartName[]> | undefined;

  constructor(makers: PartMakers, onProblem: (part: PartName, error: unknown) => void) {
    this.#makers = makers;
    this.#onProblem = onProblem;
  }

  /** It is to be looked at again. */
  touch(part: PartName): void {
    this.#dirty.add(part);
  }

  /** Makes what may have changed; gives the parts that did. Never runs twice at a time. */
  update(): Promise<PartName[]> {
    return this.#running ??= this.#update().finally(() => this.#running = undefined);
  }

  /** As {@link update}, but of no earlier moment than now: one that runs already may have looked too early. */
  async fresh(): Promise<PartName[]> {
    await this.#running;
    return await this.update();
  }

  /** These parts as the members of a JSON object, without its braces. */
  members(parts: Iterable<PartName>): string {
    return [...parts].map((part) => `${JSON.stringify(part)}:${this.#json.get(part) ?? "null"}`).join(",");
  }

  get all(): readonly PartName[] {
    return NAMES;
  }

  async #update(): Promise<PartName[]> {
    const changed: PartName[] = [];
    for (const part of NAMES) {
      if (TOLD.has(part) && !this.#dirty.has(part)) continue;
      this.#dirty.delete(part);
      try {
        const json = JSON.stringify(await this.#makers[part]());
        if (json === this.#json.get(part)) continue;
        this.#json.set(part, json);
        changed.push(part);
      } catch (error) {
        this.#onProblem(part, error);
        if (!this.#json.has(part)) this.#json.set(part, EMPTY[part]);
      }
    }
    return changed;
  }
}

/** What a page gets for a part that could never be made. */
const EMPTY: Record<PartName, string> = {
  panes: "[]",
  ports: "[]",
  channels: "[]",
  server: "null",
  calls: "[]",
  asks: "[]",
  settings: "{}",
};
