/** Tells listeners of one kind of event. A listener that throws is its own affair: the others still hear. */
export class Signal<T> {
  readonly #listeners = new Set<(event: T) => void>();

  /** Listens until the function that comes back is called. */
  on(listener: (event: T) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  emit(event: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        reportError(error);
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
