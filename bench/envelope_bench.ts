/**
 * What does the envelope cost: headers off the wire to an envelope, and an envelope back to headers?
 *
 * `bare` is the same work without any of the care: the fields copied by hand, from and to a table whose every value is taken for
 * what it should be.
 *
 * @module
 */
import { randomUuid, systemClock } from "../src/clock.ts";
import type { Envelope } from "../src/message/envelope.ts";
import { parseEnvelope } from "../src/message/parse_envelope.ts";
import { renderHeaders } from "../src/message/render_envelope.ts";
import type { ReceivedMessage } from "../src/message/received.ts";
import type { WireTable } from "../src/message/wire_value.ts";
import { type Contestant, roundsFromArguments, runRounds, type Sample, Stopwatch } from "./_harness.ts";
import { BARE, type Budget, lineOf, OURS } from "./_line.ts";

type Record = Pick<ReceivedMessage, "headers" | "properties" | "routingKey">;

/** Both directions, one way of doing them. */
interface Conversion extends Contestant {
  readonly read: (record: Record) => Envelope;
  readonly write: (envelope: Envelope, application: WireTable) => WireTable;
}

/** Times of a round; on the order of a second. */
const MESSAGES = 400_000;

const APPLICATION: WireTable = {
  "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  "tenant": "north",
  "priority-class": 3,
};

/** Different messages, so that no runtime can take one answer for all. */
const RECORDS: readonly Record[] = Array.from({ length: 64 }, (_, index) => recordOf(index));

const BUDGET: Budget = { cpuUs: 3 };

function recordOf(index: number): Record {
  const id = randomUuid();
  return {
    routingKey: "orders.placed",
    properties: { contentType: "application/json", messageId: id, deliveryMode: 2 },
    headers: {
      "x-acemq-id": id,
      "x-acemq-type": "order.placed",
      "x-acemq-version": 1,
      "x-acemq-correlation": randomUuid(),
      "x-acemq-causation": randomUuid(),
      "x-acemq-attempt": 1 + index % 3,
      "x-acemq-first-seen": 1_760_000_000_000 + index,
      "x-acemq-origin": "orders@host-7",
      ...APPLICATION,
    },
  };
}

function ours(): Conversion {
  const sources = { clock: systemClock(), newId: randomUuid };
  return { name: OURS, read: (record) => parseEnvelope(record, sources), write: renderHeaders };
}

function bare(): Conversion {
  return {
    name: BARE,
    read: ({ headers }) => ({
      id: headers["x-acemq-id"] as string,
      type: headers["x-acemq-type"] as string,
      version: headers["x-acemq-version"] as number,
      correlationId: headers["x-acemq-correlation"] as string,
      causationId: headers["x-acemq-causation"] as string,
      attempt: headers["x-acemq-attempt"] as number,
      firstSeenMs: headers["x-acemq-first-seen"] as number,
      origin: headers["x-acemq-origin"] as string,
    }),
    write: (envelope, application) => ({
      "x-acemq-id": envelope.id,
      "x-acemq-type": envelope.type,
      "x-acemq-version": envelope.version,
      "x-acemq-correlation": envelope.correlationId,
      "x-acemq-causation": envelope.causationId ?? null,
      "x-acemq-attempt": envelope.attempt,
      "x-acemq-first-seen": envelope.firstSeenMs,
      "x-acemq-origin": envelope.origin ?? null,
      ...application,
    }),
  };
}

/** The work of a round; what it returns is looked at, so that it has to be done. */
type Round = (conversion: Conversion) => number;

const CASES: readonly { readonly name: string; readonly round: Round; readonly budget: Budget }[] = [
  { name: "record to envelope", round: reading, budget: {} },
  { name: "envelope to record", round: writing, budget: {} },
  { name: "both ways", round: bothWays, budget: BUDGET },
];

function reading({ read }: Conversion): number {
  let attempts = 0;
  for (let index = 0; index < MESSAGES; index++) attempts += read(RECORDS[index & 63] as Record).attempt;
  return attempts;
}

function writing({ read, write }: Conversion): number {
  const envelopes = RECORDS.map(read);
  let attempts = 0;
  for (let index = 0; index < MESSAGES; index++) {
    attempts += write(envelopes[index & 63] as Envelope, APPLICATION)["x-acemq-attempt"] as number;
  }
  return attempts;
}

function bothWays({ read, write }: Conversion): number {
  let attempts = 0;
  for (let index = 0; index < MESSAGES; index++) {
    attempts += write(read(RECORDS[index & 63] as Record), APPLICATION)["x-acemq-attempt"] as number;
  }
  return attempts;
}

function measure(conversion: Conversion, round: Round): Sample {
  const stopwatch = new Stopwatch();
  stopwatch.start();
  const attempts = round(conversion);
  const sample = stopwatch.stop(MESSAGES);
  if (attempts < MESSAGES) throw new Error(`Cannot count a round of ${conversion.name}: messages were lost`);
  return sample;
}

for (const { name, round, budget } of CASES) {
  const rounds = roundsFromArguments();
  const samples = await runRounds([ours(), bare()], { rounds }, (conversion) => measure(conversion, round));
  console.log(JSON.stringify(lineOf({ bench: "envelope", case: name, budget }, "us CPU/message", samples)));
}
