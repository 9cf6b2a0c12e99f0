/**
 * The architecture, as far as a machine can hold it: every rule over every file.
 *
 * What each rule catches is shown in `architecture/rules_test.ts`.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { missingExamples } from "./architecture/examples.ts";
import {
  adapterImports,
  contractImports,
  entryImports,
  importCycles,
  reachableFrom,
  srcImports,
} from "./architecture/layers.ts";
import { moduleLevel, readonlyTypes } from "./architecture/module_level.ts";
import { portableApis, runtimeGlobals, timeAndChance, uncheckedTypes } from "./architecture/platform.ts";
import { controlCharacters, exportStyle, fileSize, functionSize } from "./architecture/shape.ts";
import type { Rule, Source } from "./architecture/source.ts";
import { filesUnder, readSources } from "./architecture/source.ts";

const ROOT = new URL("../", import.meta.url);
const ENTRIES = readSources(ROOT, ["mod.ts", "core.ts", "connect.ts"]);
const SRC = readSources(ROOT, ["src"]);
const ADAPTERS = readSources(ROOT, ["adapters"]);
const CONTRACTS = readSources(ROOT, ["tests/contract"]);
const LIBRARY = [...ENTRIES, ...SRC, ...ADAPTERS];
const TESTS = readSources(ROOT, ["tests"]);
const PROGRAMS = readSources(ROOT, ["examples", "bench", "scripts", "no_tcp.ts"]);
const TEXT_FILE = /\.(ts|mjs|json|md|sh|patch|sql)$/;
const RECORDED = "tests/interop/fixtures/";

function holds(rule: Rule, sources: readonly Source[]): void {
  assert.deepEqual(sources.flatMap(rule), []);
}

describe("the architecture", () => {
  it("keeps every file of src to its own folder and lower layers", () => holds(srcImports, SRC));
  it("keeps adapters to the ports and their own library", () => holds(adapterImports, ADAPTERS));
  it("joins src and the AMQP adapter in connect.ts alone", () => holds(entryImports, ENTRIES));
  it("keeps the exported contracts free of test libraries", () => holds(contractImports, CONTRACTS));

  it("keeps the AMQP client out of the core", () => {
    const reached = [...reachableFrom("core.ts", LIBRARY)];
    assert.deepEqual(reached.filter((path) => path.startsWith("adapters/") || path === "connect.ts"), []);
  });

  it("has no import cycle, type imports included", () => {
    assert.deepEqual(importCycles([...LIBRARY, ...TESTS, ...PROGRAMS]), []);
  });

  it("keeps nothing at module level that changes and runs nothing on import", () => {
    const fixedTypes = readonlyTypes(LIBRARY);
    holds((source) => moduleLevel(source, fixedTypes), LIBRARY);
  });

  it("names no global of a runtime in src", () => holds(runtimeGlobals, SRC));
  it("reads time, chance and timers in src/clock.ts alone", () => holds(timeAndChance, SRC));
  it("uses only what every supported runtime has", () => holds(portableApis, [...LIBRARY, ...TESTS]));
  it("has no any and switches no check off", () => holds(uncheckedTypes, LIBRARY));
  it("keeps files short", () => holds(fileSize, [...LIBRARY, ...PROGRAMS]));
  it("keeps functions short", () => holds(functionSize, [...LIBRARY, ...PROGRAMS]));
  it("lists named exports and hides with #", () => holds(exportStyle, [...LIBRARY, ...TESTS, ...PROGRAMS]));

  it("shows every public function running", () => {
    const entries = [...ENTRIES, ...ADAPTERS.filter(({ path }) => /^adapters\/[^/]+\/mod\.ts$/.test(path))];
    holds((entry) => missingExamples(entry, LIBRARY), entries);
  });

  it("has no control character in any file [DOC-15]", () => {
    const folders = ["src", "adapters", "tests", "examples", "bench", "scripts", "docs", ".ci"];
    const files = [...folders, "mod.ts", "core.ts", "connect.ts", "no_tcp.ts", "README.md", "CHANGELOG.md", "deno.json"]
      .flatMap((path) => filesUnder(ROOT, path))
      .filter((path) => TEXT_FILE.test(path) && !path.startsWith(RECORDED));
    assert.deepEqual(files.flatMap((path) => controlCharacters(path, readFileSync(new URL(path, ROOT), "utf8"))), []);
  });
});
