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
import type { ConsumeMeter } from "./meter.ts";
import { decodeBody } from "./receive.ts";
import { settle } from "./settle.ts";
import { decideSettlement, type Handled } from "./settlement.ts";

/** What processing works with. */
export interface ProcessContext<T> {
  readonly queue: string;
  readonly consumer: Pick<ConsumerContext<T>, "broker" | "environment" | "gate" | "codec">;
  readonly ladder: Ladder;
  readonly meter: ConsumeMeter;
  /** Called when a delivery begins to wait for its next attempt: its handler is through. */
  readonly onWait: (item: InHand) => void;
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
  const message = new Message(decoded.payload, item.envelope, {
    queue: context.queue,
    received: item.received,
    signal: () => item.signal,
  });
  const started = clock.elapsed();
  const run = (): Promise<Handled> => runHandler(message, handler, interceptors);
  const handled = scope === undefined ? await run() : await scope.run(item, run);
  await conclude(item, { handled, handlerMs: clock.elapsed() - started }, context);
}

/** Decides and settles; the time of the handler is measured before any wait begins. Never rejects. */
export async function conclude<T>(
  item: InHand,
  { handled, handlerMs }: { readonly handled: Handled; readonly handlerMs?: number },
  context: ProcessContext<T>,
): Promise<void> {
  const { queue, meter, onWait } = context;
  const { environment, gate, broker } = context.consumer;
  const { clock, random } = environment;
  const facts = { attempt: item.envelope.attempt, ageMs: clock.now() - item.envelope.firstSeenMs };
  const settlement = decideSettlement(handled, facts, { ladder: context.ladder, random });
  const { maxHeaderBytes } = broker.limits;
  try {
    const settled = await settle(settlement, item, { queue, gate, clock, meter, maxHeaderBytes, onWait });
    if (settled === "settled") meter.settled(item.envelope, settlement.outcome, handlerMs);
  } catch (error) {
    // Only a broker adapter that throws where it must not. The broker still has the message, and hands it out when the link ends.
    meter.settleFailed(item.envelope, describeError(error));
  }
}
