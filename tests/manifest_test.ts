/** The three manifests describe one package, and what they export is there. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import ts from "typescript";
import { packageManifest } from "../scripts/build.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

interface DenoManifest extends Manifest {
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
  readonly tasks: Readonly<Record<string, string>>;
}

interface NpmManifest extends Manifest {
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly browser: Readonly<Record<string, string>>;
}

const ROOT = new URL("../", import.meta.url);
const deno = read<DenoManifest>("deno.json");
const jsr = read<DenoManifest>("jsr.json");
const npm = read<NpmManifest>("package.json");

/** `connect` takes a URL or a broker in the root and a broker in the core: the one name that differs by design. */
const DIFFERS_BY_DESIGN: readonly string[] = ["connect"];

function read<M>(path: string): M {
  return JSON.parse(readFileSync(new URL(path, ROOT), "utf8")) as M;
}

describe("the manifests", () => {
  it("agree in name, version and licence", () => {
    const facts = ({ name, version, license }: Manifest): Manifest => ({ name, version, license });
    assert.deepEqual(facts(jsr), facts(deno));
    assert.deepEqual(facts(npm), facts(deno));
    assert.match(readFileSync(new URL("LICENSE", ROOT), "utf8"), /Apache License\s+Version 2\.0/);
  });

  it("agree in what they export", () => {
    assert.deepEqual(jsr.exports, deno.exports);
    const built = (path: string, extension: string): string =>
      path.replace("./", "./dist/").replace(/\.ts$/, extension);
    const expected = Object.entries(deno.exports).map(([subpath, path]) => [
      subpath,
      { "@acemq/source": path, "types": built(path, ".d.ts"), "default": built(path, ".js") },
    ]);
    assert.deepEqual(npm.exports, Object.fromEntries(expected));
  });

  it("pin the AMQP client to the one version whose recoveries are tested, far past the fortieth [REC-15]", () => {
    const version = npm.dependencies["@cloudamqp/amqp-client"];
    assert.match(version ?? "", /^\d+\.\d+\.\d+$/);
    const imports = Object.entries(deno.imports).filter(([name]) => name.startsWith("@cloudamqp/amqp-client"));
    for (const [, target] of imports) assert.match(target, new RegExp(`^npm:@cloudamqp/amqp-client@${version}(?:/|$)`));
    const installed = read<Manifest>("node_modules/@cloudamqp/amqp-client/package.json");
    assert.equal(installed.version, version);
  });

  it("export only files that exist", () => {
    const missing = Object.values(deno.exports).filter((path) => !existsSync(new URL(path, ROOT)));
    assert.deepEqual(missing, []);
  });

  it("ask for the library of a format only where that format is used, in the version that is tested", () => {
    const names = Object.keys(npm.peerDependencies);
    assert.ok(names.length >= 3);
    assert.deepEqual(npm.peerDependenciesMeta, Object.fromEntries(names.map((name) => [name, { optional: true }])));
    for (const [name, range] of Object.entries(npm.peerDependencies)) {
      assert.equal(range, `^${npm.devDependencies[name]}`);
      assert.equal(read<Manifest>(`node_modules/${name}/package.json`).version, npm.devDependencies[name]);
    }
  });

  it("name the same dependencies in the same versions", () => {
    const tested = Object.keys(npm.peerDependencies).map((name) => [name, npm.devDependencies[name]] as const);
    for (const [name, version] of [...Object.entries(npm.dependencies), ...tested]) {
      const specifiers = Object.entries(deno.imports).filter(([key]) => key === name || key.startsWith(`${name}/`));
      assert.ok(specifiers.length > 0, name);
      for (const [key, specifier] of specifiers) {
        assert.equal(specifier, `npm:${name}@${version}${key.slice(name.length)}`);
      }
    }
  });

  it("offer the same commands", () => {
    for (const command of ["demo", "test", "faults"]) {
      const program = npm.scripts[command]?.replace("node ", "") ?? "";
      assert.match(program, /^scripts\/run\.mjs \w+\/\w+\.ts$/);
      assert.equal(deno.tasks[command], `sh -c 'deno run -A ${program} "$@"' sh`);
    }
  });

  it("leave tools, scripts and sources out of the package that is published", () => {
    const published = packageManifest({ ...npm });
    const kept = ["name", "version", "license", "type", "sideEffects", "engines", "dependencies", "exports", "browser"];
    for (const field of [...kept, "peerDependencies", "peerDependenciesMeta"]) assert.ok(field in published, field);
    for (const field of ["private", "scripts", "devDependencies", "optionalDependencies", "allowScripts", "files"]) {
      assert.ok(!(field in published), field);
    }
    assert.deepEqual((published["exports"] as NpmManifest["exports"])["./core"], {
      types: "./core.d.ts",
      default: "./core.js",
    });
  });

  it("let the file that joins the AMQP client give way where there is no TCP, in the sources and in the package", () => {
    const built = { "./dist/connect.js": "./dist/no_tcp.js" };
    assert.deepEqual(npm.browser, { "./connect.ts": "./no_tcp.ts", ...built });
    assert.deepEqual(packageManifest({ ...npm })["browser"], { "./connect.js": "./no_tcp.js" });
  });
});

describe("the public names", () => {
  it("mean the same thing wherever they are exported, and none is a module [DOC-03]", async () => {
    const meanings = new Map<string, unknown>();
    for (const path of Object.values(deno.exports)) {
      const exported: Record<string, unknown> = await import(new URL(path, ROOT).href);
      for (const [name, value] of Object.entries(exported)) {
        assert.notEqual(value, undefined, `${path} exports nothing under '${name}'`);
        assert.notEqual(
          Object.prototype.toString.call(value),
          "[object Module]",
          `${path} exports a module as '${name}'`,
        );
        if (DIFFERS_BY_DESIGN.includes(name)) continue;
        assert.equal(meanings.get(name) ?? value, value, `'${name}' of ${path} shadows another`);
        meanings.set(name, value);
      }
    }
  });

  it("of the core are all in the root, types included, and mean the same there", () => {
    const [root, core] = [exportsOf("mod.ts"), exportsOf("core.ts")];
    for (const [name, origin] of core) {
      if (!DIFFERS_BY_DESIGN.includes(name)) assert.equal(root.get(name), origin, `'${name}' of the root`);
    }
    const added = [...root].filter(([name, origin]) => !core.has(name) && origin !== "./connect.ts");
    assert.deepEqual(added, [], "the root adds only what comes with the AMQP client");
  });
});

/** Every name an entry point lists, with the file it comes from. */
function exportsOf(path: string): Map<string, string> {
  const { statements } = ts.createSourceFile(path, readFileSync(new URL(path, ROOT), "utf8"), ts.ScriptTarget.Latest);
  return new Map(
    statements.filter(ts.isExportDeclaration).flatMap(({ exportClause, moduleSpecifier }) => {
      if (exportClause === undefined || !ts.isNamedExports(exportClause)) return [];
      const origin = moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : "";
      return exportClause.elements.map(({ name }) => [name.text, origin] as const);
    }),
  );
}
