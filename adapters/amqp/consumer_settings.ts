/**
 * What a consumer can be asked for.
 *
 * @module
 */

import { assertName, assertWholeNumber } from "../../src/internal/assert_option.ts";

/** An AMQP prefetch is 16 bits wide. */
const LARGEST_PREFETCH = 65_535;

/** Digits a turn may have: enough for a change of prefetch every second of two thousand years. */
const LONGEST_TURN = 7;

/** What the tag of a consumer gets that takes another's place on the same channel. */
const REPLACEMENT_MARK = "~";

/** Throws a `RangeError` for a prefetch that AMQP cannot carry; 0 is no limit. */
export function assertPrefetch(prefetch: number): void {
  assertWholeNumber("prefetch", prefetch, 0);
  if (prefetch > LARGEST_PREFETCH) {
    throw new RangeError(`Cannot use option 'prefetch': it must be at most ${LARGEST_PREFETCH}, found ${prefetch}`);
  }
}

/** Throws a `TypeError` or `RangeError` for a tag that is no name, or leaves no room for {@linkcode nextTag}. */
export function assertConsumerTag(tag: string): void {
  assertName("the consumer tag", tag);
  assertName("the consumer tag, and eight characters more", tag + REPLACEMENT_MARK + "0".repeat(LONGEST_TURN));
}

/**
 * The tag of the consumer that takes the place of one called `tag`. Never a tag the channel has had before: RabbitMQ 3.10 closes the
 * connection when a delivery of a quorum queue meets a cancelled consumer whose tag is in use again.
 */
export function nextTag(tag: string, first: string): string {
  const turn = tag === first ? 0 : Number.parseInt(tag.slice(first.length + REPLACEMENT_MARK.length), 36);
  return first + REPLACEMENT_MARK + (turn + 1).toString(36);
}
