/**
 * What a registry of schemas must do: `node:test` cases to run against an adapter (contract codecs 3, patterns 6).
 *
 * @module
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SchemaRegistryError, type SchemaRegistryErrorCode } from "../../src/errors.ts";
import type { RegisteredSchema, SchemaRegistry } from "../../src/ports/schema_registry.ts";
import { fingerprint, type SchemaDefinition } from "../../src/schema/definition.ts";
import { contractOptions } from "./options.ts";

/** A registry without a schema in it, and another one that stands for a second process. */
export interface SchemaRegistryUnderTest {
  /** What the cases are about. */
  readonly registry: SchemaRegistry;
  /** Another one over the same schemas; the same one where there can be no other. */
  readonly other: SchemaRegistry;
  /** Removes everything. */
  readonly close: () => Promise<void>;
}

/** Options of {@linkcode schemaRegistryContract}. */
export interface SchemaRegistryContractOptions {
  /** Why the cases are skipped; `false` runs them. @default {false} */
  readonly skip?: string | false;
}

/**
 * Registers the cases that say what a registry of schemas must do.
 *
 * @example
 * ```ts
 * import { schemaRegistryContract } from "@acemq/amqp/contracts";
 * import { memorySchemaRegistry } from "@acemq/amqp/memory";
 *
 * schemaRegistryContract("memory", async () => {
 *   const registry = memorySchemaRegistry();
 *   return { registry, other: registry, close: async () => {} };
 * });
 * ```
 *
 * @param name what the cases are listed under
 */
export function schemaRegistryContract(
  name: string,
  open: () => Promise<SchemaRegistryUnderTest>,
  options: SchemaRegistryContractOptions = {},
): void {
  const { skip } = contractOptions(options);
  describe(`The contract of a schema registry on ${name}`, () => {
    for (const [title, body] of Object.entries(CASES)) it(title, { skip, timeout: 60_000 }, () => runCase(open, body));
  });
}

type Case = (under: SchemaRegistryUnderTest) => Promise<void>;

const ORDER: Readonly<SchemaDefinition> = avro(
  '{"type":"record","name":"Order","fields":[{"name":"id","type":"string"}]}',
);
const NOTE: Readonly<SchemaDefinition> = avro('"string"');

const CASES: Readonly<Record<string, Case>> = {
  "keeps what was registered as it is": async ({ registry, other }) => {
    const { registeredAtMs, ...kept } = await registry.register("order.placed", ORDER);
    assert.ok(registeredAtMs === undefined || Number.isSafeInteger(registeredAtMs));
    assert.deepEqual(kept, {
      id: 1,
      subject: "order.placed",
      version: 1,
      format: "avro",
      definition: ORDER.definition,
      fingerprint: await fingerprint(ORDER.definition),
    });
    assert.deepEqual(await other.byId(1), { ...kept, registeredAtMs });
  },

  "gives the next version the next number, and lists them oldest first": async ({ registry, other }) => {
    const [one, two] = [await registry.register("note", NOTE), await other.register("note", spaced(1))];
    const elsewhere = await registry.register("another", NOTE);
    assert.deepEqual([one.version, two.version, elsewhere.version], [1, 2, 1]);
    assert.deepEqual(await registry.versions("note"), [one, two]);
    assert.deepEqual(await other.latest("note"), two);
    assert.deepEqual(await registry.versions("nothing of that name"), []);
  },

  "gives one schema of one subject one id, whoever registers it and how often [AVR-05, AVR-09]": async (under) => {
    const { registry, other } = under;
    const first = await registry.register("note", NOTE);
    await other.register("note", spaced(1));
    for (const one of [registry, other]) assert.deepEqual(await one.register("note", NOTE), first);
    assert.equal((await registry.versions("note")).length, 2);
    assert.equal(await other.idFor("note", NOTE), first.id);
  },

  "tells schemas apart by every character, and the same text under two subjects": async ({ registry }) => {
    const ids = [
      await registry.register("a", avro('{"type":"string"}')),
      await registry.register("a", avro('{ "type": "string" }')),
      await registry.register("b", avro('{"type":"string"}')),
      await registry.register("A", avro('{"type":"string"}')),
      await registry.register("größe-№7 📦", avro('{"type":"string","doc":"größe 📦 \\\\ \' %s ? $1"}')),
    ].map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    const last = await registry.latest("größe-№7 📦");
    assert.equal(last.definition, '{"type":"string","doc":"größe 📦 \\\\ \' %s ? $1"}');
  },

  "keeps a schema of a hundred thousand characters": async ({ registry }) => {
    const long = avro(`{"type":"string","doc":"${"größe ".repeat(17_000)}"}`);
    const { id } = await registry.register("long", long);
    assert.equal((await registry.byId(id)).definition, long.definition);
  },

  "gives one id to twenty who register one schema at once [AVR-04]": async ({ registry, other }) => {
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => pick(turn, registry, other).register("note", NOTE)),
    );
    assert.equal(new Set(all.map(({ id }) => id)).size, 1);
    assert.equal((await registry.versions("note")).length, 1);
  },

  "gives twenty ids to twenty who register twenty schemas at once [AVR-04, SR-01]": async ({ registry, other }) => {
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, turn) => pick(turn, registry, other).register("note", spaced(turn))),
    );
    assert.equal(new Set(all.map(({ id }) => id)).size, 20);
    const versions = await other.versions("note");
    assert.deepEqual(versions.map(({ version }) => version), Array.from({ length: 20 }, (_, index) => index + 1));
    for (const schema of all) assert.deepEqual(await other.byId(schema.id), schema);
  },

  "registers under the id it is told, and goes on above it": async ({ registry, other }) => {
    assert.equal((await registry.register("note", NOTE, { id: 4_711 })).id, 4_711);
    assert.equal((await other.register("note", NOTE, { id: 4_711 })).version, 1);
    assert.equal((await other.byId(4_711)).definition, NOTE.definition);
    assert.ok((await other.register("note", spaced(1))).id > 0);
    const ids = [];
    for (let turn = 2; turn < 6; turn++) ids.push((await registry.register("note", spaced(turn))).id);
    assert.ok(!ids.includes(4_711) && new Set(ids).size === ids.length);
  },

  "gives no id another meaning [SR-01]": async ({ registry, other }) => {
    const { id } = await registry.register("note", NOTE);
    await rejects("ACEMQ_SCHEMA_CONFLICT", other.register("note", spaced(1), { id }), String(id));
    await rejects("ACEMQ_SCHEMA_CONFLICT", other.register("another", NOTE, { id }), String(id));
    await rejects("ACEMQ_SCHEMA_CONFLICT", registry.register("note", NOTE, { id: id + 1 }), String(id));
    assert.equal((await other.byId(id)).definition, NOTE.definition);
    await rejects("ACEMQ_SCHEMA_NOT_FOUND", other.byId(id + 1), String(id + 1));
    assert.equal((await registry.versions("note")).length, 1);
  },

  "takes ids that are in the range of the frame alone": async ({ registry }) => {
    assert.equal((await registry.register("note", NOTE, { id: 2_147_483_647 })).id, 2_147_483_647);
    for (const id of [0, -1, 1.5, 2_147_483_648, NaN, "7"]) {
      await assert.rejects(registry.register("note", spaced(1), { id: id as number }), RangeError, String(id));
      await assert.rejects(registry.byId(id as number), RangeError, String(id));
    }
  },

  "says of what it does not have that it does not have it [AVR-08]": async ({ registry }) => {
    await rejects("ACEMQ_SCHEMA_NOT_FOUND", registry.byId(77), "77");
    await rejects("ACEMQ_SCHEMA_NOT_FOUND", registry.latest("nobody's"), '"nobody\'s"');
    await rejects("ACEMQ_SCHEMA_NOT_FOUND", registry.idFor("nobody's", NOTE), '"nobody\'s"');
    await registry.register("note", NOTE);
    await rejects("ACEMQ_SCHEMA_NOT_FOUND", registry.idFor("note", spaced(1)), '"note"');
    assert.deepEqual((await registry.versions("note")).length, 1);
  },

  "refuses what it cannot keep": async ({ registry }) => {
    for (const subject of ["", "s".repeat(256), "a\0b", "\ud800", undefined, 7]) {
      await assert.rejects(registry.register(subject as string, NOTE), TypeError, String(subject).slice(0, 9));
      await assert.rejects(registry.versions(subject as string), TypeError);
      await assert.rejects(registry.idFor(subject as string, NOTE), TypeError);
    }
    const wrong = [undefined, "text", { format: "avro" }, { format: "", definition: "x" }, avro(""), avro("a\0b"), {
      format: "f".repeat(33),
      definition: "x",
    }];
    for (const definition of wrong) {
      await assert.rejects(registry.register("note", definition as SchemaDefinition), TypeError);
    }
    assert.deepEqual(await registry.versions("note"), []);
  },

  "holds a new version to what was asked for, and says what does not fit": async ({ registry, other }) => {
    await registry.register("set", letters("ab"));
    await other.register("set", letters("abc"), { compatibility: "backward" });
    const backward = registry.register("set", letters("ac"), { compatibility: "backward" });
    await rejects("ACEMQ_SCHEMA_INCOMPATIBLE", backward, "cannot read version 2: b", ["cannot read version 2: b"]);
    await rejects(
      "ACEMQ_SCHEMA_INCOMPATIBLE",
      registry.register("set", letters("abcd"), { compatibility: "forward" }),
      "version 2 cannot read it: d",
      ["version 2 cannot read it: d"],
    );
    await registry.register("set", letters("c"));
    await registry.register("set", letters("cd"), { compatibility: "backward" });
    await rejects(
      "ACEMQ_SCHEMA_INCOMPATIBLE",
      registry.register("set", letters("cde"), { compatibility: "backward_transitive" }),
      "version 1",
      ["cannot read version 1: a", "cannot read version 1: b", "cannot read version 2: a", "cannot read version 2: b"],
    );
    assert.equal((await registry.register("set", letters("c"), { compatibility: "full_transitive" })).version, 3);
    assert.equal((await other.versions("set")).length, 4);
  },

  "refuses to hold a schema to anything that it cannot compare": async ({ registry }) => {
    await registry.register("note", NOTE, { compatibility: "full" });
    await assert.rejects(registry.register("note", spaced(1), { compatibility: "backward" }), TypeError);
    const unknown = { compatibility: "sideways" as "none" };
    await assert.rejects(registry.register("note", spaced(1), unknown), TypeError);
    assert.equal((await registry.versions("note")).length, 1);
  },

  "does nothing for a signal that has aborted": async ({ registry }) => {
    const reason = new Error("no more");
    const signal = AbortSignal.abort(reason);
    const isReason = (error: unknown): boolean => error === reason;
    await assert.rejects(registry.register("note", NOTE, { signal }), isReason);
    await assert.rejects(registry.byId(1, { signal }), isReason);
    await assert.rejects(registry.latest("note", { signal }), isReason);
    await assert.rejects(registry.versions("note", { signal }), isReason);
    await assert.rejects(registry.idFor("note", NOTE, { signal }), isReason);
    assert.deepEqual(await registry.versions("note"), []);
  },
};

function avro(definition: string): SchemaDefinition {
  return { format: "avro", definition };
}

/** Other spellings of one schema: each is a schema of its own. */
function spaced(turn: number): SchemaDefinition {
  return avro(`"string"${" ".repeat(turn + 1)}`);
}

/** A format whose schemas are sets of letters: one reads another's data when it has all of its letters. */
function letters(definition: string): SchemaDefinition {
  return {
    format: "letters",
    definition,
    unreadable: (reader, writer) => [...writer].filter((letter) => !reader.includes(letter)),
  };
}

function pick(turn: number, registry: SchemaRegistry, other: SchemaRegistry): SchemaRegistry {
  return turn % 2 === 0 ? registry : other;
}

async function rejects(
  code: SchemaRegistryErrorCode,
  call: Promise<RegisteredSchema | number>,
  ...[words, findings = []]: [words: string, findings?: readonly string[]]
): Promise<void> {
  await assert.rejects(call, (error: unknown) => {
    assert.ok(error instanceof SchemaRegistryError, `${String(error)} is no SchemaRegistryError`);
    assert.equal(error.code, code);
    assert.match(error.message, /^Cannot \S.*$/);
    assert.ok(error.message.includes(words), `${error.message} does not say ${words}`);
    assert.deepEqual(error.findings, findings);
    return true;
  });
}

async function runCase(open: () => Promise<SchemaRegistryUnderTest>, body: Case): Promise<void> {
  const under = await open();
  try {
    await body(under);
  } finally {
    await under.close();
  }
}
