/**
 * One delivery from bytes to settlement: decode, interceptors, handler, decide, settle (contract core 3.2).
 *
 * @module
 */

import { describeError } from "../errors.ts";
import { Message } from "../message/message.ts";
import type { Ladder } from "../retry/ladder.ts";
import type { ConsumerContext } from "./context.ts";
import type { InHand } from "./in_hand.ts";
import { type ConsumeInterceptor, type Handler, runHandler } from "./interceptor.ts";
import type { Claims } from "./idempotency/claims.ts";
import type { DeliveryClaim } from "./idempotency/delivery_claim.ts";
import { decodeBody } from "./receive.ts";
import { settle, type SettleContext, type Settled } from "./settle.ts";
import { decideSettlement, type Handled, type Settlement } from "./settlement.ts";

/** What processing works with, made once a consumer. */
export interface ProcessContext<T> {
  readonly queue: string;
  readonly consumer: Pick<ConsumerContext<T>, "environment" | "codec">;
  readonly ladder: Ladder;
  readonly settling: SettleContext;
  /** Where the consumer has an idempotency store. */
  readonly claims?: Claims | undefined;
}

/** Handles one delivery to the end. Never rejects. */
export async function processDelivery<T>(
  item: InHand,
  { handler, interceptors }: { readonly handler: Handler<T>; readonly interceptors: readonly ConsumeInterceptor[] },
  context: ProcessContext<T>,
): Promise<void> {
  const { clock, scope } = context.consumer.environment;
  const decoding = decodeBody(item.received, context.consumer.codec);
  const decoded = "then" in decoding ? await decoding : decoding;
  if (decoded.status !== "decoded") return await conclude(item, { handled: decoded }, context);
  const taken = await context.claims?.take(item);
  if (taken?.status === "not_claimed") return await conclude(item, { handled: taken.handled }, context);
  const claim = taken?.claim;
  const message = new Message(decoded.payload, item.envelope, {
    queue: context.queue,
    received: item.received,
    signal: () => item.signal,
    claim,
  });
  const started = clock.elapsed();
  const run = (): Promise<Handled> => runHandler(message, handler, interceptors);
  const handled = await (scope === undefined ? run() : scope.run(item, run));
  const concluding = conclude(item, { handled, handlerMs: clock.elapsed() - started, claim }, context);
  if (concluding !== undefined) await concluding;
}

/** What is known of a delivery once its handler, if it came to it, is through. */
export interface Through {
  readonly handled: Handled;
  readonly handlerMs?: number;
  readonly claim?: DeliveryClaim | undefined;
}

/**
 * Decides and settles, at once where nothing is to be published; the time of the handler is measured before any wait begins. A claim is
 * confirmed or released between the two. Never rejects.
 */
export function conclude<T>(
  item: InHand,
  { handled, handlerMs, claim }: Through,
  { consumer, ladder, settling, claims }: ProcessContext<T>,
): Promise<void> | undefined {
  const { clock, random } = consumer.environment;
  const { envelope, isFromStream } = item;
  const facts = { attempt: envelope.attempt, ageMs: clock.now() - envelope.firstSeenMs, isFromStream };
  const decide = (what: Handled): Settlement => decideSettlement(what, facts, { ladder, random });
  const settlement = decide(handled);
  const count = (settled: Settled): void => {
    if (settled !== "kept") settling.meter.settled(item.envelope, settled, handlerMs);
  };
  // Only a broker adapter that throws where it must not. The broker still has the message, and hands it out when the link ends.
  const fail = (error: unknown): void => settling.meter.settleFailed(item.envelope, describeError(error));
  try {
    if (claim !== undefined && claims !== undefined) {
      const ended = claims.end(claim, handled, settlement.next === "acknowledge");
      const last = ended.then((what) => what === handled ? settlement : decide(what));
      return last.then((what) => settle(what, item, settling)).then(count).catch(fail);
    }
    const settled = settle(settlement, item, settling);
    if (typeof settled !== "string") return settled.then(count).catch(fail);
    count(settled);
  } catch (error) {
    fail(error);
  }
  return undefined;
}
