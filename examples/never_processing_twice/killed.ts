/**
 * Steps 4 to 6: processes that are killed, and what is there when others have gone on.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Point } from "./orders.ts";
import { type Outcome, type Place, Scenario } from "./scenario.ts";

/** In the order in which a payment passes them. */
const POINTS: readonly Point[] = [
  "after the claim",
  "after the charge",
  "after the outbox row",
  "after the commit",
  "after the relay has claimed the row",
  "after the publish",
];

/** Step 4: the order is there, and nobody will ever be told. */
export async function dualWrite(place: Place): Promise<void> {
  await inScenario(place, async (scenario) => {
    assert.equal(await scenario.run({ work: "save and publish", killedAt: "after the order is saved" }), "killed");
    assert.equal(await scenario.run({ work: "relay" }), "by itself");
    const { worked, announced } = await scenario.outcome();
    console.log(`orders ${worked}, announced ${announced}`);
    assert.deepEqual([worked, announced], [1, 0]);
  });
}

/** Step 5: what was committed is announced by whoever comes next. */
export async function outboxAfterKill(place: Place): Promise<void> {
  await inScenario(place, async (scenario) => {
    assert.equal(await scenario.run({ work: "save with an outbox", killedAt: "after the commit" }), "killed");
    assert.equal(await scenario.run({ work: "relay" }), "by itself");
    const { worked, announced } = await scenario.outcome();
    console.log(`orders ${worked}, announced ${announced}`);
    assert.deepEqual([worked, announced], [1, 1]);
  });
}

/** Step 5: what was rolled back is not. */
export async function outboxAfterRollback(place: Place): Promise<void> {
  await inScenario(place, async (scenario) => {
    assert.equal(await scenario.run({ work: "fail with an outbox" }), "by itself");
    const { worked, announced } = await scenario.outcome();
    console.log(`orders ${worked}, announced ${announced}`);
    assert.deepEqual([worked, announced], [0, 0]);
  });
}

/** Step 6: claim, work, outbox row and confirmation in one commit, then the acknowledgement. */
export async function orderOfOperations(place: Place): Promise<void> {
  const outcomes = await Promise.all(POINTS.map((killedAt) => paymentKilledAt(killedAt, place)));
  for (const [index, outcome] of outcomes.entries()) {
    const killedAt = POINTS[index];
    console.log(`killed ${killedAt}: ${inWords(outcome)}`);
    assert.deepEqual(outcome, { worked: 1, announced: 1, copies: killedAt === "after the publish" ? 1 : 0 });
  }
}

function paymentKilledAt(killedAt: Point, place: Place): Promise<Outcome> {
  return inScenario(place, async (scenario) => {
    await scenario.placePayment();
    assert.equal(await scenario.run({ work: "take payments", killedAt }), "killed");
    assert.equal(await scenario.run({ work: "take payments" }), "by itself");
    return await scenario.outcome();
  });
}

function inWords({ worked, announced, copies }: Outcome): string {
  return `charged ${worked}, announced ${announced}${copies === 0 ? "" : ", and again under the same id"}`;
}

async function inScenario<T>(place: Place, play: (scenario: Scenario) => Promise<T>): Promise<T> {
  const scenario = await Scenario.open(place);
  try {
    return await play(scenario);
  } finally {
    await scenario.close();
  }
}
