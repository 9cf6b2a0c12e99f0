/**
 * Orders that programs in other languages published, placed as they were recorded.
 *
 * @module
 */
import type { MemoryBroker } from "@acemq/amqp/memory";
import { type FlowNames, ORDER_PLACED } from "./flow.ts";
import { isOwnOrder } from "./own_orders.ts";
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

/** Puts the recorded values into a memory broker: again as well, what one before it had when its process was killed. */
export function putRecordings(broker: MemoryBroker, { exchange }: FlowNames): Source {
  const source = recordedOrders((recording) => {
    const routed = broker.put(recordedValues(recording, { exchange, routingKey: ORDER_PLACED }));
    if (routed !== "routed") throw new Error(`Cannot put in ${recording.name}: it was ${routed}`);
    return Promise.resolve();
  });
  return {
    ...source,
    async place(placing) {
      const endings = await placing.account.endings();
      const isPlaced = (name: string): boolean => placing.isPlaced(name) && hasEnded(name, endings.map(({ id }) => id));
      const count = (messages: number, name = ""): void => {
        if (!placing.isPlaced(name)) placing.count(messages);
      };
      return await source.place({ ...placing, isPlaced, count });
    },
  };
}

/** The one that comes without an id has ended under one that nobody gave. */
function hasEnded(name: string, endedIds: readonly string[]): boolean {
  const all = recordings();
  const id = all.find((recording) => recording.name === name)?.id ?? "";
  if (id !== "") return endedIds.includes(id);
  return endedIds.some((ended) => !isOwnOrder(ended) && all.every((recording) => recording.id !== ended));
}

/** Writes the recorded bytes to a broker's socket. */
export function replayRecordings(url: URL, { exchange }: FlowNames): Source {
  return {
    outages: outages(),
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

function outages(): ReadonlyMap<string, number> {
  return new Map(recordings().map(({ id, failures }) => [id, failures]));
}

function recordedOrders(put: (recording: Recording) => Promise<void>): Source {
  return {
    outages: outages(),
    async place({ account, isPlaced, count, feed }) {
      const all = recordings();
      for (const recording of all) {
        if (isPlaced(recording.name)) continue;
        await put(recording);
        await account.place([recording.name]);
        count(1, recording.name);
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
