/** What a registry over a database asks of it, and what it does without asking. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sqliteSchemaRegistry, sqliteSession } from "../../../adapters/sqlite/mod.ts";
import { type Clock, systemClock } from "../../../src/clock.ts";
import { StatementLog } from "../../support/statement_log.ts";
import { sqliteFile } from "../../support/sqlite_scratch.ts";

const NOTE = { format: "avro", definition: '"string"' };

describe("a registry of schemas over a database", () => {
  it("asks once for each schema, however often and by however many it is wanted [AVR-13]", async () => {
    const file = sqliteFile();
    const writer = sqliteSchemaRegistry(file.open());
    await writer.createSchemaIfAbsent();
    const { id } = await writer.register("note", NOTE);
    const log = new StatementLog(sqliteSession(file.open()));
    const registry = sqliteSchemaRegistry(log);
    await registry.check();
    const before = log.statements.length;
    await Promise.all(Array.from({ length: 20 }, () => registry.byId(id)));
    for (let turn = 0; turn < 1_000; turn++) await registry.byId(id);
    assert.equal(await registry.idFor("note", NOTE), id);
    assert.equal((await registry.register("note", NOTE)).id, id);
    assert.equal(log.statements.length, before + 1);
    file.close();
  });

  it("takes no lock for a schema that stands", async () => {
    const file = sqliteFile();
    const registry = sqliteSchemaRegistry(file.open());
    await registry.createSchemaIfAbsent();
    await registry.register("note", NOTE);
    const blocker = file.open();
    blocker.exec("BEGIN IMMEDIATE");
    const log = new StatementLog(sqliteSession(file.open()));
    assert.equal((await sqliteSchemaRegistry(log).register("note", NOTE)).id, 1);
    assert.ok(log.statements.every(({ text }) => text.startsWith("SELECT")));
    blocker.exec("ROLLBACK");
    file.close();
  });

  it("never keeps the news that something is not there", async () => {
    const file = sqliteFile();
    const [registry, other] = [sqliteSchemaRegistry(file.open()), sqliteSchemaRegistry(file.open())];
    await registry.createSchemaIfAbsent();
    await assert.rejects(other.byId(1), { code: "ACEMQ_SCHEMA_NOT_FOUND" });
    await assert.rejects(other.idFor("note", NOTE), { code: "ACEMQ_SCHEMA_NOT_FOUND" });
    await registry.register("note", NOTE);
    assert.equal((await other.byId(1)).subject, "note");
    assert.equal(await other.idFor("note", NOTE), 1);
    file.close();
  });

  it("ends a wait by its signal, with the signal's reason", async () => {
    const file = sqliteFile();
    const controller = new AbortController();
    const reason = new Error("no more");
    const time = systemClock();
    // Whoever waits for the file asks the clock to be woken.
    const clock: Clock = {
      ...time,
      delay: async (ms, options) => {
        controller.abort(reason);
        await time.delay(ms, options);
      },
    };
    const registry = sqliteSchemaRegistry(file.open(), { clock });
    await registry.createSchemaIfAbsent();
    const blocker = file.open();
    blocker.exec("BEGIN IMMEDIATE");
    const waiting = registry.register("note", NOTE, { signal: controller.signal });
    await assert.rejects(waiting, (error: unknown) => error === reason);
    blocker.exec("ROLLBACK");
    // What was aborted may still be done, and is the same schema.
    assert.equal((await registry.register("note", NOTE)).id, 1);
    file.close();
  });

  it("is away, and says so, while somebody else writes longer than it waits", async () => {
    const file = sqliteFile();
    const registry = sqliteSchemaRegistry(sqliteSession(file.open(), { busyTimeoutMs: 30 }));
    await registry.createSchemaIfAbsent();
    const blocker = file.open();
    blocker.exec("BEGIN IMMEDIATE");
    await assert.rejects(registry.register("note", NOTE), { code: "ACEMQ_STORE" });
    blocker.exec("ROLLBACK");
    assert.equal((await registry.register("note", NOTE)).id, 1);
    file.close();
  });

  it("keeps nothing of an import that fails on its way", async () => {
    const file = sqliteFile();
    const database = file.open();
    const registry = sqliteSchemaRegistry(database);
    await registry.createSchemaIfAbsent();
    database.exec(`CREATE TRIGGER full BEFORE INSERT ON acemq_schema_registry WHEN new.id = 3
      BEGIN SELECT raise(ABORT, 'the disk is full'); END`);
    const entries = [1, 2, 3, 4].map((id) => ({ id, subject: `note ${id}`, version: 1, ...NOTE }));
    await assert.rejects(registry.importSchemas(entries), { code: "ACEMQ_STORE" });
    assert.deepEqual(await registry.exportSchemas(), []);
    database.exec("DROP TRIGGER full");
    assert.deepEqual(await registry.importSchemas(entries), { added: 4, present: 0 });
    file.close();
  });
});
