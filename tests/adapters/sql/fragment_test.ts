/** SQL as a value: its text is written once, whatever it is run with. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compile, raw, sql } from "../../../adapters/sql/fragment.ts";

interface Facts {
  readonly id: string;
  readonly n: number;
}

const id = ({ id }: Facts): string => id;
const numbered = (number: number): string => `$${number}`;

describe("a fragment of SQL", () => {
  it("is written once, with a placeholder for every value, in the order they are bound", () => {
    const condition = sql`id = ${id} AND n > ${({ n }: Facts) => n + 1}`;
    const whole = sql`UPDATE ${raw("t")} SET a = ${7}, b = ${null} WHERE ${condition} OR ${condition}`;
    const { text, bind } = compile(whole, numbered);
    assert.equal(text, "UPDATE t SET a = $1, b = $2 WHERE id = $3 AND n > $4 OR id = $5 AND n > $6");
    assert.deepEqual(bind({ id: "x", n: 1 }), [7, null, "x", 2, "x", 2]);
    assert.deepEqual(bind({ id: "y", n: 2 }), [7, null, "y", 3, "y", 3]);
    assert.equal(
      compile(whole, () => "?").text,
      "UPDATE t SET a = ?, b = ? WHERE id = ? AND n > ? OR id = ? AND n > ?",
    );
  });

  it("leaves what is quoted as it is, and takes no value for text", () => {
    const { text, bind } = compile(
      sql`SELECT "key", '$1 ? \\' FROM ${raw(`"a ""b"" $2"`)} WHERE "key" = ${id}`,
      numbered,
    );
    assert.equal(text, `SELECT "key", '$1 ? \\' FROM "a ""b"" $2" WHERE "key" = $1`);
    const hostile = `' OR "key" <> $1 -- \${7}`;
    assert.deepEqual(bind({ id: hostile, n: 0 }), [hostile]);
  });

  it("binds bytes, texts, numbers and big integers as they are", () => {
    const bytes = new Uint8Array([1]);
    const { text, bind } = compile(sql`${bytes}${"texts"}${1n}${1.5}${null}`, numbered);
    assert.equal(text, "$1$2$3$4$5");
    assert.deepEqual(bind(undefined), [bytes, "texts", 1n, 1.5, null]);
  });

  it("without a hole is its text", () => {
    const { text, bind } = compile(raw("SELECT 1"), numbered);
    assert.deepEqual([text, bind(undefined)], ["SELECT 1", []]);
  });
});
