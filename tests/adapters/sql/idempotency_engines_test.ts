/** Every statement of every layout runs on every engine: also where a column's name is a word of the language (contract patterns 4.5). */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { postgresIdempotencyStore, postgresSession } from "../../../adapters/postgres/mod.ts";
import { type IdempotencyLayoutName, idempotencySchemaSql } from "../../../adapters/sql/mod.ts";
import { sqliteIdempotencyStore, sqliteSession } from "../../../adapters/sqlite/mod.ts";
import type {
  ClaimAnswer,
  ClaimedMessage,
  IdempotencyStore,
  OnceWithin,
} from "../../../src/ports/idempotency_store.ts";
import type { SqlSession } from "../../../src/ports/sql_session.ts";
import { scratch } from "../../support/postgres_scratch.ts";
import { missing } from "../../support/services.ts";
import { sqliteFile } from "../../support/sqlite_scratch.ts";

const skip = await missing("postgresql");

/** A store that has the schema of a layout, and its database. */
interface Place {
  readonly store: IdempotencyStore & { onceWithin(tx: SqlSession, message: ClaimedMessage): Promise<OnceWithin> };
  readonly session: SqlSession;
  readonly close: () => Promise<void>;
}

const ENGINES: Readonly<
  Record<"postgres" | "sqlite", {
    readonly skip: string | false;
    readonly layouts: readonly IdempotencyLayoutName[];
    readonly open: (layout: IdempotencyLayoutName) => Promise<Place>;
    readonly over: (session: SqlSession) => Place["store"];
  }>
> = {
  postgres: {
    skip,
    layouts: ["java", "python", "go", "dotnet"],
    open: async (layout) => {
      const place = await scratch();
      const session = postgresSession(place.postgresJs());
      return { store: postgresIdempotencyStore(session, { layout, claimTimeoutMs: 1 }), session, close: place.close };
    },
    over: postgresIdempotencyStore,
  },
  sqlite: {
    skip: false,
    layouts: ["ruby", "python", "go", "dotnet"],
    open: async (layout) => {
      const file = sqliteFile();
      const session = sqliteSession(file.open());
      const store = sqliteIdempotencyStore(session, { layout, claimTimeoutMs: 1 });
      return { store, session, close: async () => file.close() };
    },
    over: sqliteIdempotencyStore,
  },
};

/** A lease of one millisecond has ended by the time it is asked again, so that nothing has to be waited for. */
async function everyStatement({ store, session }: Place): Promise<void> {
  const token = tokenOf(await store.tryClaim("a"));
  assert.equal(await store.confirm("a", token), "held");
  assert.deepEqual(await store.tryClaim("a"), { status: "already_confirmed" });
  assert.equal(await store.isConfirmed("a"), true);
  const renewed = await store.renew("b", tokenOf(await store.tryClaim("b")));
  assert.ok(renewed.status === "held");
  assert.equal(await store.release("b", renewed.token), "held");
  await store.tryClaim("c");
  let again = await store.tryClaim("c");
  while (again.status === "in_progress") again = await store.tryClaim("c");
  assert.deepEqual([again.status, again.status === "claimed" && again.takenOver], ["claimed", true]);
  const once = (id: string): Promise<OnceWithin> =>
    session.transaction((tx) => store.onceWithin(tx, { envelope: { id } }));
  assert.deepEqual([await once("d"), await once("d")], ["confirmed", "already_confirmed"]);
  await store.release("c", tokenOf(again));
  assert.equal(await store.purgeExpired(), 0);
  assert.equal(await store.count(), 2);
}

/** What a store sends for so many messages that are claimed and confirmed, one after the other. */
async function textsFor(
  { session }: Place,
  open: (session: SqlSession) => Place["store"],
  messages: number,
): Promise<readonly string[]> {
  const texts: string[] = [];
  const query: SqlSession["query"] = (text, params) => {
    texts.push(text);
    return session.query(text, params);
  };
  const store = open({ inTransaction: false, query, transaction: (work) => session.transaction(work) });
  await store.check();
  texts.length = 0;
  for (let number = 0; number < messages; number++) {
    const id = `it's "${number}" ? $1`;
    assert.equal(await store.confirm(id, tokenOf(await store.tryClaim(id))), "held");
  }
  return texts;
}

function tokenOf(answer: ClaimAnswer): string {
  assert.ok(answer.status === "claimed", answer.status);
  return answer.token;
}

for (const [engine, { skip, layouts, open, over }] of Object.entries(ENGINES)) {
  describe(`the schema and the statements of a layout on ${engine}`, () => {
    for (const layout of layouts) {
      it(`run as they are written for '${layout}' [IDM-17]`, { skip }, async () => {
        const place = await open(layout);
        try {
          for (const text of idempotencySchemaSql(engine as "postgres" | "sqlite", { layout })) {
            await place.session.query(text);
          }
          await everyStatement(place);
        } finally {
          await place.close();
        }
      });

      it(
        `are two for a message that is handled once, the same two for every message, '${layout}'`,
        { skip },
        async () => {
          const place = await open(layout);
          try {
            for (const text of idempotencySchemaSql(engine as "postgres" | "sqlite", { layout })) {
              await place.session.query(text);
            }
            const texts = await textsFor(place, over, 3);
            assert.equal(texts.length, 6);
            assert.deepEqual(new Set(texts), new Set(texts.slice(0, 2)));
          } finally {
            await place.close();
          }
        },
      );
    }
  });
}
