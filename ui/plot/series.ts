/** Points of a plot: some series over one time, bounded; when it is full every second point goes. Pure. */
import { type Numbers, numbersOf } from "./numbers.ts";

export const MAX_POINTS = 8192;
export const MAX_SERIES = 8;
/** Lines a second that are looked at; of more only every n-th is. */
export const MAX_RATE = 1000;
/** A name that was seen less often is no series but a word with a number behind it; unless it was chosen. */
const LEAST_SEEN = 3;
const MAX_NAMES = 64;
const LONE = "last";

export class PlotData {
  /** Seconds, ascending. */
  time: number[] = [];
  /** A value for each time, null where the line had none. */
  readonly series = new Map<string, (number | null)[]>();
  #kind: Numbers["kind"] | undefined;
  /** Of the line that was chosen; undefined: none was. */
  #names: ReadonlySet<string> | undefined;
  readonly #seen = new Map<string, number>();
  /** Of this many lines one is drawn. */
  every = 1;
  #count = 0;
  #second = 0;
  #inSecond = 0;
  version = 0;

  /** Draws lines of the kind of this one only, and starts anew. */
  choose(line: string): void {
    this.clear();
    const numbers = numbersOf(line);
    this.#kind = numbers?.kind;
    this.#names = numbers && new Set(numbers.values.map(([name]) => name));
  }

  /** Whether the next line is to be looked at, at `wall` ms. Called for each line; costs nothing. */
  wants(wall: number): boolean {
    const second = Math.floor(wall / 1000);
    if (second !== this.#second) {
      this.every = Math.max(1, Math.ceil(this.#inSecond / MAX_RATE));
      this.#second = second;
      this.#inSecond = 0;
    }
    // Within a burst the rate is not known yet: then the bound itself decides.
    const over = Math.ceil(++this.#inSecond / MAX_RATE);
    return ++this.#count % Math.max(this.every, over) === 0;
  }

  add(wall: number, text: string): boolean {
    const numbers = numbersOf(text, this.#kind);
    if (!numbers) return false;
    // Without a choice a lone number is drawn only as long as nothing has a name.
    if (!this.#kind && this.series.size > 0) {
      const isLone = this.series.has(LONE);
      if (numbers.kind === "last" && !isLone) return false;
      if (numbers.kind !== "last" && isLone) this.clear();
    }
    const values = numbers.values.filter(([name]) => this.#isSeries(name));
    if (values.length === 0) return false;
    if (this.time.length >= MAX_POINTS) this.#halve();
    const at = this.time.length;
    this.time.push(Math.max(wall / 1000, this.time[at - 1] ?? 0));
    for (const [name, value] of values) {
      let points = this.series.get(name);
      if (!points && this.series.size < MAX_SERIES) {
        points = new Array<number | null>(at).fill(null);
        this.series.set(name, points);
      }
      if (points) points[at] = Number.isFinite(value) ? value : null;
    }
    for (const points of this.series.values()) if (points.length <= at) points[at] = null;
    this.version++;
    return true;
  }

  clear(): void {
    this.time = [];
    this.series.clear();
    this.#seen.clear();
    this.version++;
  }

  #isSeries(name: string): boolean {
    if (this.#names) return this.#names.has(name);
    const seen = (this.#seen.get(name) ?? 0) + 1;
    if (seen > 1 || this.#seen.size < MAX_NAMES) this.#seen.set(name, seen);
    return seen >= LEAST_SEEN;
  }

  #halve(): void {
    const keep = <T>(list: readonly T[]): T[] => list.filter((_, i) => i % 2 === 0);
    this.time = keep(this.time);
    for (const [name, points] of this.series) this.series.set(name, keep(points));
  }
}
