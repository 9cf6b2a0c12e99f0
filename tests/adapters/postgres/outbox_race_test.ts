/** Claims that are made while others are: in PostgreSQL they run side by side, and what one is just taking is no other's. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type PostgresOutboxStore, postgresOutboxStore, postgresSession } from "../../../adapters/postgres/mod.ts";
import type { Outbound } from "../../../src/message/outbound.ts";
import type { OutboxClaim, OutboxMode } from "../../../src/ports/outbox_store.ts";
import type { SqlSession } from "../../../src/ports/sql_session.ts";
import { somebodyWaitsAt } from "../../support/lock_waits.ts";
import { type Scratch, scratch } from "../../support/postgres_scratch.ts";
import { missing } from "../../support/services.ts";
import { StatementLog } from "../../support/statement_log.ts";
import { deferred, until } from "../../support/until.ts";

const skip = await missing("postgresql");

function message(id: string): Outbound {
  const body = new TextEncoder().encode("{}");
  return {
    exchange: "",
    routingKey: "orders.new",
    body,
    messageId: id,
    headers: { "x-acemq-id": id },
    persistent: true,
    mandatory: true,
  };
}

function claim(store: PostgresOutboxStore, mode: OutboxMode, limit = 10): Promise<OutboxClaim> {
  return store.claim({ limit, leaseMs: 60_000, mode, onRetired: "release" });
}

function idsOf({ rows }: OutboxClaim): readonly string[] {
  return rows.map(({ id }) => id);
}

interface Table {
  readonly place: Scratch;
  readonly session: SqlSession;
  readonly store: PostgresOutboxStore;
  readonly add: (orderingKey: string | undefined, ...ids: readonly string[]) => Promise<void>;
}

async function inTable(body: (table: Table) => Promise<void>): Promise<void> {
  const place = await scratch();
  try {
    const session = postgresSession(place.postgresJs());
    const store = postgresOutboxStore(session);
    await store.createSchemaIfAbsent();
    const add = (orderingKey: string | undefined, ...ids: readonly string[]): Promise<void> =>
      session.transaction((tx) => store.addAll(tx, ids.map(message), { orderingKey }));
    await body({ place, session, store, add });
  } finally {
    await place.close();
  }
}

/** A store whose claim has taken its rows and has not committed yet; `go` lets it. */
function stopped(
  { place }: Table,
): { readonly store: PostgresOutboxStore; readonly taken: Promise<void>; readonly go: () => void } {
  const [taken, go] = [deferred(), deferred()];
  const log = new StatementLog(postgresSession(place.postgresJs({ max: 1 })), async ({ text }) => {
    if (!/^WITH picked/.test(text)) return;
    taken.resolve();
    await go.promise;
  });
  return { store: postgresOutboxStore(log), taken: taken.promise, go: () => go.resolve() };
}

describe("two claims at once", () => {
  it("take different rows, and none waits for the other", { skip }, () =>
    inTable(async (table) => {
      await table.add(undefined, "a", "b", "c", "d");
      const slow = postgresSession(table.place.postgresJs({ max: 1 }));
      await slow.transaction(async (tx) => {
        assert.deepEqual(idsOf(await claim(postgresOutboxStore(tx), "continue", 2)), ["a", "b"]);
        assert.deepEqual(idsOf(await claim(table.store, "continue", 2)), ["c", "d"]);
      });
      assert.deepEqual(idsOf(await claim(table.store, "continue")), []);
    }));

  it(
    "in order wait for each other: none hands out what comes behind a row that is just being taken",
    { skip },
    () =>
      inTable(async (table) => {
        await table.add("k", "k1", "k2", "k3");
        await table.add("l", "l1");
        const slow = stopped(table);
        const first = claim(slow.store, "in_order", 2);
        await slow.taken;
        const second = claim(table.store, "in_order");
        await somebodyWaitsAt(table.place, "acemq_outbox");
        slow.go();
        assert.deepEqual(idsOf(await first), ["k1", "k2"]);
        assert.deepEqual(idsOf(await second), ["l1"]);
      }),
  );

  it(
    "do not hand out what comes behind a row whose failure is just being marked by a late relay",
    { skip },
    () =>
      inTable(async (table) => {
        const { place, store } = table;
        await table.add("k", "k1", "k2");
        await table.add("l", "l1");
        const late = await claim(store, "in_order", 2);
        assert.deepEqual(idsOf(late), ["k1", "k2"]);
        await place.pass(120_000);
        const [marked, go] = [deferred(), deferred()];
        const marking = postgresSession(place.postgresJs({ max: 1 })).transaction(async (tx) => {
          const failure = { id: "k1", attempts: 1, reason: "nack", retryDelayMs: 60_000 };
          assert.equal(await postgresOutboxStore(tx).markFailed(late.token, [failure]), 1);
          marked.resolve();
          await go.promise;
        });
        await marked.promise;
        const claiming = claim(store, "in_order");
        await somebodyWaitsAt(table.place, "acemq_outbox");
        go.resolve();
        await marking;
        assert.deepEqual(idsOf(await claiming), ["l1"]);
      }),
  );

  it("see a row that commits after one that was written later [OB-10]", { skip }, () =>
    inTable(async (table) => {
      const { place, store } = table;
      const [written, go] = [deferred(), deferred()];
      const slow = postgresSession(place.postgresJs({ max: 1 })).transaction(async (tx) => {
        await store.add(tx, message("first"));
        written.resolve();
        await go.promise;
      });
      await written.promise;
      await table.add(undefined, "second");
      const { token } = await claim(store, "in_order");
      assert.equal(await store.markPublished(token, ["second"]), 1);
      go.resolve();
      await slow;
      assert.deepEqual(idsOf(await claim(store, "in_order")), ["first"]);
    }));
});

describe("a relay whose connections are cut with rows in hand", () => {
  it(
    "marks what is still its own, and the rest is claimed when the lease ends [OB-35, OB-36]",
    { skip },
    () =>
      inTable(async ({ place, store, add }) => {
        await add(undefined, "a", "b");
        const cut = place.postgresJs({ max: 1 });
        const relayed = postgresOutboxStore(cut);
        const { token } = await claim(relayed, "continue");
        const [row] = await cut.unsafe("SELECT pg_backend_pid() AS pid");
        await place.sql.unsafe(`SELECT pg_terminate_backend(${Number(row?.["pid"])})`);
        // The statement that notices the cut may be lost with the connection.
        const marked = (): Promise<number> => relayed.markPublished(token, ["a"]);
        assert.equal(await until("a mark on a new connection", () => marked().catch(() => undefined)), 1);
        assert.deepEqual(idsOf(await claim(store, "continue")), []);
        await place.pass(61_000);
        assert.deepEqual(idsOf(await claim(store, "continue")), ["b"]);
      }),
  );
});

/** What a relay does with a claim in order: up to a failure of its key each row is published, and the rest is given back. */
async function relay(store: PostgresOutboxStore, published: string[], chance: () => number): Promise<void> {
  for (let idle = 0; idle < 3;) {
    const { token, rows } = await claim(store, "in_order", 1 + Math.floor(6 * chance()));
    idle = rows.length === 0 ? idle + 1 : 0;
    const failed = new Set<string>();
    for (const { id, orderingKey = "" } of rows) {
      if (failed.has(orderingKey)) continue;
      if (chance() < 0.2) failed.add(orderingKey);
      else published.push(id);
      if (chance() < 0.3) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const done = rows.filter(({ id }) => published.includes(id)).map(({ id }) => id);
    const left = rows.filter(({ id }) => !published.includes(id)).map(({ id, attempts }) => ({ id, attempts }));
    await store.markFailed(
      token,
      left.map(({ id }) => ({ id, attempts: 0, reason: "nack", retryDelayMs: 0 })).slice(0, 1),
    );
    await store.giveBack(token, left.slice(1).map(({ id }) => id));
    await store.markPublished(token, done);
  }
}

describe("four relays in order", () => {
  it(
    "publish the rows of every key in the order they were written, each once [OB-01, OB-12]",
    { skip },
    () =>
      inTable(async ({ place, add }) => {
        const keys = [undefined, "a", "b", "c"];
        const ids = Array.from({ length: 120 }, (_, number) => `${keys[(number * 7) % 4] ?? "none"} ${number}`);
        for (const id of ids) {
          const [key] = id.split(" ");
          await add(key === "none" ? undefined : key, id);
        }
        const published: string[] = [];
        const handles = [place.postgresJs(), place.pool(), place.postgresJs({ max: 1 }), place.pool()];
        let state = 1;
        const chance = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
        await Promise.all(handles.map((handle) => relay(postgresOutboxStore(handle), published, chance)));
        // A relay may have found nothing while another had everything: one goes through what is left.
        await relay(postgresOutboxStore(place.postgresJs()), published, chance);
        for (const key of ["none", "a", "b", "c"]) {
          const of = (all: readonly string[]): readonly string[] => all.filter((id) => id.startsWith(`${key} `));
          assert.deepEqual(of(published), of(ids));
        }
      }),
  );
});
