/** The root `connect`: what it takes, and what it says of everything else. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connect } from "@acemq/amqp";

describe("connect", () => {
  const wrong: readonly (readonly [string, unknown, RegExp])[] = [
    ["nothing", undefined, /found undefined$/],
    ["null", null, /found null$/],
    ["an object that opens nothing", { url: "amqp://broker" }, /found object$/],
    ["a URL object", new URL("amqp://u:secret@broker"), /found a URL object: hand in its 'href'$/],
  ];
  for (const [what, target, found] of wrong) {
    it(`refuses ${what} before anything is dialled, and says what it wants`, async () => {
      // @ts-expect-error: the compiler refuses it as well
      await assert.rejects(connect(target), (error) => {
        assert.ok(error instanceof TypeError);
        assert.match(
          error.message,
          /^Cannot connect: the first argument must be an AMQP URL as text, or a broker such as/,
        );
        assert.match(error.message, found);
        return !error.message.includes("secret");
      });
    });
  }
});
