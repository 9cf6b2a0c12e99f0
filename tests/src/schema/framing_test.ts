/** The five bytes in front of a registered body. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DecodeError } from "../../../src/errors.ts";
import { isSchemaId, readFrame, writeFrame } from "../../../src/schema/framing.ts";
import { bytesOfHex } from "../../support/fixtures.ts";

describe("the frame of a registered schema", () => {
  it("is a zero byte and four bytes of an id, the highest first [AVR-14]", () => {
    for (
      const [id, hex] of [
        [258, "0000000102"],
        [7, "0000000007"],
        [101, "0000000065"],
        [2_147_483_647, "007fffffff"],
      ] as const
    ) {
      const bytes = new Uint8Array(6).fill(0xaa);
      writeFrame(bytes, id);
      assert.deepEqual(bytes, bytesOfHex(`${hex}aa`));
      assert.deepEqual(readFrame(bytes), { id, body: bytesOfHex("aa") });
    }
  });

  it("is read as an unsigned number", () => {
    assert.equal(readFrame(bytesOfHex("00ffffffff")).id, 4_294_967_295);
  });

  it("is found wherever in a buffer the body lies", () => {
    const buffer = bytesOfHex("ffff000000010206aa");
    assert.deepEqual(readFrame(buffer.subarray(2)), { id: 258, body: bytesOfHex("06aa") });
  });

  it("is missed in what is too short, begins otherwise or has id 0", () => {
    for (const hex of ["", "00", "00000001", "0100000007", "c301000007aa", "0000000000", "000000000006412d31"]) {
      assert.throws(() => readFrame(bytesOfHex(hex)), DecodeError, hex);
    }
  });

  it("has ids from 1 to the largest that a signed number holds", () => {
    for (const id of [1, 2_147_483_647]) assert.equal(isSchemaId(id), true);
    for (const id of [0, -1, 2_147_483_648, 1.5, NaN, "1", 1n, undefined]) assert.equal(isSchemaId(id), false);
  });
});
