/** What the library says of itself has something behind it: a code that is raised, an event that is sent, a limit that is kept. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import ts from "typescript";
import { memoryBroker } from "../adapters/memory/mod.ts";
import { codecCatalog, type CodecName } from "../src/codec/codecs.ts";
import { openConnection } from "../src/connection.ts";
import { CodecMissingError, PublishError } from "../src/errors.ts";
import type { Broker, BrokerLimits } from "../src/ports/broker.ts";
import { METRICS } from "../src/telemetry/names.ts";
import { topology } from "../src/topology/topology.ts";
import { readSources, type Source, walk } from "./architecture/source.ts";
import { Faults, faultyBroker } from "./support/faulty_broker.ts";
import { deferred } from "./support/until.ts";

const ROOT = new URL("../", import.meta.url);
const LIBRARY = readSources(ROOT, ["src", "adapters"]);

/** The words of a union of strings; a member of it that is a union itself is followed. */
function wordsOf(union: string): string[] {
  const words: string[] = [];
  for (const { tree } of LIBRARY) {
    walk(tree, (node) => {
      if (!ts.isTypeAliasDeclaration(node) || node.name.text !== union) return;
      walk(node.type, (part) => {
        if (ts.isLiteralTypeNode(part) && ts.isStringLiteral(part.literal)) words.push(part.literal.text);
        if (ts.isTypeReferenceNode(part)) words.push(...wordsOf(part.typeName.getText()));
      });
    });
  }
  return words;
}

/** The string literals in expressions: what is done, not what is declared. */
function usedIn(sources: readonly Source[]): Set<string> {
  const used = new Set<string>();
  for (const { tree } of sources) {
    walk(tree, (node) => {
      if (ts.isStringLiteral(node) && !ts.isLiteralTypeNode(node.parent)) used.add(node.text);
    });
  }
  return used;
}

/** The members of an interface. */
function membersOf(name: string): string[] {
  const members: string[] = [];
  for (const { tree } of LIBRARY) {
    walk(tree, (node) => {
      if (!ts.isInterfaceDeclaration(node) || node.name.text !== name) return;
      members.push(...node.members.map((member) => member.name?.getText() ?? ""));
    });
  }
  return members;
}

/** How each limit a broker reports shows when a message, or a second one, goes beyond it. */
const LIMITS: Readonly<Record<string, () => Promise<void>>> = {
  maxHeaderBytes: async () => {
    const mq = await openConnection(memoryBroker({ maxHeaderBytes: 1_000 }));
    await assert.rejects(mq.publisher("", "q").send(1, { headers: { note: "x".repeat(1_000) } }), isRefused);
  },
  maxBodyBytes: async () => {
    const mq = await openConnection(memoryBroker({ maxBodyBytes: 100 }));
    await assert.rejects(mq.publisher("", "q", { codec: "bytes" }).send(new Uint8Array(101)), isRefused);
  },
  maxUnconfirmedPerLane: async () => {
    const [faults, held] = [new Faults(), deferred()];
    faults.holdPublishes = held.promise;
    const mq = await openConnection(limited(faultyBroker(memoryBroker(), faults), { maxUnconfirmedPerLane: 2 }));
    await mq.declare(topology().queue("q"));
    const sending = mq.publisher("", "q").sendAll([1, 2, 3]);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(faults.published.length, 2);
    held.resolve();
    assert.equal((await sending).length, 3);
  },
};

function isRefused(error: unknown): boolean {
  return error instanceof PublishError && error.code === "ACEMQ_PUBLISH_REFUSED";
}

/** The same broker with a limit of its own. */
function limited(broker: Broker, limits: BrokerLimits): Broker {
  return {
    open: async (options) =>
      new Proxy(await broker.open(options), {
        get: (target, name) => {
          const member: unknown = name === "limits" ? limits : Reflect.get(target, name, target);
          return typeof member === "function" ? member.bind(target) : member;
        },
      }),
  };
}

describe("what is reported has an API behind it", () => {
  const used = usedIn(LIBRARY.filter(({ path }) => path !== "src/telemetry/names.ts"));

  it("every code an error can have is raised [DOC-09]", () => {
    const codes = wordsOf("AceMqErrorCode");
    assert.ok(codes.length >= 15);
    assert.deepEqual(codes.filter((code) => !used.has(code)), []);
  });

  it("every event of a connection is sent by the AMQP adapter [DOC-09]", () => {
    const events = wordsOf("BrokerEvent");
    assert.ok(events.includes("lost") && events.includes("consumer_recovered"));
    const sent = usedIn(LIBRARY.filter(({ path }) => path.startsWith("adapters/amqp/")));
    assert.deepEqual(events.filter((event) => !sent.has(event)), []);
  });

  it("every metric and every outcome it can have is recorded [DOC-09]", () => {
    const names = [...Object.keys(METRICS), ...wordsOf("PublishOutcome"), ...wordsOf("ConsumeOutcome")];
    assert.deepEqual(names.filter((name) => !used.has(name)), []);
  });

  it("every name of a codec stands for one, or says what to hand in [DOC-09]", () => {
    const catalog = codecCatalog();
    const missing = wordsOf("CodecName").filter((name) => {
      try {
        return catalog.resolve(name as CodecName).contentType === "";
      } catch (error) {
        assert.ok(error instanceof CodecMissingError);
        assert.match(error.message, new RegExp(`hand ${name}Codec\\(\\) from "@acemq/amqp/${name}" to connect`));
        return true;
      }
    });
    assert.deepEqual(missing, ["xml", "yaml", "toml"]);
  });

  it("every limit of a broker that is named is tried here [DOC-09]", () => {
    assert.deepEqual(membersOf("BrokerLimits"), Object.keys(LIMITS));
  });

  for (const [name, isKept] of Object.entries(LIMITS)) it(`the limit ${name} is kept [DOC-09]`, isKept);
});
