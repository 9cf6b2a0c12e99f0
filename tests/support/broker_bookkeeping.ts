/**
 * What a broker writes into the headers of a message, and how it comes to.
 *
 * @module
 */
import type { BareClient, FoundMessage } from "./rabbitmq.ts";

/** Arguments of a queue's declaration. */
type Arguments = Readonly<Record<string, unknown>>;

/** The kinds of queues, with their arguments. */
export const QUEUE_TYPES: readonly (readonly [name: string, args: Arguments])[] = [
  ["classic", {}],
  ["quorum", { "x-queue-type": "quorum" }],
];

/** How a broker comes to dead-letter a message by itself. */
export interface Death {
  readonly reason: string;
  readonly args: Arguments;
  /** Makes the message that was put in die. */
  readonly kill: (bare: BareClient, queue: string) => Promise<void>;
}

const EXPIRED: Death = { reason: "expired", args: { "x-message-ttl": 300 }, kill: () => Promise.resolve() };
const OVERFLOWED: Death = {
  reason: "maxlen",
  args: { "x-max-length": 1 },
  kill: async (bare, queue) => {
    await bare.put(queue, `"filler"`, { contentType: "application/json" });
    await bare.take(`${queue}.dlq`).then(async (dead) => await bare.put(`${queue}.dlq`, dead.body, republished(dead)));
    await bare.take(queue);
  },
};
const LIMITED: Death = {
  reason: "delivery_limit",
  args: { "x-delivery-limit": 1 },
  kill: async (bare, queue) => {
    await bare.peek(queue);
    await bare.peek(queue);
  },
};

/** Each way a message can die, on each kind of queue where it can. */
export const DEATHS: readonly (readonly [type: string, args: Arguments, death: Death])[] = QUEUE_TYPES.flatMap(
  ([type, args]) =>
    (type === "quorum" ? [EXPIRED, OVERFLOWED, LIMITED] : [EXPIRED, OVERFLOWED]).map((death) =>
      [type, args, death] as const
    ),
);

/** Publishing a message again as programs do that copy every header. */
export function republished(
  { copied, properties }: FoundMessage,
): { headers: object; contentType: string; messageId: string } {
  const { "x-delivery-count": _, ...headers } = copied;
  return { headers, contentType: `${properties["content-type"]}`, messageId: `${properties["message-id"]}` };
}

/** Histories of deaths that only a client can have written. */
export const MALFORMED_DEATHS: readonly (readonly [name: string, value: unknown])[] = [
  ["a text", "rejected"],
  ["a list of texts", ["rejected"]],
  ["a count that is text", [{ queue: "q", reason: "rejected", count: "one" }]],
  ["a count that is missing", [{ queue: "q", reason: "rejected" }]],
  ["a fraction as a count", [{ queue: "q", reason: "rejected", count: { "!": "double", value: 1.5 } }]],
  ["a number", 7],
];
