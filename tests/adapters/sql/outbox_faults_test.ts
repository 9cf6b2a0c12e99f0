/** What an outbox does when the database, or whoever calls it, does not do as it should. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import { postgresOutboxStore, postgresSession } from "../../../adapters/postgres/mod.ts";
import { type OutboxLayoutName, outboxSchemaSql } from "../../../adapters/sql/mod.ts";
import { type SqliteOutboxStore, sqliteOutboxStore, sqliteSession } from "../../../adapters/sqlite/mod.ts";
import { StoreError } from "../../../src/errors.ts";
import type { Outbound } from "../../../src/message/outbound.ts";
import type { OutboxClaimOptions, OutboxStore } from "../../../src/ports/outbox_store.ts";
import type { SqlSession } from "../../../src/ports/sql_session.ts";
import { scratch } from "../../support/postgres_scratch.ts";
import { missing } from "../../support/services.ts";
import { sqliteFile } from "../../support/sqlite_scratch.ts";
import { deferred } from "../../support/until.ts";

const skip = await missing("postgresql");

const CLAIM: OutboxClaimOptions = { limit: 100, leaseMs: 60_000, mode: "continue", onRetired: "release" };

function message(id: string, change: Partial<Outbound> = {}): Outbound {
  return {
    exchange: "orders",
    routingKey: "order.placed",
    body: new TextEncoder().encode("{}"),
    contentType: "application/json",
    messageId: id,
    headers: { "x-acemq-id": id, "x-acemq-type": "order.placed" },
    persistent: true,
    mandatory: true,
    ...change,
  };
}

describe("an outbox whose database is away", () => {
  it("rejects with a StoreError that shows no value, and asks for the layout again later", async () => {
    const file = sqliteFile();
    const session = sqliteSession(file.open());
    await sqliteOutboxStore(session).createSchemaIfAbsent();
    const cause = new Error("secret in a driver's words");
    let isAway = true;
    const store = sqliteOutboxStore({
      inTransaction: true,
      query: (text, params) => isAway ? Promise.reject(cause) : session.query(text, params),
      transaction: (work) => session.transaction(work),
    });
    const actions = [
      () =>
        store.add(
          { inTransaction: true, query: () => Promise.reject(cause), transaction: () => Promise.reject(cause) },
          message("a"),
        ),
      () => store.check(),
      () => store.claim(CLAIM),
      () => store.markPublished("t", ["a"]),
      () => store.markFailed("t", [{ id: "a", attempts: 1, reason: "nack", retryDelayMs: 0 }]),
      () => store.giveBack("t", ["a"]),
      () => store.release("a"),
      () => store.stats(),
      () => store.purgePublished({ olderThanMs: 0 }),
    ];
    for (const action of actions) {
      await assert.rejects(
        action(),
        (error) => error instanceof StoreError && error.cause === cause && !/secret/.test(error.message),
      );
    }
    isAway = false;
    assert.equal((await store.stats()).pending, 0);
    file.close();
  });
});

describe("a transaction that is handed in", () => {
  it("may be a handle of node:sqlite, and is looked at once more before a message is written [OBX-01]", async () => {
    const file = sqliteFile();
    const database = file.open();
    const store = sqliteOutboxStore(file.open());
    await store.createSchemaIfAbsent();
    database.exec("BEGIN");
    await store.add(database, message("a"));
    database.exec("COMMIT");
    database.exec("BEGIN");
    await store.add(database, message("b"));
    database.exec("ROLLBACK");
    await assert.rejects(store.add(database, message("c")), /no transaction is open on it/);
    // Nobody waited for it, and the transaction has ended before the message was ready.
    const prepared = deferred<Outbound>();
    database.exec("BEGIN");
    const forgotten = store.add(database, prepared.promise);
    database.exec("COMMIT");
    prepared.resolve(message("d"));
    await assert.rejects(forgotten, /no transaction is open on it/);
    const stranger = sqliteSession(database).transaction(() => store.add(database, message("e")));
    await assert.rejects(stranger, /a session began the one that is open/);
    assert.deepEqual((await store.claim(CLAIM)).rows.map(({ id }) => id), ["a"]);
    file.close();
  });

  it("has what is ready when the call returns, though nobody awaits it: on a handle of node:sqlite", async () => {
    const file = sqliteFile();
    const database = file.open();
    const store = sqliteOutboxStore(file.open());
    await store.createSchemaIfAbsent();
    await store.check();
    database.exec("BEGIN");
    const added = store.add(database, message("a"));
    database.exec("COMMIT");
    await added;
    assert.deepEqual((await store.claim(CLAIM)).rows.map(({ id }) => id), ["a"]);
    file.close();
  });

  it("has what is ready when the call returns, though nobody awaits it: in PostgreSQL", { skip }, async () => {
    const place = await scratch();
    try {
      const store = postgresOutboxStore(place.postgresJs());
      await store.createSchemaIfAbsent();
      await store.check();
      const client = await place.client();
      await client.query("BEGIN");
      const added = [store.add(client, message("a"))];
      const rolledBack = client.query("ROLLBACK");
      await place.postgresJs().begin(async (tx) => {
        added.push(store.add(tx, message("b")));
      });
      const failed = place.postgresJs().begin(async (tx) => {
        added.push(store.add(tx, message("c")));
        throw new Error("no such product");
      });
      await assert.rejects(failed, /no such product/);
      await Promise.all([...added, rolledBack]);
      assert.deepEqual((await store.claim(CLAIM)).rows.map(({ id }) => id), ["b"]);
    } finally {
      await place.close();
    }
  });

  it("may be of any handle of the two PostgreSQL drivers [OBX-01]", { skip }, async () => {
    const place = await scratch();
    try {
      const store = postgresOutboxStore(place.postgresJs());
      await store.createSchemaIfAbsent();
      await place.postgresJs().begin((tx) => store.add(tx, message("a")));
      const client = await place.client();
      await client.query("BEGIN");
      await store.add(client, message("b"));
      await client.query("COMMIT");
      await assert.rejects(store.add(client, message("c")), /no transaction is open on it/);
      const reserved = await place.postgresJs().reserve();
      await reserved.unsafe("BEGIN");
      await assert.rejects(store.add(reserved, message("d")), /inTransaction: true/);
      await store.add(postgresSession(reserved, { inTransaction: true }), message("e"));
      await reserved.unsafe("COMMIT");
      reserved.release();
      for (const root of [place.postgresJs(), place.pool()]) {
        await assert.rejects(store.add(root, message("f")), TypeError);
        await store.add(root, message("g"), { outsideTransaction: true });
      }
      const { rows } = await store.claim(CLAIM);
      assert.deepEqual(rows.map(({ id }) => id), ["a", "b", "e", "g"]);
    } finally {
      await place.close();
    }
  });

  it("goes on in PostgreSQL after a message that was refused", { skip }, async () => {
    const place = await scratch();
    try {
      const store = postgresOutboxStore(place.postgresJs());
      await store.createSchemaIfAbsent();
      await place.postgresJs().begin(async (tx) => {
        await assert.rejects(store.add(tx, message("a", { priority: 1 })), { code: "ACEMQ_PUBLISH_REFUSED" });
        await assert.rejects(store.add(tx, Promise.reject(new Error("no such schema"))), /no such schema/);
        await store.add(tx, message("b"));
        await store.add(tx, message("b"));
      });
      assert.equal((await store.stats()).pending, 1);
    } finally {
      await place.close();
    }
  });
});

describe("a message that is added again", () => {
  it("is one row, published or not, until that is purged [OBX-08]", async () => {
    const file = sqliteFile();
    const clock = virtualClock();
    const session = sqliteSession(file.open());
    const store = sqliteOutboxStore(file.open(), { clock });
    await store.createSchemaIfAbsent();
    const add = (outbound: Outbound): Promise<void> => session.transaction((tx) => store.add(tx, outbound));
    await add(message("a"));
    await add(message("a", { headers: {}, messageId: "a" }));
    // Bytes and a text are not the same to SQLite, so an id is always text.
    const binary = message("a", { headers: { "x-acemq-id": new TextEncoder().encode("a") } });
    await assert.rejects(add(binary), { code: "ACEMQ_PUBLISH_REFUSED" });
    assert.equal((await store.stats()).pending, 1);
    const { token } = await store.claim(CLAIM);
    await store.markPublished(token, ["a"]);
    await add(message("a"));
    assert.equal((await store.stats()).pending, 0);
    await clock.advance(1_000);
    await store.purgePublished({ olderThanMs: 1 });
    await add(message("a"));
    assert.equal((await store.stats()).pending, 1);
    file.close();
  });
});

describe("a retired row", () => {
  it("keeps why it failed when it is released [OB-28]", async () => {
    const file = sqliteFile();
    const database = file.open();
    const store = sqliteOutboxStore(database, { maxAttempts: 1 });
    await store.createSchemaIfAbsent();
    await sqliteSession(database).transaction((tx) => store.addAll(tx, [message("a"), message("b")]));
    const { token } = await store.claim(CLAIM);
    await store.markFailed(token, ["a", "b"].map((id) => ({ id, attempts: 1, reason: `no ${id}`, retryDelayMs: 0 })));
    for await (const { id } of store.retired()) assert.equal(await store.release(id), true);
    const rows = database.prepare("SELECT id, attempts, last_error FROM acemq_outbox ORDER BY id").all();
    assert.deepEqual(rows.map((row) => Object.values(row)), [["a", 0, "no a"], ["b", 0, "no b"]]);
    file.close();
  });
});

describe("many messages at once", () => {
  it("are one statement for as many as the database takes, and all or none of them outside of a transaction", async () => {
    const file = sqliteFile();
    const database = file.open();
    const store = sqliteOutboxStore(database);
    await store.createSchemaIfAbsent();
    const many = Array.from({ length: 4_000 }, (_, number) => message(`m-${number}`));
    await sqliteSession(database).transaction((tx) => store.addAll(tx, many));
    const { token, rows } = await store.claim({ ...CLAIM, limit: 5_000 });
    assert.deepEqual(rows.map(({ id }) => id), many.map(({ messageId }) => messageId));
    assert.equal(await store.markPublished(token, rows.map(({ id }) => id)), 4_000);
    database.exec("DELETE FROM acemq_outbox");
    database.exec(
      "CREATE TRIGGER late BEFORE INSERT ON acemq_outbox WHEN new.id = 'm-3999' BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    await assert.rejects(store.addAll(database, many, { outsideTransaction: true }), { code: "ACEMQ_STORE" });
    assert.equal((await store.stats()).pending, 0);
    file.close();
  });
});

describe("a row nobody can read", () => {
  it("is handed out as such, and the others beside it as they are [OB-20]", async () => {
    const file = sqliteFile();
    const database = file.open();
    const store = sqliteOutboxStore(database, { clock: virtualClock() });
    await store.createSchemaIfAbsent();
    await sqliteSession(database).transaction((tx) => store.addAll(tx, [message("a"), message("b"), message("c")]));
    database.exec("UPDATE acemq_outbox SET headers = 'none' WHERE id = 'a'");
    database.exec("UPDATE acemq_outbox SET body_encoding = 'rot13' WHERE id = 'c'");
    const { rows } = await store.claim(CLAIM);
    assert.deepEqual(rows.map((row) => "unreadable" in row ? [row.id, row.exchange, row.routingKey] : row.id), [
      ["a", "orders", "order.placed"],
      "b",
      ["c", "orders", "order.placed"],
    ]);
    file.close();
  });
});

describe("a table that is replaced while a store uses it", () => {
  /** A table of ours goes, another one of Python's comes, and a third of Ruby's after it. */
  async function replace(
    store: OutboxStore<SqlSession>,
    { session, dialect }: { readonly session: SqlSession; readonly dialect: "postgres" | "sqlite" },
  ): Promise<void> {
    const create = async (layout: OutboxLayoutName): Promise<void> => {
      for (const text of outboxSchemaSql(dialect, { layout })) await session.query(text);
    };
    const add = (id: string): Promise<void> => session.transaction((tx) => store.add(tx, message(id)));
    const drained = async (): Promise<readonly string[]> => {
      const { token, rows } = await store.claim(CLAIM);
      const ids = rows.map(({ id }) => id);
      assert.equal(await store.markPublished(token, ids), ids.length);
      return ids;
    };
    await create("typescript");
    await add("ours");
    assert.deepEqual(await drained(), ["ours"]);
    await session.query("DROP TABLE acemq_outbox");
    await assert.rejects(store.claim(CLAIM), { code: "ACEMQ_STORE" });
    await assert.rejects(store.claim(CLAIM), { code: "ACEMQ_TABLE_LAYOUT" });
    for (const layout of ["python", "ruby"] as const) {
      await create(layout);
      await add(layout);
      assert.deepEqual(await drained(), [layout]);
      await session.query("DROP TABLE acemq_outbox");
      await assert.rejects(store.stats(), { code: "ACEMQ_STORE" });
    }
    // Nothing has failed that is noticed before the insert: the caller's transaction does not commit, and the next one does.
    await create("typescript");
    await add("ours again");
    await session.query("DROP TABLE acemq_outbox");
    await create("ruby");
    await assert.rejects(add("refused"), { code: "ACEMQ_STORE" });
    await add("taken");
    assert.deepEqual(await drained(), ["taken"]);
  }

  it("is used as it is after one failure, in SQLite", async () => {
    const file = sqliteFile();
    try {
      const session = sqliteSession(file.open());
      await replace(sqliteOutboxStore(session), { session, dialect: "sqlite" });
    } finally {
      file.close();
    }
  });

  it("is used as it is after one failure, in PostgreSQL", { skip }, async () => {
    const place = await scratch();
    try {
      const session = postgresSession(place.postgresJs());
      await replace(postgresOutboxStore(session), { session, dialect: "postgres" });
    } finally {
      await place.close();
    }
  });
});

describe("a row in SQLite whose columns hold other kinds than they are declared with", () => {
  /** Three rows, the second of them spoilt. */
  async function spoilt(change: string, look: (store: SqliteOutboxStore) => Promise<void>): Promise<void> {
    const file = sqliteFile();
    try {
      const database = file.open();
      const store = sqliteOutboxStore(database);
      await store.createSchemaIfAbsent();
      await sqliteSession(database).transaction((tx) => store.addAll(tx, [message("a"), message("b"), message("c")]));
      database.exec(`UPDATE acemq_outbox SET ${change} WHERE id = 'b'`);
      await look(store);
    } finally {
      file.close();
    }
  }

  const changes = [
    "attempts = 1.5",
    "attempts = x'31'",
    "exchange_name = x'6f'",
    "routing_key = x'6f'",
    "content_type = x'6f'",
    "headers = x'ff'",
    "body_encoding = x'00'",
    "id = x'62'",
  ];
  for (const change of changes) {
    it(`keeps no other from being handed out, and is not published as what it is not: ${change} [OB-20, OBX-08]`, () =>
      spoilt(change, async (store) => {
        const { rows } = await store.claim(CLAIM);
        const readable = rows.filter((row) => "outbound" in row).map(({ id }) => id);
        assert.deepEqual(readable, ["a", "c"]);
        assert.equal(rows.filter((row) => "unreadable" in row).length, change.startsWith("attempts = x") ? 0 : 1);
      }));
  }

  it("is listed, though nobody can say how often it was tried", () =>
    spoilt("attempts = 'often'", async (store) => {
      const retired: unknown[] = [];
      for await (const { id, attempts } of store.retired()) retired.push(id, attempts);
      assert.deepEqual(retired, ["b", 0]);
      assert.equal(await store.release("b"), true);
      assert.equal((await store.claim(CLAIM)).rows.length, 3);
    }));
});

describe("a table that keeps text and four facts of the envelope", () => {
  const inJava = async (dropHeaders: boolean, outbound: Outbound): Promise<Outbound | undefined> => {
    const file = sqliteFile();
    try {
      const store = sqliteOutboxStore(file.open(), { layout: "java", dropHeaders });
      await store.createSchemaIfAbsent();
      await sqliteSession(file.open()).transaction((tx) => store.add(tx, outbound));
      const { rows: [row] } = await store.claim(CLAIM);
      return row !== undefined && "outbound" in row ? row.outbound : undefined;
    } finally {
      file.close();
    }
  };

  it("takes no message of which something would be lost, and says what", async () => {
    const headers = message("m").headers;
    const refused: readonly (readonly [Partial<Outbound>, RegExp])[] = [
      [{ body: new Uint8Array([0x80]) }, /its body is not text/],
      [{ body: new Uint8Array([0]) }, /its body is not text/],
      [{ contentType: "text/plain" }, /its content type is "text\/plain"/],
      [{ contentType: undefined }, /its content type is ""/],
      [{ headers: { ...headers, "x-acemq-version": 2 } }, /its version is 2/],
      [
        { headers: { ...headers, "x-tenant": "north", traceparent: "00-" } },
        /"x-tenant", "traceparent".*dropHeaders: true/,
      ],
      [{ headers: { ...headers, "x-acemq-route": "a,b" } }, /"x-acemq-route"/],
      [
        { headers: { ...headers, "x-acemq-correlation": "c".repeat(65) } },
        /"x-acemq-correlation" is longer than the 64/,
      ],
      [{ headers: { ...headers, "x-acemq-type": "t".repeat(256) } }, /type is longer than the 255/],
    ];
    for (const [change, says] of refused) {
      await assert.rejects(inJava(false, message("m", change)), (error: Error) => says.test(error.message), `${says}`);
    }
  });

  it("leaves headers out where it was told to, and nothing else", async () => {
    const headers = { ...message("m").headers, "x-tenant": "north" };
    const relayed = await inJava(true, message("m", { headers, contentType: "application/json; charset=utf-8" }));
    assert.deepEqual(Object.keys(relayed?.headers ?? {}).sort(), [
      "x-acemq-attempt",
      "x-acemq-correlation",
      "x-acemq-first-seen",
      "x-acemq-id",
      "x-acemq-type",
      "x-acemq-version",
    ]);
    assert.equal(relayed?.contentType, "application/json");
    await assert.rejects(inJava(true, message("m", { headers: { ...headers, "x-acemq-version": 2 } })), /version is 2/);
  });
});

describe("the options of an outbox", () => {
  it("allow one attempt at least [OBX-13]", () => {
    const file = sqliteFile();
    for (const maxAttempts of [0, -1, 1.5, NaN]) {
      assert.throws(() => sqliteOutboxStore(file.open(), { maxAttempts }), RangeError);
    }
    assert.equal(sqliteOutboxStore(file.open()).maxAttempts, 10);
    file.close();
  });
});
