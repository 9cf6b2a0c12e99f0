/**
 * PostgreSQL goes away under consumers that read schemas from it, and comes back: what they know they go on reading, what they do not
 * know is retried, and only what nobody has registered is parked.
 */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { avroDefinition, registeredAvroCodec } from "../../adapters/avro/mod.ts";
import { memoryBroker, memorySchemaRegistry } from "../../adapters/memory/mod.ts";
import { postgresSchemaRegistry } from "../../adapters/postgres/mod.ts";
import { openConnection } from "../../src/connection.ts";
import { fixedRetry } from "../../src/retry/policy.ts";
import { topology } from "../../src/topology/topology.ts";
import { missingOwnPostgres, OwnPostgres, type Stop } from "../support/own_postgres.ts";
import { patientSession } from "../support/patient_session.ts";
import { RecordingSink } from "../support/recording_sink.ts";
import { until } from "../support/until.ts";

const skip = missingOwnPostgres();

const QUEUE = "notes.new";
const SUBJECT = "note.taken";

/** Schemas of one subject: each reads what the others wrote. */
const VERSIONS: readonly object[] = ["text", "text, and who", "text, and who, and when"].map((doc) => ({
  type: "record",
  name: "Note",
  doc,
  fields: [{ name: "text", type: "string" }],
}));

let cluster: Promise<OwnPostgres> | undefined;
after(async () => await (await cluster)?.close());

async function loss(driver: "postgres" | "pg", how: Stop): Promise<void> {
  const database = await (cluster ??= OwnPostgres.open());
  await database.ask("DROP TABLE IF EXISTS acemq_schema_registry, acemq_schema_registry_seq");
  const { session, end } = patientSession(driver, database.url);
  const sink = new RecordingSink();
  const mq = await openConnection(memoryBroker(), { telemetry: sink });
  try {
    const registry = postgresSchemaRegistry(session);
    await registry.createSchemaIfAbsent();
    // Writers that know their ids by themselves, as those of another service do.
    const ids = memorySchemaRegistry();
    const writers = [];
    for (const schema of VERSIONS) {
      const { id } = await registry.register(SUBJECT, avroDefinition(schema));
      await ids.register(SUBJECT, avroDefinition(schema), { id });
      writers.push(mq.publisher("", QUEUE, { codec: registeredAvroCodec(ids, { subject: SUBJECT, schema }) }));
    }
    await mq.declare(topology().queue(QUEUE, { deadLetter: true }));
    const read: string[] = [];
    // A reader that has seen nothing yet.
    const codec = registeredAvroCodec<{ readonly text: string }>(postgresSchemaRegistry(session), {
      readerSchema: VERSIONS[0] ?? {},
    });
    await mq.consume(QUEUE, ({ payload }) => void read.push(payload.text), {
      codec,
      retry: fixedRetry(100_000, { delayMs: 20 }),
    });
    await writers[0]?.send({ text: "known" });
    await until("the first to be read", () => read.length === 1);

    await database.stop(how);
    await writers[1]?.send({ text: "unknown" });
    await writers[0]?.send({ text: "known again" });
    await until("the known to be read without the database", () => read.includes("known again"));
    await until("the other to be retried", () => sink.count("acemq.consume.total", { outcome: "retried" }) >= 2);
    assert.ok(!read.includes("unknown"));

    await database.start();
    await until("the other to be read", () => read.includes("unknown"), { timeoutMs: 60_000 });
    const body = Uint8Array.of(0, 0, 0, 0, 77, 2, 0x61);
    await mq.publisher("", QUEUE).sendEncoded({ body, contentType: "application/vnd.acemq.avro" });
    await until(
      "the one nobody knows to be parked",
      () => sink.count("acemq.consume.total", { outcome: "parked" }) === 1,
    );
    for await (const parked of mq.peek(QUEUE, { from: "parked" })) {
      assert.match(parked.envelope.error ?? "", /schema 77: it is not registered/);
    }
    await writers[2]?.send({ text: "new" });
    await until("the last to be read", () => read.includes("new"));
    assert.deepEqual(read.toSorted(), ["known", "known again", "new", "unknown"]);
    assert.deepEqual((await registry.versions(SUBJECT)).map(({ id }) => id), [1, 2, 3]);
  } finally {
    await mq.close();
    await end();
  }
}

describe("a registry of schemas whose PostgreSQL goes away", () => {
  for (const driver of ["postgres", "pg"] as const) {
    for (const how of ["crash", "fast"] as const) {
      const title = "has what it knows, and retries what it does not";
      it(`${title}: ${driver}, ${how} [AVR-08, AVR-13]`, { skip, timeout: 120_000 }, () => loss(driver, how));
    }
  }
});
