/**
 * Lanes to channels: messages of one lane share a channel, so they stay in order; channels are few.
 *
 * @module
 */

import type { Outbound } from "../../src/message/outbound.ts";
import type { PublishOptions, PublishReceipt } from "../../src/ports/broker.ts";
import type { Link } from "./link.ts";
import { PublishChannel } from "./publish_channel.ts";

/** Channels that ordinary lanes are spread over, of each kind: with confirms and without. */
const POOL = 4;

/** Lane 0: messages on somebody's behalf are confirmed whatever the connection's setting. */
const ON_BEHALF = 0;

/** Lane 5: messages of an outbox are confirmed as well, and a channel the broker closes over one of them has no others on it. */
const OUTBOX = 5;

/** The publishing side of one link. */
export class PublishLanes {
  readonly #onBehalf: PublishChannel;
  readonly #outbox: PublishChannel;
  readonly #confirming: readonly PublishChannel[];
  readonly #plain: readonly PublishChannel[];

  constructor(link: Link) {
    const { maxBodyBytes } = link.limits;
    // No limit here: what the broker has just delivered it takes again, whatever we were told of its limits.
    this.#onBehalf = new PublishChannel(link, true);
    this.#outbox = new PublishChannel(link, true, maxBodyBytes);
    this.#confirming = Array.from({ length: POOL }, () => new PublishChannel(link, true, maxBodyBytes));
    this.#plain = Array.from({ length: POOL }, () => new PublishChannel(link, false, maxBodyBytes));
  }

  publish(outbound: Outbound, options: PublishOptions): Promise<PublishReceipt> {
    return new Promise((resolve) => this.#channel(options).publish(outbound, resolve));
  }

  #channel({ lane, confirm }: PublishOptions): PublishChannel {
    if (lane === ON_BEHALF) return this.#onBehalf;
    if (lane === OUTBOX) return this.#outbox;
    const pool = confirm ? this.#confirming : this.#plain;
    return pool[lane % POOL] ?? this.#onBehalf;
  }
}
