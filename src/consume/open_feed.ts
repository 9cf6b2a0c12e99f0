/**
 * Opening: the failure side and the rungs stand before the first delivery can come (contract core 3.1, 5.3).
 *
 * @module
 */

import { declareTopology } from "../declare/declare.ts";
import { TopologyError } from "../errors.ts";
import { assertName, assertShortText } from "../internal/assert_option.ts";
import { truncateUtf8 } from "../internal/bytes.ts";
import { failureSide, merge, rungs } from "../topology/standard.ts";
import type { ConsumerContext } from "./context.ts";
import { Feed } from "./feed.ts";
import { type Intake, intakeOf, type ReceiveOptions } from "./options.ts";

/** What of a queue's name fits a consumer tag beside the rest of it: a tag holds 255 bytes. */
const TAG_BYTES = 200;

/** A feed, and the options it was opened with. */
export interface OpenedFeed {
  readonly feed: Feed;
  readonly intake: Intake;
}

type FeedContext = Pick<ConsumerContext, "broker" | "environment" | "feeds">;

/** How it is opened, and who hears that there is something to take. */
interface Opening {
  readonly options: ReceiveOptions<unknown, unknown>;
  readonly onChange: () => void;
}

/**
 * Declares what a consumer needs and subscribes.
 *
 * @throws {TopologyError} the queue is not there, or something beside it exists otherwise; the consumer has not started
 * @throws {RangeError} an option out of range, a name beside the queue that does not fit; nothing was asked of the broker
 */
export async function openFeed(
  queue: string,
  context: FeedContext,
  opening: Opening,
): Promise<OpenedFeed> {
  const { work } = context.environment;
  work.begin();
  try {
    return await subscribed(queue, context, opening);
  } finally {
    work.end();
  }
}

async function subscribed(
  queue: string,
  context: FeedContext,
  { options, onChange }: Opening,
): Promise<OpenedFeed> {
  assertName("a queue name", queue);
  const intake = intakeOf(options);
  const beside = merge(failureSide(queue), rungs(queue, intake.ladder.rungsMs));
  for (const { name } of intake.declare ? beside.queues : []) assertShortText("a queue name", name);
  const { broker, environment, feeds } = context;
  if ((await broker.checkQueue(queue)).status === "absent") {
    throw new TopologyError(
      "ACEMQ_TOPOLOGY_MISSING",
      `Cannot consume from queue "${queue}": the broker has no queue of that name`,
      {
        findings: [`queue "${queue}": missing`],
      },
    );
  }
  if (intake.declare) await declareTopology(broker, beside);
  const feed: Feed = await Feed.open(broker, environment, {
    queue,
    prefetch: intake.prefetch,
    consumerTag: options.consumerTag ?? `acemq-${truncateUtf8(queue, TAG_BYTES)}-${environment.newId().slice(0, 8)}`,
    arguments: options.arguments ?? {},
    onChange,
    onClosed: () => void feeds?.delete(feed),
  });
  feeds?.add(feed);
  return { feed, intake };
}
