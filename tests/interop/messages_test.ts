/**
 * Every recorded message of every language means what its `means` says.
 *
 * Here: the envelope, the headers as a handler sees them, the broker's deaths, and payloads of JSON and text. What a claim-check
 * codec, a slip follower, a scheduler and a responder make of them is told by `claimCheck`, `itinerary`, `schedule` and `replyTo`.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { jsonCodec } from "../../src/codec/json.ts";
import { textCodec } from "../../src/codec/text.ts";
import { DecodeError } from "../../src/errors.ts";
import { headersForCopy } from "../../src/message/broker_headers.ts";
import type { Envelope } from "../../src/message/envelope.ts";
import { readableHeaders } from "../../src/message/header_value.ts";
import { parseEnvelope } from "../../src/message/parse_envelope.ts";
import type { ReceivedMessage } from "../../src/message/received.ts";
import { renderHeaders } from "../../src/message/render_envelope.ts";
import { fixtureCases, LANGUAGES } from "../support/fixtures.ts";
import {
  type DeathMeaning,
  type MessageCase,
  type MessageMeaning,
  receivedMessage,
} from "../support/recorded_messages.ts";
import { FRESH_ID, NOW_MS, stoppedSources } from "../support/sources.ts";

/** The envelope that a meaning describes. */
function envelopeMeant(means: MessageMeaning): Envelope {
  const { route, replayedAt } = means;
  return {
    id: means.id === "fresh-uuid" ? FRESH_ID : means.id,
    type: means.type,
    version: means.version,
    correlationId: means.correlation === "fresh-uuid" ? FRESH_ID : means.correlation,
    causationId: means.causation,
    attempt: means.attempt,
    firstSeenMs: means.firstSeenMs === "now" ? NOW_MS : means.firstSeenMs,
    origin: means.origin,
    error: means.error,
    claim: means.claim,
    route: route && { steps: route.steps, position: route.position, runId: route.runId },
    replayedFrom: means.replayedFrom,
    replayedAt: replayedAt === undefined ? undefined : new Date(replayedAt),
    replayCount: means.replayCount,
  };
}

/** The `x-death` of a handler's headers, in the words of the fixtures. */
function deathsOf(received: ReceivedMessage): readonly DeathMeaning[] | undefined {
  const deaths = readableHeaders(received.headers)["x-death"];
  if (!Array.isArray(deaths)) return undefined;
  return deaths.map(({ queue, reason, count, exchange, "routing-keys": routingKeys }) => ({
    queue,
    reason,
    count,
    exchange,
    routingKeys,
  }));
}

/** What the codec for the body's content type makes of it. */
async function decode({ body, properties: { contentType } }: ReceivedMessage): Promise<unknown> {
  const codecs = [jsonCodec({ integers: "bigint" }), textCodec()];
  const codec = codecs.find((one) => one.canDecode(contentType)) ?? assert.fail(`no codec for ${contentType}`);
  return await codec.decode(body, { contentType });
}

/** The engine's header names that a message of this meaning goes on with. */
function engineNames(means: MessageMeaning): readonly string[] {
  const { route } = means;
  return [
    "x-acemq-id",
    "x-acemq-type",
    "x-acemq-version",
    "x-acemq-correlation",
    "x-acemq-attempt",
    "x-acemq-first-seen",
    ...(means.origin === undefined ? [] : ["x-acemq-origin"]),
    ...(means.causation === undefined ? [] : ["x-acemq-causation"]),
    ...(means.error === undefined ? [] : ["x-acemq-error"]),
    ...(means.claim === undefined ? [] : ["x-acemq-claim"]),
    ...(route === undefined ? [] : ["x-acemq-route", "x-acemq-route-position"]),
    ...(route?.runId === undefined ? [] : ["x-acemq-route-id"]),
    ...(means.replayedFrom === undefined ? [] : ["acemq-replayed-from"]),
    ...(means.replayedAt === undefined ? [] : ["acemq-replayed-at"]),
    ...(means.replayCount === undefined ? [] : ["acemq-replay-count"]),
  ];
}

/** What the broker wrote and what it would obey again (contract core 1.2). */
const NEVER_COPIED = /^(x-death|x-(first|last)-death-.*|x-delivery-count|CC|BCC)$/;

function parse(received: ReceivedMessage): Envelope {
  return parseEnvelope(received, stoppedSources());
}

/** What a copy can say: the attempt, which the engine counts, is of the 32-bit kind (contract core 1.1). */
function within32Bits(envelope: Envelope): Envelope {
  return { ...envelope, attempt: Math.min(envelope.attempt, 2 ** 31 - 1) };
}

for (const language of LANGUAGES) {
  describe(`a message recorded from ${language}`, () => {
    for (const recorded of fixtureCases<MessageCase>("messages", language)) {
      const { name, means } = recorded;

      it(`means what its writer says: ${name}`, async () => {
        const received = receivedMessage(recorded);
        assert.deepEqual(parse(received), envelopeMeant(means));
        assert.deepEqual({ ...readableHeaders(received.headers) }, means.headers);
        assert.deepEqual(deathsOf(received), means.deaths);
        assert.equal(received.properties.contentType || undefined, means.contentType);
        if (means.undecodable) await assert.rejects(decode(received), DecodeError);
        else if ("payload" in means && means.claimCheck === undefined) {
          assert.deepEqual(await decode(received), means.payload);
        }
      });

      it(`goes on with no header gained, lost, renamed or changed, but for an attempt of more than 32 bits: ${name} [ENV-11]`, () => {
        const received = receivedMessage(recorded);
        const copy = renderHeaders(parse(received), headersForCopy(received.headers, "onward"));
        const kept = Object.keys(received.headers)
          .filter((one) => !one.startsWith("x-acemq-") && !NEVER_COPIED.test(one));
        assert.deepEqual(Object.keys(copy).sort(), [...new Set([...engineNames(means), ...kept])].sort());
        for (const one of kept) assert.deepEqual(copy[one], received.headers[one], one);
        assert.deepEqual(parse({ ...received, headers: copy }), within32Bits(parse(received)));
      });
    }
  });
}
