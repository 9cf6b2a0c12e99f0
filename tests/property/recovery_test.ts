/** Whatever happens to a connection and its consumers, and in whichever order: what is told of it is true in the end. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { BrokerEvent } from "../../src/ports/broker.ts";
import { queueSpec, type Reader, reading } from "../support/amqp_connection.ts";
import { methodFrame } from "../support/amqp_frames.ts";
import { CountingClock } from "../support/residue.ts";
import type { Answer, Script, ScriptedBroker, ScriptedClient } from "../support/scripted_broker.ts";
import { withScript } from "../support/scripted_world.ts";
import { until } from "../support/until.ts";

const QUEUES = ["a", "b"] as const;
type Queue = (typeof QUEUES)[number];

/** What the broker does with a question about a queue. */
type Mood = "answers" | "refuses" | "is silent" | "closes the connection";

type Step =
  | {
    readonly what: "mood";
    readonly queue: Queue;
    readonly method: "QueueDeclare" | "BasicConsume";
    readonly mood: Mood;
  }
  | { readonly what: "break" }
  | { readonly what: "cancel"; readonly queue: Queue }
  | { readonly what: "wait"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    what: fc.constant("mood" as const),
    queue: fc.constantFrom(...QUEUES),
    method: fc.constantFrom("QueueDeclare" as const, "BasicConsume" as const),
    mood: fc.constantFrom<Mood>("answers", "refuses", "is silent", "closes the connection"),
  }),
  fc.record({ what: fc.constant("break" as const) }),
  fc.record({ what: fc.constant("cancel" as const), queue: fc.constantFrom(...QUEUES) }),
  fc.record({ what: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 40 }) }),
);

/** A broker of changing moods. */
class Moody {
  readonly #moods = new Map<string, Mood>();
  readonly script: Script = {
    answer: ({ name, channel, fields }): Answer => {
      switch (this.#moods.get(`${name} ${String(fields["queue"])}`)) {
        case "refuses":
          return [methodFrame("ChannelClose", channel, closing(405))];
        case "is silent":
          return [];
        case "closes the connection":
          return [methodFrame("ConnectionClose", 0, closing(541))];
        default:
          return undefined;
      }
    },
  };

  set(method: string, queue: Queue, mood: Mood): void {
    this.#moods.set(`${method} ${queue}`, mood);
  }

  heal(): void {
    this.#moods.clear();
  }
}

describe("the story of a connection", () => {
  it("alternates between loss and return, for the link and for each consumer, and ends with all of it back", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const [clock, moody] = [new CountingClock(), new Moody()];
        await withScript(moody.script, async ({ mq, events, broker }) => {
          const readers: Reader[] = [];
          for (const queue of QUEUES) {
            await mq.declareQueue(queueSpec(queue));
            readers.push(await reading(mq, queue, { tag: queue }));
          }
          for (const one of steps) await take(one, { moody, broker, clock });
          moody.heal();
          // What a silent broker was asked is answered by nobody any more.
          broker.clients.forEach(({ socket }) => socket.destroy());
          await until("all of it is back", () => {
            const isBack = mq.state.status === "open" && readers.every(({ subscription }) => subscription.live);
            return isBack && stories(events).every((story) => story.length % 2 === 0);
          });
          for (const story of stories(events)) assert.deepEqual(story, alternating(story));
          assert.ok(readers.every(({ losses, recoveries }) => losses.length === recoveries()));
          await mq.close();
          await until("no timer", () => clock.pending === 0, { timeoutMs: 3_000 });
          await until("no link", () => broker.clients.every(({ isGone }) => isGone));
        }, { clock, reconnect: { initialDelayMs: 2, maxDelayMs: 10 } });
      }),
      { numRuns: 40, endOnFailure: true },
    );
  });
});

async function take(
  one: Step,
  { moody, broker, clock }: { moody: Moody; broker: ScriptedBroker; clock: CountingClock },
): Promise<void> {
  const newest = broker.clients.at(-1) as ScriptedClient;
  switch (one.what) {
    case "mood":
      return moody.set(one.method, one.queue, one.mood);
    case "break":
      return void newest.socket.destroy();
    case "wait":
      return await clock.delay(one.ms);
    case "cancel":
      for (const { channel, fields } of newest.named("BasicConsume")) {
        if (fields["queue"] !== one.queue || newest.isGone) continue;
        newest.send(methodFrame("BasicCancel", channel, { consumerTag: one.queue, noWait: true }));
      }
  }
}

/** What was told of the link, and of each consumer: losses and returns only. */
function stories(events: readonly BrokerEvent[]): readonly (readonly string[])[] {
  const of = (about: (event: BrokerEvent) => string | undefined): readonly string[] =>
    events.flatMap((event) => about(event) ?? []);
  return [
    of(({ type }) => type === "lost" || type === "recovered" ? type : undefined),
    ...QUEUES.map((queue) => of((event) => "queue" in event && event.queue === queue ? event.type : undefined)),
  ];
}

function alternating(story: readonly string[]): readonly string[] {
  const [lost = "", back = ""] = story;
  return story.map((_, index) => index % 2 === 0 ? lost : back);
}

function closing(replyCode: number): object {
  return { replyCode, replyText: "MOOD", classId: 0, methodId: 0 };
}
