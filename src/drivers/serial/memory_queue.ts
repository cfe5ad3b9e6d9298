type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes on their way between two ends of one process, in the order they came. */
export class ByteQueue {
  #chunks: Bytes[] = [];
  #length = 0;
  #change = Promise.withResolvers<void>();
  #end: Error | undefined;

  get length(): number {
    return this.#length;
  }

  /** Keeps a copy: the caller may reuse its buffer. */
  push(bytes: Bytes): void {
    if (bytes.length === 0) return;
    this.#chunks.push(bytes.slice());
    this.#length += bytes.length;
    this.wake();
  }

  /** Moves what is there, and fits, to the start of `into`; gives how much that was. */
  shift(into: Bytes): number {
    let at = 0;
    let used = 0;
    for (const chunk of this.#chunks) {
      const part = chunk.subarray(0, into.length - at);
      into.set(part, at);
      at += part.length;
      if (part.length < chunk.length) {
        this.#chunks[used] = chunk.subarray(part.length);
        break;
      }
      used++;
    }
    this.#chunks.splice(0, used);
    this.#leave(at);
    return at;
  }

  take(): Bytes {
    const all = new Uint8Array(this.#length);
    this.shift(all);
    return all;
  }

  /** Waits for at least one byte. Throws what {@link fail} was given. */
  async read(into: Bytes): Promise<number> {
    for (;;) {
      if (this.#end) throw this.#end;
      const count = this.shift(into);
      if (count > 0) return count;
      await this.#change.promise;
    }
  }

  /** Settles when bytes come or go, or at {@link wake}. */
  changed(): Promise<void> {
    return this.#change.promise;
  }

  /** Lets everyone who waits look again. */
  wake(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }

  /** Ends every {@link read}, now and later. */
  fail(error: Error): void {
    this.#end = error;
    this.wake();
  }

  #leave(bytes: number): void {
    if (bytes === 0) return;
    this.#length -= bytes;
    this.wake();
  }
}
