/** What a service may do whose role reads schemas, and what a registrar needs beside that: as the page on schemas says. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import postgres from "postgres";
import { postgresSchemaRegistry } from "../../../adapters/postgres/mod.ts";
import { REGISTRY_COLUMNS } from "../../../adapters/sql/registry_layout.ts";
import { missingOwnPostgres, OwnPostgres } from "../../support/own_postgres.ts";

const skip = missingOwnPostgres();

const NOTE = { format: "avro", definition: '"string"' };

let cluster: Promise<OwnPostgres> | undefined;
after(async () => await (await cluster)?.close());

describe("a role that reads schemas in PostgreSQL", () => {
  for (const layout of ["ruby", "python", "go"] as const) {
    it(
      `needs SELECT alone, and registers with what the page says: '${layout}'`,
      { skip, timeout: 60_000 },
      async () => {
        const database = await (cluster ??= OwnPostgres.open());
        const { table } = REGISTRY_COLUMNS[layout];
        const role = `reader_${layout}`;
        const name = `${layout}.${table}`;
        for (
          const text of [`CREATE SCHEMA ${layout}`, `CREATE ROLE ${role}`, `GRANT USAGE ON SCHEMA ${layout} TO ${role}`]
        ) {
          await database.ask(text);
        }
        const open = (as?: string): postgres.Sql =>
          postgres(database.url, { max: 1, onnotice: () => {}, connection: as === undefined ? {} : { role: as } });
        const [owner, reader] = [open(), open(role)];
        try {
          const registry = postgresSchemaRegistry(owner, { table: name, layout });
          await registry.createSchemaIfAbsent();
          await registry.register("note", NOTE);
          await database.ask(`GRANT SELECT ON ${name} TO ${role}`);
          const seen = postgresSchemaRegistry(reader, { table: name });
          assert.equal((await seen.byId(1)).definition, NOTE.definition);
          assert.equal(await postgresSchemaRegistry(reader, { table: name }).idFor("note", NOTE), 1);
          assert.equal((await postgresSchemaRegistry(reader, { table: name }).register("note", NOTE)).id, 1);
          await assert.rejects(seen.register("new", NOTE), { code: "ACEMQ_STORE" });
          await database.ask(`GRANT INSERT ON ${name} TO ${role}`);
          const counted = layout === "go" ? `UPDATE ON ${name}` : `SELECT, UPDATE ON ${name}_seq`;
          await database.ask(`GRANT ${counted} TO ${role}`);
          if (layout === "go") await database.ask(`GRANT UPDATE ON SEQUENCE ${name}_id_seq TO ${role}`);
          assert.equal((await seen.register("new", NOTE)).id, 2);
          assert.equal((await seen.register("given", NOTE, { id: 9 })).id, 9);
        } finally {
          await owner.end({ timeout: 5 });
          await reader.end({ timeout: 5 });
        }
      },
    );
  }
});
