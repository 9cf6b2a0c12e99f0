/**
 * Messages whose delivery was lost while somebody still works on them.
 *
 * @module
 */

import { equalBytes } from "../internal/bytes.ts";
import { messageIdOf } from "../message/parse_envelope.ts";
import type { ReceivedMessage } from "../message/received.ts";
import type { InHand } from "./in_hand.ts";

/**
 * Lost deliveries that are not done. The broker delivers their messages again, and none is begun beside itself.
 *
 * A message is known by its id. One that came without any is known by its routing key and its bytes, since what it gets for an id
 * is another each time. Two messages that share an id, or have none and say the same, wait for each other: that costs time and
 * nothing else.
 */
export class Unfinished {
  readonly #byId = new Map<string | undefined, Set<InHand>>();

  /** Whether there is none, as always when no delivery was lost. */
  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  /** The delivery was lost, and somebody still works on its message. */
  add(item: InHand): void {
    const id = messageIdOf(item.received);
    const sharing = this.#byId.get(id);
    if (sharing === undefined) this.#byId.set(id, new Set([item]));
    else sharing.add(item);
  }

  /** The work on a delivery is over; false when the delivery was not lost. */
  delete(item: InHand): boolean {
    if (this.isEmpty) return false;
    const id = messageIdOf(item.received);
    const sharing = this.#byId.get(id);
    if (!sharing?.delete(item)) return false;
    if (sharing.size === 0) this.#byId.delete(id);
    return true;
  }

  /** Whether somebody still works on the message that was delivered here. */
  has({ received }: InHand): boolean {
    const id = messageIdOf(received);
    const sharing = this.#byId.get(id);
    if (sharing === undefined || id !== undefined) return sharing !== undefined;
    return [...sharing].some((item) => saysTheSame(item.received, received));
  }
}

function saysTheSame(a: ReceivedMessage, b: ReceivedMessage): boolean {
  return a.routingKey === b.routingKey && equalBytes(a.body, b.body);
}
