/** The demonstration ends with a ledger that balances, on the broker in memory and on RabbitMQ, on the runtime this runs on. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { amqpBroker, systemClock } from "@acemq/amqp";
import postgres from "postgres";
import { AMQP_URL, missing, POSTGRES_URL } from "../support/services.ts";

const skip = await missing("rabbitmq");
const skipPostgres = await missing("postgresql");

/** A run takes some seconds, on a machine that has nothing else to do. */
const TIMEOUT_MS = 180_000;

const folder = mkdtempSync(join(tmpdir(), "acemq-demo-test-"));

/** How a run ended. */
interface Run {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

function flags(): readonly string[] {
  if ("deno" in process.versions) return ["run", "-A", "--no-check"];
  // Node 22 warns of its SQLite on the way to the words that are looked at.
  return ["--conditions=@acemq/source", ..."bun" in process.versions ? [] : ["--disable-warning=ExperimentalWarning"]];
}

/** Runs the demonstration on the runtime that runs this test. `look` sees what it says, as it says it. */
function run(args: readonly string[], look: (err: string, child: ChildProcess) => void = () => {}): Promise<Run> {
  const program = fileURLToPath(new URL("../../examples/demo.ts", import.meta.url));
  const child = spawn(process.execPath, [...flags(), program, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    // Where no file is named, a run takes one of the folder of temporary files.
    env: { ...process.env, TMPDIR: folder },
  });
  const text = { out: "", err: "" };
  child.stdout.on("data", (chunk) => text.out += String(chunk));
  child.stderr.on("data", (chunk) => {
    text.err += String(chunk);
    look(text.err, child);
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code, signal) => resolve({ code, signal, ...text }));
  });
}

function demo(...args: readonly string[]): Promise<Run> {
  return run(args);
}

/** Runs it until it says that a hundred orders are handled, and ends it by a signal then: half of it is to be done. */
async function demoEndedBy(signal: "SIGKILL" | "SIGINT", ...args: readonly string[]): Promise<Run> {
  let isSent = false;
  return await run(args, (err, { pid = 0 }) => {
    if (isSent || !/handled [1-9]\d\d,/.test(err)) return;
    isSent = true;
    // Not by the child's own method: after that Deno says it has ended by the signal, however it has.
    process.kill(pid, signal);
  });
}

/** Goes on with a run that was killed: nothing is lost, nothing is charged twice. */
async function assertContinues(...args: readonly string[]): Promise<void> {
  const killed = await demoEndedBy("SIGKILL", "--json", ...args);
  assert.deepEqual([killed.signal, killed.out], ["SIGKILL", ""], killed.err);
  const { code, out, err } = await demo("--json", ...args);
  assert.match(err, /^It goes on where a run before it was stopped$/m);
  const { retried: _, duplicates: __, ...ledger } = JSON.parse(lastLine(out));
  const commanded = /; 1 by amqp-publish/.test(err) ? 1 : 0;
  const { placed, handled, deadLettered, parked, lost } = RECORDED_AND_OWN;
  const expected = { placed: placed + commanded, handled: handled + commanded, deadLettered, parked, lost };
  assert.deepEqual(ledger, expected, err);
  assert.equal(code, 0, err);
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? "";
}

// 200 orders of our own: 4 cost nothing, 3 are held, 2 are never paid; 12 retries end well, 6 do not. 9 recordings: 1 is no JSON,
// 1 no order, 1 is never paid and comes on its second attempt (2 retries), 1 is paid on its fourth (3 retries). 10 orders and 1
// recording come twice.
const RECORDED_AND_OWN = {
  placed: 209,
  handled: 197,
  deadLettered: 8,
  parked: 4,
  retried: 23,
  duplicates: 11,
  lost: 0,
} as const;

/** A schema of its own, and the URL by which a run works in it. */
async function inSchema(work: (url: string, sql: postgres.Sql) => Promise<void>): Promise<void> {
  const schema = `acemq_demo_test_${crypto.randomUUID().slice(0, 8)}`;
  const sql = postgres(POSTGRES_URL, { max: 1, onnotice: () => {}, connection: { search_path: schema } });
  try {
    await sql.unsafe(`CREATE SCHEMA ${schema}`);
    await work(`${POSTGRES_URL}?search_path=${schema}`, sql);
  } finally {
    await sql.unsafe(`DROP SCHEMA ${schema} CASCADE`);
    await sql.end();
  }
}

describe("the demonstration", () => {
  after(() => rmSync(folder, { recursive: true }));

  it("balances on the broker in memory, and says so in its last line [DOC-19]", { timeout: TIMEOUT_MS }, async () => {
    const { code, out, err } = await demo("--json");
    assert.deepEqual(JSON.parse(lastLine(out)), RECORDED_AND_OWN, err);
    assert.equal(code, 0);
    assert.equal(out.trimEnd().split("\n").length, 1);
    assert.match(err, /^\d+\.\d s: placed \d+, handled \d+/m);
  });

  it("balances on RabbitMQ, and leaves no queue behind [DOC-19]", { skip, timeout: TIMEOUT_MS }, async () => {
    const { code, out, err } = await demo("--json", "--amqp", AMQP_URL);
    const commanded = /; 1 by amqp-publish/.test(err) ? 1 : 0;
    const { placed, handled } = RECORDED_AND_OWN;
    const expected = { ...RECORDED_AND_OWN, placed: placed + commanded, handled: handled + commanded };
    assert.deepEqual(JSON.parse(lastLine(out)), expected, err);
    assert.equal(code, 0);
    const prefix = /whose names begin with (\S+)/.exec(err)?.[1];
    assert.ok(prefix !== undefined);
    const link = await amqpBroker(AMQP_URL).open({ name: "demo-test", clock: systemClock(), onEvent: () => {} });
    try {
      for (const name of ["orders.new", "orders.new.dlq", "orders.new.parked", "orders.new.retry.1s"]) {
        assert.deepEqual(await link.checkQueue(prefix + name), { status: "absent" }, name);
      }
      assert.equal(await link.checkExchange(`${prefix}orders`), "absent");
    } finally {
      await link.close();
    }
  });

  it(
    "places its orders in PostgreSQL, and leaves no table behind",
    { skip: skipPostgres, timeout: TIMEOUT_MS },
    async () => {
      await inSchema(async (url, sql) => {
        const { code, out, err } = await demo("--json", "--postgres", url);
        assert.deepEqual(JSON.parse(lastLine(out)), RECORDED_AND_OWN, err);
        assert.equal(code, 0);
        assert.match(err, /^Orders are placed in PostgreSQL at /m);
        const tables = await sql`SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`;
        assert.deepEqual([...tables], []);
      });
    },
  );

  it(
    "places its orders in a file that is named, which stays: every handled order was charged once, and every row is published",
    {
      timeout: TIMEOUT_MS,
    },
    async () => {
      const path = join(folder, "stays.sqlite");
      const { code, out, err } = await demo("--json", "--sqlite", path);
      assert.deepEqual(JSON.parse(lastLine(out)), RECORDED_AND_OWN, err);
      assert.equal(code, 0);
      const database = new DatabaseSync(path);
      const facts = database.prepare(`SELECT
      (SELECT count(*) FROM acemq_demo_claims WHERE state = 'CONFIRMED') AS confirmed,
      (SELECT count(*) FROM acemq_demo_charges) AS charges,
      (SELECT count(DISTINCT id) FROM acemq_demo_charges) AS charged,
      (SELECT count(*) FROM acemq_demo_outbox WHERE published_at IS NOT NULL) AS published,
      (SELECT count(*) FROM acemq_demo_outbox) AS rows`).get();
      database.close();
      const { handled } = RECORDED_AND_OWN;
      assert.deepEqual({ ...facts }, {
        confirmed: handled,
        charges: handled,
        charged: handled,
        published: 200,
        rows: 200,
      });
    },
  );

  it("goes on with the same file when it was killed, and nothing is lost", { timeout: TIMEOUT_MS }, async () => {
    await assertContinues("--sqlite", join(folder, "killed.sqlite"));
  });

  it("goes on without a word of where its orders are, when it was stopped", { timeout: TIMEOUT_MS }, async () => {
    const stopped = await demoEndedBy("SIGINT", "--json");
    assert.deepEqual([stopped.code, lastLine(stopped.err)], [1, "Stopped by SIGINT"]);
    const { code, out, err } = await demo("--json");
    assert.match(err, /^It goes on where a run before it was stopped$/m);
    assert.deepEqual([JSON.parse(lastLine(out)).lost, code], [0, 0], err);
    assert.doesNotMatch((await demo("--json")).err, /^It goes on/m);
  });

  it("goes on in PostgreSQL when it was killed", { skip: skipPostgres, timeout: TIMEOUT_MS }, async () => {
    await inSchema((url) => assertContinues("--postgres", url));
  });

  it("goes on with the same queues of RabbitMQ when it was killed", { skip, timeout: TIMEOUT_MS }, async () => {
    await assertContinues("--amqp", AMQP_URL, "--sqlite", join(folder, "rabbitmq.sqlite"));
  });

  it("runs beside another one in a file of its own, and leaves nothing of it", { timeout: TIMEOUT_MS }, async () => {
    const other = new DatabaseSync(join(folder, "acemq-demo-memory.sqlite.lock"));
    try {
      other.exec("BEGIN EXCLUSIVE");
      const before = readdirSync(folder);
      const { code, out, err } = await demo("--json");
      assert.deepEqual([code, JSON.parse(lastLine(out)).lost], [0, 0], err);
      assert.deepEqual(readdirSync(folder), before);
    } finally {
      other.close();
    }
  });

  it(
    "refuses a file that another demonstration has, or that has a run of another broker",
    { timeout: TIMEOUT_MS },
    async () => {
      const path = join(folder, "shared.sqlite");
      let second: Promise<Run> | undefined;
      const first = await run(["--json", "--sqlite", path], (_, { pid = 0 }) => {
        if (second !== undefined) return;
        // It keeps the file, however long the other one takes to begin.
        process.kill(pid, "SIGSTOP");
        second = demo("--sqlite", path).finally(() => process.kill(pid, "SIGKILL"));
      });
      assert.equal(first.signal, "SIGKILL", first.err);
      const refused = await second;
      assert.match(refused?.err ?? "", /^Cannot use the SQLite file .+: another demonstration has it\n$/);
      assert.equal(refused?.code, 1);
      const other = await demo("--amqp", AMQP_URL, "--sqlite", path);
      assert.match(
        other.err,
        /^Cannot use the SQLite file .+: a run in memory is not over there, which goes on without '--amqp'\n$/,
      );
    },
  );

  it("says in one line that the database cannot be reached, and fails", async () => {
    const { code, out, err } = await demo("--postgres", "postgres://somebody:secret@127.0.0.1:1/orders");
    assert.match(err.trimEnd(), /^Cannot use PostgreSQL at 127\.0\.0\.1:1: .+$/);
    assert.doesNotMatch(err, /secret/);
    assert.equal(out, "");
    assert.equal(code, 1);
  });

  it("says in one line that the broker cannot be reached, and fails", async () => {
    const { code, out, err } = await demo("--amqp", "amqp://127.0.0.1:1");
    assert.match(err.trimEnd(), /^Cannot connect to 127\.0\.0\.1:1: .+$/);
    assert.equal(out, "");
    assert.equal(code, 1);
  });

  it("says what it cannot make of its arguments, without repeating a password", { timeout: TIMEOUT_MS }, async () => {
    const { code, err } = await demo("--amqp", "http://guest:secret@127.0.0.1");
    assert.match(err, /^Cannot use the value of '--amqp': it must be a URL that begins with amqp:\/\/\nUsage: /);
    assert.doesNotMatch(err, /secret/);
    assert.equal(code, 2);
    const two = await demo("--sqlite", "a.sqlite", "--postgres", "postgres://127.0.0.1/orders");
    assert.match(two.err, /^Cannot use both '--sqlite' and '--postgres': .+\nUsage: /);
    assert.equal(two.code, 2);
  });
});
