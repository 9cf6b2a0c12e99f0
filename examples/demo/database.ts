/**
 * The database of a run: a SQLite file, or PostgreSQL. One run has it at a time.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ClaimedMessage, IdempotencyStore, OutboxStore, SqlSession } from "@acemq/amqp";
import { postgresIdempotencyStore, postgresOutboxStore, postgresSession } from "@acemq/amqp/postgres";
import { sqliteIdempotencyStore, sqliteOutboxStore, sqliteSession } from "@acemq/amqp/sqlite";

/** What a flow works with. */
export interface DemoDatabase {
  readonly title: string;
  readonly dialect: "sqlite" | "postgres";
  readonly session: SqlSession;
  readonly outbox: OutboxStore<SqlSession>;
  readonly seen: IdempotencyStore & {
    onceWithin(tx: SqlSession, message: ClaimedMessage): Promise<unknown>;
  };
  /** The tables of the library. */
  createTables(): Promise<void>;
  /** Closes it. Over, what nobody asked to keep is removed; otherwise the next run goes on with it. */
  close(isOver: boolean): Promise<void>;
}

/** What the command line says about it. */
export interface DatabaseChoice {
  /** Undefined for a file in the folder of temporary files. */
  readonly sqlitePath: string | undefined;
  readonly postgresUrl: URL | undefined;
}

/** The outbox of a run. */
export const OUTBOX_TABLE = "acemq_demo_outbox";

/** What a run has handled. */
export const CLAIMS_TABLE = "acemq_demo_claims";

/** A service waits a second and minutes; a demonstration has less. What a killed run had in hand waits for the end of its claim. */
const CLAIMS = { table: CLAIMS_TABLE, inProgressDelayMs: 100, claimTimeoutMs: 3_000 } as const;

const ROWS = { table: OUTBOX_TABLE } as const;

export async function openDatabase(
  { sqlitePath, postgresUrl }: DatabaseChoice,
  broker: "memory" | "rabbitmq",
): Promise<DemoDatabase> {
  if (postgresUrl !== undefined) return await postgresDatabase(postgresUrl);
  if (sqlitePath !== undefined) return sqliteDatabase(sqlitePath, lockOf(sqlitePath));
  const path = join(tmpdir(), `acemq-demo-${broker}.sqlite`);
  try {
    return temporary(path, lockOf(path));
  } catch {
    // Another demonstration is running: this one cannot be gone on with.
    const other = join(tmpdir(), `acemq-demo-${randomUUID()}.sqlite`);
    return temporary(other, lockOf(other));
  }
}

/** A file that stays only when the run is killed. */
function temporary(path: string, lock: DatabaseSync): DemoDatabase {
  const database = sqliteDatabase(path, lock);
  const close = async (isOver: boolean): Promise<void> => {
    await database.close(isOver);
    if (isOver) { for (const end of ["", "-wal", "-shm", ".lock"]) rmSync(path + end, { force: true }); }
  };
  return { ...database, close };
}

function sqliteDatabase(path: string, lock: DatabaseSync): DemoDatabase {
  // The relay's statements and the claims' stay out of the transactions of the work.
  const [work, rows, claims] = [openFile(path), openFile(path), openFile(path)] as const;
  const close = (): Promise<void> => {
    for (const handle of [work, rows, claims, lock]) handle.close();
    return Promise.resolve();
  };
  const stores = { outbox: sqliteOutboxStore(rows, ROWS), seen: sqliteIdempotencyStore(claims, CLAIMS) };
  const title = `the SQLite file ${path}`;
  return {
    title,
    dialect: "sqlite",
    session: sqliteSession(work),
    ...stores,
    createTables: () => create(stores),
    close,
  };
}

/** The system lets go of it when the process is killed. */
function lockOf(path: string): DatabaseSync {
  try {
    const lock = new DatabaseSync(`${path}.lock`);
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    const reason = reasonOf(error);
    const isLocked = reason === "database is locked";
    throw new Error(`Cannot use the SQLite file ${path}: ${isLocked ? "another demonstration has it" : reason}`);
  }
}

function openFile(path: string): DatabaseSync {
  try {
    const database = new DatabaseSync(path);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    return database;
  } catch (error) {
    throw new Error(`Cannot use the SQLite file ${path}: ${reasonOf(error)}`);
  }
}

async function postgresDatabase(url: URL): Promise<DemoDatabase> {
  // Only who asks for PostgreSQL needs its driver.
  const { default: postgres } = await import("postgres");
  const sql = postgres(url.href, { onnotice: () => {}, fetch_types: false });
  const end = (): Promise<void> => sql.end({ timeout: 5 });
  try {
    await sql`SELECT 1`;
    // The server lets go of it when the process is killed.
    const line = await sql.reserve();
    const [row] = await line`SELECT pg_try_advisory_lock(hashtext('acemq_demo ' || current_schema())) AS is_ours`;
    if (row?.["is_ours"] !== true) throw new Error("another demonstration is running there");
  } catch (error) {
    await end();
    throw new Error(`Cannot use PostgreSQL at ${url.host}: ${reasonOf(error)}`);
  }
  const stores = { outbox: postgresOutboxStore(sql, ROWS), seen: postgresIdempotencyStore(sql, CLAIMS) };
  const title = `PostgreSQL at ${url.host}`;
  const session = postgresSession(sql);
  return { title, dialect: "postgres", session, ...stores, createTables: () => create(stores), close: end };
}

/** Development only: in production the tables belong to the tool that owns the schema. */
async function create(stores: Readonly<Record<string, { createSchemaIfAbsent(): Promise<void> }>>): Promise<void> {
  for (const store of Object.values(stores)) await store.createSchemaIfAbsent();
}

/** A store keeps the words of the driver in its cause. */
function reasonOf(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : new Error(String(error));
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}
