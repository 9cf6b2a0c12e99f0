/**
 * A codec with a schema beside it: what does not fit is refused before it is sent, and set aside when it arrives.
 *
 * @module
 */

import { DecodeError, EncodeError, type SchemaIssue } from "../errors.ts";
import { describeKind } from "../internal/option_kinds.ts";
import { whenThere } from "../internal/when_there.ts";
import type { Codec } from "../ports/codec.ts";
import type { StandardIssue, StandardSchema } from "../ports/standard_schema.ts";

/** What fails is listed up to here: the error's text has to fit a header. */
const ISSUES_IN_TEXT = 10;

/**
 * `codec` with every payload looked at by `schema`. Sent is the payload as it was given, not what the schema makes of it: that is
 * what the schema reads on the other side. A handler gets what the schema made.
 *
 * @throws {TypeError} something that does not speak Standard Schema
 */
export function validatedCodec(codec: Codec, schema: StandardSchema<unknown, unknown>): Codec {
  const { validate } = standardOf(schema);
  const words = codec.isSealed === true ? hidden : describeIssues;
  return {
    contentType: codec.contentType,
    canDecode: (contentType) => codec.canDecode(contentType),
    encode: (payload) =>
      whenThere(validate(payload), (result) => {
        valueOf(result, cannotSend, words);
        return codec.encode(payload);
      }),
    decode: (body, context) =>
      whenThere(
        codec.decode(body, context),
        (payload) => whenThere(validate(payload), (result) => valueOf(result, cannotAccept, words)),
      ),
  };
}

function cannotSend(text: string, issues: readonly SchemaIssue[]): EncodeError {
  return new EncodeError(`Cannot send the payload: ${text}`, { issues });
}

function cannotAccept(text: string, issues: readonly SchemaIssue[]): DecodeError {
  return new DecodeError(`Cannot accept the payload: ${text}`, { issues });
}

function standardOf(schema: unknown): StandardSchema<unknown, unknown>["~standard"] {
  const standard = isObject(schema) ? (schema as Readonly<Record<string, unknown>>)["~standard"] : undefined;
  if (isObject(standard) && "validate" in standard && typeof standard.validate === "function") {
    const { version, vendor, validate } = standard as StandardSchema<unknown, unknown>["~standard"];
    if (version === 1) return { version, vendor, validate: (value) => validate.call(standard, value) };
    throw new TypeError(`Cannot use option 'schema': it must speak version 1 of Standard Schema, found ${version}`);
  }
  throw new TypeError(
    `Cannot use option 'schema': it must speak Standard Schema, as zod 3.24, valibot 1 and arktype 2 do, found ${
      describeKind(schema)
    }`,
  );
}

/** A schema of arktype is a function. */
function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

type Refusal = (text: string, issues: readonly SchemaIssue[]) => Error;

/** How what does not fit is told. */
type Words = (issues: readonly SchemaIssue[]) => string;

/** The value of a result. Another library's answer is looked at as what it is: anything. */
function valueOf(result: unknown, refusal: Refusal, words: Words): unknown {
  if (isObject(result)) {
    const { issues } = result as { readonly issues?: unknown };
    if (issues === undefined && "value" in result) return result.value;
    if (Array.isArray(issues)) {
      const told = Array.from<StandardIssue, SchemaIssue>(issues, issueOf);
      throw refusal(`it does not fit the schema: ${words(told)}`, words === hidden ? [] : told);
    }
  }
  throw refusal("the schema answered with no value and no issues", []);
}

/** Plain arrays, whatever the library's are. */
function issueOf({ message, path = [] }: StandardIssue): SchemaIssue {
  return { message, path: Array.from(path, (step) => placeOf(typeof step === "object" ? step.key : step)) };
}

function placeOf(key: PropertyKey): string | number {
  return typeof key === "symbol" ? String(key) : key;
}

/** Of what was sealed neither a value nor a name is told: both may stand in the schema's words. */
function hidden({ length }: readonly SchemaIssue[]): string {
  return `${length} ${length === 1 ? "place does" : "places do"} not, which an error about a sealed body does not name`;
}

function describeIssues(issues: readonly SchemaIssue[]): string {
  const told = issues.slice(0, ISSUES_IN_TEXT).map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`
  );
  const more = issues.length - told.length;
  const list = more > 0 ? [...told, `${more} more`] : told;
  return list.length === 0 ? "it does not say why" : list.join("; ");
}
