/** Tables of claims that programs in Java, Python, Ruby and Go have written are read as they are meant. */
import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { virtualClock } from "../../adapters/memory/mod.ts";
import { postgresIdempotencyStore } from "../../adapters/postgres/mod.ts";
import { sqliteIdempotencyStore } from "../../adapters/sqlite/mod.ts";
import type { IdempotencyStore } from "../../src/ports/idempotency_store.ts";
import { scratch } from "../support/postgres_scratch.ts";
import { missing } from "../support/services.ts";
import { sqliteFile } from "../support/sqlite_scratch.ts";

interface Row {
  readonly id: string;
  readonly state: "CLAIMED" | "CONFIRMED";
  readonly claimNow?: "claimed" | "duplicate" | "in_progress";
  /** When the lease or the retention ends. */
  readonly expiresAt?: string;
  /** Go's only time. */
  readonly handledAt?: string;
  readonly only?: string;
}

interface Means {
  readonly now?: string;
  readonly rows: Readonly<Record<string, { readonly acemq_idempotency: readonly Row[] }>>;
}

const skip = await missing("postgresql");
const TABLES = new URL("fixtures/tables/", import.meta.url);

/** The SQLite files, with their language and what their rows are listed under. */
const FILES: readonly (readonly [language: string, file: string, rows: string])[] = [
  ["java", "acemq.sqlite", "all"],
  ["java", "acemq-offsetdatetime.sqlite", "all"],
  ["python", "acemq.sqlite", "all"],
  ["ruby", "acemq.sqlite", "all"],
  ["go", "acemq.sqlite", "sqlite"],
  ["go", "acemq-modernc.sqlite", "sqlite-modernc"],
];

const DUMPS: readonly (readonly [language: string, rows: string])[] = [
  ["java", "all"],
  ["python", "all"],
  ["ruby", "all"],
  ["go", "postgres"],
];

/** Where the file names no moment: when every lease of it runs. */
const THEN = "2026-09-09T14:00:20.000Z";

function meansOf(language: string): Means {
  return JSON.parse(readFileSync(new URL(`${language}/means.json`, TABLES), "utf8")) as Means;
}

/** What the contract says a claim is answered at that moment: what the file says, or what its times come to. */
function expected(row: Row, now: number): string {
  if (row.claimNow !== undefined) return row.claimNow === "duplicate" ? "already_confirmed" : row.claimNow;
  const lasts = row.state === "CLAIMED" ? 300_000 : 86_400_000;
  const end = row.expiresAt === undefined ? Date.parse(row.handledAt ?? "") + lasts : Date.parse(row.expiresAt);
  if (end <= now) return "claimed";
  return row.state === "CLAIMED" ? "in_progress" : "already_confirmed";
}

async function assertMeant(store: IdempotencyStore, rows: readonly Row[], now: number): Promise<void> {
  assert.ok(rows.length > 0);
  for (const row of rows) {
    assert.equal(await store.isConfirmed(row.id), expected(row, now) === "already_confirmed", row.id);
    assert.equal((await store.tryClaim(row.id)).status, expected(row, now), row.id);
  }
  // What was claimed here is a row among the others, for whoever reads them next.
  const claim = await store.tryClaim("of our own");
  assert.ok(claim.status === "claimed");
  assert.equal((await store.tryClaim("of our own")).status, "in_progress");
  assert.equal(await store.confirm("of our own", claim.token), "held");
  assert.equal((await store.tryClaim("of our own")).status, "already_confirmed");
}

function rowsOf({ rows }: Means, listed: string, database: string): readonly Row[] {
  return (rows[listed]?.acemq_idempotency ?? []).filter(({ only }) => only === undefined || only === database);
}

describe("a table of claims in SQLite", () => {
  for (const [language, name, listed] of FILES) {
    it(`that ${language} has written (${name}) is understood`, async () => {
      const file = sqliteFile();
      const copy = `${file.path}.copy`;
      copyFileSync(fileURLToPath(new URL(`${language}/${name}`, TABLES)), copy);
      const database = new DatabaseSync(copy);
      const means = meansOf(language);
      const now = means.now ?? THEN;
      const store = sqliteIdempotencyStore(database, { clock: virtualClock(now) });
      try {
        await assertMeant(store, rowsOf(means, listed, "sqlite"), Date.parse(now));
      } finally {
        database.close();
        file.close();
      }
    });
  }
});

describe("a table of claims in PostgreSQL", () => {
  for (const [language, listed] of DUMPS) {
    it(`that ${language} has written is understood`, { skip }, async () => {
      const place = await scratch();
      const dump = readFileSync(new URL(`${language}/postgres.sql`, TABLES), "utf8");
      const statements = dump.split(/;\n/).filter((text) => /acemq_idempotency/.test(text) && !/OWNER/.test(text));
      for (const text of statements) await place.sql.unsafe(text.replaceAll("public.", ""));
      const means = meansOf(language);
      const now = means.now ?? THEN;
      await place.freeze(now);
      const store = postgresIdempotencyStore(place.postgresJs());
      try {
        await assertMeant(store, rowsOf(means, listed, "postgres"), Date.parse(now));
      } finally {
        await place.close();
      }
    });
  }
});
