/**
 * A broker that is watched from the port: what is in flight through it, and what it says of itself, in the moment it says it.
 *
 * @module
 */
import type { Broker, BrokerConnection, BrokerEvent, PublishReceipt } from "../../src/ports/broker.ts";
import { instead } from "./instead.ts";

/** What was seen of one broker. */
export class Observation {
  /** Everything that has happened to the connection. */
  readonly events: BrokerEvent[] = [];
  /** Publishes that were handed over and are not answered. */
  inFlight = 0;
  /** The most there ever were. */
  mostInFlight = 0;
  /** Publishes that were handed over. */
  published = 0;
  /** The lanes they were on. */
  readonly lanes: Set<number> = new Set();
  /** Subscriptions that were opened and not closed. */
  subscriptions = 0;
  /** Called with each event, when the connection has heard of it. */
  onEvent: (event: BrokerEvent) => void = () => {};

  /** Events of one kind. */
  of<Type extends BrokerEvent["type"]>(type: Type): Extract<BrokerEvent, { type: Type }>[] {
    return this.events.filter((event): event is Extract<BrokerEvent, { type: Type }> => event.type === type);
  }

  /** Whether the connection is lost just now. */
  get isLost(): boolean {
    return this.of("lost").length > this.of("recovered").length;
  }
}

/** The same broker, watched. */
export function observedBroker(inner: Broker, seen: Observation): Broker {
  return {
    open: async (options) => {
      const onEvent = (event: BrokerEvent): void => {
        seen.events.push(event);
        options.onEvent(event);
        seen.onEvent(event);
      };
      return observedConnection(await inner.open({ ...options, onEvent }), seen);
    },
  };
}

function observedConnection(inner: BrokerConnection, seen: Observation): BrokerConnection {
  const publish: BrokerConnection["publish"] = async (outbound, options): Promise<PublishReceipt> => {
    seen.published++;
    seen.lanes.add(options.lane);
    seen.inFlight++;
    seen.mostInFlight = Math.max(seen.mostInFlight, seen.inFlight);
    try {
      return await inner.publish(outbound, options);
    } finally {
      seen.inFlight--;
    }
  };
  const subscribe: BrokerConnection["subscribe"] = async (queue, options) => {
    const subscription = await inner.subscribe(queue, options);
    seen.subscriptions++;
    let closing: Promise<void> | undefined;
    const close = (): Promise<void> => {
      if (closing === undefined) seen.subscriptions--;
      return closing ??= subscription.close();
    };
    return instead(subscription, { close });
  };
  return instead(inner, { publish, subscribe });
}
