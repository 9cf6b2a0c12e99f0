/** Who may publish now. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Turnstile } from "../../../../src/patterns/outbox/turnstile.ts";

/** Everybody who has asked to enter, and who is in. */
class Crowd {
  readonly inside: string[] = [];
  readonly #turnstile: Turnstile;

  constructor(room: number) {
    this.#turnstile = new Turnstile(room);
  }

  async ask(...names: readonly string[]): Promise<void> {
    for (const name of names) void this.#turnstile.enter(name.endsWith("!")).then(() => this.inside.push(name));
    await Promise.resolve();
    await Promise.resolve();
  }

  async leave(name: string): Promise<void> {
    this.inside.splice(this.inside.indexOf(name), 1);
    this.#turnstile.leave();
    await Promise.resolve();
    await Promise.resolve();
  }
}

describe("a turnstile", () => {
  it("lets so many in at once, in the order they came", async () => {
    const crowd = new Crowd(2);
    await crowd.ask("a", "b", "c", "d");
    assert.deepEqual(crowd.inside, ["a", "b"]);
    await crowd.leave("a");
    assert.deepEqual(crowd.inside, ["b", "c"]);
    await crowd.leave("b");
    await crowd.leave("c");
    assert.deepEqual(crowd.inside, ["d"]);
  });

  it("lets one in alone who asks for it, and nobody past who came later", async () => {
    const crowd = new Crowd(3);
    await crowd.ask("a", "b", "solo!", "c");
    assert.deepEqual(crowd.inside, ["a", "b"]);
    await crowd.leave("a");
    assert.deepEqual(crowd.inside, ["b"]);
    await crowd.leave("b");
    assert.deepEqual(crowd.inside, ["solo!"]);
    await crowd.ask("d", "duo!");
    assert.deepEqual(crowd.inside, ["solo!"]);
    await crowd.leave("solo!");
    assert.deepEqual(crowd.inside, ["c", "d"]);
    await crowd.leave("c");
    await crowd.leave("d");
    assert.deepEqual(crowd.inside, ["duo!"]);
  });

  it("lets in at once only who would not have to wait", async () => {
    const turnstile = new Turnstile(2);
    assert.deepEqual([1, 2, 3].map(() => turnstile.tryEnter()), [true, true, false]);
    const alone = turnstile.enter(true);
    turnstile.leave();
    // There is room, and somebody waits for all of it.
    assert.equal(turnstile.tryEnter(), false);
    turnstile.leave();
    await alone;
    assert.equal(turnstile.tryEnter(), false);
    turnstile.leave();
    assert.equal(turnstile.tryEnter(), true);
  });
});
