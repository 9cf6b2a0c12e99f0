/** However a program has opened its SQLite handle, the answers are the same: rows as objects or arrays, integers of either kind [IDM-08, OBX-05]. */
import { DatabaseSync, type DatabaseSyncOptions } from "node:sqlite";
import { virtualClock } from "../../../adapters/memory/mod.ts";
import {
  type SqliteDatabase,
  sqliteIdempotencyStore,
  sqliteOutboxStore,
  sqliteSchemaRegistry,
  sqliteSession,
} from "../../../adapters/sqlite/mod.ts";
import { CLAIM_TIMEOUT_MS, idempotencyStoreContract, RETENTION_MS } from "../../contract/idempotency_store.ts";
import { MAX_ATTEMPTS, outboxStoreContract } from "../../contract/outbox_store.ts";
import { schemaRegistryContract } from "../../contract/schema_registry.ts";
import { sqlSessionContract } from "../../contract/sql_session.ts";
import { sqliteFile } from "../../support/sqlite_scratch.ts";

/** A handle that can be closed. */
type Handle = SqliteDatabase & { close(): void };

/** Bun's own driver, which nobody else has. */
interface BunSqlite {
  readonly Database: new (path: string, options?: { readonly safeIntegers?: boolean }) => Handle;
}

const nodeSqlite = (options: DatabaseSyncOptions & { readonly returnArrays?: boolean }) => (path: string): Handle =>
  new DatabaseSync(path, { timeout: 0, ...options });

async function handles(): Promise<Readonly<Record<string, (path: string) => Handle>>> {
  const everywhere = {
    "node:sqlite, rows as arrays": nodeSqlite({ returnArrays: true }),
    "node:sqlite, integers as bigint": nodeSqlite({ readBigInts: true }),
  };
  if (!("Bun" in globalThis)) return everywhere;
  const specifier = "bun:sqlite";
  const { Database } = await import(specifier) as BunSqlite;
  return {
    ...everywhere,
    "bun:sqlite": (path) => new Database(path),
    "bun:sqlite, integers as bigint": (path) => new Database(path, { safeIntegers: true }),
  };
}

for (const [name, open] of Object.entries(await handles())) {
  idempotencyStoreContract(name, async () => {
    const file = sqliteFile();
    const clock = virtualClock();
    const times = { clock, claimTimeoutMs: CLAIM_TIMEOUT_MS, retentionMs: RETENTION_MS };
    const [one, another] = [open(file.path), open(file.path)];
    const store = sqliteIdempotencyStore(one, times);
    await store.createSchemaIfAbsent();
    const close = async (): Promise<void> => {
      for (const handle of [one, another]) handle.close();
      file.close();
    };
    return { store, other: sqliteIdempotencyStore(another, times), pass: (ms) => clock.advance(ms), close };
  });

  schemaRegistryContract(name, async () => {
    const file = sqliteFile();
    const [one, another] = [open(file.path), open(file.path)];
    const registry = sqliteSchemaRegistry(one);
    await registry.createSchemaIfAbsent();
    const close = async (): Promise<void> => {
      for (const handle of [one, another]) handle.close();
      file.close();
    };
    return { registry, other: sqliteSchemaRegistry(another), close };
  });

  outboxStoreContract(name, async () => {
    const file = sqliteFile();
    const clock = virtualClock();
    const [one, another] = [open(file.path), open(file.path)];
    // Nothing is crashed here, so nobody has to wait for the disk.
    for (const handle of [one, another]) handle.prepare("PRAGMA synchronous = OFF").all();
    const settings = { clock, maxAttempts: MAX_ATTEMPTS };
    const store = sqliteOutboxStore(one, settings);
    await store.createSchemaIfAbsent();
    const session = sqliteSession(another);
    const close = async (): Promise<void> => {
      for (const handle of [one, another]) handle.close();
      file.close();
    };
    return {
      store,
      other: sqliteOutboxStore(another, settings),
      transaction: (work) => session.transaction(work),
      outside: session,
      pass: (ms) => clock.advance(ms),
      close,
    };
  });

  sqlSessionContract(name, async () => {
    const file = sqliteFile();
    const database = open(file.path);
    const session = sqliteSession(database);
    await session.query("CREATE TABLE items (id INTEGER, body BLOB)");
    const other = file.open();
    const count = (): number => Number(other.prepare("SELECT count(*) AS n FROM items").get()?.["n"]);
    const close = async (): Promise<void> => {
      database.close();
      file.close();
    };
    return { session, table: "items", placeholder: () => "?", committed: async () => count(), close };
  });
}
