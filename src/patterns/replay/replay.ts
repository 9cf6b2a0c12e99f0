/**
 * Putting set-aside messages back: one pass over what lies in a queue (contract core 6).
 *
 * One message at a time is read and held, its copy published, confirmed and routed, and only then the original acknowledged. A
 * process that dies in between leaves that one message in both queues and no message in none.
 *
 * @module
 */

import type { ConsumerContext } from "../../consume/context.ts";
import type { OpenLoop } from "../../consume/drain.ts";
import { ConnectionError, TopologyError } from "../../errors.ts";
import { settledOrAborted, unlessAborted } from "../../internal/abort.ts";
import { replayCopy } from "../../message/copy.ts";
import { replayed } from "../../message/envelope.ts";
import type { Outbound } from "../../message/outbound.ts";
import type { BrokerDelivery } from "../../ports/broker.ts";
import { publishOnBehalf } from "../../publish/on_behalf.ts";
import { publishError } from "../../publish/outcome.ts";
import { Pace, type PaceClock } from "./pace.ts";
import { PassEnds } from "./pass_ends.ts";
import { lookAt, type PeekedMessage } from "./peeked_message.ts";
import { type Places, placesOf, type ReplayTarget, targetOf } from "./places.ts";
import { Reading } from "./reading.ts";
import type { ReplayOptions, ReplayResult } from "./replay_options.ts";

/** What a replay works with; the connection provides it. */
export interface ReplayContext<T>
  extends Pick<ConsumerContext<T>, "broker" | "environment" | "gate" | "codec" | "loops"> {
  /** Aborts when the connection begins to close. */
  readonly closing: AbortSignal;
}

/** Makes one pass, by options that were checked. A close of the connection waits for the message in hand. */
export async function replayQueue<T>(
  queue: string,
  context: ReplayContext<T>,
  options: ReplayOptions<T>,
): Promise<ReplayResult> {
  const places = placesOf(queue, options.from);
  const target = targetOf(places, options.into);
  const { environment: { clock }, closing } = context;
  const ends = new PassEnds(clock, { ...options, closing });
  const running = new Pass({ ...places, target }, context, { ...options, ends }).run();
  const open: OpenLoop = { drain: (budget) => drain(running, { budget, ends }) };
  context.loops?.add(open);
  try {
    return await running;
  } finally {
    context.loops?.delete(open);
    ends.over();
  }
}

/** The connection closes, and the pass knows: what is in hand is waited for. */
async function drain(
  running: Promise<unknown>,
  { budget, ends }: { readonly budget: AbortSignal; readonly ends: PassEnds },
): ReturnType<OpenLoop["drain"]> {
  let isOver = false;
  const over = running.then(() => {}, () => {}).then(() => isOver = true);
  await settledOrAborted(over, budget);
  if (!isOver) ends.abandon();
  return { drained: isOver, stranded: isOver ? 0 : 1 };
}

/** One pass over one queue. */
class Pass<T> {
  readonly #places: Places & { readonly target: ReplayTarget };
  readonly #context: ReplayContext<T>;
  readonly #options: ReplayOptions<T>;
  readonly #ends: PassEnds;
  readonly #pace: Pace;
  readonly #reading: Reading;
  #moved = 0;
  #skipped = 0;

  constructor(
    places: Places & { readonly target: ReplayTarget },
    context: ReplayContext<T>,
    { ends, ...options }: ReplayOptions<T> & { readonly ends: PassEnds },
  ) {
    const { clock, work } = context.environment;
    this.#places = places;
    this.#context = context;
    this.#options = options;
    this.#ends = ends;
    // Whoever waits until the connection is idle does not wait for time to pass.
    const pacing: PaceClock = {
      elapsed: () => clock.elapsed(),
      delay: (ms, given) => work.rest(() => clock.delay(ms, given)),
    };
    this.#pace = new Pace(pacing, { ...options, signal: ends.cancelled });
    this.#reading = new Reading(context, places.source, ends.between);
  }

  /** Rejects only when nothing was read yet. */
  async run(): Promise<ReplayResult> {
    await this.#reading.begin();
    try {
      if (this.#options.dryRun === true) await this.#assertTarget();
      const reason = await this.#readThrough();
      return { moved: this.#moved, skipped: this.#skipped, reason };
    } catch (error) {
      return { moved: this.#moved, skipped: this.#skipped, reason: "failed", error };
    } finally {
      await this.#reading.end();
    }
  }

  async #readThrough(): Promise<Exclude<ReplayResult["reason"], "failed">> {
    const { limit = Infinity } = this.#options;
    for (;;) {
      if (this.#moved >= limit) return "limit";
      if (this.#reading.isOver) return "drained";
      // Before anything is in hand: a message that waits for its turn can be seen by others.
      const over = await this.#pace.turn();
      if (over !== undefined) return over;
      const delivery = await this.#reading.next();
      if (delivery === null) return this.#ends.between.aborted ? this.#ends.reason : "drained";
      if (await this.#decide(delivery) === "undecided") return this.#ends.reason;
    }
  }

  /** Undecided: the pass is to end, and nobody waits for the filter. */
  async #decide(delivery: BrokerDelivery): Promise<"moved" | "skipped" | "undecided"> {
    const { filter, dryRun = false, onProgress } = this.#options;
    const message = lookAt(delivery.message, this.#places.source, this.#context);
    let isSettled = false;
    let outcome: "moved" | "skipped" = "skipped";
    try {
      const isWanted = filter === undefined || await this.#answer(filter(message));
      if (isWanted === undefined && this.#ends.within.aborted) return "undecided";
      if (isWanted) {
        outcome = "moved";
        if (!dryRun) isSettled = await this.#move(delivery, message);
        this.#moved++;
      } else this.#skipped++;
    } finally {
      if (!isSettled) this.#reading.keep(delivery);
    }
    await this.#answer(onProgress?.({ moved: this.#moved, skipped: this.#skipped, outcome, message }));
    return outcome;
  }

  /** What the caller's own code says; undefined when the pass ends first, and then nobody hears what it says later. */
  #answer<Answer>(given: Answer | Promise<Answer>): Promise<Answer | undefined> {
    return unlessAborted(Promise.resolve(given), this.#ends.within);
  }

  /** Publishes the copy, and acknowledges the original when a queue has it. */
  async #move(delivery: BrokerDelivery, message: PeekedMessage<T>): Promise<true> {
    const { source } = this.#places;
    const named = `message "${message.envelope.id}" of queue "${source}"`;
    if (!delivery.isLive) throw lost(`Cannot replay ${named}: the connection was lost, and it is back in its queue`);
    this.#pace.moving();
    const copy = this.#copyOf(delivery, message);
    const answer = await publishOnBehalf(this.#context.gate, copy);
    if (answer.status !== "routed") {
      const outcome = answer.status === "not_routed" ? answer.because : answer.status;
      throw publishError(copy, { outcome, reason: answer.reason });
    }
    if (delivery.settle("ack") === "sent") return true;
    throw lost(
      `Cannot take ${named} away: the connection was lost after its copy was confirmed, so it is in both queues`,
    );
  }

  #copyOf({ message: received }: BrokerDelivery, { envelope }: PeekedMessage<T>): Outbound {
    const { broker, environment } = this.#context;
    const { keepAttempts = false } = this.#options;
    const { source, target } = this.#places;
    const stamped = replayed(envelope, { from: source, atMs: environment.clock.now(), keepAttempts });
    const { maxHeaderBytes } = broker.limits;
    return {
      ...replayCopy(received, stamped, { queue: target.routingKey, maxHeaderBytes }),
      exchange: target.exchange,
    };
  }

  /** A real run is told by the broker, message by message. */
  async #assertTarget(): Promise<void> {
    const { exchange, routingKey } = this.#places.target;
    const { broker } = this.#context;
    const asked = exchange === ""
      ? broker.checkQueue(routingKey).then(({ status }) => status)
      : broker.checkExchange(exchange);
    if (await unlessAborted(asked, this.#ends.between) !== "absent") return;
    const what = exchange === "" ? `queue "${routingKey}"` : `exchange "${exchange}"`;
    throw new TopologyError(
      "ACEMQ_TOPOLOGY_MISSING",
      `Cannot replay queue "${this.#places.source}": ${what} does not exist`,
    );
  }
}

function lost(message: string): ConnectionError {
  return new ConnectionError("ACEMQ_CONNECTION_LOST", message);
}
