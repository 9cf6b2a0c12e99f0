/**
 * What a run has placed and what became of it, in its database: a run that was killed is gone on with by the next.
 *
 * @module
 */
import type { SqlSession, SqlValue } from "@acemq/amqp";
import { CLAIMS_TABLE, type DemoDatabase, OUTBOX_TABLE } from "./database.ts";
import type { Ending } from "./ledger.ts";

/** How a message ended. */
export interface Ended {
  readonly id: string;
  readonly ending: Ending;
  readonly reason: string | undefined;
}

const TABLES: readonly string[] = [
  "acemq_demo_run (prefix TEXT, is_over INTEGER)",
  // An order's own id; of a recording, what it is called.
  "acemq_demo_placed (name TEXT PRIMARY KEY)",
  "acemq_demo_endings (id TEXT PRIMARY KEY, ending TEXT, reason TEXT)",
  // Without a key: a second charge must show.
  "acemq_demo_charges (id TEXT, cents INTEGER)",
];

/** A run in memory has no prefix. */
function assertSameBroker(found: unknown, wanted: string, { title }: DemoDatabase): void {
  if (found === undefined || (found === "") === (wanted === "")) return;
  throw new Error(
    `Cannot use ${title}: a run ${found === "" ? "in memory" : "on RabbitMQ"} is not over there, which goes on ${
      found === "" ? "without" : "with"
    } '--amqp'`,
  );
}

/** The account of one run. */
export class Account {
  /** What names on the broker begin with. */
  readonly prefix: string;
  /** Whether a run before it was killed. */
  readonly isContinued: boolean;
  readonly #database: DemoDatabase;

  private constructor(database: DemoDatabase, { prefix, isContinued }: Pick<Account, "prefix" | "isContinued">) {
    this.#database = database;
    this.prefix = prefix;
    this.isContinued = isContinued;
  }

  /** Goes on with the run that is not over, or begins one with this prefix. */
  static async open(database: DemoDatabase, prefix: string): Promise<Account> {
    const { session } = database;
    await session.query(`CREATE TABLE IF NOT EXISTS ${TABLES[0]}`);
    const { rows: [run] } = await session.query("SELECT prefix FROM acemq_demo_run WHERE is_over = 0");
    assertSameBroker(run?.["prefix"], prefix, database);
    const account = run === undefined
      ? new Account(database, { prefix, isContinued: false })
      : new Account(database, { prefix: String(run["prefix"]), isContinued: true });
    if (!account.isContinued) await account.dropTables();
    for (const table of TABLES) await session.query(`CREATE TABLE IF NOT EXISTS ${table}`);
    await database.createTables();
    if (!account.isContinued) await account.#run(session, "INSERT INTO acemq_demo_run VALUES (?, 0)", [prefix]);
    return account;
  }

  /** Names that were placed. */
  async placed(): Promise<ReadonlySet<string>> {
    const { rows } = await this.#database.session.query("SELECT name FROM acemq_demo_placed");
    return new Set(rows.map(({ name }) => String(name)));
  }

  /** Everything that has ended. */
  async endings(): Promise<readonly Ended[]> {
    const { rows } = await this.#database.session.query("SELECT id, ending, reason FROM acemq_demo_endings");
    return rows.map(({ id, ending, reason }) => ({
      id: String(id),
      ending: ending as Ending,
      reason: reason === null ? undefined : String(reason),
    }));
  }

  /** Enters what is placed, once. */
  async place(names: readonly string[], tx: SqlSession = this.#database.session): Promise<void> {
    for (const name of names) {
      await this.#run(tx, "INSERT INTO acemq_demo_placed VALUES (?) ON CONFLICT DO NOTHING", [name]);
    }
  }

  /** Enters an ending; the first one of an id stays. */
  async end({ id, ending, reason }: Ended, tx: SqlSession = this.#database.session): Promise<void> {
    const text = "INSERT INTO acemq_demo_endings VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    await this.#run(tx, text, [id, ending, reason ?? null]);
  }

  /** The money moves. */
  async charge(tx: SqlSession, id: string, cents: number): Promise<void> {
    await this.#run(tx, "INSERT INTO acemq_demo_charges VALUES (?, ?)", [id, cents]);
  }

  /** Charges of what had been charged before. */
  async chargedAgain(): Promise<number> {
    const text = "SELECT count(*) - count(DISTINCT id) AS again FROM acemq_demo_charges";
    const { rows: [row] } = await this.#database.session.query(text);
    return Number(row?.["again"]);
  }

  /** For a broker that has forgotten everything: what has not ended is announced again, by the rows that the outbox keeps. */
  async announceAgain(): Promise<void> {
    await this.#database.session.query(
      `UPDATE ${OUTBOX_TABLE} SET published_at = NULL, locked_by = NULL, locked_until = NULL ` +
        "WHERE id NOT IN (SELECT id FROM acemq_demo_endings)",
    );
  }

  /** Nothing is left to go on with. */
  async finish(): Promise<void> {
    await this.#database.session.query("UPDATE acemq_demo_run SET is_over = 1");
  }

  async dropTables(): Promise<void> {
    const own = TABLES.map((table) => table.split(" ")[0]);
    for (const table of [...own, OUTBOX_TABLE, CLAIMS_TABLE]) {
      await this.#database.session.query(`DROP TABLE IF EXISTS ${table}`);
    }
  }

  async #run(tx: SqlSession, text: string, params: readonly SqlValue[]): Promise<void> {
    let number = 0;
    const numbered = this.#database.dialect === "sqlite" ? text : text.replaceAll("?", () => `$${++number}`);
    await tx.query(numbered, params);
  }
}
