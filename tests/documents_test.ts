/** What the documents say can be looked up, and is so. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, it } from "node:test";
import { RUNTIMES } from "../scripts/gate/runners.ts";
import { filesUnder } from "./architecture/source.ts";

const ROOT = new URL("../", import.meta.url);
const PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", ...filesUnder(ROOT, "docs")]
  .filter((path) => path.endsWith(".md"));

const read = (path: string): string => readFileSync(new URL(path, ROOT), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly engines: { readonly node: string };
};

describe("the documents", () => {
  it("list the entry points there are, and no other [DOC-05]", () => {
    const listed = [...read("README.md").matchAll(/^\| `(@acemq\/amqp[^`]*)`/gm)].map(([, name]) => name);
    assert.deepEqual(listed, Object.keys(manifest.exports).map((subpath) => `@acemq/amqp${subpath.slice(1)}`));
  });

  it("claim the runtimes the gate runs [DOC-05]", () => {
    const readme = read("README.md");
    assert.match(readme, /The tests run on Deno 2\.9, Bun 1\.4, Node 22 and Node 24;/);
    assert.deepEqual([...RUNTIMES].sort(), ["bun", "deno", "node22", "node24"]);
    assert.match(readme, /\| Node .* 20 and later +\|/);
    assert.equal(manifest.engines.node, ">=20");
  });

  it("name only commands that exist [DOC-05]", () => {
    for (const path of PAGES) {
      for (const [command, name = ""] of read(path).matchAll(/\bnpm (?:run )?(demo|test|(?<=run )[\w-]+)/g)) {
        assert.ok(name in manifest.scripts, `${path}: ${command}`);
      }
      for (const [script] of read(path).matchAll(/(?:scripts|\.ci)\/[\w.-]+(?<!\.)/g)) {
        assert.ok(existsSync(new URL(script, ROOT)), `${path}: ${script}`);
      }
    }
  });

  it("link only to what is there", () => {
    for (const path of PAGES) {
      for (const [, link = ""] of read(path).matchAll(/\]\(([^)#\s]+)/g)) {
        if (/^https?:/.test(link)) continue;
        assert.ok(existsSync(new URL(posix.join(posix.dirname(path), link), ROOT)), `${path}: ${link}`);
      }
    }
  });
});

describe("the script that starts the services", () => {
  it("waits for a broker by speaking to it, never by reading a log since some time [DOC-12]", () => {
    const script = read("scripts/services.sh");
    assert.match(script, /await_amqp\(\)/);
    assert.doesNotMatch(script, /--since|docker|\bdate\b/);
  });
});
