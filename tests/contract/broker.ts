/**
 * What a broker behind the port must do, as RabbitMQ does it: `node:test` cases to run against an adapter.
 *
 * @module
 */

import { describe, it } from "node:test";
import { assertOneOf } from "../../src/internal/assert_option.ts";
import { assertOptions, type OptionKinds } from "../../src/internal/option_kinds.ts";
import { acknowledgementTimeout } from "./broker/acknowledgement_timeout.ts";
import { blocking } from "./broker/blocking.ts";
import { comparing } from "./broker/comparing.ts";
import { consuming } from "./broker/consuming.ts";
import { counting } from "./broker/counting.ts";
import { atLeastOnce, deadLetterRetry } from "./broker/dead_letter_retry.ts";
import { deadLetters } from "./broker/dead_letters.ts";
import { declaring } from "./broker/declaring.ts";
import { expiring } from "./broker/expiring.ts";
import { ladder } from "./broker/ladder.ts";
import { lifecycle } from "./broker/lifecycle.ts";
import { names } from "./broker/names.ts";
import { overflowing } from "./broker/overflowing.ts";
import { priorities } from "./broker/priorities.ts";
import { publishing } from "./broker/publishing.ts";
import { pulling, pullingFromStreams } from "./broker/pulling.ts";
import { queueExpiry } from "./broker/queue_expiry.ts";
import { routing } from "./broker/routing.ts";
import { settling } from "./broker/settling.ts";
import { singleActiveConsumer } from "./broker/single_active_consumer.ts";
import { streamDeclaring } from "./broker/stream_declaring.ts";
import { streamKeeping } from "./broker/stream_keeping.ts";
import { streamReading } from "./broker/stream_reading.ts";
import { wireValues } from "./broker/wire_values.ts";
import { type BrokerCapability, type BrokerUnderTest, type Scenario, World } from "./broker/world.ts";
import { skipOf } from "./options.ts";

/** Options of {@linkcode brokerContract}. */
export interface BrokerContractOptions {
  /** Why the cases are skipped; `false` runs them. @default {false} */
  readonly skip?: string | false;
  /**
   * Titles of cases that this broker is known to answer otherwise: they are left out. What it does instead belongs into a case of
   * your own. A title that no case has is an error.
   *
   * @default {[]}
   */
  readonly except?: readonly string[];
  /**
   * What this broker does not have: cases that need it are listed as skipped, each with what it needs.
   *
   * @default {[]}
   */
  readonly lacks?: readonly BrokerCapability[];
}

/** Groups of cases, by what they are about. */
const GROUPS: Readonly<Record<string, (scenario: Scenario) => void>> = {
  "a connection": lifecycle,
  "publishing": publishing,
  "routing": routing,
  "the wire": wireValues,
  "consuming": consuming,
  "counting": counting,
  "settling": settling,
  "pulling": pulling,
  "a single active consumer": (it) => singleActiveConsumer(it.needing("single_active_consumer")),
  "priorities": (it) => priorities(it.needing("priorities")),
  "time to live": expiring,
  "queues that expire": (it) => queueExpiry(it.needing("queue_expiry")),
  "length limits": overflowing,
  "dead-lettering": deadLetters,
  "dead-lettering at least once": (it) => atLeastOnce(it.needing("at_least_once_dead_letters")),
  "names": names,
  "declaring": declaring,
  "comparing": comparing,
  "declaring a stream": (it) => streamDeclaring(it.needing("streams")),
  "reading a stream": (it) => streamReading(it.needing("streams")),
  "asking a stream for a message": (it) => pullingFromStreams(it.needing("streams")),
  "what a stream keeps": (it) => streamKeeping(it.needing("streams")),
  "the library's own queues": ladder,
};

/** No case waits for anything longer than this, on the slowest broker. */
const CASE_TIMEOUT_MS = 60_000;

/**
 * Registers the cases that say what a broker behind the port must do.
 *
 * Every case opens the broker anew, declares under names of its own, and removes them: a shared broker is left as it was found.
 *
 * @example
 * ```ts
 * import { brokerContract } from "@acemq/amqp/contracts";
 * import { memoryBroker, virtualClock } from "@acemq/amqp/memory";
 *
 * brokerContract("memory", async () => {
 *   const clock = virtualClock();
 *   return { broker: memoryBroker({ clock }), clock, pass: (ms) => clock.advance(ms) };
 * });
 * ```
 *
 * @param name what the cases are listed under
 */
export function brokerContract(
  name: string,
  open: () => Promise<BrokerUnderTest>,
  options: BrokerContractOptions = {},
): void {
  assertContract(options, Object.values(GROUPS));
  describe(`The broker contract on ${name}`, () => {
    for (const [about, cases] of Object.entries(GROUPS)) describe(about, () => cases(registering(open, options)));
  });
}

/**
 * Registers the cases about a broker that blocks publishing: what `open` gives has `block` and `unblock`.
 *
 * They stand apart because they block everybody: run them on a broker that nobody else is using.
 *
 * @param name what the cases are listed under
 */
export function blockedBrokerContract(
  name: string,
  open: () => Promise<BrokerUnderTest>,
  options: BrokerContractOptions = {},
): void {
  assertContract(options, [blocking]);
  describe(`The contract of a blocked broker on ${name}`, () => {
    blocking(registering(open, options));
  });
}

/**
 * Registers the cases about a consumer that does not settle in time: what `open` gives has `acknowledgementTimeoutMs`.
 *
 * They stand apart because the time must be short enough to wait for it.
 *
 * @param name what the cases are listed under
 */
export function acknowledgementTimeoutContract(
  name: string,
  open: () => Promise<BrokerUnderTest>,
  options: BrokerContractOptions = {},
): void {
  assertContract(options, [acknowledgementTimeout]);
  describe(`The contract of the acknowledgement time-out on ${name}`, () => {
    acknowledgementTimeout(registering(open, options));
  });
}

/**
 * Registers the cases about a second attempt to hand over what died: what `open` gives has `deadLetterRetryMs`.
 *
 * They stand apart because RabbitMQ waits three minutes unless it is configured otherwise.
 *
 * @param name what the cases are listed under
 */
export function deadLetterRetryContract(
  name: string,
  open: () => Promise<BrokerUnderTest>,
  options: BrokerContractOptions = {},
): void {
  assertContract(options, [deadLetterRetry]);
  describe(`The contract of dead-lettering at least once on ${name}`, () => {
    deadLetterRetry(registering(open, options));
  });
}

function registering(
  open: () => Promise<BrokerUnderTest>,
  { skip = false, except = [], lacks = [] }: BrokerContractOptions,
): Scenario {
  return scenario(lacks, (title, body, lacking) => {
    if (except.includes(title)) return;
    // In the title as well: not every runner shows a reason.
    if (lacking !== undefined) it(`${title} (needs ${lacking})`, { skip: `the broker lacks ${lacking}` }, () => {});
    else it(title, { skip, timeout: CASE_TIMEOUT_MS }, () => runCase(open, body));
  });
}

const KINDS: Readonly<OptionKinds<BrokerContractOptions>> = { skip: "checked", except: "list", lacks: "list" };

/** What a broker can lack: the compiler holds this against the type. */
const CAPABILITIES: Readonly<Record<BrokerCapability, true>> = {
  quorum_queues: true,
  at_least_once_dead_letters: true,
  queue_expiry: true,
  single_active_consumer: true,
  priorities: true,
  streams: true,
};

function assertContract(options: BrokerContractOptions, groups: readonly ((scenario: Scenario) => void)[]): void {
  assertOptions("the contract of a broker", options, KINDS);
  skipOf(options);
  const { except = [], lacks = [] } = options;
  for (const capability of lacks) assertOneOf("lacks", capability, Object.keys(CAPABILITIES));
  assertTitles(except, groups);
}

function assertTitles(titles: readonly string[], groups: readonly ((scenario: Scenario) => void)[]): void {
  const all = new Set<string>();
  for (const cases of groups) cases(scenario([], (title) => void all.add(title)));
  const unknown = titles.filter((title) => !all.has(title));
  if (unknown.length === 0) return;
  throw new TypeError(`Cannot leave cases out of the contract: none is called "${unknown.join('", "')}"`);
}

/** Takes a case, and what it needs that the broker lacks. */
type TakeCase = (title: string, body: (world: World) => Promise<void>, lacking?: BrokerCapability) => void;

/** Hands cases on, those that need what the broker lacks as such. */
function scenario(lacks: readonly BrokerCapability[], take: TakeCase, lacking?: BrokerCapability): Scenario {
  const taking: Scenario = Object.assign(
    (title: string, body: (world: World) => Promise<void>) => take(title, body, lacking),
    {
      needing: (capability: BrokerCapability) =>
        lacking === undefined && lacks.includes(capability) ? scenario(lacks, take, capability) : taking,
    },
  );
  return taking;
}

async function runCase(open: () => Promise<BrokerUnderTest>, body: (world: World) => Promise<void>): Promise<void> {
  const world = new World(await open());
  try {
    await world.start();
    await body(world);
  } finally {
    await world.under.unblock?.();
    await world.end();
  }
}
