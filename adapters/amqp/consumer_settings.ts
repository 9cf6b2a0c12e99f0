/**
 * What a consumer can be asked for.
 *
 * @module
 */

import { assertName, assertWholeNumber } from "../../src/internal/assert_option.ts";

/** An AMQP prefetch is 16 bits wide. */
const LARGEST_PREFETCH = 65_535;

/** What the tag of a consumer gets that takes another's place on the same channel. */
const REPLACEMENT_MARK = "~";

/** Throws a `RangeError` for a prefetch that AMQP cannot carry; 0 is no limit. */
export function assertPrefetch(prefetch: number): void {
  assertWholeNumber("prefetch", prefetch, 0);
  if (prefetch > LARGEST_PREFETCH) {
    throw new RangeError(`Cannot use option 'prefetch': it must be at most ${LARGEST_PREFETCH}, found ${prefetch}`);
  }
}

/** Throws a `TypeError` or `RangeError` for a tag that is no name, or leaves no room for {@linkcode otherTag}. */
export function assertConsumerTag(tag: string): void {
  assertName("the consumer tag", tag);
  assertName("the consumer tag, and one character more", tag + REPLACEMENT_MARK);
}

/** Of the two tags a subscription takes turns with, the other one. */
export function otherTag(tag: string, first: string): string {
  return tag === first ? first + REPLACEMENT_MARK : first;
}
