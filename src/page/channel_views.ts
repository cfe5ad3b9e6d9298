import type { LogHub } from "../bench/log_hub.ts";
import type { ChannelView } from "../core/page_protocol.ts";
import type { ChannelIds } from "./line_stream.ts";

/** Rates are over about this long, ms. */
const WINDOW_MS = 2000;
const SAMPLE_MS = 500;

interface Sample {
  t: number;
  lastSeq: number;
}

/** The channels of the log centre, with lines a second over the last two seconds. */
export class ChannelViews {
  readonly #hub: LogHub;
  readonly #ids: ChannelIds;
  readonly #samples = new Map<string, Sample[]>();

  constructor(hub: LogHub, ids: ChannelIds) {
    this.#hub = hub;
    this.#ids = ids;
  }

  views(): ChannelView[] {
    const now = this.#hub.now();
    return this.#hub.names().flatMap((name) => {
      const channel = this.#hub.find(name);
      if (!channel) return [];
      const { ring } = channel;
      return [{
        id: this.#ids.of(name),
        name,
        lines: ring.lines,
        bytes: ring.bytes,
        seqFrom: ring.lines ? ring.firstSeq : null,
        seqTo: ring.lines ? ring.lastSeq : null,
        dropped: ring.dropped,
        cleared: ring.lastSeq - ring.dropped - ring.lines,
        warnOrError: channel.warnOrError,
        rate: this.#rate(name, ring.lastSeq, now),
      }];
    });
  }

  #rate(name: string, lastSeq: number, now: number): number {
    let samples = this.#samples.get(name);
    if (!samples) this.#samples.set(name, samples = []);
    const last = samples.at(-1);
    if (!last || now - last.t >= SAMPLE_MS) samples.push({ t: now, lastSeq });
    while (samples.length > 2 && now - (samples[1]?.t ?? now) >= WINDOW_MS) samples.shift();
    const first = samples[0];
    if (!first || now - first.t < SAMPLE_MS) return 0;
    return Math.round((lastSeq - first.lastSeq) * 1000 / (now - first.t));
  }
}
