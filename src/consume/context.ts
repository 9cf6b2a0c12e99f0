/**
 * What every form of consuming works with; the connection provides it.
 *
 * @module
 */

import type { BrokerConnection } from "../ports/broker.ts";
import type { Codec } from "../ports/codec.ts";
import type { Environment } from "../ports/environment.ts";
import type { PublishGate } from "../publish/gate.ts";
import type { OpenLoop } from "./drain.ts";
import type { Feed } from "./feed.ts";
import type { ConsumeInterceptor } from "./interceptor.ts";

/** A connection's part in consuming. */
export interface ConsumerContext<T = unknown> {
  readonly broker: BrokerConnection;
  readonly environment: Environment;
  readonly gate: PublishGate;
  readonly codec: Codec<never, T>;
  readonly interceptors: readonly ConsumeInterceptor[];
  /** How long a close waits for running handlers, milliseconds. */
  readonly drainTimeoutMs: number;
  /** Loops over deliveries that are open, for a close to wait for. */
  readonly loops?: Set<OpenLoop>;
  /** What is consumed from, for whoever waits until all of it is empty. */
  readonly feeds?: Set<Feed>;
  /** Called once, when the consumer is gone. */
  readonly onClosed?: () => void;
}
