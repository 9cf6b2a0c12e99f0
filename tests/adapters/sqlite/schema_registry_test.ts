/** Schemas in a SQLite file, in every layout that schemas are registered in. */
import assert from "node:assert/strict";
import type { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import type { RegistryLayoutName } from "../../../adapters/sql/mod.ts";
import { sqliteSchemaRegistry, sqliteSession } from "../../../adapters/sqlite/mod.ts";
import { REGISTRY_COLUMNS } from "../../../adapters/sql/registry_layout.ts";
import { schemaRegistryContract } from "../../contract/schema_registry.ts";
import { sqliteFile } from "../../support/sqlite_scratch.ts";

const LAYOUTS: readonly RegistryLayoutName[] = ["python", "ruby", "go"];

for (const layout of LAYOUTS) {
  schemaRegistryContract(`SQLite, layout '${layout}'`, async () => {
    const file = sqliteFile();
    const registry = sqliteSchemaRegistry(file.open(), { layout });
    await registry.createSchemaIfAbsent();
    // What the file says is all the second one knows.
    const other = sqliteSchemaRegistry(file.open(), { table: REGISTRY_COLUMNS[layout].table });
    return { registry, other, close: async () => file.close() };
  });
}

const ORDER = {
  format: "avro",
  definition:
    '{"type":"record","name":"OrderPlaced","namespace":"shop","fields":[{"name":"orderId","type":"string"},{"name":"total","type":"int"}]}',
};
const MARK = "2c9a7a2493909781216f7324bbff30600efca9fdbeb5aa1cda0483540bf79388";

function rows(database: DatabaseSync, table: string): unknown[] {
  return database.prepare(`SELECT * FROM ${table}`).all().map((row) => Object.values(row as object));
}

describe("schemas in SQLite", () => {
  it("are what the contract lists, byte for byte, when they are registered here", async () => {
    const times = {
      python: Date.parse("2026-09-09T14:00:00.120Z"),
      ruby: "2026-09-09T14:00:00.120000Z",
      go: "2026-09-09 14:00:00.12+00:00",
    };
    for (const [layout, at] of Object.entries(times)) {
      const file = sqliteFile();
      const database = file.open();
      const clock = virtualClock("2026-09-09T14:00:00.120Z");
      const registry = sqliteSchemaRegistry(database, { clock, layout: layout as RegistryLayoutName });
      await registry.createSchemaIfAbsent();
      await registry.register("order.placed", ORDER);
      const { table } = REGISTRY_COLUMNS[layout as RegistryLayoutName];
      assert.deepEqual(rows(database, table), [[1, "order.placed", 1, "avro", ORDER.definition, MARK, at]]);
      if (layout !== "go") assert.deepEqual(rows(database, `${table}_seq`), [[1, 1]]);
      file.close();
    }
  });

  it("are counted on in one file with a registrar of another language, whichever comes first", async () => {
    const file = sqliteFile();
    const database = file.open();
    const registry = sqliteSchemaRegistry(database);
    await registry.createSchemaIfAbsent();
    // As Python's library does it: the row of the counter is made with the first schema.
    database.exec(`INSERT INTO acemq_schema_registry_seq VALUES (1, 1)`);
    database.prepare("INSERT INTO acemq_schema_registry VALUES (1, 'order.placed', 1, 'avro', ?, ?, 0)")
      .run(ORDER.definition, MARK);
    assert.equal((await registry.register("order.placed", ORDER)).id, 1);
    assert.equal((await registry.register("note", ORDER)).id, 2);
    assert.deepEqual(rows(database, "acemq_schema_registry_seq"), [[1, 2]]);
    file.close();
  });

  it("are not kept in a transaction, which may be rolled back", async () => {
    const file = sqliteFile();
    await sqliteSession(file.open()).transaction(async (tx) => {
      assert.throws(() => sqliteSchemaRegistry(tx), /an id that is rolled back would be kept for ever/);
    });
    file.close();
  });

  it("have a table name that leaves room for the counter's", async () => {
    const file = sqliteFile();
    const table = "t".repeat(60);
    await assert.rejects(sqliteSchemaRegistry(file.open(), { table }).createSchemaIfAbsent(), RangeError);
    file.close();
  });
});
