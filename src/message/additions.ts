/**
 * What a caller adds to an outbox: messages, or promises of them.
 *
 * @module
 */

import { describeKind } from "../internal/option_kinds.ts";
import { isPromise } from "../internal/when_there.ts";
import { assertOutbound, type Outbound } from "./outbound.ts";

/**
 * The messages: at once where none has to be waited for, so that they can be written in the very call. Of a promise nobody has to take
 * care any more, also when the call ends without waiting for it.
 *
 * @throws {TypeError} for what is no message, and for what has none
 */
export function additionsOf(
  outbounds: Iterable<Outbound | PromiseLike<Outbound>>,
): readonly Outbound[] | Promise<readonly Outbound[]> {
  const given: unknown = outbounds;
  if (typeof given !== "object" || given === null || !(Symbol.iterator in given)) {
    throw new TypeError(
      `Cannot add the messages: an array of what prepare made is wanted, found ${describeKind(given)}`,
    );
  }
  const all = [...outbounds];
  if (!all.some((one: unknown) => isPromise(one))) return messagesOf(all);
  const ready = Promise.all(all).then(messagesOf);
  ready.catch(() => {});
  return ready;
}

function messagesOf(values: readonly unknown[]): readonly Outbound[] {
  return values.map((value) => assertOutbound("add", value));
}
