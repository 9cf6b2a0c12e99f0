/**
 * A consumer that is first in line and takes nothing.
 *
 * RabbitMQ 3.10 loses a classic queue with a single active consumer when that consumer is cancelled while messages and other
 * consumers wait: the next in line becomes the active one without being handed what waits, and the queue's process dies of the next
 * message that is published, since nobody may have room while messages wait. A channel that closes hands over as it should. So a
 * stand-in that has no room and goes before everybody becomes the active one, and goes with its channel.
 *
 * @module
 */

import type { Clock } from "../../src/clock.ts";
import type { DeclareArguments, QueueSpec } from "../../src/topology/specs.ts";
import type { Link } from "./link.ts";
import type { LinkChannel } from "./link_channel.ts";
import { inTime } from "./patience.ts";
import { consume } from "./wire/calls.ts";

/** Nobody comes before it, and no message goes to it: `x-credit` is what a consumer of RabbitMQ before 4.0 may take without a prefetch. */
const FIRST_AND_FULL: DeclareArguments = { "x-priority": 2n ** 63n - 1n, "x-credit": { credit: 0n, drain: false } };

/** Where a consumer is to end. */
export interface EndingPlace {
  readonly link: Link;
  /** The consumer's own channel. */
  readonly channel: LinkChannel;
  readonly queue: string;
  readonly clock: Clock;
}

/** Whether the queue may not survive the end of a consumer; what is known of it is how it was declared, if it was. */
export function needsStandIn(link: Link, declared: QueueSpec | undefined): boolean {
  if (!link.losesQueues || declared === undefined) return link.losesQueues;
  const { "x-single-active-consumer": isSingle, "x-queue-type": type = "classic" } = declared.arguments;
  return isSingle === true && type === "classic";
}

/** Ends a consumer behind a stand-in, which goes when that is done. Rejects where no other channel is to be had. */
export async function behindStandIn(place: EndingPlace, end: () => Promise<void>): Promise<void> {
  await behind(place, await place.link.openChannel(), end);
}

/** The same for a consumer nobody comes after: without another channel the stand-in has the consumer's own, and goes with that. */
export async function behindLastStandIn(place: EndingPlace, end: () => Promise<void>): Promise<void> {
  const { link, channel } = place;
  const other = link.isBlocked ? undefined : await link.openChannel().catch(() => undefined);
  if (other !== undefined) return await behind(place, other, end);
  // A broker that reads nothing just now will read this in its order, without an answer in between.
  void standIn(place, channel);
  await end();
}

async function behind(place: EndingPlace, other: LinkChannel, end: () => Promise<void>): Promise<void> {
  try {
    await standIn(place, other);
    await end();
  } finally {
    void other.leave();
  }
}

/** A queue that refuses it is none that has to be saved, nor is one that does not answer: both are quorum queues or streams. */
async function standIn({ link, queue, clock }: EndingPlace, channel: LinkChannel): Promise<void> {
  const asked = link.call(channel, consume({ queue, consumerTag: "", arguments: FIRST_AND_FULL }));
  await inTime(asked.catch(() => {}), { clock });
}
