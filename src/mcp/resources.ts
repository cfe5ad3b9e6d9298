import { invalid } from "../core/errors.ts";

/** What clients may look at beside the tools: names for completion, and where each log channel stands. */
export interface Sources {
  channels(): string[];
  /** Seq of the channel's newest line; undefined when there is no such channel. */
  lastSeq(channel: string): number | undefined;
  panes(): string[];
  /** Values that `serial_open` takes as port. */
  ports(): Promise<string[]>;
}

const PREFIX = "fieldbench://log/";
const TEMPLATE = `${PREFIX}{channel}`;
const DESCRIPTION = "The newest lines, as log_tail gives them with format text.";

export const uriOf = (channel: string): string => PREFIX + channel;

/** The channel of a resource address. Throws -32602 for other addresses. */
export function channelOf(uri: string): string {
  if (!uri.startsWith(PREFIX)) throw unknownResource(uri);
  try {
    return decodeURIComponent(uri.slice(PREFIX.length));
  } catch {
    throw unknownResource(uri);
  }
}

export const unknownResource = (uri: string) =>
  invalid(`Unknown resource: ${uri.slice(0, 128)}. resources/list gives all.`, { uri: uri.slice(0, 128) });

export const listResources = (sources: Sources) => ({
  resources: sources.channels().map((channel) => ({
    uri: uriOf(channel),
    name: channel,
    description: DESCRIPTION,
    mimeType: "text/plain",
  })),
});

export const RESOURCE_TEMPLATES = {
  resourceTemplates: [{
    uriTemplate: TEMPLATE,
    name: "log",
    title: "Log channel",
    description: DESCRIPTION,
    mimeType: "text/plain",
  }],
};

/** Sees which channels got lines since it was last asked, at most once a tick: a flood is one notification a second. */
export class ChannelWatch {
  readonly #sources: Sources;
  readonly #seen = new Map<string, number>();
  #names = "";

  constructor(sources: Sources) {
    this.#sources = sources;
    this.changes();
  }

  /** Channels with new lines, and whether the set of channels is another. */
  changes(): { lines: string[]; names: boolean } {
    const channels = this.#sources.channels();
    const lines = channels.filter((channel) => {
      const seq = this.#sources.lastSeq(channel) ?? 0;
      const before = this.#seen.get(channel) ?? 0;
      this.#seen.set(channel, seq);
      return seq !== before;
    });
    const joined = channels.join("\n");
    const names = joined !== this.#names;
    this.#names = joined;
    return { lines, names };
  }
}
