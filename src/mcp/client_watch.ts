/** ms until a request that is not answered is watched. */
const WATCH_AFTER_MS = 30;

interface Watched {
  readonly request: Request;
  readonly gone: () => void;
  watching: boolean;
}

/**
 * Tells when the client of a request goes away. Watching a request costs more than most calls take, so it begins only
 * for those that are not answered at once; one that has gone by then is told then.
 */
export class ClientWatch {
  readonly #open = new Set<Watched>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Gives what ends the watching. `gone` is called at most once. */
  add(request: Request, gone: () => void): () => void {
    const watched: Watched = { request, gone, watching: false };
    this.#open.add(watched);
    this.#timer ??= setTimeout(() => this.#begin(), WATCH_AFTER_MS);
    return () => {
      if (this.#open.delete(watched) && watched.watching) request.signal.removeEventListener("abort", gone);
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { watching, request, gone } of this.#open) {
      if (watching) request.signal.removeEventListener("abort", gone);
    }
    this.#open.clear();
  }

  #begin(): void {
    this.#timer = undefined;
    for (const watched of this.#open) {
      if (watched.watching) continue;
      watched.watching = true;
      const { signal } = watched.request;
      if (signal.aborted) watched.gone();
      else signal.addEventListener("abort", watched.gone, { once: true });
    }
  }
}
