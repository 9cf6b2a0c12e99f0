/** Tables of schemas that programs in Java, Python, Ruby, Go and .NET have written are read as they are meant. */
import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { postgresSchemaRegistry } from "../../adapters/postgres/mod.ts";
import { type SchemaRegistry, sqliteSchemaRegistry } from "../../adapters/sqlite/mod.ts";
import { SchemaRegistryError } from "../../src/errors.ts";
import { fingerprint } from "../../src/schema/definition.ts";
import { scratch } from "../support/postgres_scratch.ts";
import { missing } from "../support/services.ts";
import { sqliteFile } from "../support/sqlite_scratch.ts";

interface Row {
  readonly id: number;
  readonly subject: string;
  readonly version?: number;
  readonly format: string;
  readonly definition: string;
  readonly fingerprint?: string;
  readonly registeredAt?: string;
}

interface Means {
  readonly rows: Readonly<Record<string, Readonly<Record<string, readonly Row[]>>>>;
}

const skip = await missing("postgresql");
const TABLES = new URL("fixtures/tables/", import.meta.url);

/** The language, its SQLite file, what its rows are listed under, and its table. */
const FILES: readonly (readonly [language: string, file: string, rows: string, table: string])[] = [
  ["java", "acemq.sqlite", "all", "acemq_schema_registry"],
  ["java", "acemq-offsetdatetime.sqlite", "all", "acemq_schema_registry"],
  ["python", "acemq.sqlite", "all", "acemq_schema_registry"],
  ["ruby", "acemq.sqlite", "all", "acemq_schema_registry"],
  ["go", "acemq.sqlite", "sqlite", "acemq_schemas"],
  ["go", "acemq-modernc.sqlite", "sqlite-modernc", "acemq_schemas"],
];

const DUMPS: readonly (readonly [language: string, rows: string, table: string])[] = [
  ["java", "all", "acemq_schema_registry"],
  ["python", "all", "acemq_schema_registry"],
  ["ruby", "all", "acemq_schema_registry"],
  ["go", "postgres", "acemq_schemas"],
];

const READ_ONLY: readonly string[] = ["java", "dotnet"];

function rowsOf(language: string, listed: string, table: string): readonly Row[] {
  const { rows } = JSON.parse(readFileSync(new URL(`${language}/means.json`, TABLES), "utf8")) as Means;
  return rows[listed]?.[table] ?? [];
}

/** Every row is read by its id, in its subject and by its text; what is new is a row among them, where it may be. */
async function assertMeant(registry: SchemaRegistry, rows: readonly Row[], language: string): Promise<void> {
  assert.ok(rows.length > 0);
  for (const { registeredAt, ...row } of rows) {
    const schema = await registry.byId(row.id);
    const { registeredAtMs, version, fingerprint: mark, ...facts } = schema;
    const { id, subject, format, definition } = row;
    assert.deepEqual(facts, { id, subject, format, definition });
    assert.equal(mark, await fingerprint(definition));
    assert.equal(registeredAtMs, registeredAt === undefined ? undefined : Date.parse(registeredAt));
    const before = rows.filter((one) => one.subject === subject && one.id <= id).length;
    assert.equal(version, row.version ?? before);
    assert.deepEqual(await registry.register(subject, { format, definition }), schema);
    assert.equal(await registry.idFor(subject, { format, definition }), id);
    assert.deepEqual((await registry.versions(subject))[version - 1], schema);
  }
  const added = registry.register("of our own", { format: "avro", definition: '"string"' });
  if (READ_ONLY.includes(language)) {
    await assert.rejects(added, { code: "ACEMQ_TABLE_LAYOUT" });
    await assert.rejects(registry.importSchemas([]), { code: "ACEMQ_TABLE_LAYOUT" });
    assert.equal((await registry.exportSchemas()).length, rows.length);
    return;
  }
  assert.equal((await added).id, Math.max(...rows.map(({ id }) => id)) + 1);
  assert.equal((await registry.exportSchemas()).length, rows.length + 1);
}

describe("a table of schemas in SQLite", () => {
  for (const [language, name, listed, table] of FILES) {
    it(`that ${language} has written (${name}) is understood`, async () => {
      const file = sqliteFile();
      const copy = `${file.path}.copy`;
      copyFileSync(fileURLToPath(new URL(`${language}/${name}`, TABLES)), copy);
      const database = new DatabaseSync(copy);
      try {
        const rows = rowsOf(language, listed, table);
        await assertMeant(sqliteSchemaRegistry(database, { table }), rows, language);
        if (READ_ONLY.includes(language)) return;
        const { at: times } = database.prepare(
          `SELECT group_concat(typeof(registered_at) || length(registered_at)) AS at
          FROM ${table} WHERE subject = 'of our own'`,
        ).get() as { readonly at: string };
        assert.match(times, /^(?:text\d+|integer13)$/);
      } finally {
        database.close();
        file.close();
      }
    });
  }

  it("that dotnet has written is understood", async () => {
    const file = sqliteFile();
    const database = file.open();
    database.exec(
      `CREATE TABLE acemq_schema (id INTEGER PRIMARY KEY, fingerprint TEXT UNIQUE, format TEXT, subject TEXT,
      definition TEXT)`,
    );
    const rows: Row[] = ['"string"', '"long"'].map((definition, index) => ({
      id: 3 + index,
      subject: "note",
      format: "avro",
      definition,
    }));
    const insert = database.prepare("INSERT INTO acemq_schema VALUES (?, ?, ?, ?, ?)");
    for (const row of rows) insert.run(row.id, `of the three ${row.id}`, row.format, row.subject, row.definition);
    await assertMeant(sqliteSchemaRegistry(database, { layout: "dotnet" }), rows, "dotnet");
    file.close();
  });
});

describe("a table of schemas in PostgreSQL", () => {
  for (const [language, listed, table] of DUMPS) {
    it(`that ${language} has written is understood`, { skip }, async () => {
      const place = await scratch();
      const dump = readFileSync(new URL(`${language}/postgres.sql`, TABLES), "utf8");
      const statements = dump.split(/;\n(?=\n|INSERT)/).filter((text) =>
        text.includes(table) && !/OWNER TO/.test(text)
      );
      for (const text of statements) {
        await place.sql.unsafe(text.replaceAll(/'?public\./g, (found) => found[0] === "'" ? "'" : ""));
      }
      try {
        await assertMeant(
          postgresSchemaRegistry(place.postgresJs(), { table }),
          rowsOf(language, listed, table),
          language,
        );
      } finally {
        await place.close();
      }
    });
  }
});

describe("a row whose text is not the one it was registered with", () => {
  it("is never read, in any way", async () => {
    const file = sqliteFile();
    const database = file.open();
    const registry = sqliteSchemaRegistry(database);
    await registry.createSchemaIfAbsent();
    const text = { format: "avro", definition: '"string"' };
    const { id } = await registry.register("note", text);
    database.exec(`UPDATE acemq_schema_registry SET definition = '"long"'`);
    const fresh = sqliteSchemaRegistry(database);
    const calls = [
      () => fresh.byId(id),
      () => fresh.latest("note"),
      () => fresh.versions("note"),
      () => fresh.idFor("note", text),
      () => fresh.register("note", text),
      () => fresh.exportSchemas(),
    ];
    for (const call of calls) {
      await assert.rejects(call(), (error: unknown) => {
        assert.ok(error instanceof SchemaRegistryError && error.code === "ACEMQ_SCHEMA_CONFLICT");
        assert.match(error.message, /schema 1 .+ its text is not the one it was registered with/);
        return true;
      });
    }
    // Whoever has read it before goes on with what it was.
    assert.equal((await registry.byId(id)).definition, '"string"');
    file.close();
  });

  it("is refused where a column holds what no schema has in it", async () => {
    const file = sqliteFile();
    const database = file.open();
    const registry = sqliteSchemaRegistry(database);
    await registry.createSchemaIfAbsent();
    database.exec("INSERT INTO acemq_schema_registry VALUES (4, 'note', 1, 'avro', x'00', 'f', 0)");
    await assert.rejects(registry.byId(4), { code: "ACEMQ_TABLE_LAYOUT" });
    file.close();
  });
});
