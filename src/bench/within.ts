/** What {@link within} rejects with when the time is over. */
export const TIMED_OUT = Symbol("timed out");
/** What {@link within} rejects with when its signal was aborted. */
export const CANCELED = Symbol("canceled");

/** The promise, but no longer than `ms`; rejects with TIMED_OUT, or with CANCELED when the signal is aborted. */
export const within = <T>(promise: Promise<T>, ms: number, signal?: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const cancel = () => finish(() => reject(CANCELED));
    const timer = setTimeout(() => finish(() => reject(TIMED_OUT)), ms);
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
      settle();
    };
    // Heard also when nobody waits any more: a late failure is no unhandled one.
    promise.then((value) => finish(() => resolve(value)), (error) => finish(() => reject(error)));
    if (signal?.aborted) return cancel();
    signal?.addEventListener("abort", cancel, { once: true });
  });
