/**
 * Any number of additions, roll-backs, claims, late marks, crashes and ends of leases, by relays that know nothing of each other: every
 * outbox hands out what the state machine of the contract does (patterns 5.5 to 5.7).
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { memoryOutboxStore, virtualClock } from "../../adapters/memory/mod.ts";
import { postgresOutboxStore, postgresSession } from "../../adapters/postgres/mod.ts";
import type { OutboxLayoutName } from "../../adapters/sql/mod.ts";
import { sqliteOutboxStore, sqliteSession } from "../../adapters/sqlite/mod.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type { OnRetired, OutboxAddOptions, OutboxMode, OutboxStore } from "../../src/ports/outbox_store.ts";
import { OutboxModel, type PublishedRows } from "../support/outbox_model.ts";
import { scratch } from "../support/postgres_scratch.ts";
import { missing } from "../support/services.ts";
import { sqliteFile } from "../support/sqlite_scratch.ts";

const skip = await missing("postgresql");

const RELAYS = 2;
const MAX_ATTEMPTS = 2;
const LEASE_MS = 60_000;
const DELAY_MS = 20_000;

/** One thing that happens. `claim` counts back through what was claimed, `which` says by its bits which rows of that. */
type Step =
  | { readonly does: "add" | "roll back"; readonly ids: readonly string[]; readonly key: string | undefined }
  | { readonly does: "claim"; readonly relay: number; readonly limit: number }
  | {
    readonly does: "publish" | "fail" | "fail later" | "give back" | "give back later";
    readonly claim: number;
    readonly which: number;
  }
  | { readonly does: "crash"; readonly relay: number }
  | { readonly does: "release"; readonly id: string }
  | { readonly does: "pass"; readonly ms: number }
  | { readonly does: "purge" | "look" };

const relay = fc.nat(RELAYS - 1);
const id = fc.constantFrom(..."abcdefgh");
const adds = (does: "add" | "roll back") =>
  fc.record({
    does: fc.constant(does),
    ids: fc.array(id, { minLength: 1, maxLength: 4 }),
    key: fc.constantFrom(undefined, "k", "l"),
  });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: adds("add") },
  { weight: 1, arbitrary: adds("roll back") },
  { weight: 5, arbitrary: fc.record({ does: fc.constant("claim" as const), relay, limit: fc.constantFrom(1, 2, 9) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constantFrom("publish", "fail", "fail later", "give back", "give back later"),
      claim: fc.nat(3),
      which: fc.nat(255),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("crash" as const), relay }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("release" as const), id }) },
  // Coarse, since PostgreSQL's clock goes on by itself in between.
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant("pass" as const),
      ms: fc.constantFrom(DELAY_MS + 5_000, LEASE_MS + 5_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom("purge" as const, "look" as const) }) },
);

const steps = fc.array(step, { maxLength: 40, size: "max" });

/** Adds messages in a transaction that is open. */
type Add = (outbounds: readonly Outbound[], options: OutboxAddOptions) => Promise<void>;

/** Rows that relays share, none of them at the beginning of every run. */
interface Place {
  readonly published: PublishedRows;
  readonly hasKeys: boolean;
  /** Runs work in a transaction that is rolled back by the error it throws. */
  readonly transaction: (work: (add: Add) => Promise<void>) => Promise<void>;
  readonly open: (relay: number) => OutboxStore<never>;
  readonly pass: (ms: number) => Promise<void>;
  readonly empty: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What somebody has claimed and has not forgotten in a crash. */
interface Grant {
  readonly number: number;
  readonly relay: number;
  readonly token: string;
  readonly ids: readonly string[];
}

/** Does the same to a store and to the model, and compares what they answer. */
class Run {
  readonly #place: Place;
  readonly #order: { readonly mode: OutboxMode; readonly onRetired: OnRetired };
  readonly #model: OutboxModel;
  readonly #relays: OutboxStore<never>[];
  #grants: Grant[] = [];
  #claims = 0;

  constructor(place: Place, order: { readonly mode: OutboxMode; readonly onRetired: OnRetired }) {
    this.#place = place;
    this.#order = order;
    this.#model = new OutboxModel({ maxAttempts: MAX_ATTEMPTS, published: place.published });
    this.#relays = Array.from({ length: RELAYS }, (_, number) => place.open(number));
  }

  async take(one: Step): Promise<void> {
    switch (one.does) {
      case "add":
        for (const added of one.ids) this.#model.add(added, this.#key(one.key));
        return await this.#add(one.ids, one.key);
      case "roll back": {
        const undone = new Error("rolled back");
        return await this.#add(one.ids, one.key, undone).catch((error) => assert.equal(error, undone));
      }
      case "claim":
        return await this.#claim(one.relay, one.limit);
      case "crash":
        this.#grants = this.#grants.filter((grant) => grant.relay !== one.relay);
        this.#relays[one.relay] = this.#place.open(one.relay);
        return;
      case "release":
        return assert.equal(await this.#at(0).release(one.id), this.#model.release(one.id));
      case "pass":
        return await this.#pass(one.ms);
      case "purge":
        return assert.equal(await this.#at(0).purgePublished({ olderThanMs: DELAY_MS }), this.#model.purge(DELAY_MS));
      case "look":
        return await this.#look();
      default: {
        const grant = this.#grants.at(-1 - one.claim);
        if (grant !== undefined) await this.#mark(grant, one.does, one.which);
      }
    }
  }

  #key(key: string | undefined): string | undefined {
    return this.#place.hasKeys ? key : undefined;
  }

  async #add(ids: readonly string[], key: string | undefined, error?: Error): Promise<void> {
    await this.#place.transaction(async (add) => {
      await add(ids.map(message), { orderingKey: this.#key(key) });
      if (error !== undefined) throw error;
    });
    // Where the time of its creation decides, it is another one.
    await this.#pass(10);
  }

  async #claim(by: number, limit: number): Promise<void> {
    const number = this.#claims++;
    const { token, rows } = await this.#at(by).claim({ limit, leaseMs: LEASE_MS, ...this.#order });
    const meant = this.#model.claim(number, { limit, leaseMs: LEASE_MS, ...this.#order });
    assert.deepEqual(rows.map(({ id: claimed, attempts }) => [claimed, attempts]), meant);
    this.#grants.push({ number, relay: by, token, ids: rows.map((row) => row.id) });
  }

  async #mark({ relay: by, number, token, ids }: Grant, does: string, which: number): Promise<void> {
    const store = this.#at(by);
    const marked = ids.filter((_, index) => (which & (1 << index)) !== 0);
    const delayMs = does.endsWith("later") ? DELAY_MS : 0;
    if (does === "publish") {
      return assert.equal(await store.markPublished(token, marked), this.#model.markPublished(number, marked));
    }
    if (does.startsWith("give back")) {
      const answer = await store.giveBack(token, marked, { delayMs });
      return assert.equal(answer, this.#model.giveBack(number, marked, delayMs));
    }
    const attempts = 1 + which % MAX_ATTEMPTS;
    const failures = marked.map((failed) => ({ id: failed, reason: "nack", retryDelayMs: delayMs, attempts }));
    const meant = this.#model.markFailed(number, marked, { attempts, delayMs });
    assert.equal(await store.markFailed(token, failures), meant);
  }

  async #look(): Promise<void> {
    const ids: string[] = [];
    for await (const record of this.#at(0).retired()) ids.push(record.id);
    assert.deepEqual(ids, this.#model.retired);
    const { oldestAgeMs, ...counts } = await this.#at(1).stats();
    const { oldestAgeMs: meant, ...counted } = this.#model.stats;
    assert.deepEqual(counts, counted);
    // A database's own clock goes on, and of rows that are added at once each is a little younger.
    if (meant === undefined || oldestAgeMs === undefined) assert.equal(oldestAgeMs, meant);
    else assert.ok(oldestAgeMs > meant - 10 && oldestAgeMs < meant + 4_000, `${oldestAgeMs} and not ${meant}`);
  }

  async #pass(ms: number): Promise<void> {
    this.#model.pass(ms);
    await this.#place.pass(ms);
  }

  #at(number: number): OutboxStore<never> {
    return this.#relays[number] ?? assert.fail(`There is no relay ${number}`);
  }
}

function message(of: string): Outbound {
  return {
    exchange: "",
    routingKey: "orders.new",
    body: new TextEncoder().encode("{}"),
    contentType: "application/json",
    messageId: of,
    headers: { "x-acemq-id": of },
    persistent: true,
    mandatory: true,
  };
}

const ORDERS: readonly { readonly mode: OutboxMode; readonly onRetired: OnRetired }[] = [
  { mode: "continue", onRetired: "release" },
  { mode: "in_order", onRetired: "release" },
  { mode: "in_order", onRetired: "hold" },
];

async function behavesAsTheModel(place: Place, numRuns: number): Promise<void> {
  const orders = place.hasKeys ? ORDERS : ORDERS.slice(0, 1);
  try {
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(...orders), async (many, order) => {
        await place.empty();
        const run = new Run(place, order);
        for (const one of [...many, { does: "look" } as const]) await run.take(one);
      }),
      { numRuns },
    );
  } finally {
    await place.close();
  }
}

function inMemory(): Place {
  const clock = virtualClock();
  let store = memoryOutboxStore();
  return {
    published: "age",
    hasKeys: true,
    transaction: (work) => store.transaction((tx) => work((...rest) => store.addAll(tx, ...rest))),
    open: () => store,
    pass: (ms) => clock.advance(ms),
    empty: async () => void (store = memoryOutboxStore({ clock, maxAttempts: MAX_ATTEMPTS })),
    close: async () => {},
  };
}

function hasLeases(layout: OutboxLayoutName): boolean {
  return layout === "python" || layout === "go";
}

function publishedRows(layout: OutboxLayoutName): PublishedRows {
  if (hasLeases(layout)) return "go";
  return layout === "dotnet" ? "age from creation" : "age";
}

async function inSqlite(layout: OutboxLayoutName): Promise<Place> {
  const file = sqliteFile();
  const clock = virtualClock();
  const bare = file.open();
  const writer = sqliteOutboxStore(bare, { layout });
  await writer.createSchemaIfAbsent();
  const handles = Array.from({ length: RELAYS }, () => file.open());
  // No process is killed here, so nobody has to wait for the disk.
  for (const handle of [bare, ...handles]) handle.exec("PRAGMA synchronous = OFF");
  const session = sqliteSession(bare);
  const adder = sqliteOutboxStore(bare, { clock });
  return {
    published: publishedRows(layout),
    hasKeys: layout === "typescript",
    transaction: (work) => session.transaction((tx) => work((...rest) => adder.addAll(tx, ...rest))),
    // The clock stands still, so that chance alone would tell the tokens apart where a time is one.
    open: (number) =>
      sqliteOutboxStore(handles[number] ?? bare, { clock, maxAttempts: MAX_ATTEMPTS, random: () => number / RELAYS }),
    pass: (ms) => clock.advance(ms),
    empty: async () => {
      bare.exec("DELETE FROM acemq_outbox");
      if (hasLeases(layout)) bare.exec("DELETE FROM acemq_outbox_leases");
    },
    close: async () => file.close(),
  };
}

async function inPostgres(layout: OutboxLayoutName): Promise<Place> {
  const place = await scratch();
  await postgresOutboxStore(place.sql, { layout }).createSchemaIfAbsent();
  const handles = [place.postgresJs({ max: 1 }), place.pool()];
  const session = postgresSession(place.sql);
  const adder = postgresOutboxStore(place.sql);
  const tables = hasLeases(layout) ? "acemq_outbox, acemq_outbox_leases" : "acemq_outbox";
  return {
    published: publishedRows(layout),
    hasKeys: layout === "typescript",
    transaction: (work) => session.transaction((tx) => work((...rest) => adder.addAll(tx, ...rest))),
    open: (number) => postgresOutboxStore(handles[number] ?? place.sql, { maxAttempts: MAX_ATTEMPTS }),
    pass: place.pass,
    empty: async () => void await place.sql.unsafe(`TRUNCATE ${tables}`),
    close: () => place.close(),
  };
}

describe("an outbox of several relays, with late marks and crashes among them", () => {
  it("hands rows out in memory as the contract's state machine does", async () => {
    await behavesAsTheModel(inMemory(), 300);
  });

  for (const layout of ["typescript", "ruby", "java", "python", "dotnet"] as const) {
    it(`hands rows out in SQLite as the contract's state machine does, layout '${layout}'`, async () => {
      await behavesAsTheModel(await inSqlite(layout), layout === "typescript" ? 60 : 20);
    });
  }

  for (const layout of ["typescript", "go", "dotnet"] as const) {
    it(`hands rows out in PostgreSQL as the contract's state machine does, layout '${layout}'`, { skip }, async () => {
      await behavesAsTheModel(await inPostgres(layout), layout === "typescript" ? 12 : 4);
    });
  }
});
