/** Every framed body that another language wrote means what its recording says, or is refused for the reason it gives. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sealUnder } from "../../src/codec/encrypted.ts";
import { DecodeError } from "../../src/errors.ts";
import { bytesOfHex, fixtureCases, type Language, LANGUAGES } from "../support/fixtures.ts";
import { type FrameCase, frameCodec, recordedKeys } from "../support/recorded_frames.ts";

/** What the text of each refusal says. */
const WORDS: Readonly<Record<string, RegExp>> = {
  "decode":
    /body ends too early|left over|goes beyond|cannot be read as|no field|not UTF-8|no branch|lacks|Cannot read .* JSON/,
  "unknown-schema-id": /of schema \d+: (it is not registered|no schema can have this id)/,
  "not-avro-schema": /of schema \d+: it is of format "/,
  "bad-frame": /must begin with 00|ids begin with 1/,
  "fixed-reader-met-registered": /is the type of registered schemas/,
  "not-this-frame": /it was not written by an encrypting codec\. Wanted/,
  "retired-frame":
    /not written by an encrypting codec of today.* Go and \.NET libraries wrote up to 0\.3\.0, which are retired/,
  "too-short": /it is cut off\. It takes \d+ bytes at least, found \d+$/,
  "unknown-key-id": /the key ".+" is not on the keyring, which holds /,
  "unsafe-key":
    /^Cannot use the key of a claim check: |it has no key of a claim check in it$|is not in the claim check store$/,
  "missing-object": /^Cannot read the body: its payload ".+" is not in the claim check store$/,
  "wrong-key-or-tampered": /^Cannot open the body: it was sealed with another key, or changed on its way$/,
};

/** What seals a claim check is made by nobody: it is refused where it is made. */
function casesOf(language: Language): readonly FrameCase[] {
  return fixtureCases<FrameCase>("frames", language)
    .filter(({ frame, given: { inner } }) =>
      frame !== "encrypted" || !JSON.stringify(inner ?? "").includes("claim-check")
    );
}

for (const language of LANGUAGES) {
  describe(`frames written by ${language} [AVR-14, ENC-01, ENC-02, ENC-07]`, () => {
    const cases = casesOf(language);
    it("are recorded", () => assert.ok(cases.length >= 8, `${cases.length} cases`));
    for (const one of cases) {
      const { error } = (one.means ?? {}) as { readonly error?: string };
      it(`${one.name} ${error === undefined ? "means what it says" : `is refused: ${error}`}`, async () => {
        const codec = frameCodec(one);
        const reading = async (): Promise<unknown> =>
          await codec.decode(bytesOfHex(one.body_hex), { contentType: one.content_type ?? undefined });
        if (error === undefined) return assert.deepEqual(await reading(), one.means);
        await assert.rejects(reading, (thrown: unknown) => {
          assert.ok(thrown instanceof DecodeError);
          assert.match(thrown.message, WORDS[error] ?? /^$/, `${error}: ${thrown.message}`);
          return true;
        });
      });
    }
    for (const one of cases.filter(({ given: { nonceHex } }) => nonceHex !== undefined)) {
      it(`${one.name} is sealed to the same bytes`, async () => {
        const { nonceHex = "", plaintextHex = "" } = one.given;
        const key = await recordedKeys(one.given).current();
        const seal = await sealUnder(key);
        assert.deepEqual(await seal(bytesOfHex(plaintextHex), bytesOfHex(nonceHex)), bytesOfHex(one.body_hex));
      });
    }
  });
}
