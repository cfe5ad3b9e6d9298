import { startSearchWorker, type WorkerBatch, type WorkerReply, type WorkerStart } from "./search_worker.ts";

/** Searches that may run at the same time; more wait. */
const MOST_WORKERS = 2;
/** An idle worker is kept this long for the next search. */
const IDLE_MS = 20_000;

/** One worker, as long as one search has it. */
export class SearchWorker {
  readonly #worker = startSearchWorker();
  #waiting: PromiseWithResolvers<WorkerReply> | undefined;
  ended = false;

  constructor() {
    this.#worker.onmessage = (event) => {
      const reply: WorkerReply = event.data;
      this.#answer()?.resolve(reply);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.end(new Error(event.message));
    };
  }

  start(message: WorkerStart): void {
    this.#worker.postMessage(message);
  }

  /** Searches one batch. Rejects when the worker is ended meanwhile. */
  search(batch: WorkerBatch): Promise<WorkerReply> {
    if (this.ended) return Promise.reject(new Error("the search worker has ended"));
    this.#waiting = Promise.withResolvers();
    this.#worker.postMessage(batch, [batch.bytes.buffer, batch.ends.buffer]);
    return this.#waiting.promise;
  }

  /** Ends it. A batch under way is given up; its expression stops at its time limit at the latest. */
  end(error: unknown): void {
    if (this.ended) return;
    this.ended = true;
    this.#worker.terminate();
    this.#answer()?.reject(error);
  }

  #answer(): PromiseWithResolvers<WorkerReply> | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }
}

/** Workers for regular expressions: started when first needed, kept warm for a while, never more than two at work. */
export class SearchPool {
  readonly #busy = new Set<SearchWorker>();
  readonly #queue: (() => void)[] = [];
  #idle: SearchWorker | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  /** A worker for one search; give it back with {@link release}. */
  async take(signal: AbortSignal): Promise<SearchWorker> {
    while (this.#busy.size >= MOST_WORKERS && !this.#closed && !signal.aborted) await this.#turn(signal);
    signal.throwIfAborted();
    if (this.#closed) throw new Error("the log is closed");
    clearTimeout(this.#timer);
    const worker = this.#idle ?? new SearchWorker();
    this.#idle = undefined;
    this.#busy.add(worker);
    return worker;
  }

  release(worker: SearchWorker): void {
    this.#busy.delete(worker);
    if (!worker.ended) {
      if (this.#idle || this.#closed) {
        worker.end(new Error("not needed any more"));
      } else {
        this.#idle = worker;
        this.#timer = setTimeout(() => this.#endIdle(), IDLE_MS);
        Deno.unrefTimer(this.#timer);
      }
    }
    this.#queue.shift()?.();
  }

  /** Ends all workers; searches under way fail. */
  close(): void {
    this.#closed = true;
    this.#endIdle();
    for (const worker of this.#busy) worker.end(new Error("the log is closed"));
    for (const go of this.#queue.splice(0)) go();
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#queue.push(resolve);
    const wake = () => resolve();
    signal.addEventListener("abort", wake, { once: true });
    await promise;
    signal.removeEventListener("abort", wake);
    const at = this.#queue.indexOf(resolve);
    if (at >= 0) this.#queue.splice(at, 1);
  }

  #endIdle(): void {
    clearTimeout(this.#timer);
    this.#idle?.end(new Error("idle"));
    this.#idle = undefined;
  }
}
