/**
 * Port: what every part of one connection shares beside the broker.
 *
 * @module
 */

import type { Clock, NewId, Random } from "../clock.ts";
import type { StoreQueues } from "../internal/store_queues.ts";
import type { Work } from "../internal/work.ts";
import type { Recorder } from "../telemetry/recorder.ts";
import type { CallScope } from "./call_scope.ts";

/** Time, chance, identifiers, telemetry and the amount of work of one connection. */
export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly recorder: Recorder;
  readonly scope: CallScope | undefined;
  /** Handlers that run, deliveries in the hands of a loop, looks and replays, publishes that have no answer yet. */
  readonly work: Work;
  /** The queues whose messages are claimed by their ids alone. */
  readonly storeQueues: StoreQueues;
}
