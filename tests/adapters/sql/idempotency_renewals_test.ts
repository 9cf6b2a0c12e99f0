/** A renewal whose answer is lost: the claim has its old token or the new one, and its holder has it either way. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { postgresIdempotencyStore, postgresSession } from "../../../adapters/postgres/mod.ts";
import { IDEMPOTENCY_LAYOUTS } from "../../../adapters/sql/idempotency_layout.ts";
import { LeaseLostError } from "../../../src/errors.ts";
import type { SqlSession } from "../../../src/ports/sql_session.ts";
import { scratch } from "../../support/postgres_scratch.ts";
import { missing } from "../../support/services.ts";

const skip = await missing("postgresql");
const LEASE_MS = 60_000;

/** A connection that is lost on the way back: what it was asked for is done. */
class OneWay implements SqlSession {
  readonly inTransaction = false;
  readonly #session: SqlSession;
  readonly #isLost: (text: string) => boolean;

  constructor(session: SqlSession, isLost: (text: string) => boolean) {
    this.#session = session;
    this.#isLost = isLost;
  }

  async query(...asked: Parameters<SqlSession["query"]>): ReturnType<SqlSession["query"]> {
    const result = await this.#session.query(...asked);
    if (this.#isLost(asked[0])) throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    return result;
  }

  transaction<T>(work: (tx: SqlSession) => Promise<T>): Promise<T> {
    return this.#session.transaction(work);
  }
}

for (const layout of IDEMPOTENCY_LAYOUTS) {
  describe(`a claim in the layout of ${layout} whose renewal has no answer`, () => {
    const withClaim = async (
      play: (world: {
        readonly store: ReturnType<typeof postgresIdempotencyStore>;
        readonly others: ReturnType<typeof postgresIdempotencyStore>;
        readonly session: SqlSession;
        readonly token: string;
        readonly pass: (ms: number) => Promise<void>;
      }) => Promise<void>,
    ): Promise<void> => {
      const place = await scratch();
      try {
        let isCut = true;
        const session = postgresSession(place.postgresJs());
        const oneWay = new OneWay(session, (text) => isCut && text.startsWith("UPDATE"));
        const options = { layout, claimTimeoutMs: LEASE_MS };
        const store = postgresIdempotencyStore(oneWay, options);
        await store.createSchemaIfAbsent();
        const answer = await store.tryClaim("m");
        assert.ok(answer.status === "claimed");
        for (const _ of [1, 2]) {
          await place.pass(LEASE_MS / 3);
          await assert.rejects(store.renew("m", answer.token), { code: "ACEMQ_STORE" });
        }
        isCut = false;
        const others = postgresIdempotencyStore(session, { ...options, claimTimeoutMs: LEASE_MS / 4 });
        await play({ store, others, session, token: answer.token, pass: place.pass });
      } finally {
        await place.close();
      }
    };

    it("is confirmed by the token its holder has", { skip }, () =>
      withClaim(async ({ store, others, token }) => {
        assert.equal(await store.confirm("m", token), "held");
        assert.deepEqual(await others.tryClaim("m"), { status: "already_confirmed" });
      }));

    it("is confirmed in a transaction by it", { skip }, () =>
      withClaim(async ({ store, session, token }) => {
        const message = { envelope: { id: "m" }, claim: { id: "m", token } };
        assert.equal(await session.transaction((tx) => store.onceWithin(tx, message)), "confirmed");
      }));

    it("is released by it", { skip }, () =>
      withClaim(async ({ store, others, token }) => {
        assert.equal(await store.release("m", token), "held");
        assert.equal((await others.tryClaim("m")).status, "claimed");
      }));

    it(
      "is renewed by it, and lasts as long as the renewal says",
      { skip },
      () =>
        withClaim(async ({ store, token, pass }) => {
          const renewed = await store.renew("m", token);
          assert.ok(renewed.status === "held");
          await pass(LEASE_MS - 1_000);
          assert.deepEqual(await store.tryClaim("m"), { status: "in_progress" });
          assert.equal(await store.confirm("m", renewed.token), "held");
        }),
    );

    it(
      "is not its own any more where somebody with a shorter lease has it",
      { skip },
      () =>
        withClaim(async ({ store, others, session, token, pass }) => {
          // The lease of a claim whose token is the time is as long as whoever looks has it.
          await pass(layout === "go" || layout === "dotnet" ? LEASE_MS / 4 : LEASE_MS);
          const taken = await others.tryClaim("m");
          assert.ok(taken.status === "claimed");
          assert.equal(await store.confirm("m", token), "lost");
          assert.equal(await store.release("m", token), "lost");
          const message = { envelope: { id: "m" }, claim: { id: "m", token } };
          await assert.rejects(session.transaction((tx) => store.onceWithin(tx, message)), LeaseLostError);
          assert.deepEqual(await store.renew("m", token), { status: "lost" });
          assert.equal(await others.confirm("m", taken.token), "held");
        }),
    );
  });
}
