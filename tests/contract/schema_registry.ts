/**
 * What a registry of schemas must do: `node:test` cases to run against an adapter (contract codecs 3, patterns 6).
 *
 * @module
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SchemaRegistryError, type SchemaRegistryErrorCode } from "../../src/errors.ts";
import type { ImportedSchema, RegisteredSchema, SchemaRegistry } from "../../src/ports/schema_registry.ts";
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

  "takes no text for two formats under one subject": async ({ registry, other }) => {
    const { id } = await registry.register("note", NOTE);
    const otherwise = { format: "json-schema", definition: NOTE.definition };
    for (const one of [registry, other]) {
      await rejects("ACEMQ_SCHEMA_CONFLICT", one.register("note", otherwise), '"avro"');
      await rejects("ACEMQ_SCHEMA_CONFLICT", one.register("note", otherwise, { id }), '"avro"');
      await rejects("ACEMQ_SCHEMA_NOT_FOUND", one.idFor("note", otherwise), '"note"');
    }
    assert.equal((await registry.register("another", otherwise)).format, "json-schema");
  },

  "lets one of two versions in that go with what stands and not with each other": async ({ registry, other }) => {
    for (let round = 0; round < 5; round++) {
      const subject = `set-${round}`;
      await registry.register(subject, letters("a"));
      const settled = await Promise.allSettled([
        registry.register(subject, letters("ab"), { compatibility: "backward" }),
        other.register(subject, letters("ac"), { compatibility: "backward" }),
      ]);
      assert.deepEqual(settled.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
      const [lost] = settled.flatMap((one) => one.status === "rejected" ? [one.reason as unknown] : []);
      assert.ok(lost instanceof SchemaRegistryError && lost.code === "ACEMQ_SCHEMA_INCOMPATIBLE", String(lost));
      assert.match(lost.findings.join(), /^cannot read version 2: [bc]$/);
      assert.equal((await registry.versions(subject)).length, 2);
    }
  },

  "throws what a definition throws when it is compared, and keeps nothing of it": async ({ registry }) => {
    await registry.register("note", NOTE);
    const broken = { ...spaced(1), unreadable: () => assert.fail("it cannot compare") };
    const isOwn = (error: unknown): boolean => (error as Error).message === "it cannot compare";
    await assert.rejects(registry.register("note", broken, { compatibility: "full" }), isOwn);
    assert.equal((await registry.register("note", spaced(2))).version, 2);
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

  "exports every schema by rising ids, and takes an import of what it has": async ({ registry, other }) => {
    assert.deepEqual(await registry.exportSchemas(), []);
    const all = [
      await registry.register("note", NOTE, { id: 30 }),
      await other.register("größe", spaced(1), { id: 7 }),
      await registry.register("note", spaced(2), { id: 12 }),
    ].toSorted((a, b) => a.id - b.id);
    for (const one of [registry, other]) {
      assert.deepEqual(await one.exportSchemas(), all);
      assert.deepEqual(await one.importSchemas(JSON.parse(JSON.stringify(all))), { added: 0, present: 3 });
    }
    assert.deepEqual(await other.exportSchemas(), all);
  },

  "imports ids, versions and times as they were, and goes on above them [SR-02]": async ({ registry, other }) => {
    const backup = [
      exported({ id: 900, subject: "note", version: 2, definition: spaced(1).definition }),
      exported({ id: 4, subject: "note", version: 1, definition: NOTE.definition }),
      exported({ id: 17, subject: "another", version: 5, definition: NOTE.definition, format: "json-schema" }),
    ];
    assert.deepEqual(await registry.importSchemas(backup), { added: 3, present: 0 });
    assert.deepEqual(await other.importSchemas(backup), { added: 0, present: 3 });
    for (const entry of backup) {
      const mark = await fingerprint(entry.definition);
      assert.deepEqual(await other.byId(entry.id), { ...entry, fingerprint: mark });
    }
    assert.deepEqual((await other.versions("note")).map(({ id }) => id), [4, 900]);
    assert.equal(await other.idFor("note", spaced(1)), 900);
    const { id, version } = await other.register("another", spaced(1));
    assert.ok(id > 900);
    assert.equal(version, 6);
  },

  "says now for what is imported without a time": async ({ registry }) => {
    const { registeredAtMs } = await registry.register("note", NOTE);
    const entry = exported({ id: 9, subject: "note", version: 2, definition: spaced(1).definition });
    await registry.importSchemas([{ ...entry, registeredAtMs: undefined }]);
    const { registeredAtMs: imported } = await registry.byId(9);
    assert.ok(imported !== undefined && registeredAtMs !== undefined && Math.abs(imported - registeredAtMs) < 60_000);
  },

  "imports nothing where anything of it has another meaning here [SR-01, SR-02]": async ({ registry, other }) => {
    const stands = await registry.register("note", NOTE, { id: 5 });
    const good = exported({ id: 50, subject: "fresh", version: 1, definition: NOTE.definition });
    const clashes: Readonly<Record<string, ImportedSchema>> = {
      "another text has the id": { ...stands, definition: spaced(1).definition, fingerprint: undefined },
      "another subject has the id": { ...stands, subject: "another" },
      "another format has the id": { ...stands, format: "json-schema" },
      "another version has the id": { ...stands, version: 2 },
      "the text has another id": { ...stands, id: 6, version: 2 },
      "the version has another id": exported({ id: 6, subject: "note", version: 1, definition: spaced(1).definition }),
      "a text that was cut short": {
        ...stands,
        id: 6,
        version: 2,
        definition: '"stri',
        fingerprint: stands.fingerprint,
      },
      "two meanings of one id within": exported({ id: 50, subject: "b", version: 1, definition: NOTE.definition }),
      "two ids of one text within": { ...good, id: 51, version: 2 },
      "two ids of one version within": { ...good, id: 51, definition: spaced(3).definition },
    };
    for (const [what, entry] of Object.entries(clashes)) {
      for (const entries of [[good, entry], [entry, good]]) {
        await assert.rejects(other.importSchemas(entries), (error: unknown) => {
          assert.ok(
            error instanceof SchemaRegistryError && error.code === "ACEMQ_SCHEMA_CONFLICT",
            `${what}: ${error}`,
          );
          return true;
        });
      }
    }
    assert.deepEqual(await other.exportSchemas(), [stands]);
    assert.ok((await registry.register("note", spaced(7))).id < 50);
  },

  "refuses to import what is no schema": async ({ registry }) => {
    const good = exported({ id: 50, subject: "fresh", version: 1, definition: NOTE.definition });
    const wrong = [
      undefined,
      "[]",
      [undefined],
      [good, { ...good, id: 0 }],
      [{ ...good, id: 2_147_483_648 }],
      [{ ...good, subject: "" }],
      [{ ...good, version: 0 }],
      [{ ...good, version: 1.5 }],
      [{ ...good, definition: "" }],
      [{ ...good, format: "f".repeat(33) }],
      [{ ...good, registeredAtMs: -1 }],
      [{ ...good, registeredAtMs: "now" }],
    ];
    for (const schemas of wrong) {
      await assert.rejects(registry.importSchemas(schemas as readonly ImportedSchema[]), (error: unknown) => {
        assert.ok(error instanceof TypeError || error instanceof RangeError, `${JSON.stringify(schemas)}: ${error}`);
        return true;
      });
    }
    assert.deepEqual(await registry.exportSchemas(), []);
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
    await assert.rejects(registry.exportSchemas({ signal }), isReason);
    await assert.rejects(registry.importSchemas([], { signal }), isReason);
    assert.deepEqual(await registry.versions("note"), []);
  },
};

function avro(definition: string): SchemaDefinition {
  return { format: "avro", definition };
}

/** A schema as another registry has it: registered long ago. */
function exported(
  { format = "avro", ...entry }: Omit<ImportedSchema, "format"> & { readonly format?: string },
): ImportedSchema & { readonly registeredAtMs: number } {
  return { ...entry, format, registeredAtMs: Date.parse("2024-02-29T12:34:56.789Z") };
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
