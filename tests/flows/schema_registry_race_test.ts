/** Eight processes that register schemas at once, on one SQLite file and on PostgreSQL, with registrations that are rolled back. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ChildProgram } from "../support/child_program.ts";
import { IS_LONG_RUN } from "../support/long_run.ts";
import { missing } from "../support/services.ts";
import { makeSharedSchemas, numbered, openSharedSchemas } from "../support/shared_schemas.ts";
import type { SharedDatabaseKind } from "../support/shared_database.ts";

const skip = await missing("postgresql");

const PROCESSES = 8;

const SCHEMAS = IS_LONG_RUN ? 50 : 20;

/** What a process says at its end. */
interface Share {
  /** Of schemas that all of them register, by number. */
  readonly shared: readonly number[];
  /** Of its own. */
  readonly own: readonly number[];
  readonly rolledBack: number;
}

async function shareOf(registrar: ChildProgram): Promise<Share> {
  await registrar.ended();
  return JSON.parse(registrar.lines[1] ?? assert.fail("It ended without a word"));
}

async function race(kind: SharedDatabaseKind): Promise<void> {
  const { database, registry } = await makeSharedSchemas(kind);
  const registrars = Array.from(
    { length: PROCESSES },
    (_, number) => new ChildProgram("register_schemas", [database.address, `P${number}`, String(SCHEMAS)]),
  );
  try {
    await Promise.all(registrars.map((one) => one.line("the process to be ready", (line) => line === "ready")));
    for (const one of registrars) one.tell("go");
    const shares = await Promise.all(registrars.map(shareOf));
    const [first] = shares;
    assert.ok(first !== undefined);
    for (const { shared } of shares) assert.deepEqual(shared, first.shared, "One schema has one id");
    const ids = [...first.shared, ...shares.flatMap(({ own }) => own)];
    assert.equal(new Set(ids).size, (PROCESSES + 1) * SCHEMAS, "Each has an id of its own");
    assert.ok(shares.some((share) => share.rolledBack > 0), "Some were rolled back");

    // Another process reads the same meanings ever after, and versions without a gap.
    const late = openSharedSchemas(database.address);
    for (const [process, { own }] of shares.entries()) {
      for (const [number, id] of own.entries()) {
        assert.equal((await late.registry.byId(id)).definition, numbered(number, `P${process}`).definition);
      }
    }
    const versions = (await late.registry.versions("of many")).map(({ version }) => version);
    assert.deepEqual(versions, Array.from({ length: ids.length }, (_, index) => index + 1));
    const another = late.registry.register("of many", numbered(0, "nobody"), { id: first.shared[0] ?? 0 });
    await assert.rejects(another, { code: "ACEMQ_SCHEMA_CONFLICT" });
    assert.equal((await registry.exportSchemas()).length, ids.length);
    await late.database.close();
  } finally {
    await Promise.all(registrars.map((one) => one.kill()));
    await database.close();
  }
}

describe(`${PROCESSES} processes that register ${SCHEMAS} schemas of all and ${SCHEMAS} of their own at once`, () => {
  const title = "give each one id for ever, also where registrations are rolled back";
  it(`${title}, on one SQLite file [AVR-04, AVR-05, AVR-09, SR-01]`, { timeout: 300_000 }, () => race("SQLite"));
  it(`${title}, on PostgreSQL [AVR-04, AVR-05, AVR-09, SR-01]`, { skip, timeout: 300_000 }, () => race("PostgreSQL"));
});
