/**
 * Opening: the failure side and the rungs stand before the first delivery can come (contract core 3.1, 5.3).
 *
 * @module
 */

import { declareTopology } from "../declare/declare.ts";
import { TopologyError } from "../errors.ts";
import { assertName } from "../internal/assert_option.ts";
import { failureSide, merge, rungs } from "../topology/standard.ts";
import type { ConsumerContext } from "./context.ts";
import { Feed } from "./feed.ts";
import { type Intake, intakeOf, type ReceiveOptions } from "./options.ts";

/** A feed, and the options it was opened with. */
export interface OpenedFeed {
  readonly feed: Feed;
  readonly intake: Intake;
}

/**
 * Declares what a consumer needs and subscribes.
 *
 * @throws {TopologyError} the queue is not there, or something beside it exists otherwise; the consumer has not started
 */
export async function openFeed(
  queue: string,
  context: Pick<ConsumerContext, "broker" | "environment">,
  { options, onChange }: { readonly options: ReceiveOptions; readonly onChange: () => void },
): Promise<OpenedFeed> {
  assertName("a queue name", queue);
  const intake = intakeOf(options);
  const { broker, environment } = context;
  if ((await broker.checkQueue(queue)).status === "absent") {
    throw new TopologyError(
      "ACEMQ_TOPOLOGY_MISSING",
      `Cannot consume from queue "${queue}": the broker has no queue of that name`,
      {
        findings: [`queue "${queue}": missing`],
      },
    );
  }
  if (intake.declare) await declareTopology(broker, merge(failureSide(queue), rungs(queue, intake.ladder.rungsMs)));
  const feed = await Feed.open(broker, environment, {
    queue,
    prefetch: intake.prefetch,
    consumerTag: options.consumerTag ?? `acemq-${queue.slice(0, 200)}-${environment.newId().slice(0, 8)}`,
    arguments: options.arguments ?? {},
    onChange,
  });
  return { feed, intake };
}
