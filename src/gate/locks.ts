import { failed } from "../core/errors.ts";

interface Waiter {
  enter(): void;
}

/** One after another per key, in the order of asking; different keys never wait for each other. */
export class KeyedLocks {
  readonly #held = new Map<string, Waiter[]>();

  /**
   * Waits for the key and gives its release, which may be called more than once. Aborting `signal` while waiting
   * leaves the queue and throws reason `canceled`.
   */
  acquire(key: string, signal: AbortSignal): Promise<() => void> {
    const queue = this.#held.get(key);
    if (queue === undefined) {
      this.#held.set(key, []);
      return Promise.resolve(this.#releaser(key));
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        enter: () => {
          signal.removeEventListener("abort", leave);
          resolve(this.#releaser(key));
        },
      };
      const leave = () => {
        const at = queue.indexOf(waiter);
        if (at >= 0) queue.splice(at, 1);
        reject(canceledWaiting());
      };
      if (signal.aborted) return reject(canceledWaiting());
      signal.addEventListener("abort", leave, { once: true });
      queue.push(waiter);
    });
  }

  /** Keys that are held now; for tests. */
  get size(): number {
    return this.#held.size;
  }

  #releaser(key: string): () => void {
    let done = false;
    return () => {
      if (done) return;
      done = true;
      const next = this.#held.get(key)?.shift();
      if (next) next.enter();
      else this.#held.delete(key);
    };
  }
}

const canceledWaiting = () =>
  failed("canceled", "Canceled while it waited for another call on the same pane; nothing was done.");
