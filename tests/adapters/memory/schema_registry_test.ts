/** Schemas in memory: the contract, and what a process alone may do with it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memorySchemaRegistry, virtualClock } from "../../../adapters/memory/mod.ts";
import { SchemaRegistryError } from "../../../src/errors.ts";
import { schemaRegistryContract } from "../../contract/schema_registry.ts";

schemaRegistryContract("memory", async () => {
  const registry = memorySchemaRegistry();
  return { registry, other: registry, close: async () => {} };
});

const NOTE = { format: "avro", definition: '"string"' };

describe("schemas in memory", () => {
  it("say when they were registered, and stay as they are", async () => {
    const clock = virtualClock();
    const registry = memorySchemaRegistry({ clock });
    const schema = await registry.register("note", NOTE);
    assert.equal(schema.registeredAtMs, clock.now());
    assert.throws(() => Object.assign(schema, { definition: '"long"' }), TypeError);
    assert.equal((await registry.byId(schema.id)).definition, '"string"');
    (await registry.versions("note") as unknown[]).length = 0;
    assert.equal((await registry.versions("note")).length, 1);
  });

  it("are counted by each registry for itself, above the highest id there is", async () => {
    const registry = memorySchemaRegistry();
    await registry.register("note", NOTE, { id: 100 });
    assert.equal((await registry.register("note", { ...NOTE, definition: '"long"' })).id, 101);
    assert.equal((await memorySchemaRegistry().register("note", NOTE)).id, 1);
  });

  it("end with the last id of the frame", async () => {
    const registry = memorySchemaRegistry();
    await registry.register("note", NOTE, { id: 2_147_483_647 });
    await assert.rejects(
      registry.register("another", NOTE),
      (error: unknown) => error instanceof SchemaRegistryError && error.code === "ACEMQ_SCHEMA_CONFLICT",
    );
    assert.equal((await registry.register("another", NOTE, { id: 5 })).id, 5);
  });
});
