/**
 * Input this library did not write: messages that clients of other languages published, recorded as RabbitMQ delivered them.
 *
 * @module
 */
import { readContentHeader, receivedPropertiesOf, wireTableOf } from "../../tests/support/content_header.ts";
import { bytesOfHex, type FixtureCase, fixtureCases, type Language } from "../../tests/support/fixtures.ts";
import type { RecordedMessage } from "@acemq/amqp/memory";

/** One recording, and what the payment provider has in store for it. */
export interface Recording {
  /** What it is called among them. */
  readonly name: string;
  readonly language: Language;
  /** The content header as it was on the wire: class, weight, size of the body, flags, properties. */
  readonly contentHeader: Uint8Array;
  readonly body: Uint8Array;
  /** The id payments are asked under; empty where the message came without one. */
  readonly id: string;
  /** How often the payment provider fails before it takes the charge. */
  readonly failures: number;
  /** Whether it comes a second time. */
  readonly isSentAgain: boolean;
}

interface RecordedCase extends FixtureCase {
  readonly content_header_hex: string;
  readonly body_hex: string;
  readonly means: { readonly id: string };
}

/** What is replayed. With four attempts, three failures end well on the last of them. */
const CHOSEN: readonly {
  readonly language: Language;
  readonly name: string;
  readonly failures?: number;
  readonly again?: true;
}[] = [
  // No property and no header at all: a first attempt, its type the routing key.
  { language: "go", name: "foreign/nothing" },
  // Every string of the envelope is a byte string.
  { language: "dotnet", name: "envelope/full", again: true },
  { language: "go", name: "headers/strings-as-bytes" },
  // Integers of 8 and 16 bits, where this library writes 32.
  { language: "python", name: "aio-pika/minimal" },
  { language: "python", name: "aio-pika/attempt-300" },
  // Fails three times, and is handled on its fourth and last attempt.
  { language: "java", name: "envelope/minimal", failures: 3 },
  // Arrives on its second attempt, off a rung of another fleet, and fails on all it has left: dead-lettered.
  { language: "ruby", name: "retry/one-rung", failures: Infinity },
  // No order: fatal, so dead-lettered on the first attempt.
  { language: "go", name: "replay/once" },
  // Not JSON: parked.
  { language: "ruby", name: "body/not-json" },
];

/** Reads the recordings from their files. */
export function recordings(): readonly Recording[] {
  const languages = [...new Set(CHOSEN.map(({ language }) => language))];
  const files = new Map(languages.map((language) => [language, fixtureCases<RecordedCase>("messages", language)]));
  return CHOSEN.map(({ language, name, failures = 0, again = false }) => {
    const found = files.get(language)?.find((one) => one.name === name);
    if (found === undefined) throw new Error(`Cannot replay "${name}" of ${language}: there is no such recording`);
    return {
      name: `${language}/${name}`,
      language,
      contentHeader: bytesOfHex(found.content_header_hex),
      body: bytesOfHex(found.body_hex),
      id: found.means.id === "fresh-uuid" ? "" : found.means.id,
      failures,
      isSentAgain: again,
    };
  });
}

/** The same message as values, for the broker that has no wire. */
export function recordedValues(
  { contentHeader, body }: Recording,
  target: { readonly exchange: string; readonly routingKey: string },
): RecordedMessage {
  const header = readContentHeader(contentHeader);
  return { ...target, properties: receivedPropertiesOf(header), headers: wireTableOf(header.headers), body };
}
