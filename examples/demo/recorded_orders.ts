/**
 * Orders that programs in other languages published, placed as they were recorded.
 *
 * @module
 */
import type { MemoryBroker } from "@acemq/amqp/memory";
import { type FlowNames, ORDER_PLACED } from "./flow.ts";
import { RawClient } from "./raw_client.ts";
import { recordedValues, type Recording, recordings } from "./recordings.ts";
import type { Source } from "./source.ts";

const NAMES: Readonly<Record<Recording["language"], string>> = {
  dotnet: ".NET (imitated)",
  go: "Go",
  java: "Java",
  python: "Python",
  ruby: "Ruby",
};

/** Puts the recorded values into a memory broker. */
export function putRecordings(broker: MemoryBroker, { exchange }: FlowNames): Source {
  return recordedOrders((recording) => {
    const routed = broker.put(recordedValues(recording, { exchange, routingKey: ORDER_PLACED }));
    if (routed !== "routed") throw new Error(`Cannot put in a recording of ${recording.language}: it was ${routed}`);
    return Promise.resolve();
  });
}

/** Writes the recorded bytes to a broker's socket. */
export function replayRecordings(url: URL, { exchange }: FlowNames): Source {
  return {
    async place(placing) {
      const client = await RawClient.open(url);
      const source = recordedOrders((recording) => client.publish({ exchange, routingKey: ORDER_PLACED }, recording));
      try {
        return await source.place(placing);
      } finally {
        client.close();
      }
    },
  };
}

function recordedOrders(put: (recording: Recording) => Promise<void>): Source {
  return {
    async place({ count, feed, payments }) {
      const all = recordings();
      for (const recording of all) {
        if (recording.failures > 0) payments.failNext(recording.id, recording.failures);
        await put(recording);
        count(1);
        if (!recording.isSentAgain) continue;
        await put(recording);
        feed(1);
      }
      const languages = new Set(all.map(({ language }) => NAMES[language]));
      const copies = all.filter(({ isSentAgain }) => isSentAgain).length;
      return `${all.length} recorded from ${[...languages].join(", ")}, ${copies} of them twice`;
    },
  };
}
