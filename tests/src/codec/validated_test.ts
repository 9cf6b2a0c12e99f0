/** A schema beside a codec: the three libraries that speak Standard Schema, and what none of them should say. */
import { type } from "arktype";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as v from "valibot";
import * as z from "zod";
import { jsonCodec } from "../../../src/codec/json.ts";
import { validatedCodec } from "../../../src/codec/validated.ts";
import { DecodeError, EncodeError, isRetryable, RetryableError } from "../../../src/errors.ts";
import type { Codec } from "../../../src/ports/codec.ts";
import type { StandardSchema } from "../../../src/ports/standard_schema.ts";

const LIBRARIES: Readonly<Record<string, StandardSchema<unknown, unknown>>> = {
  zod: z.object({ id: z.string(), lines: z.array(z.object({ sku: z.string(), count: z.number() })) }),
  valibot: v.object({ id: v.string(), lines: v.array(v.object({ sku: v.string(), count: v.number() })) }),
  arktype: type({ id: "string", lines: type({ sku: "string", count: "number" }).array() }),
};

const FITTING = { id: "A-19", lines: [{ sku: "b-7", count: 3 }] };
const MISFIT = { id: "A-19", lines: [{ sku: "b-7", count: 3 }, { sku: "b-8", count: "many" }] };

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const text = ({ body }: { readonly body: Uint8Array }): string => new TextDecoder().decode(body);

/** A schema that answers what a test tells it to. */
function answering(validate: (value: unknown) => unknown): StandardSchema<unknown, unknown> {
  const standard = { version: 1, vendor: "test", validate };
  return { "~standard": standard as StandardSchema<unknown, unknown>["~standard"] };
}

for (const [library, schema] of Object.entries(LIBRARIES)) {
  describe(`a codec with a schema of ${library}`, () => {
    const codec = validatedCodec(jsonCodec(), schema);

    it("writes and reads what fits", async () => {
      const encoded = await codec.encode(FITTING);
      assert.equal(text(encoded), JSON.stringify(FITTING));
      assert.deepEqual(await codec.decode(encoded.body, {}), FITTING);
    });

    it("refuses to write what does not, and says where", async () => {
      await assert.rejects(async () => await codec.encode(MISFIT), (error: unknown) => {
        assert.ok(error instanceof EncodeError);
        assert.match(error.message, /^Cannot send the payload: it does not fit the schema: lines\.1\.count: /);
        assert.deepEqual(error.issues.map(({ path }) => path), [["lines", 1, "count"]]);
        assert.match(error.issues[0]?.message ?? "", /number/i);
        return true;
      });
    });

    it("refuses to read what does not, and says where", async () => {
      await assert.rejects(async () => await codec.decode(bytes(MISFIT), {}), (error: unknown) => {
        assert.ok(error instanceof DecodeError);
        assert.match(error.message, /^Cannot accept the payload: it does not fit the schema: lines\.1\.count: /);
        assert.deepEqual(error.issues.map(({ path }) => path), [["lines", 1, "count"]]);
        return true;
      });
    });
  });
}

describe("a codec with a schema", () => {
  it("sends the payload as it was given, and hands on what the schema makes of it", async () => {
    const codec = validatedCodec(
      jsonCodec(),
      z.object({ due: z.string().transform((due) => new Date(due)), note: z.string().default("none") }),
    );
    const encoded = await codec.encode({ due: "2026-03-04T05:06:07.890Z" });
    assert.equal(text(encoded), '{"due":"2026-03-04T05:06:07.890Z"}');
    const due = new Date(Date.UTC(2026, 2, 4, 5, 6, 7, 890));
    assert.deepEqual(await codec.decode(encoded.body, {}), { due, note: "none" });
  });

  it("is as quick as its parts: no promise where neither waits", () => {
    const codec = validatedCodec(jsonCodec(), z.string());
    assert.equal("then" in codec.encode("a"), false);
    assert.equal(codec.decode(bytes("a"), {}), "a");
  });

  it("waits for a schema that takes its time", async () => {
    const known = z.string().refine((sku) => Promise.resolve(sku === "b-7"), "no such article");
    const codec = validatedCodec(jsonCodec(), known);
    assert.equal(text(await codec.encode("b-7")), '"b-7"');
    assert.equal(await codec.decode(bytes("b-7"), {}), "b-7");
    await assert.rejects(async () => await codec.encode("b-8"), /Cannot send the payload: .*: no such article$/);
    await assert.rejects(async () => await codec.decode(bytes("b-8"), {}), DecodeError);
  });

  it("says of what it depends on that it is away, so that the message is retried", async () => {
    const codec = validatedCodec(
      jsonCodec(),
      answering(() => Promise.reject(new RetryableError("The catalogue is away"))),
    );
    await assert.rejects(async () => await codec.decode(bytes("b-7"), {}), isRetryable);
  });

  it("asks the codec first: what is no JSON is no matter of the schema", () => {
    const codec = validatedCodec(jsonCodec(), answering(() => assert.fail("nothing to validate")));
    assert.throws(() => codec.decode(new TextEncoder().encode("{"), {}), /not valid JSON/);
  });

  it("claims and writes the types of its codec, and passes on what the codec is told", async () => {
    const seen: unknown[] = [];
    const inner: Codec = {
      contentType: "application/vnd.example",
      canDecode: (contentType) => contentType === "application/vnd.example",
      encode: () => ({ body: new Uint8Array(), contentType: "application/vnd.example; v=2", headers: { digest: "d" } }),
      decode: (_body, context) => seen.push(context.contentType, context.headers),
    };
    const codec = validatedCodec(inner, answering((value) => ({ value })));
    assert.equal(codec.contentType, "application/vnd.example");
    assert.deepEqual([codec.canDecode("application/vnd.example"), codec.canDecode(undefined)], [true, false]);
    const encoded = await codec.encode(1);
    assert.deepEqual([encoded.contentType, encoded.headers], ["application/vnd.example; v=2", { digest: "d" }]);
    await codec.decode(new Uint8Array(), { contentType: "a/b", headers: { digest: "d" } });
    assert.deepEqual(seen, ["a/b", { digest: "d" }]);
  });

  it("lists ten reasons at most in its text, and all of them beside it", async () => {
    const issues = Array.from({ length: 12 }, (_, index) => ({ message: "no", path: [{ key: index }, Symbol("s")] }));
    const codec = validatedCodec(jsonCodec(), answering(() => ({ issues })));
    await assert.rejects(async () => await codec.encode(1), (error: unknown) => {
      assert.ok(error instanceof EncodeError);
      assert.match(error.message, /; 9\.Symbol\(s\): no; 2 more$/);
      assert.equal(error.issues.length, 12);
      assert.deepEqual(error.issues[11], { path: [11, "Symbol(s)"], message: "no" });
      return true;
    });
  });

  it("refuses what fails without saying why", async () => {
    const codec = validatedCodec(jsonCodec(), answering(() => ({ issues: [] })));
    await assert.rejects(async () => await codec.decode(bytes(1), {}), DecodeError);
  });

  it("refuses an answer that is neither a value nor a reason, instead of handing on nothing", async () => {
    for (const answer of [undefined, null, true, {}, { issues: "all wrong" }]) {
      const codec = validatedCodec(jsonCodec(), answering(() => answer));
      await assert.rejects(async () => await codec.decode(bytes(1), {}), /answered with no value and no issues/);
      await assert.rejects(async () => await codec.encode(1), /answered with no value and no issues/);
    }
  });

  it("takes a value that is undefined for a value", async () => {
    const codec = validatedCodec(jsonCodec(), answering(() => ({ value: undefined })));
    assert.equal(await codec.decode(bytes(null), {}), undefined);
  });

  it("is refused at once where the schema does not speak Standard Schema", () => {
    for (const schema of [undefined, null, {}, { parse: () => {} }, { "~standard": {} }, "zod", () => true]) {
      assert.throws(() => validatedCodec(jsonCodec(), schema as never), {
        name: "TypeError",
        message: /^Cannot use option 'schema': it must speak Standard Schema/,
      });
    }
    const next = { "~standard": { version: 2, vendor: "test", validate: () => ({ value: 1 }) } };
    assert.throws(() => validatedCodec(jsonCodec(), next as never), {
      name: "TypeError",
      message: "Cannot use option 'schema': it must speak version 1 of Standard Schema, found 2",
    });
  });
});
