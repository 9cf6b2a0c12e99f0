import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  assertKinds,
  assertOptions,
  describeKind,
  type OptionKinds,
  signalOf,
} from "../../../src/internal/option_kinds.ts";

interface Options {
  readonly name?: string;
  readonly headers?: object;
  readonly limit?: number;
}

const KINDS: OptionKinds<Options> = { name: "text", headers: "record", limit: "checked" };

describe("an object of options", () => {
  it("passes with what there is, of its kind, and with what is undefined", () => {
    for (const options of [{}, { name: "a", headers: {}, limit: "elsewhere" }, { name: undefined, other: undefined }]) {
      assertOptions("a thing", options, KINDS);
    }
  });

  it("is refused with a member of another kind, or one that there is not, by name and by what there is", () => {
    assert.throws(() => assertOptions("a thing", { name: 5 }, KINDS), {
      name: "TypeError",
      message: "Cannot use option 'name': it must be text, found number",
    });
    assert.throws(() => assertOptions("a thing", { nmae: "a" }, KINDS), {
      name: "TypeError",
      message: "Cannot use option 'nmae': a thing has name, headers, limit, and none of that name",
    });
    assert.throws(() => assertOptions("a thing", null, KINDS), {
      name: "TypeError",
      message: "Cannot use the options of a thing: they must be an object, found null",
    });
  });

  it("shows no value in a refusal", () => {
    for (const options of [{ name: { secret: "4242" } }, { headers: "4242" }, { other: "4242" }, "4242", ["4242"]]) {
      assert.throws(() => assertOptions("a thing", options, KINDS), (error: Error) => !error.message.includes("4242"));
    }
  });

  it("may have names of somebody else's where it is shared", () => {
    assertKinds("a thing", { name: "a", credentials: "b" }, KINDS);
    assert.throws(() => assertKinds("a thing", { name: 1, credentials: "b" }, KINDS), TypeError);
  });

  it("has its own members looked at, and nothing that a prototype brings", () => {
    const headers: object = Object.assign(Object.create(null), { a: 1 });
    assertOptions("a thing", Object.create({ other: 1 }), KINDS);
    assertOptions("a thing", { headers }, KINDS);
    assert.throws(() => assertOptions("a thing", { headers: new Map([["a", 1]]) }, KINDS), TypeError);
  });
});

describe("a signal among options", () => {
  it("is an AbortSignal, of any realm, or none", () => {
    const { signal } = new AbortController();
    assert.equal(signalOf("a wait", { signal }), signal);
    assert.equal(signalOf("a wait", {}), undefined);
    assert.throws(() => signalOf("a wait", { signal: new AbortController() as never }), TypeError);
  });
});

describe("the kind of a value", () => {
  it("is its type, null and arrays by their own names", () => {
    assert.deepEqual([null, [], {}, "", 0, undefined].map(describeKind), [
      "null",
      "an array",
      "object",
      "string",
      "number",
      "undefined",
    ]);
  });
});
