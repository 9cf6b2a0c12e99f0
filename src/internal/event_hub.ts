/**
 * One source of events, any number of readers.
 *
 * @module
 */

/** What a reader that does not read may fall behind; older events are dropped then. */
const LONGEST_BACKLOG = 1_000;

/** Hands every event to every reader that was there when it came. */
export class EventHub<E> {
  readonly #readers = new Set<Reader<E>>();
  #isClosed = false;

  /** Hands an event to the readers. */
  emit(event: E): void {
    for (const reader of this.#readers) reader.push(event);
  }

  /** Ends every reader once it has read what there is. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.end();
  }

  /** Events from now on. Ends when the hub closes or the signal aborts. */
  read(signal?: AbortSignal): AsyncIterableIterator<E> {
    const reader = new Reader<E>();
    this.#readers.add(reader);
    if (this.#isClosed || signal?.aborted) reader.end();
    const onAbort = (): void => reader.end();
    signal?.addEventListener("abort", onAbort, { once: true });
    return this.#iterate(reader, () => signal?.removeEventListener("abort", onAbort));
  }

  async *#iterate(reader: Reader<E>, forget: () => void): AsyncIterableIterator<E> {
    try {
      for (let event = await reader.next(); event !== undefined; event = await reader.next()) yield event.value;
    } finally {
      forget();
      this.#readers.delete(reader);
    }
  }
}

class Reader<E> {
  readonly #backlog: { readonly value: E }[] = [];
  #wake: (() => void) | undefined;
  #isEnded = false;

  push(value: E): void {
    if (this.#isEnded) return;
    if (this.#backlog.length >= LONGEST_BACKLOG) this.#backlog.shift();
    this.#backlog.push({ value });
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  async next(): Promise<{ readonly value: E } | undefined> {
    while (this.#backlog.length === 0 && !this.#isEnded) await new Promise<void>((resolve) => this.#wake = resolve);
    return this.#backlog.shift();
  }
}
