/**
 * Consume interceptors: what an application does around every handler (contract core 9).
 *
 * @module
 */

import type { Message } from "../message/message.ts";
import type { HandlerResult } from "./ack.ts";
import type { Handled } from "./settlement.ts";

/**
 * Handles one message. Returning nothing accepts it; throwing walks the retry ladder, or skips it for a `FatalError`.
 *
 * Delivery is at least once, so a handler has to be safe to run twice: after a failure it runs again from its beginning, and a lost
 * acknowledgement brings back a message it had finished. `envelope.id` is the same every time.
 */
export type Handler<T = unknown> = (message: Message<T>) => HandlerResult | Promise<HandlerResult>;

/**
 * One interceptor. It calls `next` with the message, or with `message.with(…)`, and returns what `next` returned or a word of its
 * own. Throwing walks the retry ladder like a handler's throw; a `FatalError` puts the message in `.dlq`.
 *
 * Runs after decoding, first registered outermost. Duplicates and undecodable bodies never reach it.
 */
export type ConsumeInterceptor = (
  message: Message,
  next: (message: Message) => Promise<HandlerResult>,
) => Promise<HandlerResult>;

/** Runs the handler inside the interceptors, and says who threw if somebody did. */
export async function runHandler<T>(
  message: Message<T>,
  handler: Handler<T>,
  interceptors: readonly ConsumeInterceptor[],
): Promise<Handled> {
  if (interceptors.length === 0) {
    try {
      return { status: "returned", value: await handler(message) };
    } catch (error) {
      return { status: "threw", error, by: "handler" };
    }
  }
  const thrown = new Set<unknown>();
  const step = async (index: number, current: Message): Promise<HandlerResult> => {
    const interceptor = interceptors[index];
    if (interceptor !== undefined) return await wordOf(interceptor, current, (changed) => step(index + 1, changed));
    try {
      // An interceptor that changes the payload answers for its type.
      return await handler(current as Message<T>);
    } catch (error) {
      thrown.add(error);
      throw error;
    }
  };
  try {
    return { status: "returned", value: await step(0, message as Message) };
  } catch (error) {
    return { status: "threw", error, by: thrown.has(error) ? "handler" : "interceptor" };
  }
}

/** An interceptor's own word, or the one its `next` returned: forgetting to hand it on must not accept a rejected message. */
async function wordOf(
  interceptor: ConsumeInterceptor,
  message: Message,
  next: (message: Message) => Promise<HandlerResult>,
): Promise<HandlerResult> {
  let heardOf: HandlerResult = undefined;
  const own = await interceptor(message, (changed) => heard(next(changed).then((word) => heardOf = word)));
  return own === undefined ? heardOf : own;
}

/** An interceptor that does not wait for what it began must not end the process. */
function heard<T>(result: Promise<T>): Promise<T> {
  result.catch(() => {});
  return result;
}
