/** The published package can be found by every resolver, and its declarations need no inference. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import ts from "typescript";
import { packageManifest } from "../scripts/build.ts";

const ROOT = new URL("../", import.meta.url);
const PACKAGE = "/app/node_modules/@acemq/amqp/";
const manifest = packageManifest(JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")));
const exported = manifest["exports"] as Readonly<Record<string, { readonly types: string; readonly default: string }>>;

/** What a user's compiler sees: the package, each file it exports, and one source file of the user's own. */
const host: ts.ModuleResolutionHost = {
  fileExists: (path) => path === `${PACKAGE}package.json` || declarations().includes(path),
  readFile: (path) => path === `${PACKAGE}package.json` ? JSON.stringify(manifest) : "",
  directoryExists: (path) => PACKAGE.startsWith(path) || path.startsWith(PACKAGE.slice(0, -1)),
};

function declarations(): string[] {
  return Object.values(exported).map(({ types }) => PACKAGE + types.replace("./", ""));
}

function resolve(specifier: string, options: ts.CompilerOptions, mode?: ts.ResolutionMode): string | undefined {
  return ts.resolveModuleName(specifier, "/app/use.ts", options, host, undefined, undefined, mode).resolvedModule
    ?.resolvedFileName;
}

describe("the types of the package", () => {
  const nodenext = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext };
  const bundler = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };

  it("are found under nodenext, from ESM and from CommonJS, and by a bundler [TS-03]", () => {
    for (const [subpath, { types }] of Object.entries(exported)) {
      const specifier = `@acemq/amqp${subpath.slice(1)}`;
      const expected = PACKAGE + types.replace("./", "");
      assert.equal(resolve(specifier, nodenext, ts.ModuleKind.ESNext), expected);
      assert.equal(resolve(specifier, nodenext, ts.ModuleKind.CommonJS), expected);
      assert.equal(resolve(specifier, bundler), expected);
    }
    assert.equal(resolve("@acemq/amqp/src/errors.ts", nodenext, ts.ModuleKind.ESNext), undefined);
  });

  it("come first in every export, since a compiler takes the first condition that fits", () => {
    for (const conditions of Object.values(exported)) assert.deepEqual(Object.keys(conditions), ["types", "default"]);
  });

  it("are written out in the sources: the compiler refuses what JSR calls slow types [TS-06]", () => {
    const { config } = ts.readConfigFile("tsconfig.json", () => readFileSync(new URL("tsconfig.json", ROOT), "utf8"));
    const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, "/");
    const slow = (source: string): number =>
      ts.transpileDeclaration(source, { compilerOptions: options, reportDiagnostics: true }).diagnostics?.length ?? 0;
    assert.equal(slow("export function a(b: number): number { return f(b); }"), 0);
    assert.equal(slow("export function a(b: number) { return f(b); }"), 1);
    assert.equal(slow("export const a = f(1);"), 1);
    const gate = readFileSync(new URL("scripts/gate/static.ts", ROOT), "utf8");
    assert.match(gate, /"publish", "--dry-run"/);
    assert.doesNotMatch(gate, /slow-types/);
  });
});
