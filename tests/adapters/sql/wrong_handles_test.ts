/** What is handed in for a handle and is none: it may be a URL, and a URL has a password. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import {
  postgresIdempotencyStore,
  postgresOutboxStore,
  postgresSchemaRegistry,
  postgresSession,
} from "../../../adapters/postgres/mod.ts";
import { drizzleSession, knexSession, kyselySession } from "../../../adapters/sql/mod.ts";
import {
  sqliteIdempotencyStore,
  sqliteOutboxStore,
  sqliteSchemaRegistry,
  sqliteSession,
} from "../../../adapters/sqlite/mod.ts";

const NO_HANDLES: readonly unknown[] = [
  "postgres://shop:s3cret@db/shop",
  "",
  undefined,
  null,
  7,
  true,
  {},
  [],
  () => {},
];

const MAKERS: Readonly<Record<string, (handle: never) => unknown>> = {
  postgresSession,
  postgresIdempotencyStore,
  postgresOutboxStore,
  postgresSchemaRegistry,
  sqliteSession,
  sqliteIdempotencyStore,
  sqliteOutboxStore,
  sqliteSchemaRegistry,
  kyselySession,
  drizzleSession,
  knexSession,
};

const wanted = (error: unknown): true => {
  assert.ok(error instanceof TypeError, String(error));
  assert.match(error.message, /^Cannot (?:use the database handle|make a session of \w+): .* is wanted/);
  assert.doesNotMatch(error.message, /s3cret/);
  return true;
};

describe("a handle", () => {
  for (const [name, make] of Object.entries(MAKERS)) {
    it(`is wanted by ${name}, which repeats nothing of what it found`, () => {
      for (const handle of NO_HANDLES) assert.throws(() => make(handle as never), wanted);
    });
  }

  it("is wanted as the transaction as well", async () => {
    const outbox = sqliteOutboxStore(new DatabaseSync(":memory:"));
    await outbox.createSchemaIfAbsent();
    const outbound = { exchange: "", routingKey: "q", body: new Uint8Array(), contentType: "a/b", messageId: "1" };
    for (const handle of NO_HANDLES) {
      await assert.rejects(
        async () => await outbox.add(handle as never, { ...outbound, headers: {} } as never),
        wanted,
      );
    }
  });
});
