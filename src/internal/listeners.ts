/**
 * Functions that want to hear of something.
 *
 * @module
 */

/** Tells everybody who listens, each as often as it was added. */
export class Listeners<News> {
  readonly #all = new Set<(news: News) => void>();

  /** Whether anybody listens. */
  get isHeard(): boolean {
    return this.#all.size > 0;
  }

  /** Adds one, and gives the way to take it back: a function of its own, so that one that was added twice ends once. */
  add(listener: (news: News) => void): () => void {
    const own = (news: News): void => listener(news);
    this.#all.add(own);
    return () => void this.#all.delete(own);
  }

  /** Tells them, in the order they were added. */
  tell(news: News): void {
    for (const listener of this.#all) listener(news);
  }
}
