import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AbortCalls } from "../../../src/internal/abort_calls.ts";

describe("calls of a signal", () => {
  it("are made once, in the order they were added, and only of the signal that aborts", () => {
    const calls = new AbortCalls();
    const [one, other] = [new AbortController(), new AbortController()];
    const made: string[] = [];
    for (const name of ["first", "second"]) calls.add(one.signal, () => made.push(name));
    calls.add(other.signal, () => made.push("other"));
    one.abort();
    one.abort();
    assert.deepEqual(made, ["first", "second"]);
    other.abort();
    assert.deepEqual(made, ["first", "second", "other"]);
  });

  it("are not made when they were taken back, also by one that is being made", () => {
    const calls = new AbortCalls();
    const { signal, abort } = abortable();
    const made: string[] = [];
    const second = (): void => void made.push("second");
    const taken = (): void => void made.push("taken");
    calls.add(signal, taken);
    calls.add(signal, () => {
      made.push("first");
      calls.remove(signal, second);
    });
    calls.add(signal, second);
    calls.remove(signal, taken);
    calls.remove(signal, taken);
    abort();
    assert.deepEqual(made, ["first"]);
  });

  it("leave no listener behind, and can be added again", () => {
    const calls = new AbortCalls();
    const { signal, abort, listeners } = abortable();
    const made: number[] = [];
    const every = [0, 1, 2].map((index) => (): void => void made.push(index));
    for (const call of every) calls.add(signal, call);
    assert.equal(listeners(), 1);
    for (const call of every) calls.remove(signal, call);
    assert.equal(listeners(), 0);
    calls.add(signal, () => made.push(3));
    abort();
    assert.deepEqual([made, listeners()], [[3], 0]);
  });
});

/** A signal that counts who listens. */
function abortable(): { readonly signal: AbortSignal; abort(): void; listeners(): number } {
  const controller = new AbortController();
  const { signal } = controller;
  const listening = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: EventListener): void => {
    listening.add(listener);
    add(type, listener, { once: true });
  };
  signal.removeEventListener = (type: string, listener: EventListener): void => {
    listening.delete(listener);
    remove(type, listener);
  };
  const abort = (): void => {
    controller.abort();
    listening.clear();
  };
  return { signal, abort, listeners: () => listening.size };
}
