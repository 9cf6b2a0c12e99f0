/** Which layout a table of schemas has, and the DDL of those that are created here. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { type ColumnFacts, postgresDialect, sqliteDialect } from "../../../adapters/sql/dialect.ts";
import { registrySchemaSql } from "../../../adapters/sql/mod.ts";
import { decideRegistry } from "../../../adapters/sql/registry_detect.ts";
import type { RegistryLayoutName } from "../../../adapters/sql/registry_layout.ts";
import { sqliteSchemaRegistry } from "../../../adapters/sqlite/mod.ts";
import { LayoutError } from "../../../src/errors.ts";

function columns(text: string): readonly ColumnFacts[] {
  return text.split(", ").map((column) => {
    const [name = "", ...type] = column.split(" ");
    return { name, type: type.join(" ") };
  });
}

const TEXTS = "subject varchar(255), format varchar(32), definition text, fingerprint varchar(64)";

const POSTGRES: Readonly<Record<RegistryLayoutName, string>> = {
  ruby: `id integer, schema_version integer, ${TEXTS}, registered_at timestamp with time zone`,
  python: `id integer, version integer, ${TEXTS}, registered_at bigint`,
  go: `id integer, version integer, ${TEXTS}, registered_at timestamp without time zone`,
  java: `id integer, ${TEXTS}, registered_at timestamp with time zone`,
  dotnet: `id integer, ${TEXTS}`,
};

const SQLITE: Readonly<Record<RegistryLayoutName, string>> = {
  ...POSTGRES,
  go: `id integer, version integer, ${TEXTS}, registered_at timestamp`,
};

const DATABASES = [[postgresDialect(), POSTGRES], [sqliteDialect(), SQLITE]] as const;

const table = "acemq_schema_registry";

describe("the layout of a table of schemas", () => {
  it("is told by its columns", () => {
    for (const [dialect, layouts] of DATABASES) {
      for (const [layout, text] of Object.entries(layouts)) {
        assert.equal(decideRegistry(columns(text), { table, dialect }), layout, dialect.name);
        // A column of somebody's own changes nothing.
        assert.equal(decideRegistry(columns(`${text}, team text`), { table, dialect }), layout, dialect.name);
      }
    }
  });

  it("is refused when it is unknown, with what was found and what is wanted", () => {
    const unknown = [
      "id integer",
      POSTGRES.ruby.replace("timestamp with time zone", "text"),
      POSTGRES.python.replace("definition text, ", ""),
    ];
    for (const text of unknown) {
      assert.throws(() => decideRegistry(columns(text), { table, dialect: postgresDialect() }), (error: unknown) => {
        assert.ok(error instanceof LayoutError);
        assert.ok(error.message.includes(`Found: ${text}. Known: ruby: id, subject, schema_version`), error.message);
        return true;
      });
    }
  });

  it("is refused when another one is wanted", () => {
    for (const [dialect, layouts] of DATABASES) {
      const wanted = { table, dialect, wanted: "python" } as const;
      assert.equal(decideRegistry(columns(layouts.python), wanted), "python");
      assert.throws(
        () => decideRegistry(columns(layouts.java), wanted),
        /it has the layout 'java', and 'python' is wanted/,
      );
    }
  });

  it("is missed with the name of the DDL when there is no table, by a check and by a call, until there is one", async () => {
    const registry = sqliteSchemaRegistry(new DatabaseSync(":memory:"));
    for (const call of [() => registry.check(), () => registry.byId(1), () => registry.versions("note")]) {
      await assert.rejects(call(), (error: unknown) => {
        assert.ok(error instanceof LayoutError);
        assert.match(error.message, /it is not there; create it with the DDL of 'registrySchemaSql\("sqlite"\)'/);
        return true;
      });
    }
    await registry.createSchemaIfAbsent();
    await registry.check();
    assert.deepEqual(await registry.versions("note"), []);
  });
});

describe("the DDL of a table of schemas", () => {
  it("leaves alone what is there, in every layout", async () => {
    for (const layout of ["ruby", "python", "go"] as const) {
      const database = new DatabaseSync(":memory:");
      const registry = sqliteSchemaRegistry(database, { layout });
      const text = { format: "avro", definition: '"string"' };
      for (let id = 1; id < 4; id++) {
        for (const statement of registrySchemaSql("sqlite", { layout })) database.exec(statement);
        assert.equal((await registry.register(`note ${id}`, text)).id, id);
      }
      database.close();
    }
  });

  it("takes a schema before the name, each database where it wants it", () => {
    const index = (database: "postgres" | "sqlite"): string | undefined =>
      registrySchemaSql(database, { table: "shop.schemas", layout: "ruby" })[1];
    assert.match(index("postgres") ?? "", /EXISTS schemas_fingerprint ON shop\.schemas \(/);
    assert.match(index("sqlite") ?? "", /EXISTS shop\.schemas_fingerprint ON schemas \(/);
    const counter = registrySchemaSql("postgres", { table: "shop.schemas" })[2];
    assert.match(counter ?? "", /CREATE TABLE IF NOT EXISTS shop\.schemas_seq /);
  });

  it("has the name that the library of the language gives its table", () => {
    assert.match(registrySchemaSql("postgres")[0] ?? "", / acemq_schema_registry \(/);
    assert.match(registrySchemaSql("postgres", { layout: "go" })[0] ?? "", / acemq_schemas \(id SERIAL /);
    assert.match(registrySchemaSql("sqlite", { layout: "go" })[0] ?? "", /AUTOINCREMENT/);
  });

  it("refuses what is no name, no layout and no database, and what is another library's to create", () => {
    assert.throws(() => registrySchemaSql("postgres", { table: "a; DROP TABLE b" }), RangeError);
    assert.throws(() => registrySchemaSql("postgres", { table: "t".repeat(60) }), RangeError);
    assert.throws(() => registrySchemaSql("mysql" as "postgres"), RangeError);
    assert.throws(() => registrySchemaSql("sqlite", { layout: "rust" as "ruby" }), TypeError);
    for (const layout of ["java", "dotnet"] as const) {
      assert.throws(() => registrySchemaSql("sqlite", { layout }), /the library of '(?:java|dotnet)' creates its own/);
    }
  });
});
