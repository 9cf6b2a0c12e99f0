/** What follows from something comes behind it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Consequences } from "../../../adapters/memory/consequences.ts";

describe("what follows from something", () => {
  it("is done behind it, in the order it came up, and what follows from that behind all of it", () => {
    const consequences = new Consequences();
    const done: string[] = [];
    const answer = consequences.of(() => {
      for (const name of ["a", "b"]) {
        consequences.add(() => {
          done.push(name);
          consequences.add(() => void done.push(`${name}'`));
        });
      }
      done.push("first");
      return "answered";
    });
    assert.deepEqual([answer, done], ["answered", ["first", "a", "b", "a'", "b'"]]);
  });

  it("is done at once where nothing goes on", () => {
    const consequences = new Consequences();
    const done: string[] = [];
    consequences.add(() => void done.push("at once"));
    assert.deepEqual(done, ["at once"]);
  });

  it("is not in the middle of something that is part of something else", () => {
    const consequences = new Consequences();
    const done: string[] = [];
    consequences.of(() => {
      consequences.of(() => consequences.add(() => void done.push("behind")));
      done.push("whole");
    });
    assert.deepEqual(done, ["whole", "behind"]);
  });

  it("is an error where it has no end, and goes on afterwards as if nothing had been", () => {
    const consequences = new Consequences();
    let steps = 0;
    const goOn = (): void => {
      steps++;
      consequences.add(goOn);
    };
    assert.throws(() => consequences.add(goOn), { name: "RangeError", message: /goes round for ever/ });
    assert.ok(steps > 1_000);
    const done: string[] = [];
    consequences.add(() => void done.push("as ever"));
    assert.deepEqual(done, ["as ever"]);
  });
});
