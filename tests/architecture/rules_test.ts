/** Each architecture rule lets the good file through and catches the fault it is there for. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { missingExamples } from "./examples.ts";
import { adapterImports, contractImports, entryImports, importCycles, reachableFrom, srcImports } from "./layers.ts";
import { moduleLevel, readonlyTypes } from "./module_level.ts";
import { portableApis, runtimeGlobals, timeAndChance, uncheckedTypes } from "./platform.ts";
import { controlCharacters, exportStyle, fileSize, functionSize } from "./shape.ts";
import type { Rule } from "./source.ts";
import { parseSource } from "./source.ts";

function faults(rule: Rule, text: string, path = "src/message/envelope.ts"): number {
  return rule(parseSource(path, text)).length;
}

/** Each text is a file of its own; the first list passes, every one of the second has exactly one fault. */
function check(rule: Rule, path: string, texts: { passes: readonly string[]; fails: readonly string[] }): void {
  for (const text of texts.passes) assert.deepEqual(rule(parseSource(path, text)), [], text.slice(0, 200));
  for (const text of texts.fails) assert.equal(faults(rule, text, path), 1, text.slice(0, 200));
}

describe("the layers of src", () => {
  it("let a file import its own folder and lower layers only", () => {
    check(srcImports, "src/codec/json.ts", {
      passes: [
        'import type { Codec } from "../ports/codec.ts";',
        'import { a } from "./text.ts";',
        'export type { a } from "../errors.ts";',
      ],
      fails: [
        'import { publish } from "../publish/publisher.ts";',
        'import type { publish } from "../publish/publisher.ts";',
        'let a: import("../connection.ts").Connection;',
        'export { publish } from "../publish/publisher.ts";',
        'const a = await import("../publish/publisher.ts");',
      ],
    });
  });

  it("keep folders of one layer apart but for the listed ones, and patterns from each other", () => {
    check(srcImports, "src/patterns/outbox/relay.ts", {
      passes: ['import { a } from "./record.ts";', 'import { a } from "../../consume/consumer.ts";'],
      fails: ['import { a } from "../saga/saga.ts";', 'import { a } from "../../health/health.ts";'],
    });
    check(srcImports, "src/topology/topology.ts", {
      passes: ['import { rungName } from "../naming/queue_names.ts";', 'import { a } from "../retry/ladder.ts";'],
      fails: ['import { a } from "../slip/itinerary.ts";'],
    });
    check(srcImports, "src/naming/queue_names.ts", {
      passes: [],
      fails: ['import { a } from "../topology/topology.ts";'],
    });
    check(srcImports, "src/clock.ts", { passes: ['import { a } from "./errors.ts";'], fails: [] });
  });

  it("hold nothing from outside, and no path without its extension", () => {
    check(srcImports, "src/codec/json.ts", {
      passes: [],
      fails: [
        'import { Buffer } from "node:buffer";',
        'import fc from "npm:fast-check";',
        'import fc from "fast-check";',
        'import { a } from "../../adapters/amqp/mod.ts";',
        'import { a } from "../errors";',
        "const a = await import(name);",
      ],
    });
    assert.equal(faults(srcImports, "", "src/utils/misc.ts"), 1);
  });

  it("have no import cycle, type imports included", () => {
    const a = parseSource("src/a.ts", 'import type { B } from "./b.ts";');
    const b = parseSource("src/b.ts", 'import { C } from "./c.ts";');
    const c = parseSource("src/c.ts", 'import type { A } from "./a.ts";');
    const free = parseSource("src/c.ts", "export const C = 1;");
    assert.deepEqual(importCycles([a, b, c]), ["src/a.ts → src/b.ts → src/c.ts → src/a.ts"]);
    assert.deepEqual(importCycles([a, b, free]), []);
    assert.deepEqual([...reachableFrom("src/a.ts", [a, b, free])], ["src/a.ts", "src/b.ts", "src/c.ts"]);
  });
});

describe("what lies around src", () => {
  it("lets an adapter import layers 0 to 2, two files of the codecs, node: and its own library", () => {
    check(adapterImports, "adapters/amqp/connect.ts", {
      passes: [
        'import { AMQPClient } from "@cloudamqp/amqp-client";',
        'import { AMQPView } from "@cloudamqp/amqp-client/amqp-view";',
        'import { hostname } from "node:os";',
        'import type { Broker } from "../../src/ports/broker.ts";',
        'import { isText } from "../../src/codec/content_type.ts";',
      ],
      fails: [
        'import { json } from "../../src/codec/json.ts";',
        'import { a } from "../../src/publish/publisher.ts";',
        'import { a } from "../memory/mod.ts";',
        'import { a } from "../sql/session.ts";',
        'import postgres from "postgres";',
        'import { a } from "../../connect.ts";',
      ],
    });
    check(adapterImports, "adapters/sqlite/mod.ts", { passes: ['import { a } from "../sql/session.ts";'], fails: [] });
  });

  it("lets only connect.ts join src with the AMQP adapter, and never exports what is internal", () => {
    const join = 'import { amqpBroker } from "./adapters/amqp/mod.ts";';
    check(entryImports, "connect.ts", { passes: [join], fails: ['import { a } from "./adapters/memory/mod.ts";'] });
    check(entryImports, "core.ts", {
      passes: ['export { a } from "./src/errors.ts";'],
      fails: [join, 'export { a } from "./src/internal/bytes.ts";', 'import { a } from "node:net";'],
    });
  });

  it("keeps the exported contracts free of test libraries", () => {
    check(contractImports, "tests/contract/broker.ts", {
      passes: ['import { it } from "node:test";', 'import type { Broker } from "../../src/ports/broker.ts";'],
      fails: ['import fc from "fast-check";', 'import { a } from "../support/services.ts";'],
    });
  });
});

describe("module level", () => {
  it("holds declarations and fixed values", () => {
    check(moduleLevel, "src/message/envelope.ts", {
      passes: [
        "export const A = 1 + 2; const B = `x`; const C = 2n ** 63n - 1n;",
        'const A = ["a", { b: 1 }] as const;',
        "const A: readonly string[] = []; const B: Readonly<Record<string, number>> = { a: 1 };",
        'const A: ReadonlySet<string> = new Set(["a"]); const B = new TextEncoder(), C = new Uint8Array(0);',
        "const A = Object.freeze({ a: 1 }); const B: unique symbol = Symbol('b');",
        "const A = /^[a-z]+$/u; class B { static readonly C = 1; d = new Map(); } function e() { let f = 1; f++; }",
      ],
      fails: [
        "let a = 1;",
        "var a = 1;",
        "const a = new Map();",
        "const a = {};",
        "const a = new Uint8Array(1);",
        "const a: string[] = [];",
        "const a = [new Map()] as const;",
        "const a = /a/g;",
        "const a = () => 1;",
        "class A { static b = 1; }",
      ],
    });
  });

  it("takes a constant for fixed when every member of its type is readonly", () => {
    const types = "interface A { readonly b: 1; c(): 1 } type B = { readonly b: 1 } | { readonly c: 1 };" +
      "interface C { readonly b: 1; c: 1 } type D = { readonly b: 1 } | { c: 1 };";
    const fixedTypes = readonlyTypes([parseSource("src/a.ts", types)]);
    check((source) => moduleLevel(source, fixedTypes), "src/b.ts", {
      passes: ["const a: A = { b: 1 };", "const a: B = { b: 1 };"],
      fails: ["const a: C = { b: 1 };", "const a: D = { b: 1 };", "const a: A[] = [];"],
    });
  });

  it("runs nothing on import, but for the optional library of an adapter", () => {
    check(moduleLevel, "src/message/envelope.ts", {
      passes: [],
      fails: [
        "register();",
        "if (a) b();",
        "const a = compute();",
        "const a = Object.freeze([compute()]);",
        "class A { static { register(); } }",
        "const a = await load();",
      ],
    });
    const load = 'try { await import("avsc"); } catch (cause) { throw new CodecMissingError("avsc", { cause }); }';
    assert.equal(faults(moduleLevel, load, "adapters/avro/mod.ts"), 0);
    assert.equal(faults(moduleLevel, load, "adapters/avro/codec.ts"), 1);
    const keep =
      'const avsc = await import("avsc").catch((cause) => { throw new CodecMissingError("avsc", { cause }); });';
    assert.equal(faults(moduleLevel, keep, "adapters/avro/mod.ts"), 0);
    assert.notEqual(faults(moduleLevel, keep, "adapters/avro/codec.ts"), 0);
    assert.notEqual(faults(moduleLevel, keep.replace("const", "let"), "adapters/avro/mod.ts"), 0);
    assert.notEqual(faults(moduleLevel, 'const avsc = await import("avsc");', "adapters/avro/mod.ts"), 0);
    assert.equal(faults(moduleLevel, "try { start(); } catch { stop(); }", "adapters/avro/mod.ts"), 1);
  });
});

describe("the platform", () => {
  it("is the Web's: no global of a runtime", () => {
    check(runtimeGlobals, "src/codec/json.ts", {
      passes: [
        "const a = { process: 1 }.process;",
        "function a(process: () => void) { process(); }",
        "type A = { Buffer: 1 };",
      ],
      fails: [
        "Deno.cwd();",
        "process.env;",
        "let a: Buffer;",
        "console.log(1);",
        "globalThis.crypto;",
        "a = { process };",
      ],
    });
  });

  it("gives time and chance through src/clock.ts alone", () => {
    const fails = [
      "setTimeout(a, 1);",
      "Date.now();",
      "new Date();",
      "Date();",
      "Math.random();",
      "crypto.randomUUID();",
      "crypto.getRandomValues(a);",
      "AbortSignal.timeout(1);",
      "performance.now();",
    ];
    check(timeAndChance, "src/codec/json.ts", { passes: ["new Date(0);", "clock.now();", "Date.parse(a);"], fails });
    check(timeAndChance, "src/clock.ts", { passes: fails, fails: [] });
  });

  it("is what every supported runtime has", () => {
    check(portableApis, "src/codec/json.ts", {
      passes: ["const a = 1; let b;", "Promise.all([]);"],
      fails: [
        "Promise.withResolvers();",
        "Promise.try(a);",
        "bytes.toBase64();",
        "Temporal.Now;",
        "new DisposableStack();",
        "JSON.rawJSON('1');",
        "async function a() { await using b = c; }",
        "function a() { using b = c; }",
      ],
    });
  });

  it("is typed: no any and no check switched off", () => {
    check(uncheckedTypes, "src/codec/json.ts", {
      passes: ['const any = "any"; /** any */ let a: unknown;'],
      fails: [
        "let a: any;",
        "a as any;",
        "type A = Record<string, any>;",
        "// @ts-ignore\na();",
        "// deno-lint-ignore x\na();",
      ],
    });
  });
});

describe("the documentation", () => {
  it("shows every public function running", () => {
    const entry = parseSource("mod.ts", 'export { a, b as c } from "./src/a.ts"; export type { D } from "./src/a.ts";');
    const shown = "/**\n * A.\n *\n * @example\n * ```ts\n * a();\n * ```\n */\nexport function a(): void {}\n";
    const faultsWith = (text: string): number => missingExamples(entry, [parseSource("src/a.ts", text)]).length;
    assert.equal(faultsWith(`${shown}export function notListed() {} function b() {}`), 0);
    assert.equal(faultsWith(`${shown}/** B. */\nexport function b() {}`), 1);
    assert.equal(
      faultsWith("export function a(b: 1): void;\nexport function a(b: 2): void;\nexport function a() {}"),
      1,
    );
    assert.equal(missingExamples(parseSource("mod.ts", "export function a() {}"), []).length, 1);
  });
});

describe("the shape of a file", () => {
  const lines = (count: number, line: string): string => `${line}\n`.repeat(count);

  it("has a limit on code, on all lines, and on a function", () => {
    check(fileSize, "src/codec/json.ts", {
      passes: [lines(250, "a();"), lines(250, "a();") + lines(150, "// b")],
      fails: [lines(251, "a();"), lines(401, "// b")],
    });
    check(functionSize, "src/codec/json.ts", {
      passes: [`function a() {\n${lines(48, "b();")}}`, `function a() {\n${lines(48, "b();")}// c\n\n}`],
      fails: [`function a() {\n${lines(49, "b();")}}`, `class A { b() {\n${lines(49, "b();")}} }`],
    });
  });

  it("lists named exports, with few parameters and # for privacy", () => {
    check(exportStyle, "src/codec/json.ts", {
      passes: [
        "export { a };",
        "export function a(b: 1, c: 2, d: 3) {}",
        "class A { #b = 1; private constructor() {} }",
        "switch (a) { default: b(); }",
      ],
      fails: [
        "export default 1;",
        "export default function () {}",
        'export * from "./a.ts";',
        'export * as a from "./a.ts";',
        "export function a(b: 1, c: 2, d: 3, e: 4) {}",
        "class A { private b = 1; }",
      ],
    });
  });

  it("has no control character [DOC-15]", () => {
    assert.deepEqual(controlCharacters("a.ts", "tab\tand newline\n → é"), []);
    for (const code of [0x00, 0x08, 0x0D, 0x1B, 0x7F, 0x85, 0x202E, 0x2066, 0xFEFF]) {
      const found = controlCharacters("a.ts", `a\n${String.fromCodePoint(code)}`);
      assert.deepEqual(found, [`a.ts:2: Control character U+${code.toString(16).toUpperCase().padStart(4, "0")}`]);
    }
  });
});
