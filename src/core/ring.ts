import { FLAG } from "./line.ts";

/** What a record costs beside its payload; part of {@link LineRing.bytes}. */
export const RECORD_HEADER_BYTES = 16;
const SLAB_BYTES = 65_536;
/** A slab full of empty lines. */
const SLAB_RECORDS = SLAB_BYTES / RECORD_HEADER_BYTES;
/** Longest payload of one record; anything longer is stored cut, with {@link FLAG.cut}. */
export const MAX_RECORD_BYTES = SLAB_BYTES - RECORD_HEADER_BYTES;

/** A stored line. `bytes` is a view into the ring: valid until the next append, trim or clear. */
export interface LineRecord {
  seq: number;
  /** Ms on the monotonic clock, of the first byte. */
  t: number;
  /** Bits of {@link FLAG}. */
  flags: number;
  /** Real size in bytes, also when less is stored. */
  raw: number;
  bytes: Uint8Array;
}

/** Called for each record of a scan, without an object a line. False ends the scan. */
export type RecordVisitor = (
  seq: number,
  t: number,
  flags: number,
  raw: number,
  bytes: Uint8Array,
  from: number,
  to: number,
) => boolean | void;

interface Slab {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView<ArrayBuffer>;
  /** Where each record starts. */
  readonly offsets: Uint16Array;
  firstSeq: number;
  count: number;
  used: number;
}

const newSlab = (): Slab => {
  const bytes = new Uint8Array(SLAB_BYTES);
  return {
    bytes,
    view: new DataView(bytes.buffer),
    offsets: new Uint16Array(SLAB_RECORDS),
    firstSeq: 0,
    count: 0,
    used: 0,
  };
};

const isWarnOrError = (flags: number): boolean => (flags & FLAG.levelWarn) !== 0;

/**
 * Lines in slabs of 64 KiB, oldest dropped first. A record is a header of 16 bytes (time float64, flags u16, stored
 * size u16, real size u32) and its payload; slabs are used again, so that a full ring allocates nothing.
 */
export class LineRing {
  readonly capBytes: number;
  #slabs: Slab[] = [];
  #spare: Slab | undefined;
  /** Records of the first slab that are dropped already. */
  #skip = 0;
  #bytes = 0;
  #lines = 0;
  #dropped = 0;
  #lastSeq = 0;
  #warnOrError = 0;

  constructor(capBytes: number) {
    this.capBytes = capBytes;
  }

  /** Bytes held: 16 and the payload for each record. Never over the cap. */
  get bytes(): number {
    return this.#bytes;
  }
  get lines(): number {
    return this.#lines;
  }
  /** Lines lost to the cap or to {@link trim}, ever. */
  get dropped(): number {
    return this.#dropped;
  }
  /** Oldest line held; the seq that the next line will have when there is none. */
  get firstSeq(): number {
    return this.#lastSeq + 1 - this.#lines;
  }
  /** Newest line ever; 0 before any. */
  get lastSeq(): number {
    return this.#lastSeq;
  }
  /** Lines held whose level is warn or error. */
  get warnOrError(): number {
    return this.#warnOrError;
  }

  /** Stores `bytes[from, to)` and gives its seq; drops the oldest lines that no longer fit. `raw` is the real size. */
  append(t: number, flags: number, raw: number, bytes: Uint8Array, from = 0, to = bytes.length): number {
    let size = to - from;
    const most = Math.min(MAX_RECORD_BYTES, Math.max(0, this.capBytes - RECORD_HEADER_BYTES));
    if (size > most) {
      size = most;
      flags |= FLAG.cut;
    }
    const need = RECORD_HEADER_BYTES + size;
    while (this.#lines > 0 && this.#bytes + need > this.capBytes) this.#dropOldest();
    let slab = this.#slabs[this.#slabs.length - 1];
    if (!slab || slab.used + need > SLAB_BYTES) {
      slab = this.#spare ?? newSlab();
      this.#spare = undefined;
      slab.firstSeq = this.#lastSeq + 1;
      slab.count = 0;
      slab.used = 0;
      this.#slabs.push(slab);
    }
    const at = slab.used;
    slab.offsets[slab.count] = at;
    const view = slab.view;
    view.setFloat64(at, t, true);
    view.setUint16(at + 8, flags, true);
    view.setUint16(at + 10, size, true);
    view.setUint32(at + 12, raw, true);
    const start = at + RECORD_HEADER_BYTES;
    const into = slab.bytes;
    // A call of set() costs more than a short loop.
    if (size < 48) { for (let i = 0; i < size; i++) into[start + i] = bytes[from + i] ?? 0; }
    else into.set(bytes.subarray(from, from + size), start);
    slab.used = at + need;
    slab.count++;
    this.#bytes += need;
    this.#lines++;
    if (isWarnOrError(flags)) this.#warnOrError++;
    return ++this.#lastSeq;
  }

  /** The record, or undefined when it is dropped, cleared or not there yet. */
  get(seq: number): LineRecord | undefined {
    const slab = this.#slabOf(seq);
    if (!slab) return undefined;
    const at = slab.offsets[seq - slab.firstSeq] ?? 0;
    const view = slab.view;
    const start = at + RECORD_HEADER_BYTES;
    return {
      seq,
      t: view.getFloat64(at, true),
      flags: view.getUint16(at + 8, true),
      raw: view.getUint32(at + 12, true),
      bytes: slab.bytes.subarray(start, start + view.getUint16(at + 10, true)),
    };
  }

  /** Visits the held records with `from <= seq <= to`, oldest first. The visitor must not write to this ring. */
  scan(from: number, to: number, visit: RecordVisitor): void {
    let seq = Math.max(from, this.firstSeq);
    const last = Math.min(to, this.#lastSeq);
    while (seq <= last) {
      const slab = this.#slabOf(seq);
      if (!slab) return;
      const { view, bytes, offsets, firstSeq } = slab;
      const end = Math.min(last, firstSeq + slab.count - 1);
      for (; seq <= end; seq++) {
        const at = offsets[seq - firstSeq] ?? 0;
        const start = at + RECORD_HEADER_BYTES;
        const go = visit(
          seq,
          view.getFloat64(at, true),
          view.getUint16(at + 8, true),
          view.getUint32(at + 12, true),
          bytes,
          start,
          start + view.getUint16(at + 10, true),
        );
        if (go === false) return;
      }
    }
  }

  /** Changes what ended a line that is already stored: a CR turned out to be CRLF. Does nothing when it is gone. */
  setEol(seq: number, eol: number): void {
    const slab = this.#slabOf(seq);
    if (!slab) return;
    const at = (slab.offsets[seq - slab.firstSeq] ?? 0) + 8;
    slab.view.setUint16(at, (slab.view.getUint16(at, true) & ~FLAG.eolMask) | eol, true);
  }

  /** Drops the oldest lines until `bytes` are free or nothing is left; they count as dropped. Gives the bytes freed. */
  trim(bytes: number): number {
    const before = this.#bytes;
    while (this.#lines > 0 && before - this.#bytes < bytes) this.#dropOldest();
    return before - this.#bytes;
  }

  /** Forgets every line and gives how many. Not a loss: `dropped` stays, and seq goes on. */
  clear(): number {
    const lines = this.#lines;
    this.#slabs = [];
    this.#spare = undefined;
    this.#skip = 0;
    this.#bytes = 0;
    this.#lines = 0;
    this.#warnOrError = 0;
    return lines;
  }

  #slabOf(seq: number): Slab | undefined {
    if (seq < this.firstSeq || seq > this.#lastSeq) return undefined;
    const slabs = this.#slabs;
    let low = 0;
    let high = slabs.length - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if ((slabs[mid]?.firstSeq ?? 0) <= seq) low = mid;
      else high = mid - 1;
    }
    return slabs[low];
  }

  #dropOldest(): void {
    const slab = this.#slabs[0];
    if (!slab) return;
    const at = slab.offsets[this.#skip] ?? 0;
    if (isWarnOrError(slab.view.getUint16(at + 8, true))) this.#warnOrError--;
    this.#bytes -= RECORD_HEADER_BYTES + slab.view.getUint16(at + 10, true);
    this.#lines--;
    this.#dropped++;
    if (++this.#skip < slab.count) return;
    this.#slabs.shift();
    this.#spare ??= slab;
    this.#skip = 0;
  }
}
