/** Outbox rows that programs in Java, Python, Ruby and Go have written are handed out as they are meant, and ours are what they read. */
import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { virtualClock } from "../../adapters/memory/mod.ts";
import { postgresOutboxStore } from "../../adapters/postgres/mod.ts";
import type { OutboxLayoutName } from "../../adapters/sql/mod.ts";
import { sqliteOutboxStore, sqliteSession } from "../../adapters/sqlite/mod.ts";
import { readableHeaders } from "../../src/message/header_value.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import { WireDouble, type WireTable } from "../../src/message/wire_value.ts";
import type { ClaimedRow, OutboxStore, RetiredRecord } from "../../src/ports/outbox_store.ts";
import { scratch } from "../support/postgres_scratch.ts";
import { missing } from "../support/services.ts";
import { sqliteFile } from "../support/sqlite_scratch.ts";

/** A row as its writer means it. The languages say in different words whether a relay is to get it. */
interface Row {
  readonly id: string;
  readonly exchange: string;
  readonly routingKey: string;
  readonly bodyHex: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly messageType?: string;
  readonly correlationId?: string;
  readonly causationId?: string;
  readonly createdAt: string;
  readonly attempts: number;
  readonly lastError?: string;
  readonly publishedAt?: string;
  readonly claimable?: boolean;
  readonly retired?: boolean;
  readonly state?: string;
  readonly only?: string;
}

interface Means {
  readonly now?: string;
  readonly claimOrder?: readonly string[];
  readonly rows: Readonly<Record<string, { readonly acemq_outbox: readonly Row[] }>>;
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

/** Where the file names no moment: after all of its rows. */
const THEN = "2026-09-09T14:00:20.000Z";

function meansOf(language: string): Means {
  return JSON.parse(readFileSync(new URL(`${language}/means.json`, TABLES), "utf8")) as Means;
}

function rowsOf(means: Means, listed: string, database: "sqlite" | "postgres"): readonly Row[] {
  const rows = means.rows[listed]?.acemq_outbox ?? assert.fail(`${listed} has no outbox`);
  return rows.filter(({ only }) => only === undefined || only === database);
}

function isClaimable({ claimable, retired, state }: Row): boolean {
  return claimable ?? (retired === undefined ? state === "pending" : !retired);
}

/** The headers a consumer is to find, by value; the words of the fixtures for what JSON has none for among them. */
function expectedHeaders(row: Row): Readonly<Record<string, unknown>> {
  if (row.headers !== undefined) return plain(row.headers) as Readonly<Record<string, unknown>>;
  return {
    "x-acemq-id": row.id,
    "x-acemq-type": row.messageType,
    "x-acemq-version": 1,
    "x-acemq-correlation": row.correlationId ?? row.id,
    "x-acemq-attempt": 1,
    "x-acemq-first-seen": Date.parse(row.createdAt),
    ...(row.causationId === undefined ? {} : { "x-acemq-causation": row.causationId }),
  };
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  if ("$bigint" in value) return BigInt(String(value.$bigint));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

/** By value, the engine's own too: a number where it holds an integer. */
function foundHeaders(headers: WireTable): unknown {
  const names = Object.keys(headers);
  const renamed = readableHeaders(Object.fromEntries(names.map((name) => [`h:${name}`, headers[name] ?? null])));
  const values = names.map((name) => [name, renamed[`h:${name}`]] as const);
  return plain(Object.fromEntries(values.map(([name, value]) => [
    name,
    typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value,
  ])));
}

async function assertMeant(store: OutboxStore<never>, rows: readonly Row[], means: Means): Promise<void> {
  const now = Date.parse(means.now ?? THEN);
  const claimable = rows.filter(isClaimable);
  const claim = await store.claim({ limit: 100, leaseMs: 60_000, mode: "continue", onRetired: "release" });
  const found = new Map(claim.rows.map((row) => [row.id, row]));
  const order = claim.rows.map(({ id }) => id);
  assert.deepEqual([...order].sort(), claimable.map(({ id }) => id).sort());
  const meant = means.claimOrder?.filter((id) => found.has(id)) ??
    [...claimable].sort((a, b) => a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : 1)
      .map(({ id }) => id);
  // The list of the order has the rows of both databases.
  const listed = new Set(rows.filter(({ only }) => only === undefined).map(({ id }) => id));
  assert.deepEqual(order.filter((id) => listed.has(id)), meant.filter((id) => listed.has(id)));
  for (const row of claimable) assertRow(found.get(row.id), row, now);
  await assertMarks(store, rows, { claim: claim.token, order });
}

function assertRow(found: ClaimedRow | undefined, row: Row, now: number): void {
  assert.ok(found !== undefined && "outbound" in found, row.id);
  const { headers, body, ...outbound } = found.outbound;
  assert.deepEqual(outbound, {
    exchange: row.exchange,
    routingKey: row.routingKey,
    contentType: row.contentType === "" ? undefined : row.contentType,
    messageId: row.id,
    persistent: true,
    mandatory: true,
  });
  assert.equal(Array.from(body, (byte) => byte.toString(16).padStart(2, "0")).join(""), row.bodyHex);
  assert.deepEqual(foundHeaders(headers), expectedHeaders(row));
  assert.equal(found.attempts, row.attempts);
  assert.equal(found.orderingKey, undefined);
  // Below a millisecond the files have more digits than their `createdAt`.
  const age = Math.max(0, now - Date.parse(row.createdAt));
  assert.ok(Math.abs(found.ageMs - age) <= 1, `${row.id}: ${found.ageMs} and not ${age}`);
  // The engine's own, as they are published: 32 bits, and 64 for the first sight.
  if ("x-acemq-attempt" in headers) {
    assert.equal(typeof headers["x-acemq-attempt"], "number");
    assert.equal(typeof headers["x-acemq-first-seen"], "bigint");
  }
}

/** What is marked is marked for whoever reads the table next, and what is retired is listed with its reason. */
async function assertMarks(
  store: OutboxStore<never>,
  rows: readonly Row[],
  { claim, order }: { readonly claim: string; readonly order: readonly string[] },
): Promise<void> {
  const pending = rows.filter(({ publishedAt, state }) => publishedAt === undefined && state !== "published").length;
  const retired = rows.filter(({ attempts }) => attempts >= 10);
  const records: RetiredRecord[] = [];
  for await (const record of store.retired()) records.push(record);
  assert.deepEqual(
    records.map(({ id, attempts, lastError }) => [id, attempts, lastError]),
    retired.map(({ id, attempts, lastError }) => [id, attempts, lastError]),
  );
  const before = await store.stats();
  assert.deepEqual([before.pending, before.retired], [pending, retired.length]);
  const [first = "", second = "", ...others] = order;
  const failure = { id: first, attempts: 10, reason: "312 NO_ROUTE", retryDelayMs: 1_000 };
  assert.equal(await store.markFailed(claim, [failure]), 1);
  assert.equal(await store.giveBack(claim, [second]), 1);
  assert.equal(await store.markPublished(claim, others), others.length);
  const after = await store.stats();
  assert.deepEqual([after.pending, after.retired], [pending - others.length, retired.length + 1]);
  assert.equal(await store.release(first), true);
}

describe("an outbox in a SQLite file", () => {
  for (const [language, name, listed] of FILES) {
    it(`that ${language} has written to, as ${name}, is handed out as it is meant`, async () => {
      const file = sqliteFile();
      const path = `${file.path}.copy`;
      copyFileSync(fileURLToPath(new URL(`${language}/${name}`, TABLES)), path);
      const means = meansOf(language);
      const database = new DatabaseSync(path);
      const store = sqliteOutboxStore(database, { clock: virtualClock(means.now ?? THEN) });
      await store.createSchemaIfAbsent();
      try {
        await assertMeant(store, rowsOf(means, listed, "sqlite"), means);
      } finally {
        database.close();
        file.close();
      }
    });
  }
});

describe("an outbox in PostgreSQL", () => {
  for (const [language, listed] of DUMPS) {
    it(`that ${language} has written to is handed out as it is meant`, { skip }, async () => {
      const place = await scratch();
      try {
        const dump = readFileSync(new URL(`${language}/postgres.sql`, TABLES), "utf8");
        const statements = dump.split(/;\n/).filter((text) => /acemq_outbox/.test(text) && !/OWNER/.test(text));
        for (const text of statements) await place.sql.unsafe(text.replaceAll("public.", ""));
        const means = meansOf(language);
        await place.freeze(means.now ?? THEN);
        const store = postgresOutboxStore(place.postgresJs());
        await store.createSchemaIfAbsent();
        await assertMeant(store, rowsOf(means, listed, "postgres"), means);
      } finally {
        await place.close();
      }
    });
  }
});

/** A message of each kind of body, as the contract's examples have them (contract patterns 5.3). */
function message(id: string, change: Partial<Outbound> = {}): Outbound {
  return {
    exchange: "orders",
    routingKey: "order.placed",
    body: new TextEncoder().encode('{"id":1}'),
    contentType: "application/json",
    messageId: id,
    headers: {
      "x-acemq-id": id,
      "x-acemq-type": "order.placed",
      "x-acemq-version": 1,
      "x-acemq-correlation": "6f1d…",
      "x-acemq-attempt": 1,
      "x-acemq-first-seen": 1_788_962_400_000n,
    },
    persistent: true,
    mandatory: true,
    ...change,
  };
}

const HEADERS_OF_6F1D =
  '{"x-acemq-id":"6f1d…","x-acemq-type":"order.placed","x-acemq-version":1,"x-acemq-correlation":"6f1d…",' +
  '"x-acemq-attempt":1,"x-acemq-first-seen":1788962400000}';

const CLAIM_CHECKED = new Uint8Array([0xac, 0x01, 0x00, ...new TextEncoder().encode('{"id":1}')]);

/** What stands in each column when `6f1d…` and, where bytes are kept, the contract's claim-checked message have been added. */
const WRITTEN: Readonly<Record<OutboxLayoutName, readonly (readonly unknown[])[]>> = {
  typescript: [
    [
      "6f1d…",
      "orders",
      "order.placed",
      '{"id":1}',
      "utf-8",
      "application/json",
      HEADERS_OF_6F1D,
      "2026-09-09T14:00:00.000000Z",
      null,
      0,
      null,
      null,
      null,
      null,
    ],
    [
      "7a02…",
      "orders",
      "blob.stored",
      "rAEAeyJpZCI6MX0=",
      "base64",
      "application/json",
      HEADERS_OF_6F1D.replace("6f1d…", "7a02…"),
      "2026-09-09T14:00:00.000001Z",
      null,
      0,
      null,
      null,
      null,
      null,
    ],
  ],
  ruby: [
    [
      "6f1d…",
      "orders",
      "order.placed",
      '{"id":1}',
      "utf-8",
      "application/json",
      HEADERS_OF_6F1D,
      "2026-09-09T14:00:00.000000Z",
      null,
      0,
      null,
      null,
      null,
    ],
    [
      "7a02…",
      "orders",
      "blob.stored",
      "rAEAeyJpZCI6MX0=",
      "base64",
      "application/json",
      HEADERS_OF_6F1D.replace("6f1d…", "7a02…"),
      "2026-09-09T14:00:00.000001Z",
      null,
      0,
      null,
      null,
      null,
    ],
  ],
  java: [[
    "6f1d…",
    "orders",
    "order.placed",
    "order.placed",
    '{"id":1}',
    "6f1d…",
    null,
    1_788_962_400_000,
    null,
    0,
    null,
    null,
    null,
  ]],
  python: [
    [
      "6f1d…",
      "orders",
      "order.placed",
      message("").body,
      "application/json",
      HEADERS_OF_6F1D,
      1_788_962_400_000,
      0,
      null,
    ],
    [
      "7a02…",
      "orders",
      "blob.stored",
      CLAIM_CHECKED,
      "application/json",
      HEADERS_OF_6F1D.replace("6f1d…", "7a02…"),
      1_788_962_400_001,
      0,
      null,
    ],
  ],
  go: [
    [
      "6f1d…",
      "orders",
      "order.placed",
      message("").body,
      "application/json",
      HEADERS_OF_6F1D,
      "2026-09-09 14:00:00+00:00",
      0,
      null,
    ],
    [
      "7a02…",
      "orders",
      "blob.stored",
      CLAIM_CHECKED,
      "application/json",
      HEADERS_OF_6F1D.replace("6f1d…", "7a02…"),
      "2026-09-09 14:00:00.000001+00:00",
      0,
      null,
    ],
  ],
  dotnet: [[
    "6f1d…",
    "orders",
    "order.placed",
    "order.placed",
    '{"id":1}',
    "6f1d…",
    null,
    "2026-09-09 14:00:00",
    0,
    null,
    0,
    null,
  ]],
};

describe("a message of ours", () => {
  for (const [layout, rows] of Object.entries(WRITTEN)) {
    it(`stands in a table of the layout '${layout}' as the contract lists it`, async () => {
      const file = sqliteFile();
      const database = file.open();
      const clock = virtualClock("2026-09-09T14:00:00Z");
      const store = sqliteOutboxStore(database, { clock, layout: layout as OutboxLayoutName });
      await store.createSchemaIfAbsent();
      const seven = message("7a02…", { routingKey: "blob.stored", body: CLAIM_CHECKED });
      await sqliteSession(database).transaction((tx) =>
        store.addAll(tx, [message("6f1d…"), seven].slice(0, rows.length))
      );
      const found = database.prepare("SELECT * FROM acemq_outbox").all().map((row) => Object.values(row));
      assert.deepEqual(found, rows);
      file.close();
    });
  }

  it("keeps a double a double on its way through the table [OBX-10]", async () => {
    const file = sqliteFile();
    const store = sqliteOutboxStore(file.open());
    await store.createSchemaIfAbsent();
    const headers = {
      ...message("m").headers,
      whole: new WireDouble(3),
      count: 3,
      long: 2 ** 40,
      huge: new WireDouble(1e300),
    };
    await sqliteSession(file.open()).transaction((tx) => store.add(tx, message("m", { headers })));
    const { rows: [row] } = await store.claim({ limit: 1, leaseMs: 1_000, mode: "continue", onRetired: "release" });
    assert.ok(row !== undefined && "outbound" in row);
    assert.deepEqual(row.outbound.headers, headers);
    file.close();
  });
});
