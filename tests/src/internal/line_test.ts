import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Line, type Place } from "../../../src/internal/line.ts";

/** Everybody in line, from the front. */
function standing<T>(line: Line<T>): readonly T[] {
  const values: T[] = [];
  for (let place = line.first; place !== undefined; place = place.behind) values.push(place.value);
  return values;
}

describe("a line", () => {
  it("serves who came first", () => {
    const line = new Line<string>();
    assert.equal(line.first, undefined);
    const [first, second] = ["first", "second"].map((value) => line.join(value)) as [Place<string>, Place<string>];
    assert.deepEqual([line.first, line.length], [first, 2]);
    line.leave(first);
    assert.deepEqual([line.first, first.isTaken, second.isTaken], [second, false, true]);
  });

  it("closes up wherever somebody leaves, once for everybody", () => {
    const line = new Line<number>();
    const places = [0, 1, 2, 3, 4].map((value) => line.join(value));
    for (const index of [2, 0, 4, 2, 0]) line.leave(places[index] as Place<number>);
    assert.deepEqual([standing(line), line.length], [[1, 3], 2]);
    line.join(5);
    assert.deepEqual(standing(line), [1, 3, 5]);
  });

  it("is what a list without the leavers would be, whoever comes and goes", () => {
    const steps = fc.array(fc.option(fc.nat(), { freq: 2 }), { maxLength: 60 });
    fc.assert(fc.property(steps, (plan) => {
      const line = new Line<number>();
      const places: Place<number>[] = [];
      plan.forEach((leaver, index) => {
        if (leaver === null) places.push(line.join(index));
        else for (const place of places.splice(leaver % (places.length || 1), 1)) line.leave(place);
      });
      assert.deepEqual([standing(line), line.length], [places.map(({ value }) => value), places.length]);
    }));
  });
});
