/** A table of schemas that has lost what it held: ids that bodies were written with do not get another meaning. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SqlSchemaRegistry } from "../../../adapters/sqlite/mod.ts";
import { missing } from "../../support/services.ts";
import type { SharedDatabaseKind } from "../../support/shared_database.ts";
import { makeSharedSchemas, numbered, openSharedSchemas } from "../../support/shared_schemas.ts";

const skipPostgres = await missing("postgresql");

const DATABASES: readonly (readonly [SharedDatabaseKind, string | false])[] = [
  ["SQLite", false],
  ["PostgreSQL", skipPostgres],
];

const CONFLICT = { code: "ACEMQ_SCHEMA_CONFLICT" };

interface Lost {
  /** One that has seen the schemas. */
  readonly registry: SqlSchemaRegistry;
  /** One of a process that begins now. */
  readonly fresh: SqlSchemaRegistry;
  readonly run: (text: string) => Promise<unknown>;
  readonly table: string;
}

async function withSchemas(kind: SharedDatabaseKind, work: (lost: Lost) => Promise<void>): Promise<void> {
  const { database, registry } = await makeSharedSchemas(kind);
  const fresh = openSharedSchemas(database.address);
  try {
    for (let number = 0; number < 3; number++) await registry.register("note", numbered(number));
    const run = (text: string): Promise<unknown> => database.session.query(text);
    await work({ registry, fresh: fresh.registry, run, table: database.table("acemq_schema_registry") });
  } finally {
    await fresh.database.close();
    await database.close();
  }
}

for (const [kind, skip] of DATABASES) {
  describe(`a table of schemas in ${kind} that has lost what it held`, () => {
    it(
      "gives nobody the next id while it is empty, and takes what was exported [SR-02]",
      { skip },
      () =>
        withSchemas(kind, async ({ registry, fresh, run, table }) => {
          const backup = JSON.parse(JSON.stringify(await registry.exportSchemas()));
          await run(`DELETE FROM ${table}`);
          // In another order, so that each would get another one's id.
          for (const number of [2, 0, 1]) {
            await assert.rejects(fresh.register("note", numbered(number)), (error: Error) => {
              assert.match(error.message, /is empty, though ids up to 3 were given; bring back .+ 'importSchemas'/);
              return (error as { readonly code?: unknown }).code === "ACEMQ_SCHEMA_CONFLICT";
            });
          }
          assert.deepEqual(await fresh.importSchemas(backup), { added: 3, present: 0 });
          for (const number of [2, 0, 1]) assert.equal((await fresh.register("note", numbered(number))).id, number + 1);
          assert.deepEqual(await fresh.exportSchemas(), backup);
          assert.equal((await fresh.register("note", numbered(9))).id, 4);
        }),
    );

    it(
      "gives no id twice where its last rows are gone [SR-01]",
      { skip },
      () =>
        withSchemas(kind, async ({ fresh, run, table }) => {
          await run(`DELETE FROM ${table} WHERE id = 3`);
          assert.equal((await fresh.register("note", numbered(7))).id, 4);
          await assert.rejects(fresh.byId(3), { code: "ACEMQ_SCHEMA_NOT_FOUND" });
        }),
    );

    it(
      "gives no id twice where its counter is behind its rows [SR-01]",
      { skip },
      () =>
        withSchemas(kind, async ({ fresh, run, table }) => {
          await run(`UPDATE ${table}_seq SET last_id = 1`);
          assert.equal((await fresh.register("note", numbered(7))).id, 4);
        }),
    );

    it(
      "is told so by a process that knows what its ids meant [SR-02]",
      { skip },
      () =>
        withSchemas(kind, async ({ registry, fresh, run, table }) => {
          await run(`DELETE FROM ${table}`);
          await run(`UPDATE ${table}_seq SET last_id = 0`);
          await assert.rejects(registry.register("note", numbered(7)), CONFLICT);
          assert.deepEqual(await fresh.exportSchemas(), [], "What it refuses is not kept");
          assert.equal((await fresh.register("note", numbered(7))).id, 1);
          await assert.rejects(registry.latest("note"), CONFLICT);
          assert.equal((await registry.byId(1)).definition, numbered(0).definition);
        }),
    );
  });
}

describe("a table of schemas whose counter is gone", () => {
  it(
    "is refused where its language makes the counter with the table [SR-01]",
    { skip: skipPostgres },
    () =>
      withSchemas("PostgreSQL", async ({ fresh, run, table }) => {
        await run(`DELETE FROM ${table}_seq`);
        await assert.rejects(fresh.register("note", numbered(7)), (error: Error) => {
          assert.match(error.message, /_seq" must have one row, with the highest id there ever was, found none/);
          return (error as { readonly code?: unknown }).code === "ACEMQ_TABLE_LAYOUT";
        });
        assert.equal((await fresh.register("note", numbered(1))).id, 2, "What stands is found");
      }),
  );

  it("goes on above its rows where its language makes the counter with the first schema [SR-01]", () =>
    withSchemas("SQLite", async ({ fresh, run, table }) => {
      await run(`DELETE FROM ${table}_seq`);
      assert.equal((await fresh.register("note", numbered(7))).id, 4);
    }));
});
