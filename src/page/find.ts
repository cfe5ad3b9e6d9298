import type { LogHub } from "../bench/log_hub.ts";
import { LogSearch } from "../bench/log_search.ts";
import { invalid } from "../core/errors.ts";
import type { FindResult } from "../core/page_protocol.ts";

export interface FindQuery {
  channels: readonly string[];
  pattern: string;
  regex: boolean;
  caseSensitive: boolean;
}

/** Positions given in one answer, all channels together; the newest are kept, more are only counted. */
const MAX_SEQS = 20_000;

/** Where lines match, for the page's find field: seqs only, since the page has the lines. */
export class PageFind {
  readonly #hub: LogHub;
  readonly #search = new LogSearch();

  constructor(hub: LogHub) {
    this.#hub = hub;
  }

  /** Throws -32602 for a bad pattern or an unknown channel, `timed_out` for an expression that takes too long. */
  async find(query: FindQuery, signal: AbortSignal): Promise<FindResult> {
    const { pattern, regex, caseSensitive } = query;
    const channels = query.channels.map((name) => {
      const channel = this.#hub.find(name);
      if (!channel) throw invalid(`No channel ${name}.`);
      return channel;
    });
    const found = await this.#search.run(
      { channels, pattern, regex, caseSensitive, mode: "lines", limit: MAX_SEQS },
      signal,
    );
    const seqs = new Map(channels.map((c): [string, number[]] => [c.name, []]));
    for (const hit of found.hits) seqs.get(hit.channel.name)?.push(hit.seq);
    return {
      channels: found.channels.map(({ channel, count }) => ({
        channel,
        total: count,
        seqs: (seqs.get(channel) ?? []).sort((a, b) => a - b),
      })),
      total: found.total,
      truncated: found.total > found.hits.length,
    };
  }

  close(): void {
    this.#search.close();
  }
}
