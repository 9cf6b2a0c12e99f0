import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Work } from "../../../src/internal/work.ts";

describe("work", () => {
  it("is done when as much has ended as was begun, and says how much that was", () => {
    const work = new Work();
    assert.deepEqual([work.isDone, work.begun], [true, 0]);
    work.begin();
    work.begin();
    work.end();
    assert.deepEqual([work.isDone, work.begun], [false, 2]);
    work.end();
    assert.deepEqual([work.isDone, work.begun], [true, 2]);
  });

  it("tells everybody who waits when the last piece ends, and only then", async () => {
    const work = new Work();
    const told: string[] = [];
    work.begin();
    work.begin();
    const waiting = ["one", "another"].map((name) => work.ended().then(() => told.push(name)));
    work.end();
    await null;
    assert.deepEqual(told, []);
    work.end();
    await Promise.all(waiting);
    assert.deepEqual(told, ["one", "another"]);
  });

  it("tells of the next end, also when nothing is under way yet", async () => {
    const work = new Work();
    const ended = work.ended();
    work.begin();
    work.end();
    await ended;
  });
});
