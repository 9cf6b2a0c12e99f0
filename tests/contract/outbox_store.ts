/**
 * What an outbox must do: `node:test` cases to run against an adapter (contract patterns 5).
 *
 * @module
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PublishError } from "../../src/errors.ts";
import type { Outbound } from "../../src/message/outbound.ts";
import type { OutboxClaim, OutboxClaimOptions, OutboxStore, RetiredRecord } from "../../src/ports/outbox_store.ts";
import { contractOptions } from "./options.ts";

/** An outbox whose time the cases move, and another one that stands for a second process. */
export interface OutboxStoreUnderTest<Tx = unknown> {
  /** With three attempts. */
  readonly store: OutboxStore<Tx>;
  /** Another one over the same rows; the same one where there can be no other. */
  readonly other: OutboxStore<Tx>;
  /** Runs work in a transaction: commits when it resolves, rolls back when it rejects. */
  readonly transaction: (work: (tx: Tx) => Promise<void>) => Promise<void>;
  /** What is handed in where no transaction is open. */
  readonly outside: Tx;
  /** Whether rows can leave in the order of their keys. @default {true} */
  readonly isOrdered?: boolean;
  /** Whether messages stand in the columns of a table: their widths and JSON are limits. @default {true} */
  readonly isTable?: boolean;
  /** Whether a message is kept whole; otherwise a body of JSON, with id, type, correlation and causation. @default {true} */
  readonly isWhole?: boolean;
  /** Whether published rows are kept until they are purged. @default {true} */
  readonly keepsPublished?: boolean;
  /** Lets time pass, as the store sees it. */
  readonly pass: (ms: number) => Promise<void>;
  /** Removes everything. */
  readonly close: () => Promise<void>;
}

/** Options of {@linkcode outboxStoreContract}. */
export interface OutboxStoreContractOptions {
  /** Why the cases are skipped; `false` runs them. @default {false} */
  readonly skip?: string | false;
}

/** The failures after which a store under test is to retire a row. */
export const MAX_ATTEMPTS = 3;

/** How long the cases claim rows for, milliseconds. */
export const LEASE_MS = 60_000;

/**
 * Registers the cases that say what an outbox must do.
 *
 * @example
 * ```ts
 * import { DatabaseSync } from "node:sqlite";
 * import { outboxStoreContract } from "@acemq/amqp/contracts";
 * import { virtualClock } from "@acemq/amqp/memory";
 * import { sqliteOutboxStore, sqliteSession } from "@acemq/amqp/sqlite";
 *
 * outboxStoreContract("node:sqlite", async () => {
 *   const clock = virtualClock();
 *   const session = sqliteSession(new DatabaseSync(":memory:"));
 *   const store = sqliteOutboxStore(session, { clock, maxAttempts: 3 });
 *   await store.createSchemaIfAbsent();
 *   return {
 *     store,
 *     other: store,
 *     transaction: (work) => session.transaction(work),
 *     outside: session,
 *     pass: (ms) => clock.advance(ms),
 *     close: async () => {},
 *   };
 * });
 * ```
 *
 * @param name what the cases are listed under
 */
export function outboxStoreContract<Tx>(
  name: string,
  open: () => Promise<OutboxStoreUnderTest<Tx>>,
  options: OutboxStoreContractOptions = {},
): void {
  const { skip } = contractOptions(options);
  describe(`The contract of an outbox on ${name}`, () => {
    for (const [title, body] of Object.entries(CASES)) it(title, { skip, timeout: 60_000 }, () => runCase(open, body));
  });
}

type Case = (under: OutboxStoreUnderTest<unknown>) => Promise<void>;

const CASES: Readonly<Record<string, Case>> = {
  "has the attempts it was given, and a table that is as it must be": async ({ store, isOrdered = true }) => {
    assert.equal(store.maxAttempts, MAX_ATTEMPTS);
    await store.check();
    if (isOrdered) await store.check({ mode: "in_order" });
    else await assert.rejects(store.check({ mode: "in_order" }), { code: "ACEMQ_TABLE_LAYOUT" });
  },

  "has a row of what was committed, and none of what was rolled back [OBX-01]": async (under) => {
    await added(under, "committed");
    const undone = under.transaction(async (tx) => {
      await under.store.add(tx, message("rolled back"));
      throw new Error("rolled back");
    });
    await assert.rejects(undone, /rolled back/);
    assert.deepEqual(idsOf(await claimed(under)), ["committed"]);
  },

  "refuses to add outside a transaction, unless it is meant [OBX-01]": async (under) => {
    const { store, outside } = under;
    await assert.rejects(store.add(outside, message("m")), TypeError);
    assert.equal((await store.stats()).pending, 0);
    await store.add(outside, message("m"), { outsideTransaction: true });
    await store.addAll(outside, [message("n"), message("o")], { outsideTransaction: true });
    assert.deepEqual(idsOf(await claimed(under)), ["m", "n", "o"]);
  },

  "hands out what was added, as it was added": async (under) => {
    const { isOrdered = true, isWhole = true, store } = under;
    const key = isOrdered ? { orderingKey: "A-19" } : {};
    await under.transaction((tx) => store.add(tx, Promise.resolve(message("m")), key));
    const { rows: [row] } = await claimed(under);
    assert.ok(row !== undefined && "outbound" in row);
    assert.deepEqual([row.id, row.attempts, row.orderingKey], ["m", 0, key.orderingKey]);
    assert.ok(row.ageMs >= 0 && row.ageMs < 30_000, `${row.ageMs}`);
    const { headers, ...rest } = message("m");
    const { headers: read, ...found } = row.outbound;
    assert.deepEqual(found, rest);
    for (const [name, value] of Object.entries(headers)) {
      if (name !== "x-acemq-first-seen" || isWhole) assert.deepEqual(read[name], value, name);
    }
    assert.deepEqual(Object.keys(read).sort(), Object.keys(headers).sort());
  },

  "keeps bodies and headers of every kind": async (under) => {
    if (under.isWhole === false) return;
    const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const bodies = [
      every,
      new Uint8Array(),
      bytes("\0"),
      bytes("größe 購物車📦 \\ ' \" $1 ?"),
      bytes("\ufeff{}"),
      bytes("rAEA"),
    ];
    const headers = {
      text: 'größe 📦 "\\ \0',
      whole: 7,
      long: 2 ** 40,
      unsafe: 9_007_199_254_740_993n,
      least: -(2n ** 63n),
      fraction: -1.5,
      yes: true,
      nothing: null,
      list: [1, "a", [null], { of: 2n ** 62n }],
      ["__proto__"]: "a name like another",
      "": { "": [] },
    };
    const all = bodies.map((body, index) => ({
      ...message(`m-${index}`),
      body,
      headers: { ...message(`m-${index}`).headers, ...headers },
    }));
    await under.transaction((tx) => under.store.addAll(tx, all));
    const { rows } = await claimed(under);
    assert.deepEqual(rows.map((row) => "outbound" in row ? row.outbound : row), all);
  },

  "takes rows under a lease: nobody else gets them before it ends [OBX-07, OB-30]": async (under) => {
    const { other, store, pass } = under;
    await added(under, "a", "b", "c");
    // Old rows: a lease counts from the claim.
    await pass(2 * LEASE_MS);
    const first = await claimed(under, { limit: 2 });
    assert.deepEqual(idsOf(first), ["a", "b"]);
    assert.deepEqual(idsOf(await claimed(under, {}, other)), ["c"]);
    await pass(LEASE_MS - 5_000);
    assert.deepEqual(idsOf(await claimed(under, {}, other)), []);
    await pass(10_000);
    const second = await claimed(under, {}, other);
    assert.deepEqual(idsOf(second), ["a", "b", "c"]);
    assert.notEqual(second.token, first.token);
    assert.equal((await store.stats()).pending, 3);
  },

  "hands a row out no more once it is published": async (under) => {
    const { store, other, pass } = under;
    await added(under, "a", "b");
    const { token } = await claimed(under);
    assert.equal(await store.markPublished(token, ["a", "b"]), 2);
    await pass(2 * LEASE_MS);
    assert.deepEqual(idsOf(await claimed(under, {}, other)), []);
    assert.deepEqual(await store.stats(), { pending: 0, oldestAgeMs: undefined, retired: 0 });
  },

  "lets a late relay change nothing [OB-23]": async (under) => {
    const { store, other, pass } = under;
    await added(under, "a", "b", "c");
    const late = await claimed(under);
    await pass(LEASE_MS + 5_000);
    const now = await claimed(under, {}, other);
    assert.equal(await store.markPublished(late.token, ["a"]), 0);
    assert.equal(await store.markFailed(late.token, [failure("b")]), 0);
    assert.equal(await store.giveBack(late.token, ["c"]), 0);
    assert.deepEqual(idsOf(await claimed(under)), []);
    assert.equal(await other.markPublished(now.token, ["a", "b", "c"]), 3);
  },

  "has a token of its own for every claim": async (under) => {
    await added(under, "a");
    const tokens = new Set<string>();
    for (let turn = 0; turn < 20; turn++) {
      const { token } = await claimed(under, {}, turn % 2 === 0 ? under.store : under.other);
      assert.equal(await under.store.giveBack(token, ["a"]), 1);
      tokens.add(token);
    }
    assert.equal(tokens.size, 20);
  },

  "takes the mark of a relay whose lease has ended and whose rows nobody has": async (under) => {
    await added(under, "a", "b");
    const { token } = await claimed(under);
    await under.pass(2 * LEASE_MS);
    assert.equal(await under.store.markPublished(token, ["a"]), 1);
    assert.deepEqual(idsOf(await claimed(under)), ["b"]);
  },

  "marks what it is told to and nothing else": async (under) => {
    const { store } = under;
    await added(under, "a", "b", "c");
    const { token } = await claimed(under, { limit: 2 });
    assert.equal(await store.markPublished(token, []), 0);
    assert.equal(await store.markPublished(token, ["c", "nothing of that name"]), 0);
    assert.equal(await store.markPublished("2026-01-01 00:00:00", ["a"]), 0);
    assert.equal(await store.markPublished(token, ["a"]), 1);
    assert.equal(await store.markPublished(token, ["a"]), 0);
    assert.equal(await store.markFailed(token, [failure("a")]), 0);
    assert.deepEqual(idsOf(await claimed(under)), ["c"]);
  },

  "counts a failure, and lets the row wait": async (under) => {
    const { store, pass } = under;
    await added(under, "a", "b", "c");
    const { token } = await claimed(under);
    const failures = [
      failure("a", { attempts: 1, retryDelayMs: 30_000 }),
      failure("b", { attempts: 1, retryDelayMs: 0 }),
    ];
    assert.equal(await store.markFailed(token, failures), 2);
    const again = await claimed(under);
    assert.deepEqual(again.rows.map(({ id, attempts }) => [id, attempts]), [["b", 1]]);
    await pass(20_000);
    assert.deepEqual(idsOf(await claimed(under)), []);
    await pass(15_000);
    const waited = await claimed(under);
    assert.deepEqual(waited.rows.map(({ id, attempts }) => [id, attempts]), [["a", 1]]);
    // What was in hand all the time still is.
    assert.equal(await store.markPublished(token, ["c"]), 1);
  },

  "has a row back at once that is given back, as if it had not been taken": async (under) => {
    await added(under, "a", "b");
    const { token } = await claimed(under);
    assert.equal(await under.store.giveBack(token, ["a"]), 1);
    const again = await claimed(under, {}, under.other);
    assert.deepEqual(again.rows.map(({ id, attempts }) => [id, attempts]), [["a", 0]]);
    assert.equal(await under.store.giveBack(token, ["b"], { delayMs: 30_000 }), 1);
    await under.pass(20_000);
    assert.deepEqual(idsOf(await claimed(under)), []);
    await under.pass(15_000);
    assert.deepEqual(idsOf(await claimed(under)), ["b"]);
  },

  "retires a row that failed too often, lists it, and hands out those behind it [OBX-12, OB-20]": async (under) => {
    const { store } = under;
    await added(under, "poison", "good");
    for (let attempts = 1; attempts <= MAX_ATTEMPTS; attempts++) {
      const { token } = await claimed(under, { limit: 1 });
      assert.equal(await store.markFailed(token, [failure("poison", { attempts, retryDelayMs: 0 })]), 1);
    }
    assert.deepEqual(idsOf(await claimed(under)), ["good"]);
    const [record, ...others] = await retired(under);
    assert.ok(record !== undefined && others.length === 0);
    const { createdAt, ...facts } = record;
    assert.deepEqual(facts, {
      id: "poison",
      exchange: "orders",
      routingKey: "order.placed",
      orderingKey: undefined,
      attempts: MAX_ATTEMPTS,
      lastError: "312 NO_ROUTE",
    });
    assert.ok(createdAt instanceof Date && Number.isFinite(createdAt.getTime()));
    const { pending, retired: count } = await store.stats();
    assert.deepEqual([pending, count], [2, 1]);
  },

  "tries a retired row again from the beginning once it is released [OB-28]": async (under) => {
    const { store, other } = under;
    await added(under, "a", "b");
    const { token } = await claimed(under);
    await store.markFailed(token, [failure("a", { attempts: MAX_ATTEMPTS, retryDelayMs: 60_000 })]);
    assert.equal(await other.release("b"), false);
    assert.equal(await other.release("nothing of that name"), false);
    assert.equal(await other.release("a"), true);
    assert.equal(await other.release("a"), false);
    const again = await claimed(under);
    assert.deepEqual(again.rows.map(({ id, attempts }) => [id, attempts]), [["a", 0]]);
    assert.deepEqual(await retired(under), []);
  },

  "lists every retired row once, oldest first, also while they are released": async (under) => {
    const { store } = under;
    const ids = Array.from({ length: 110 }, (_, number) => `m-${String(number).padStart(3, "0")}`);
    await under.transaction((tx) => store.addAll(tx, ids.map((id) => message(id))));
    const { token } = await claimed(under, { limit: 1_000 });
    await store.markFailed(token, ids.map((id) => failure(id, { attempts: MAX_ATTEMPTS })));
    assert.deepEqual((await retired(under)).map(({ id }) => id), ids);
    const released: string[] = [];
    for await (const { id } of store.retired()) if (await store.release(id)) released.push(id);
    assert.deepEqual(released, ids);
    assert.deepEqual(await store.stats().then(({ pending, retired: count }) => [pending, count]), [110, 0]);
  },

  "keeps a thousand characters of a reason, none of them half": async (under) => {
    const { store } = under;
    const reasons: Readonly<Record<string, readonly [given: string, kept: string]>> = {
      long: ["x".repeat(1_001), "x".repeat(1_000)],
      pairs: ["📦".repeat(1_001), "📦".repeat(1_000)],
      "across the limit": [`${"x".repeat(999)}📦y`, `${"x".repeat(999)}📦`],
      "a NUL": ["a\0b", "ab"],
      "half a pair": ["a\ud83d", "a\ufffd"],
      quotes: [`it's "so" \\ $1 ? %s`, `it's "so" \\ $1 ? %s`],
    };
    const ids = Object.keys(reasons);
    await added(under, ...ids);
    const { token } = await claimed(under);
    const failures = ids.map((id) => failure(id, { attempts: MAX_ATTEMPTS, reason: reasons[id]?.[0] ?? "" }));
    assert.equal(await store.markFailed(token, failures), ids.length);
    for (const { id, lastError } of await retired(under)) assert.equal(lastError, reasons[id]?.[1], id);
  },

  "has one row of a message that is added twice [OBX-08]": async (under) => {
    const { store, other } = under;
    await added(under, "m");
    await under.transaction(async (tx) => {
      await other.add(tx, message("m"));
      await store.addAll(tx, [message("m"), message("n"), message("n")]);
    });
    assert.deepEqual(idsOf(await claimed(under)), ["m", "n"]);
  },

  "hands rows out in the order they were added": async (under) => {
    const ids = Array.from({ length: 40 }, (_, number) => `m-${(number * 17) % 40}`);
    await under.transaction((tx) => under.store.addAll(tx, ids.slice(0, 30).map((id) => message(id))));
    await under.pass(1_000);
    await added(under, ...ids.slice(30));
    const found: string[] = [];
    for (let turn = 0; turn < 4; turn++) found.push(...idsOf(await claimed(under, { limit: 10 })));
    assert.deepEqual(found, ids);
  },

  "takes many at once, and none": async (under) => {
    const ids = Array.from({ length: 300 }, (_, number) => `m-${number}`);
    await under.transaction(async (tx) => {
      await under.store.addAll(tx, ids.map((id) => message(id)));
      await under.store.addAll(tx, []);
    });
    assert.equal((await under.store.stats()).pending, 300);
    const { token, rows } = await claimed(under, { limit: 1_000 });
    assert.deepEqual(new Set(rows.map(({ id }) => id)), new Set(ids));
    assert.equal(await under.store.markPublished(token, ids), 300);
  },

  "refuses a message it cannot keep, before anything is stored [OB-26]": async (under) => {
    const { store } = under;
    const refused: readonly (readonly [about: string, change: Partial<Outbound>, says: RegExp])[] = [
      ["priority", { priority: 3 }, /'priority'/],
      ["expiration", { expirationMs: 60_000 }, /'expirationMs'/],
      ["reply address", { replyTo: "answers" }, /'replyTo'/],
      ["not persistent", { persistent: false }, /'persistent'/],
      ["not mandatory", { mandatory: false }, /'mandatory'/],
      ["another message id", { messageId: "another" }, /messageId/],
    ];
    const tooMuch: typeof refused = [
      ["long exchange", { exchange: "e".repeat(256) }, /exchange/],
      ["long routing key", { routingKey: "📦".repeat(256) }, /routing key/],
      ["bytes", { headers: { ...message("m").headers, blob: new Uint8Array([1]) } }, /blob/],
      ["time", { headers: { ...message("m").headers, at: { deep: [new Date(0)] } } }, /"at"\.deep\[0\]/],
    ];
    const add = (outbound: Outbound): Promise<void> =>
      under.transaction((tx) => store.addAll(tx, [message("fine"), outbound]));
    for (const [about, change, says] of under.isTable === false ? refused : [...refused, ...tooMuch]) {
      const error = await add({ ...message("m"), ...change }).then(() => undefined, (reason) => reason);
      assert.ok(error instanceof PublishError && error.code === "ACEMQ_PUBLISH_REFUSED", `${about}: ${error}`);
      if (under.isWhole !== false) assert.match(error.reason, says, about);
    }
    for (const id of under.isTable === false ? ["", "half \ud83d"] : ["", "half \ud83d", "k".repeat(256), "a\0b"]) {
      await assert.rejects(add(message(id)), { code: "ACEMQ_PUBLISH_REFUSED" });
    }
    assert.equal((await store.stats()).pending, 0);
  },

  "refuses what is no message, before anything is stored": async (under) => {
    const { store } = under;
    const fine = message("fine");
    const wrong: readonly unknown[] = [undefined, null, "m", 7, {}, [], { ...fine, body: "{}" }, {
      ...fine,
      headers: null,
    }];
    const makes = wrong.flatMap((value) => [() => value, () => Promise.resolve(value)]);
    for (const make of [...makes, () => Promise.reject(new TypeError("no codec"))] as readonly (() => Outbound)[]) {
      await assert.rejects(under.transaction((tx) => store.add(tx, make())), TypeError);
      await assert.rejects(under.transaction((tx) => store.addAll(tx, [fine, make()])), TypeError);
    }
    for (const value of [undefined, null, 7, "m", fine] as readonly unknown[] as readonly Outbound[][]) {
      await assert.rejects(under.transaction((tx) => store.addAll(tx, value)), TypeError);
    }
    assert.equal((await store.stats()).pending, 0);
  },

  "has written what is ready when the call returns, whether or not it is awaited": async (under) => {
    const { store } = under;
    await store.check();
    const calls: Promise<void>[] = [];
    await under.transaction(async (tx) => {
      calls.push(store.add(tx, message("m")), store.addAll(tx, [message("n")]));
    });
    await Promise.all(calls);
    assert.deepEqual(idsOf(await claimed(under)), ["m", "n"]);
  },

  "tells who listens what was added": async (under) => {
    const { store } = under;
    const heard: string[][] = [];
    const stop = store.onAdded((ids) => heard.push([...ids]));
    await added(under, "a");
    await under.transaction((tx) => store.addAll(tx, [message("b"), message("c")]));
    stop();
    await added(under, "d");
    assert.deepEqual(heard, [["a"], ["b", "c"]]);
  },

  "says how old the oldest row is that is neither published nor retired": async (under) => {
    const { store, pass } = under;
    assert.deepEqual(await store.stats(), { pending: 0, oldestAgeMs: undefined, retired: 0 });
    await added(under, "a");
    await pass(20_000);
    await added(under, "b");
    await pass(10_000);
    const { oldestAgeMs: both = 0 } = await store.stats();
    assert.ok(both >= 30_000 && both < 60_000, `${both}`);
    const { token } = await claimed(under, { limit: 1 });
    await store.markFailed(token, [failure("a", { attempts: MAX_ATTEMPTS })]);
    const { oldestAgeMs: younger = 0 } = await store.stats();
    assert.ok(younger >= 10_000 && younger < 30_000, `${younger}`);
  },

  "removes what was published long ago, in as many batches as it takes, and nothing else": async (under) => {
    const { store, pass, keepsPublished = true } = under;
    await added(under, "a", "b", "c", "failed", "pending");
    const { token } = await claimed(under, { limit: 4 });
    await store.markPublished(token, ["a", "b", "c"]);
    await store.markFailed(token, [failure("failed", { attempts: MAX_ATTEMPTS })]);
    await pass(60_000);
    assert.equal(await store.purgePublished({ olderThanMs: 120_000 }), 0);
    assert.equal(await store.purgePublished({ olderThanMs: 30_000, batchSize: 2 }), keepsPublished ? 3 : 0);
    assert.equal(await store.purgePublished({ olderThanMs: 30_000 }), 0);
    assert.equal((await store.stats()).pending, 2);
  },

  "does nothing for a signal that has aborted": async (under) => {
    const { store } = under;
    await added(under, "a");
    const { token } = await claimed(under);
    const reason = new Error("no more");
    const signal = AbortSignal.abort(reason);
    const isReason = (error: unknown): boolean => error === reason;
    await assert.rejects(store.claim({ ...CLAIM, signal }), isReason);
    await assert.rejects(store.markPublished(token, ["a"], { signal }), isReason);
    await assert.rejects(store.markFailed(token, [failure("a")], { signal }), isReason);
    await assert.rejects(store.giveBack(token, ["a"], { signal }), isReason);
    await assert.rejects(store.release("a", { signal }), isReason);
    await assert.rejects(store.stats({ signal }), isReason);
    await assert.rejects(store.purgePublished({ olderThanMs: 0, signal }), isReason);
    await assert.rejects(store.check({ signal }), isReason);
    await assert.rejects(
      (async () => {
        for await (const record of store.retired({ signal })) assert.fail(record.id);
      })(),
      isReason,
    );
    assert.equal(await store.markPublished(token, ["a"]), 1);
  },

  "hands out the rows of a key in order, and none behind one that somebody has [OB-27]": async (under) => {
    if (under.isOrdered === false) return;
    const { store, other } = under;
    await keyed(under, ["a1", "a"], ["b1", "b"], ["a2", "a"], ["none 1"], ["b2", "b"], ["none 2"], ["a3", "a"]);
    const first = await claimed(under, { ...IN_ORDER, limit: 2 });
    assert.deepEqual(idsOf(first), ["a1", "b1"]);
    assert.deepEqual(first.rows.map(({ orderingKey }) => orderingKey), ["a", "b"]);
    const second = await claimed(under, IN_ORDER, other);
    assert.deepEqual(idsOf(second), ["none 1", "none 2"]);
    assert.deepEqual(idsOf(await claimed(under, IN_ORDER, other)), []);
    await store.markPublished(first.token, ["a1"]);
    assert.deepEqual(idsOf(await claimed(under, IN_ORDER, other)), ["a2", "a3"]);
    await store.giveBack(first.token, ["b1"]);
    assert.deepEqual(idsOf(await claimed(under, IN_ORDER, other)), ["b1", "b2"]);
  },

  "holds back those of its key while a row waits to be tried again [OB-01, OBX-15]": async (under) => {
    if (under.isOrdered === false) return;
    const { store, pass } = under;
    await keyed(under, ["a1", "a"], ["a2", "a"], ["b1", "b"], ["a3", "a"]);
    const { token } = await claimed(under, IN_ORDER);
    await store.markFailed(token, [failure("a2", { retryDelayMs: 30_000 })]);
    await store.markPublished(token, ["a1"]);
    await store.giveBack(token, ["b1", "a3"]);
    assert.deepEqual(idsOf(await claimed(under, IN_ORDER)), ["b1"]);
    await pass(35_000);
    assert.deepEqual(idsOf(await claimed(under, IN_ORDER)), ["a2", "a3"]);
  },

  "hands a row out that comes before those somebody has": async (under) => {
    if (under.isOrdered === false) return;
    const { store } = under;
    await keyed(under, ["a1", "a"], ["a2", "a"], ["a3", "a"]);
    const { token } = await claimed(under, IN_ORDER);
    await store.giveBack(token, ["a1"]);
    const again = await claimed(under, IN_ORDER);
    assert.deepEqual(idsOf(again), ["a1"]);
    await store.giveBack(token, ["a3"]);
    await store.markPublished(again.token, ["a1"]);
    assert.deepEqual(idsOf(await claimed(under, IN_ORDER)), []);
    await store.markPublished(token, ["a2"]);
    assert.deepEqual(idsOf(await claimed(under, IN_ORDER)), ["a3"]);
  },

  "goes on behind a retired row, unless it is told to hold": async (under) => {
    if (under.isOrdered === false) return;
    const { store } = under;
    await keyed(under, ["a1", "a"], ["b1", "b"], ["a2", "a"]);
    const { token } = await claimed(under, IN_ORDER);
    // Retired rows do not wait: nobody tries them.
    await store.markFailed(token, [failure("a1", { attempts: MAX_ATTEMPTS, retryDelayMs: 60_000 })]);
    await store.giveBack(token, ["b1", "a2"]);
    const held = await claimed(under, { ...IN_ORDER, onRetired: "hold" });
    assert.deepEqual(idsOf(held), ["b1"]);
    const released = await claimed(under, IN_ORDER);
    assert.deepEqual(idsOf(released), ["a2"]);
    await store.giveBack(released.token, ["a2"]);
    await store.release("a1");
    assert.deepEqual(idsOf(await claimed(under, { ...IN_ORDER, onRetired: "hold" })), ["a1", "a2"]);
  },

  "finds rows of other keys behind any number of one key that are held back [OB-27]": async (under) => {
    if (under.isOrdered === false) return;
    const { store } = under;
    const jam = Array.from({ length: 1_050 }, (_, number) => `jam-${number}`);
    await under.transaction((tx) => store.addAll(tx, jam.map((id) => message(id)), { orderingKey: "jam" }));
    const { token } = await claimed(under, { ...IN_ORDER, limit: 1 });
    assert.deepEqual(idsOf(await claimed(under, IN_ORDER)), []);
    await keyed(under, ["none 1"], ["z1", "z"], ["a1", "a"], ["z2", "z"], ["none 2"], ["a2", "a"]);
    assert.deepEqual(idsOf(await claimed(under, { ...IN_ORDER, limit: 4 })), ["none 1", "z1", "a1", "z2"]);
    assert.deepEqual(idsOf(await claimed(under, IN_ORDER)), []);
    await store.markFailed(token, [failure("jam-0", { attempts: MAX_ATTEMPTS })]);
    await keyed(under, ["y1", "y"]);
    const held = await claimed(under, { ...IN_ORDER, onRetired: "hold" });
    assert.deepEqual(idsOf(held), ["y1"]);
    assert.deepEqual(idsOf(await claimed(under, { ...IN_ORDER, limit: 2 })), ["jam-1", "jam-2"]);
  },

  "takes an empty ordering key for none, and refuses one it cannot keep": async (under) => {
    const { store, isOrdered = true } = under;
    const add = (orderingKey: unknown): Promise<void> =>
      under.transaction((tx) => store.add(tx, message("m"), { orderingKey: orderingKey as string }));
    await add("");
    const { rows: [row] } = await claimed(under);
    assert.deepEqual([row?.id, row?.orderingKey], ["m", undefined]);
    if (isOrdered) {
      for (const key of ["k".repeat(256), "a\0b", "half \ud83d"]) await assert.rejects(add(key), RangeError);
      await assert.rejects(add(7), TypeError);
    } else await assert.rejects(add("a"), { code: "ACEMQ_TABLE_LAYOUT" });
  },

  "refuses numbers that are none": async (under) => {
    for (const change of [{ limit: 0 }, { limit: 1.5 }, { leaseMs: 0 }]) {
      await assert.rejects(claimed(under, change), RangeError);
    }
    await assert.rejects(under.store.purgePublished({ olderThanMs: -1 }), RangeError);
  },
};

const CLAIM: OutboxClaimOptions = {
  limit: 100,
  leaseMs: LEASE_MS,
  mode: "continue",
  onRetired: "release",
};

const IN_ORDER: Partial<OutboxClaimOptions> = { mode: "in_order" };

/** Adds messages with their ordering keys, each in a transaction of its own. */
async function keyed(
  { store, transaction }: OutboxStoreUnderTest<unknown>,
  ...rows: readonly (readonly [id: string, orderingKey?: string])[]
): Promise<void> {
  for (const [id, orderingKey] of rows) await transaction((tx) => store.add(tx, message(id), { orderingKey }));
}

/** A message every layout can keep. */
function message(id: string): Outbound {
  return {
    exchange: "orders",
    routingKey: "order.placed",
    body: bytes(`{"id":"${id === "" ? "none" : "größe"}"}`),
    contentType: "application/json",
    messageId: id,
    headers: {
      "x-acemq-id": id,
      "x-acemq-type": "order.placed",
      "x-acemq-version": 1,
      "x-acemq-correlation": "cart-8812",
      "x-acemq-causation": "c90840f4",
      "x-acemq-attempt": 1,
      "x-acemq-first-seen": 1_788_962_400_000n,
    },
    persistent: true,
    mandatory: true,
  };
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function failure(
  id: string,
  { attempts = 1, reason = "312 NO_ROUTE", retryDelayMs = 0 } = {},
): { id: string; attempts: number; reason: string; retryDelayMs: number } {
  return { id, attempts, reason, retryDelayMs };
}

/** Adds messages, each in a transaction of its own. */
async function added(
  { store, transaction, pass }: OutboxStoreUnderTest<unknown>,
  ...ids: readonly string[]
): Promise<void> {
  for (const id of ids) {
    await transaction((tx) => store.add(tx, message(id)));
    // Where the time of its creation decides, it is another one.
    await pass(1);
  }
}

async function claimed(
  under: OutboxStoreUnderTest<unknown>,
  change: Partial<OutboxClaimOptions> = {},
  store = under.store,
): Promise<OutboxClaim> {
  return await store.claim({ ...CLAIM, ...change });
}

function idsOf({ rows }: OutboxClaim): readonly string[] {
  return rows.map(({ id }) => id);
}

async function retired({ store }: OutboxStoreUnderTest<unknown>): Promise<readonly RetiredRecord[]> {
  const records: RetiredRecord[] = [];
  for await (const record of store.retired()) records.push(record);
  return records;
}

async function runCase<Tx>(open: () => Promise<OutboxStoreUnderTest<Tx>>, body: Case): Promise<void> {
  const under = await open();
  try {
    // The cases hand a transaction on as they get it.
    await body(under as unknown as OutboxStoreUnderTest<unknown>);
  } finally {
    await under.close();
  }
}
