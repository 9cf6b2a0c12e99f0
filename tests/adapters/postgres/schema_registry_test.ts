/** Schemas in PostgreSQL, in every layout that schemas are registered in, over both drivers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { postgresSchemaRegistry, postgresSession } from "../../../adapters/postgres/mod.ts";
import type { RegistryLayoutName } from "../../../adapters/sql/mod.ts";
import { REGISTRY_COLUMNS } from "../../../adapters/sql/registry_layout.ts";
import { schemaRegistryContract } from "../../contract/schema_registry.ts";
import { somebodyWaitsAt } from "../../support/lock_waits.ts";
import { scratch } from "../../support/postgres_scratch.ts";
import { missing } from "../../support/services.ts";

const skip = await missing("postgresql");

const LAYOUTS: readonly RegistryLayoutName[] = ["ruby", "python", "go"];

for (const layout of LAYOUTS) {
  schemaRegistryContract(`PostgreSQL, layout '${layout}'`, async () => {
    const place = await scratch();
    const registry = postgresSchemaRegistry(place.postgresJs(), { layout });
    await registry.createSchemaIfAbsent();
    const other = postgresSchemaRegistry(place.pool(), { table: REGISTRY_COLUMNS[layout].table });
    return { registry, other, close: place.close };
  }, { skip });
}

schemaRegistryContract("PostgreSQL, one client of 'pg' for each", async () => {
  const place = await scratch();
  const registry = postgresSchemaRegistry(await place.client());
  await registry.createSchemaIfAbsent();
  return { registry, other: postgresSchemaRegistry(await place.client()), close: place.close };
}, { skip });

const NOTE = { format: "avro", definition: '"string"' };
const MARK = "bcefa2b4e673e7c9f5a1e68b3d8f3b8b";

describe("schemas in PostgreSQL", () => {
  it("are what the contract lists when they are registered here", { skip }, async () => {
    for (const layout of LAYOUTS) {
      const place = await scratch();
      await place.freeze("2026-09-09T14:00:00.120Z");
      const registry = postgresSchemaRegistry(place.postgresJs(), { layout });
      await registry.createSchemaIfAbsent();
      const { fingerprint, registeredAtMs } = await registry.register("note", NOTE);
      assert.equal(registeredAtMs, Date.parse("2026-09-09T14:00:00.120Z"));
      const { table, version } = REGISTRY_COLUMNS[layout];
      const [row] = await place.sql.unsafe(`SELECT *, registered_at::text AS at, NULL AS registered_at FROM ${table}`);
      const at = { ruby: "2026-09-09 14:00:00.12+00", python: "1788962400120", go: "2026-09-09 14:00:00.12" };
      assert.deepEqual({ ...row }, {
        id: 1,
        subject: "note",
        [version ?? ""]: 1,
        ...NOTE,
        fingerprint,
        registered_at: null,
        at: at[layout as keyof typeof at],
      });
      if (layout !== "go") {
        const [counter] = await place.sql.unsafe(`SELECT * FROM ${table}_seq`);
        assert.deepEqual({ ...counter }, { only_row: 1, last_id: 1 });
      }
      await place.close();
    }
  });

  it("leave a sequence above every id that was given, for whoever counts by it", { skip }, async () => {
    const place = await scratch();
    const registry = postgresSchemaRegistry(place.postgresJs(), { layout: "go" });
    await registry.createSchemaIfAbsent();
    await registry.register("note", NOTE, { id: 40 });
    const insert = "INSERT INTO acemq_schemas (subject, version, format, definition, fingerprint, registered_at)";
    // As Go's library does it.
    const [row] = await place.sql.unsafe(`${insert} VALUES ('other', 1, 'avro', 'x', '${MARK}', now()) RETURNING id`);
    assert.ok(Number(row?.["id"]) > 40);
    // A sequence that is behind, as after a restore of the rows alone.
    await place.sql.unsafe("SELECT setval('acemq_schemas_id_seq', 1)");
    assert.ok((await registry.register("third", NOTE)).id > Number(row?.["id"]));
    await place.close();
  });

  it("wait for whoever registers in another language meanwhile, and see what that was", { skip }, async () => {
    for (const layout of ["ruby", "python"] as const) {
      const place = await scratch();
      const registry = postgresSchemaRegistry(place.postgresJs(), { layout });
      await registry.createSchemaIfAbsent();
      await registry.register("first", NOTE);
      let registered: ReturnType<typeof registry.register> | undefined;
      const column = REGISTRY_COLUMNS[layout].version ?? "";
      await place.sql.begin(async (tx) => {
        await tx.unsafe("UPDATE acemq_schema_registry_seq SET last_id = last_id + 1");
        registered = registry.register("note", NOTE);
        await somebodyWaitsAt(place, "acemq_schema_registry_seq");
        await tx.unsafe(
          `INSERT INTO acemq_schema_registry (id, subject, ${column}, format, definition, fingerprint, registered_at)
            SELECT 2, 'note', 1, format, definition, fingerprint, registered_at FROM acemq_schema_registry`,
        );
      });
      assert.equal((await registered)?.id, 2);
      assert.equal((await registry.versions("note")).length, 1);
      await place.close();
    }
  });

  it("are registered at any isolation that a connection begins with", { skip }, async () => {
    const place = await scratch();
    const open = async () => {
      const client = await place.client();
      await client.query("SET default_transaction_isolation = 'serializable'");
      return postgresSchemaRegistry(client);
    };
    const registries = [await open(), await open(), await open()];
    await registries[0]?.createSchemaIfAbsent();
    const all = await Promise.all(registries.map((registry) => registry.register("note", NOTE)));
    assert.deepEqual(all.map(({ id }) => id), [1, 1, 1]);
    await place.close();
  });

  it("are not kept in a transaction, which may be rolled back", { skip }, async () => {
    const place = await scratch();
    const sql = place.postgresJs();
    await sql.begin(async (tx) => {
      const session = postgresSession(tx, { inTransaction: true });
      assert.throws(() => postgresSchemaRegistry(session), /an id that is rolled back would be kept for ever/);
    });
    await place.close();
  });
});
