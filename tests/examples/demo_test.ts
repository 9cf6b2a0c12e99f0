/** The demonstration ends with a ledger that balances, on the broker in memory and on RabbitMQ, on the runtime this runs on. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { amqpBroker, systemClock } from "@acemq/amqp";
import postgres from "postgres";
import { AMQP_URL, missing, POSTGRES_URL } from "../support/services.ts";

const skip = await missing("rabbitmq");
const skipPostgres = await missing("postgresql");

/** How a run ended. */
interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function flags(): readonly string[] {
  if ("deno" in process.versions) return ["run", "-A", "--no-check"];
  // Node 22 warns of its SQLite on the way to the words that are looked at.
  return ["--conditions=@acemq/source", ..."bun" in process.versions ? [] : ["--disable-warning=ExperimentalWarning"]];
}

/** Runs the demonstration on the runtime that runs this test. */
function demo(...args: readonly string[]): Promise<Run> {
  const program = fileURLToPath(new URL("../../examples/demo.ts", import.meta.url));
  const child = spawn(process.execPath, [...flags(), program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const text = { out: "", err: "" };
  child.stdout.on("data", (chunk) => text.out += String(chunk));
  child.stderr.on("data", (chunk) => text.err += String(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => resolve({ code, ...text }));
  });
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

describe("the demonstration", () => {
  it("balances on the broker in memory, and says so in its last line [DOC-19]", async () => {
    const { code, out, err } = await demo("--json");
    assert.deepEqual(JSON.parse(lastLine(out)), RECORDED_AND_OWN, err);
    assert.equal(code, 0);
    assert.equal(out.trimEnd().split("\n").length, 1);
    assert.match(err, /^\d+\.\d s: placed \d+, handled \d+/m);
  });

  it("balances on RabbitMQ, and leaves no queue behind [DOC-19]", { skip }, async () => {
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

  it("remembers in PostgreSQL, and leaves no table behind", { skip: skipPostgres }, async () => {
    const { code, out, err } = await demo("--json", "--postgres", POSTGRES_URL);
    assert.deepEqual(JSON.parse(lastLine(out)), RECORDED_AND_OWN, err);
    assert.equal(code, 0);
    const table = /by the table (\S+) of PostgreSQL/.exec(err)?.[1];
    assert.ok(table !== undefined, err);
    const sql = postgres(POSTGRES_URL, { max: 1 });
    try {
      const [row] = await sql`SELECT to_regclass(${table}) AS found`;
      assert.equal(row?.["found"], null);
    } finally {
      await sql.end();
    }
  });

  it("remembers in a file that is named, which stays: every handled order is confirmed, and nothing else", async () => {
    const folder = mkdtempSync(join(tmpdir(), "acemq-demo-test-"));
    try {
      const path = join(folder, "orders.sqlite");
      const { code, out, err } = await demo("--json", "--sqlite", path);
      assert.deepEqual(JSON.parse(lastLine(out)), RECORDED_AND_OWN, err);
      assert.equal(code, 0);
      const database = new DatabaseSync(path);
      const table = /by the table (\S+) of/.exec(err)?.[1] ?? "";
      const rows = database.prepare(`SELECT state, count(*) AS n FROM ${table} GROUP BY state`).all();
      database.close();
      assert.deepEqual(rows.map((row) => ({ ...row })), [{ state: "CONFIRMED", n: RECORDED_AND_OWN.handled }]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

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

  it("says what it cannot make of its arguments, without repeating a password", async () => {
    const { code, err } = await demo("--amqp", "http://guest:secret@127.0.0.1");
    assert.match(err, /^Cannot use the value of '--amqp': it must be a URL that begins with amqp:\/\/\nUsage: /);
    assert.doesNotMatch(err, /secret/);
    assert.equal(code, 2);
    const two = await demo("--sqlite", "a.sqlite", "--postgres", "postgres://127.0.0.1/orders");
    assert.match(two.err, /^Cannot use both '--sqlite' and '--postgres': .+\nUsage: /);
    assert.equal(two.code, 2);
  });
});
