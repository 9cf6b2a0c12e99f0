/**
 * A broker that never hears of one acknowledgement: what was done is done, and the broker cannot know it.
 *
 * @module
 */
import type { Broker, BrokerConnection, BrokerDelivery, DeliveryHandle, SettleAs } from "@acemq/amqp/core";

/** The same broker, to which the first acknowledgement of each connection gets lost on its way. */
export function losesFirstAcknowledgement(broker: Broker): Broker {
  return { ...broker, open: async (options) => lossy(await broker.open(options)) };
}

function lossy(link: BrokerConnection): BrokerConnection {
  const toLose = { acknowledgements: 1 };
  const subscribe: BrokerConnection["subscribe"] = (queue, options) =>
    link.subscribe(queue, {
      ...options,
      onDelivery: (delivery) => options.onDelivery(new LossyDelivery(delivery, toLose)),
    });
  return new Proxy(link, {
    get: (target, name) => {
      if (name === "subscribe") return subscribe;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

class LossyHandle<H extends DeliveryHandle> implements DeliveryHandle {
  protected readonly behind: H;
  protected readonly toLose: { acknowledgements: number };

  constructor(behind: H, toLose: { acknowledgements: number }) {
    this.behind = behind;
    this.toLose = toLose;
  }

  get isLive(): boolean {
    return this.behind.isLive;
  }

  settle(as: SettleAs): "sent" | "stale" {
    if (as !== "ack" || this.toLose.acknowledgements === 0) return this.behind.settle(as);
    this.toLose.acknowledgements--;
    return "sent";
  }
}

class LossyDelivery extends LossyHandle<BrokerDelivery> implements BrokerDelivery {
  get message(): BrokerDelivery["message"] {
    return this.behind.message;
  }

  detach(): DeliveryHandle {
    return new LossyHandle(this.behind.detach(), this.toLose);
  }
}
