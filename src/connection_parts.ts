/**
 * What a connection is made of, opened in the order in which one part needs the other.
 *
 * @module
 */

import { type Clock, randomUuid, systemClock, systemRandom } from "./clock.ts";
import { type CodecCatalog, codecCatalog } from "./codec/codecs.ts";
import { assertBroker, type ConnectionSettings, connectionSettings, type ConnectOptions } from "./connect_options.ts";
import { EventHub } from "./internal/event_hub.ts";
import { StoreQueues } from "./internal/store_queues.ts";
import { Work } from "./internal/work.ts";
import type { Broker, BrokerConnection, BrokerEvent } from "./ports/broker.ts";
import type { Codec } from "./ports/codec.ts";
import type { Environment } from "./ports/environment.ts";
import { PublishGate } from "./publish/gate.ts";
import { logConnectionEvent } from "./telemetry/connection_log.ts";
import { Recorder } from "./telemetry/recorder.ts";

/** Everything of a connection that is there before its first publisher or consumer. */
export interface ConnectionParts {
  readonly broker: BrokerConnection;
  readonly environment: Environment;
  readonly settings: ConnectionSettings;
  readonly codecs: CodecCatalog;
  readonly defaultCodec: Codec;
  readonly hub: EventHub<BrokerEvent>;
  readonly gate: PublishGate;
}

/** Checks the options, opens the link, and puts together what stands on it. Throws as `openConnection` says. */
export async function openParts(broker: Broker, options: ConnectOptions): Promise<ConnectionParts> {
  assertBroker(broker);
  const settings = connectionSettings(options);
  const codecs = codecCatalog(options.codecs);
  const { codec = "json" } = options;
  const defaultCodec = codecs.resolve(codec);
  const clock: Clock = options.clock ?? broker.clock ?? systemClock();
  const hub = new EventHub<BrokerEvent>();
  const early: BrokerEvent[] = [];
  let hear = (event: BrokerEvent): unknown => early.push(event);
  const link = await broker.open({
    name: settings.name,
    clock,
    onEvent: (event) => void hear(event),
    signal: options.signal,
  });
  const recorder = new Recorder(options.telemetry, link.transport);
  const { random = systemRandom, newId = randomUuid, scope } = options;
  const environment: Environment = {
    clock,
    random,
    newId,
    recorder,
    scope,
    work: new Work(),
    storeQueues: new StoreQueues(),
  };
  const gate = new PublishGate(link, environment, settings);
  hear = (event) => {
    if (event.type === "unblocked") gate.unblocked();
    logConnectionEvent(recorder, event);
    hub.emit(event);
  };
  early.forEach((event) => hear(event));
  return { broker: link, environment, settings, codecs, defaultCodec, hub, gate };
}
