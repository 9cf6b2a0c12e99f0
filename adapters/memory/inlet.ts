/**
 * What one connection sends, in order, until the broker stops reading it.
 *
 * @module
 */

import { Deque } from "./deque.ts";

/** Something sent. */
interface Sent {
  /** What the broker does when it reads it. */
  readonly read: () => void;
  /** What becomes of it when the broker never will. */
  readonly lost: () => void;
}

/** A broker that has run out of memory reads nothing more from a connection that publishes; it goes on writing to it. */
export class Inlet {
  readonly #unread = new Deque<Sent>();
  #isBlocked = false;

  /** Whether what is sent waits. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** Sends something: read at once, unless the connection is blocked. */
  send(read: () => void, lost: () => void = () => {}): void {
    if (this.#isBlocked) this.#unread.push({ read, lost });
    else read();
  }

  block(): void {
    this.#isBlocked = true;
  }

  /** Reads what has piled up. */
  unblock(): void {
    this.#isBlocked = false;
    for (let sent = this.#unread.shift(); sent !== undefined; sent = this.#unread.shift()) sent.read();
  }

  /** The connection is gone, and what was not read with it. */
  close(): void {
    this.#isBlocked = false;
    for (let sent = this.#unread.shift(); sent !== undefined; sent = this.#unread.shift()) sent.lost();
  }
}
