/** Which layout a table has: contract patterns 4.5 and 4.6. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { postgresDialect, sqliteDialect } from "../../../adapters/sql/dialect.ts";
import { decideLayout, type TableFacts } from "../../../adapters/sql/idempotency_detect.ts";
import { idempotencySchemaSql } from "../../../adapters/sql/mod.ts";
import { sqliteIdempotencyStore } from "../../../adapters/sqlite/mod.ts";

function columns(text: string): TableFacts["columns"] {
  return text.split(", ").map((column) => {
    const [name = "", ...type] = column.split(" ");
    return { name, type: type.join(" ") };
  });
}

const OWNER = (type: string) =>
  columns(`message_id varchar, state varchar, claimed_by varchar, recorded_at ${type}, expires_at ${type}`);
const GO = columns("key varchar, handled_at timestamp without time zone, confirmed boolean");
const DOTNET = columns("message_id varchar, claimed_at timestamp without time zone, confirmed integer");
const postgres = { table: "t", dialect: postgresDialect() };
const sqlite = { table: "t", dialect: sqliteDialect() };

describe("the layout of a table of claims", () => {
  it("is told by its columns on PostgreSQL", () => {
    const cases: readonly (readonly [TableFacts["columns"], string])[] = [
      [OWNER("timestamp with time zone"), "java"],
      [OWNER("bigint"), "python"],
      [GO, "go"],
      [DOTNET, "dotnet"],
      [[...GO, { name: "note", type: "text" }], "go"],
    ];
    for (const [found, name] of cases) assert.equal(decideLayout({ columns: found }, postgres).name, name);
  });

  it("is told by its columns and by what stands in them on SQLite", () => {
    const zoned = OWNER("timestamp with time zone");
    const text = "2026-09-09T14:05:00.000000Z";
    const cases: readonly (readonly [TableFacts, string])[] = [
      [{ columns: zoned }, "ruby"],
      [{ columns: zoned, least: text, greatest: text }, "ruby"],
      [{ columns: zoned, least: 1, greatest: 2 }, "java"],
      [{ columns: OWNER("bigint") }, "python"],
      [{ columns: OWNER("bigint"), least: 1, greatest: 1 }, "python"],
      [{ columns: GO }, "go"],
      [{ columns: DOTNET }, "dotnet"],
    ];
    for (const [facts, name] of cases) assert.equal(decideLayout(facts, sqlite).name, name);
    assert.equal(decideLayout({ columns: zoned }, { ...sqlite, wanted: "java" }).name, "java");
    assert.throws(() => decideLayout({ columns: zoned, least: text, greatest: text }, { ...sqlite, wanted: "java" }), {
      message: /it has the layout 'ruby', and 'java' is wanted$/,
    });
  });

  for (const layout of ["java", "ruby", "python", "go", "dotnet"] as const) {
    it(`is '${layout}' on SQLite where a store was asked for it, and stays so`, async () => {
      const database = new DatabaseSync(":memory:");
      const store = sqliteIdempotencyStore(database, { layout });
      await store.createSchemaIfAbsent();
      await store.check();
      const claim = await store.tryClaim("a");
      assert.equal(claim.status, "claimed");
      // Whoever comes without a wish finds what stands there.
      const finder = sqliteIdempotencyStore(database);
      assert.deepEqual(await finder.tryClaim("a"), { status: "in_progress" });
      await sqliteIdempotencyStore(database, { layout }).check();
      database.close();
    });
  }

  it("is refused when it is unknown, with what was found and what is wanted", () => {
    const unknown: readonly TableFacts["columns"][] = [
      columns("id integer, name text"),
      columns("key varchar, handled_at timestamp without time zone"),
      OWNER("timestamp without time zone"),
      [...GO, ...DOTNET],
      columns("message_id varchar, claimed_at timestamp with time zone, confirmed integer"),
    ];
    for (const found of unknown) {
      assert.throws(() => decideLayout({ columns: found }, postgres), {
        name: "LayoutError",
        code: "ACEMQ_TABLE_LAYOUT",
        message: new RegExp(`Found: ${found[0]?.name} .*Wanted: message_id, state, claimed_by`),
      });
    }
  });

  it("is refused when integers and texts are mixed, which SQLite compares by their kind", () => {
    const text = "2026-09-09T14:05:00.000000Z";
    const mixed = { columns: OWNER("timestamp with time zone"), least: 1_788_962_700_000, greatest: text };
    assert.throws(() => decideLayout(mixed, sqlite), { code: "ACEMQ_TABLE_LAYOUT", message: /integers and texts/ });
    const ruby = { columns: OWNER("bigint"), least: text, greatest: text };
    assert.throws(() => decideLayout(ruby, sqlite), { code: "ACEMQ_TABLE_LAYOUT", message: /integers and texts/ });
  });

  it("is refused when another one is wanted; Java's and Ruby's are one on PostgreSQL", () => {
    const found = { columns: OWNER("timestamp with time zone") };
    assert.equal(decideLayout(found, { ...postgres, wanted: "ruby" }).name, "java");
    assert.throws(
      () => decideLayout(found, { ...postgres, wanted: "python" }),
      /has the layout 'java', and 'python' is wanted/,
    );
    assert.throws(() => decideLayout({ columns: GO }, { ...sqlite, wanted: "dotnet" }), /has the layout 'go'/);
  });

  it("is missed with the name of the DDL when there is no table", () => {
    assert.throws(() => decideLayout({ columns: [] }, sqlite), {
      code: "ACEMQ_TABLE_LAYOUT",
      message: /it is not there; create it with the DDL of 'idempotencySchemaSql\("sqlite"\)'/,
    });
  });
});

describe("the DDL of a table of claims", () => {
  it("names the index by the layout: contract patterns 4.5", () => {
    const index = (layout: "java" | "ruby" | "python" | "go" | "dotnet") =>
      idempotencySchemaSql("sqlite", { layout })[1];
    for (const layout of ["java", "ruby", "python"] as const) {
      assert.match(index(layout) ?? "", / acemq_idempotency_expiry ON acemq_idempotency \(expires_at\)$/);
    }
    assert.match(index("go") ?? "", / acemq_idempotency_handled_at ON acemq_idempotency \(handled_at\)$/);
    assert.match(index("dotnet") ?? "", / acemq_idempotency_claimed ON acemq_idempotency \(claimed_at\)$/);
  });

  it("takes a schema before the name, each database where it wants it", () => {
    assert.match(idempotencySchemaSql("postgres", { table: "app.seen" })[1] ?? "", / seen_expiry ON app\.seen \(/);
    assert.match(idempotencySchemaSql("sqlite", { table: "aux.seen" })[1] ?? "", / aux\.seen_expiry ON seen \(/);
  });

  it("refuses what is no name, no layout and no database", () => {
    for (const table of ["", "a b", "a;drop table x", "1a", "a.b.c", "x".repeat(64), 7]) {
      assert.throws(() => idempotencySchemaSql("sqlite", { table: table as string }), RangeError);
    }
    assert.throws(() => idempotencySchemaSql("sqlite", { layout: "rust" as "go" }), RangeError);
    assert.throws(() => idempotencySchemaSql("mysql" as "sqlite"), RangeError);
  });
});
