import { z } from "zod";
import type { Json } from "../core/page_protocol.ts";
import type { ConfigFile } from "../store/config.ts";

const MAX_KEYS = 200;
const saved = z.record(z.string(), z.json()).catch({});

/** Settings of the page (theme, accent, language, layout): under `ui` in config.json, the same for all pages. */
export class PageSettings {
  readonly #config: ConfigFile | undefined;
  #values: Record<string, Json>;

  constructor(config: ConfigFile | undefined) {
    this.#config = config;
    this.#values = saved.parse(config?.value["ui"]);
  }

  all(): Record<string, Json> {
    return this.#values;
  }

  /** null removes the key. False: there are too many. Rejects when it cannot be written; it holds in this run then. */
  async save(key: string, value: Json): Promise<boolean> {
    const { [key]: before, ...rest } = this.#values;
    if (value !== null && before === undefined && Object.keys(rest).length >= MAX_KEYS) return false;
    this.#values = value === null ? rest : { ...rest, [key]: value };
    await this.#config?.update((now) => ({ ...now, ui: this.#values }));
    return true;
  }
}
