/** A store looks at its table once, and no transaction waits for what another session has asked. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import postgres from "postgres";
import { postgresIdempotencyStore, postgresOutboxStore } from "../../../adapters/postgres/mod.ts";
import { KnownTable } from "../../../adapters/sql/known_table.ts";
import { newEnvelope } from "../../../src/message/envelope.ts";
import type { Outbound } from "../../../src/message/outbound.ts";
import type { SqlSession } from "../../../src/ports/sql_session.ts";
import { missing, POSTGRES_URL } from "../../support/services.ts";
import { stoppedSources } from "../../support/sources.ts";

/** Looks that end when a test says so, by session. */
class Looks {
  readonly own: SqlSession = session();
  readonly asked: SqlSession[] = [];
  readonly known: KnownTable<string> = new KnownTable(this.own, (one) => this.#look(one));
  readonly #ends: { resolve(table: string): void; reject(error: Error): void }[] = [];

  #look(one: SqlSession): Promise<string> {
    this.asked.push(one);
    return new Promise((resolve, reject) => this.#ends.push({ resolve, reject }));
  }

  end(at: number, table: string | Error): void {
    if (table instanceof Error) this.#ends[at]?.reject(table);
    else this.#ends[at]?.resolve(table);
  }
}

/** Never asked: it only is another one. */
function session(): SqlSession {
  const never = (): Promise<never> => Promise.reject(new Error("not asked"));
  return { query: never, transaction: never, inTransaction: false };
}

describe("what a store knows of its table", () => {
  it("is asked for once on the store's own session, however many come meanwhile", async () => {
    const looks = new Looks();
    const both = [looks.known.on(), looks.known.on()];
    looks.end(0, "ruby");
    assert.deepEqual(await Promise.all(both), ["ruby", "ruby"]);
    assert.equal(await looks.known.on(session()), "ruby");
    assert.equal(looks.asked.length, 1);
  });

  it("is asked for by a transaction itself, whatever the store's own session waits for", async () => {
    const looks = new Looks();
    const own = looks.known.on();
    const tx = session();
    const inside = looks.known.on(tx);
    assert.deepEqual(looks.asked, [looks.own, tx]);
    looks.end(1, "ruby");
    assert.equal(await inside, "ruby");
    looks.end(0, "ruby");
    assert.equal(await own, "ruby");
  });

  it("is asked for by the store's own session, whatever a transaction waits for", async () => {
    const looks = new Looks();
    const inside = looks.known.on(session());
    const own = looks.known.on();
    looks.end(0, new Error("current transaction is aborted"));
    await assert.rejects(inside, /aborted/);
    looks.end(1, "ruby");
    assert.equal(await own, "ruby");
  });

  it("is asked for again after a failure, of the look or of a statement", async () => {
    const looks = new Looks();
    const failing = looks.known.on();
    looks.end(0, new Error("away"));
    await assert.rejects(failing, /away/);
    const found = looks.known.on();
    looks.end(1, "ruby");
    assert.equal(await found, "ruby");
    looks.known.forget();
    const again = looks.known.on();
    looks.end(2, "java");
    assert.equal(await again, "java");
  });
});

describe("a pool of one connection", { skip: await missing("postgresql") }, () => {
  /** A schema of its own, and one connection to it. */
  async function onOneConnection(work: (sql: postgres.Sql) => Promise<void>): Promise<void> {
    const schema = `acemq_known_${crypto.randomUUID().slice(0, 8)}`;
    const sql = postgres(POSTGRES_URL, { max: 1, onnotice: () => {}, connection: { search_path: schema } });
    try {
      await sql.unsafe(`CREATE SCHEMA ${schema}`);
      await work(sql);
    } finally {
      await sql.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await sql.end({ timeout: 5 });
    }
  }

  it(
    "is enough for a message that is recorded in a transaction while the store is asked",
    { timeout: 20_000 },
    () =>
      onOneConnection(async (sql) => {
        await postgresIdempotencyStore(sql).createSchemaIfAbsent();
        const seen = postgresIdempotencyStore(sql);
        let purging: Promise<number> | undefined;
        const answer = await sql.begin(async (tx) => {
          // It waits for the connection that the transaction has.
          purging = seen.purgeExpired();
          return await seen.onceWithin(
            tx,
            { envelope: newEnvelope({ id: "6f1d", type: "paid" }, stoppedSources()) } as never,
          );
        });
        assert.equal(answer, "confirmed");
        assert.equal(await purging, 0);
      }),
  );

  it(
    "is enough for a message that is added in a transaction while the store is asked",
    { timeout: 20_000 },
    () =>
      onOneConnection(async (sql) => {
        await postgresOutboxStore(sql, { news: false }).createSchemaIfAbsent();
        const outbox = postgresOutboxStore(sql, { news: false });
        const outbound: Outbound = {
          exchange: "",
          routingKey: "orders",
          body: new Uint8Array([1]),
          contentType: "application/octet-stream",
          messageId: "6f1d",
          headers: {},
          persistent: true,
          mandatory: true,
          replyTo: undefined,
          priority: undefined,
          expirationMs: undefined,
        };
        let counting: ReturnType<typeof outbox.stats> | undefined;
        await sql.begin(async (tx) => {
          counting = outbox.stats();
          await outbox.add(tx, outbound);
        });
        await counting;
        assert.equal((await outbox.stats()).pending, 1);
      }),
  );
});
