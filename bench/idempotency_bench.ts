/**
 * What does it cost to handle a message once?
 *
 * A claim and a confirmation of each store against the statements they are made of, given to the driver as they stand; and a consumer
 * with a store against the same consumer without one.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import postgres from "postgres";
import { memoryBroker, memoryIdempotencyStore } from "../adapters/memory/mod.ts";
import { postgresIdempotencyStore, postgresSession } from "../adapters/postgres/mod.ts";
import { sqliteIdempotencyStore, sqliteSession } from "../adapters/sqlite/mod.ts";
import { randomUuid } from "../src/clock.ts";
import { openConnection } from "../src/connection.ts";
import type { IdempotencyStore } from "../src/ports/idempotency_store.ts";
import type { SqlSession } from "../src/ports/sql_session.ts";
import { topology } from "../src/topology/topology.ts";
import { BODY } from "./_clients/client.ts";
import { type Contestant, keepInFlight, roundsFromArguments, runRounds, type Sample, Stopwatch } from "./_harness.ts";
import { BARE, type Budget, lineOf, OURS } from "./_line.ts";

const POSTGRES_URL = process.env["ACEMQ_POSTGRES_URL"] ?? "postgres://acemq:acemq@127.0.0.1:5432/acemq";

const CLAIM_TIMEOUT_MS = 300_000;
const RETENTION_MS = 86_400_000;

/** A round has so many short turns: what else a disk does then hits everybody. */
const TURNS = 8;

/** Deliveries that wait for their acknowledgement, at most. */
const WINDOW = 256;

const QUEUE = "bench.idempotency";

/** Somebody who claims a message and confirms it. */
interface Claimant extends Contestant {
  readonly handleOnce: (id: string) => unknown;
}

function library(store: IdempotencyStore): Claimant {
  return {
    name: OURS,
    handleOnce: async (id) => {
      const claim = await store.tryClaim(id);
      if (claim.status !== "claimed") throw new Error(`Cannot count the turn: ${id} is ${claim.status}`);
      if (await store.confirm(id, claim.token) !== "held") throw new Error(`Cannot count the turn: ${id} is lost`);
    },
  };
}

/** The texts of the two statements, as the library writes them. */
async function statementsOf(
  session: SqlSession,
  open: (session: SqlSession) => IdempotencyStore,
): Promise<readonly [claim: string, confirm: string]> {
  const texts: string[] = [];
  const listening: SqlSession = {
    inTransaction: false,
    query: (text, params) => {
      texts.push(text);
      return session.query(text, params);
    },
    transaction: (work) => session.transaction(work),
  };
  const store = open(listening);
  await store.check();
  texts.length = 0;
  await library(store).handleOnce(randomUuid());
  const [claim, confirm, ...others] = texts;
  if (claim === undefined || confirm === undefined || others.length > 0) {
    throw new Error(`Cannot compare: a claim and a confirmation were ${texts.length} statements`);
  }
  return [claim, confirm];
}

/** An instant, in the text of the layout. */
function instant(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}

async function onSqlite(folder: string): Promise<readonly Claimant[]> {
  const open = (name: string): DatabaseSync => {
    const database = new DatabaseSync(join(folder, name));
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    return database;
  };
  const store = sqliteIdempotencyStore(open("ours.sqlite"));
  await store.createSchemaIfAbsent();
  const database = open("bare.sqlite");
  await sqliteIdempotencyStore(database).createSchemaIfAbsent();
  const [claimText, confirmText] = await statementsOf(
    sqliteSession(database),
    (session) => sqliteIdempotencyStore(session),
  );
  const claim = database.prepare(claimText);
  const confirm = database.prepare(confirmText);
  const bare: Claimant = {
    name: BARE,
    handleOnce: (id) => {
      const token = randomUuid();
      const claimedMs = Date.now();
      const claimed = claim.run(id, token, instant(claimedMs), instant(claimedMs + CLAIM_TIMEOUT_MS));
      const confirmedMs = Date.now();
      const confirmed = confirm.run(instant(confirmedMs), instant(confirmedMs + RETENTION_MS), id, token);
      if (Number(claimed.changes) + Number(confirmed.changes) !== 2) {
        throw new Error(`Cannot count the turn: ${id} was not claimed`);
      }
    },
  };
  return [library(store), bare];
}

async function onPostgres(sql: postgres.Sql): Promise<readonly Claimant[]> {
  const store = postgresIdempotencyStore(sql);
  await store.createSchemaIfAbsent();
  const [claim, confirm] = await statementsOf(postgresSession(sql), (session) => postgresIdempotencyStore(session));
  const bare: Claimant = {
    name: BARE,
    handleOnce: async (id) => {
      const token = randomUuid();
      const claimed = await sql.unsafe(claim, [id, token, CLAIM_TIMEOUT_MS]);
      const confirmed = await sql.unsafe(confirm, [RETENTION_MS, id, token]);
      if (claimed.count !== 1 || confirmed.count !== 1) {
        throw new Error(`Cannot count the turn: ${id} was not claimed`);
      }
    },
  };
  return [library(store), bare];
}

/** One message after the other where `window` is 1. */
async function claimTurn(
  { handleOnce }: Claimant,
  { messages, window }: { readonly messages: number; readonly window: number },
): Promise<Sample> {
  const ids = Array.from({ length: messages }, randomUuid);
  const stopwatch = new Stopwatch();
  stopwatch.start();
  await keepInFlight(async () => await handleOnce(ids.pop() ?? ""), { messages, window });
  return stopwatch.stop(messages);
}

/** A consumer on a broker of its own. */
interface Path extends Contestant {
  readonly publish: () => Promise<unknown>;
  /** Called for every message; set for each turn. */
  onMessage: () => void;
  readonly idle: () => Promise<void>;
}

async function consumer(name: string, idempotency?: IdempotencyStore): Promise<Path> {
  const mq = await openConnection(memoryBroker(), { name: "bench", codec: "bytes" });
  await mq.declare(topology().queue(QUEUE));
  const publisher = mq.publisher<Uint8Array>("", QUEUE);
  const path: Path = { name, publish: () => publisher.send(BODY), onMessage: () => {}, idle: () => mq.idle() };
  const options = { prefetch: WINDOW, ...(idempotency === undefined ? {} : { idempotency }) };
  await mq.consume<Uint8Array>(QUEUE, () => path.onMessage(), options);
  return path;
}

/** From the first publish to the last acknowledgement: both publish alike, so what is between them is the store. */
async function consumeTurn(path: Path, messages: number): Promise<Sample> {
  let seen = 0;
  path.onMessage = () => seen++;
  const stopwatch = new Stopwatch();
  stopwatch.start();
  await keepInFlight(path.publish, { messages, window: WINDOW });
  await path.idle();
  const sample = stopwatch.stop(messages);
  if (seen !== messages) {
    throw new Error(`Cannot count the turn of ${path.name}: it had ${seen} of ${messages} messages`);
  }
  return sample;
}

async function measure<C extends Contestant>(
  name: string,
  { contestants, budget, turn }: {
    readonly contestants: readonly C[];
    readonly budget: Budget;
    readonly turn: (contestant: C) => Promise<Sample>;
  },
): Promise<void> {
  const samples = await runRounds(contestants, { rounds: roundsFromArguments(), turns: TURNS }, turn);
  const measured = { bench: "idempotency", case: name, budget };
  console.log(JSON.stringify(lineOf(measured, "messages/s", samples)));
  console.log(JSON.stringify(lineOf(measured, "us CPU/message", samples)));
}

async function measureClaims(folder: string, sql: postgres.Sql): Promise<void> {
  const budget: Budget = { rateToBare: 0.85 };
  const sqlite = await onSqlite(folder);
  for (const window of [1, 16]) {
    const turn = (one: Claimant): Promise<Sample> => claimTurn(one, { messages: 500, window });
    await measure(`SQLite, window ${window}`, { contestants: sqlite, budget, turn });
  }
  const inPostgres = await onPostgres(sql);
  for (const window of [1, 16]) {
    const turn = (one: Claimant): Promise<Sample> => claimTurn(one, { messages: 100, window });
    await measure(`PostgreSQL, window ${window}`, { contestants: inPostgres, budget, turn });
  }
}

async function measureConsumers(folder: string): Promise<void> {
  const without = await consumer(BARE);
  const inMemory = await consumer(OURS, memoryIdempotencyStore({ retentionMs: 1_000 }));
  const turn = (path: Path): Promise<Sample> => consumeTurn(path, 1_000);
  await measure("consumer, memory", { contestants: [inMemory, without], budget: { cpuOverBareUs: 20 }, turn });
  const database = new DatabaseSync(join(folder, "consumer.sqlite"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  const seen = sqliteIdempotencyStore(database);
  await seen.createSchemaIfAbsent();
  const inSqlite = await consumer(OURS, seen);
  await measure("consumer, SQLite", { contestants: [inSqlite, without], budget: { cpuOverBareUs: 150 }, turn });
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "acemq-bench-"));
  const schema = `acemq_bench_${process.pid}`;
  // The disk would hide what is to be measured, so nobody waits for it.
  const connection = { search_path: schema, synchronous_commit: "off" as const };
  const sql = postgres(POSTGRES_URL, { max: 4, onnotice: () => {}, connection });
  try {
    await sql.unsafe(`CREATE SCHEMA ${schema}`);
    await measureClaims(folder, sql);
    await measureConsumers(folder);
  } finally {
    await sql.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await sql.end();
    rmSync(folder, { recursive: true });
  }
}

await main();
