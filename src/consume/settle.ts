/**
 * The only effects of a settlement: the copy is published, confirmed and routed before the original is acknowledged
 * (contract core 0 rules 1 to 3, 3.5, 3.11, 4.4, 4.5).
 *
 * @module
 */

import type { Clock } from "../clock.ts";
import { copyOf, type CopyTarget, setAsideCopy } from "../message/copy.ts";
import { nextAttempt } from "../message/envelope.ts";
import type { Outbound } from "../message/outbound.ts";
import { deadLetterQueueName, parkedQueueName, rungName } from "../naming/queue_names.ts";
import type { BrokerConnection } from "../ports/broker.ts";
import type { PublishGate } from "../publish/gate.ts";
import { type OnBehalfAnswer, publishOnBehalf } from "../publish/on_behalf.ts";
import type { ConsumeOutcome } from "../telemetry/outcomes.ts";
import type { InHand } from "./in_hand.ts";
import type { ConsumeMeter } from "./meter.ts";
import type { PutBack, SetAside, Settlement, TryAgain } from "./settlement.ts";

/** What settling works with. */
export interface SettleContext {
  readonly queue: string;
  readonly gate: PublishGate;
  readonly clock: Clock;
  readonly meter: ConsumeMeter;
  readonly broker: Pick<BrokerConnection, "limits">;
  /** Called when a delivery begins to wait: its handler is through. */
  readonly onWait: (item: InHand) => void;
}

/** What became of the delivery; `kept`: it is still on its queue, and nothing about it was counted. */
export type Settled = ConsumeOutcome | "kept";

/** Before a message that could not be moved goes back, or is tried again: what kept it from moving rarely ends at once. */
const PAUSE_MS = 1_000;

/** Carries a settlement out, at once where nothing is to be published. Fails only with a broker adapter that breaks its port. */
export function settle(settlement: Settlement, item: InHand, context: SettleContext): Settled | Promise<Settled> {
  switch (settlement.next) {
    case "acknowledge":
      return acknowledge(item, settlement.outcome);
    case "put_back":
      return putBack(settlement, item, context);
    case "wait_in_consumer":
      reportUndeclaredRung(settlement, context);
      return retryFromConsumer(settlement, item, context);
    case "wait_on_rung":
      reportUndeclaredRung(settlement, context);
      return retryOnRung(settlement, item, context);
    case "set_aside":
      return moveAside(settlement, item, context);
  }
}

/** By a copy and not by a requeue, which a quorum queue would count against its delivery limit. */
async function putBack(settlement: PutBack, item: InHand, context: SettleContext): Promise<Settled> {
  if (!await waited(settlement.delayMs, item, context)) return requeue(item);
  const copy = copyOf(item.received, item.envelope, onward(context.queue, context));
  const answer = await publishPatiently(copy, item, context);
  return answer?.status === "routed" ? acknowledge(item, "in_progress") : await keepOrGiveUp(item, answer, context);
}

async function retryFromConsumer(again: TryAgain, item: InHand, context: SettleContext): Promise<Settled> {
  if (!await waited(again.delayMs, item, context)) return requeue(item);
  const copy = copyOf(item.received, nextAttempt(item.envelope), onward(context.queue, context));
  const answer = await publishPatiently(copy, item, context);
  if (answer?.status !== "routed") return await keepOrGiveUp(item, answer, context);
  context.meter.retried(item.envelope, again, undefined);
  return acknowledge(item, "retried");
}

async function retryOnRung(again: TryAgain, item: InHand, context: SettleContext): Promise<Settled> {
  const rung = rungName(context.queue, again.delayMs);
  const copy = copyOf(item.received, nextAttempt(item.envelope), onward(rung, context));
  const answer = await publishPatiently(copy, item, context);
  if (answer?.status === "routed") {
    context.meter.retried(item.envelope, again, rung);
    return acknowledge(item, "retried");
  }
  if (answer?.status !== "not_routed" || answer.because !== "unroutable") {
    return await keepOrGiveUp(item, answer, context);
  }
  context.meter.rungMissing(item.envelope, rung);
  return await retryFromConsumer(again, item, context);
}

async function moveAside(settlement: SetAside, item: InHand, context: SettleContext): Promise<Settled> {
  const queue = settlement.target === "dlq" ? deadLetterQueueName(context.queue) : parkedQueueName(context.queue);
  const { maxHeaderBytes } = context.broker.limits;
  const copy = setAsideCopy(item.received, item.envelope, { queue, reason: settlement.reason, maxHeaderBytes });
  for (;;) {
    const answer = await publishPatiently(copy, item, context);
    if (answer?.status === "routed") {
      context.meter.setAside(item.envelope, settlement, queue);
      return acknowledge(item, settlement.outcome);
    }
    if (answer === undefined) return "kept";
    context.meter.setAsideFailed(item.envelope, queue, answer.reason);
    const isOver = !await waited(PAUSE_MS, item, context);
    // A stream does not hand it out again: sent back, it would be lost to this reader, so it stays in hand until it is aside.
    if (isOver || !item.isFromStream) return requeue(item);
  }
}

/**
 * Publishes a copy, waiting out a broker that is away or has blocked the connection: the message stays in hand meanwhile, since
 * sent back it would only come again. Undefined when the delivery is no longer ours, so that nothing may be published for it.
 */
async function publishPatiently(
  copy: Outbound,
  item: InHand,
  context: SettleContext,
): Promise<OnBehalfAnswer | undefined> {
  while (item.isLive) {
    const answer = await publishOnBehalf(context.gate, copy);
    if (answer.status !== "paused" || !await waited(PAUSE_MS, item, context)) return answer;
  }
  return undefined;
}

/** The copy is nowhere, or nobody knows: the original stays. One that cannot be copied at all is set aside instead. */
async function keepOrGiveUp(
  item: InHand,
  answer: OnBehalfAnswer | undefined,
  context: SettleContext,
): Promise<Settled> {
  if (answer === undefined || answer.status === "routed") return "kept";
  context.meter.republishFailed(item.envelope, answer.reason);
  if (answer.status === "not_routed" && answer.because === "refused") {
    const reason = `could not be tried again: ${answer.reason}`;
    return await moveAside({ next: "set_aside", target: "dlq", outcome: "dead_lettered", reason }, item, context);
  }
  await waited(PAUSE_MS, item, context);
  return requeue(item);
}

function onward(queue: string, { broker }: SettleContext): CopyTarget {
  return { kind: "onward", queue, maxHeaderBytes: broker.limits.maxHeaderBytes };
}

function acknowledge(item: InHand, outcome: ConsumeOutcome): Settled {
  return item.settle("ack") ? outcome : "kept";
}

function requeue(item: InHand): Settled {
  item.settle("requeue");
  return "kept";
}

/** True when the time has passed, false when the consumer began to close or the broker took the message back first. */
async function waited(ms: number, item: InHand, { clock, onWait }: SettleContext): Promise<boolean> {
  onWait(item);
  try {
    await clock.delay(ms, { signal: item.patience });
    return true;
  } catch {
    return false;
  }
}

function reportUndeclaredRung({ delayMs, wantedRungMs }: TryAgain, { meter }: SettleContext): void {
  if (wantedRungMs !== undefined) meter.rungUndeclared(wantedRungMs, delayMs);
}
