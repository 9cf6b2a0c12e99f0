import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  assertFiniteNumber,
  assertName,
  assertShortText,
  assertWholeNumber,
} from "../../../src/internal/assert_option.ts";

describe("an option that must be a whole number", () => {
  it("passes from its least value to the last safe one", () => {
    for (const value of [1, 2, Number.MAX_SAFE_INTEGER]) assertWholeNumber("prefetch", value, 1);
    assertWholeNumber("prefetch", 0, 0);
  });

  for (const value of [0, -1, 1.5, NaN, Infinity, 2 ** 53, "3", null, undefined, 1n]) {
    it(`is refused as ${typeof value} ${String(value)}, what was found and what is wanted`, () => {
      assert.throws(() => assertWholeNumber("prefetch", value as number, 1), {
        name: "RangeError",
        message: `Cannot use option 'prefetch': it must be a whole number of at least 1, found ${String(value)}`,
      });
    });
  }
});

describe("what is said of a value that is no number", () => {
  it("shows nothing it holds, and is said of anything", () => {
    for (
      const [value, found] of [[{ password: "s" }, "object"], [Object.create(null), "object"], [
        Symbol("s"),
        "Symbol(s)",
      ]]
    ) {
      assert.throws(() => assertWholeNumber("prefetch", value, 1), {
        message: `Cannot use option 'prefetch': it must be a whole number of at least 1, found ${found}`,
      });
    }
  });
});

describe("an option that must be a finite number", () => {
  it("passes with a fraction", () => assertFiniteNumber("multiplier", 1.5, 1));

  for (const value of [0.5, -1, NaN, Infinity, "2", null]) {
    it(`is refused as ${typeof value} ${String(value)}`, () => {
      assert.throws(() => assertFiniteNumber("multiplier", value as number, 1), {
        name: "RangeError",
        message: `Cannot use option 'multiplier': it must be a finite number of at least 1, found ${String(value)}`,
      });
    });
  }
});

describe("a name", () => {
  it("has one character to 255 bytes of UTF-8", () => {
    for (const name of ["a", " ", "n".repeat(255), "ü".repeat(127) + "n", "🧀".repeat(63)]) {
      assertName("a queue name", name);
    }
  });

  it("is refused when it is empty or no text", () => {
    for (const [value, found] of [["", "empty text"], [7, "number"], [undefined, "undefined"], [null, "null"]]) {
      assert.throws(() => assertName("a queue name", value), {
        name: "TypeError",
        message: `Cannot use a queue name: it must be non-empty text, found ${found}`,
      });
    }
  });

  it("is refused from 256 bytes", () => {
    for (const [name, bytes] of [["n".repeat(256), 256], ["ü".repeat(128), 256], ["🧀".repeat(64), 256]] as const) {
      assert.throws(() => assertName("a queue name", name), {
        name: "RangeError",
        message: `Cannot use a queue name: it must fit 255 bytes of UTF-8, found ${bytes}`,
      });
    }
  });

  it("as a routing key may be empty, and must be text", () => {
    assertShortText("a routing key", "");
    for (const [value, found] of [[undefined, "undefined"], [[], "an array"], [5, "number"]] as const) {
      assert.throws(() => assertShortText("a routing key", value), {
        name: "TypeError",
        message: `Cannot use a routing key: it must be text, found ${found}`,
      });
    }
  });
});
