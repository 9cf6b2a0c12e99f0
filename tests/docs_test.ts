/** The pages of `docs/` and the README's table of features claim what there is: names, metrics, codes, events. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import * as contracts from "@acemq/amqp/contracts";
import * as memory from "@acemq/amqp/memory";
import * as postgres from "@acemq/amqp/postgres";
import * as sqlite from "@acemq/amqp/sqlite";
import * as root from "@acemq/amqp";
import { readSources } from "./architecture/source.ts";

const ROOT = new URL("../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), "utf8");
const pages = readdirSync(new URL("docs/", ROOT)).filter((name) => name.endsWith(".md") && name !== "README.md").sort();
const sources = readSources(ROOT, ["src", "adapters"]).map(({ text }) => text).join("\n");

/** The cells of the rows of every table below a heading. */
function rowsBelow(text: string, heading: string): string[][] {
  const section = text.split(/^## /m).find((part) => part.startsWith(heading)) ?? "";
  return section.split("\n").filter((line) => /^\| (?!-)/.test(line)).slice(1)
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

/** A page without its blocks of code. */
function proseOf(text: string): string {
  return text.replaceAll(/^```[^]*?^```$/gm, "");
}

/** What a piece of text has in backticks. */
function codeIn(text: string | undefined): string[] {
  return [...(text ?? "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

describe("the features the README lists", () => {
  const rows = rowsBelow(read("README.md"), "What is in it");

  it("start with names that are exported, and have a page each [DOC-05]", () => {
    assert.ok(rows.length > 5);
    const exported = new Set([root, memory, postgres, sqlite, contracts].flatMap((entry) => Object.keys(entry)));
    for (const [feature = "", names, page = ""] of rows) {
      assert.ok(codeIn(names).length > 0, feature);
      for (const name of codeIn(names)) assert.ok(exported.has(name), `${feature}: ${name}`);
      assert.match(page, /^\[[^\]]+\]\(docs\/[a-z-]+\.md\)$/, feature);
    }
  });

  it("are all there is a page about, beside the formats, the guarantees and the decisions [DOC-05]", () => {
    const linked = rows.map(([, , page = ""]) => /docs\/([a-z-]+\.md)/.exec(page)?.[1] ?? "");
    const others = pages.filter((page) => !page.startsWith("codec-"));
    assert.deepEqual([...linked, "decisions.md", "delivery-guarantees.md"].sort(), others);
  });
});

describe("the formats", () => {
  /** Those that have a name in the code, and those that are an import of their own whose codec is called like it. */
  const formats = async (): Promise<string[]> => {
    const [, union = ""] = /export type CodecName = (.+);/.exec(read("src/codec/codecs.ts")) ?? [];
    const names = [...union.matchAll(/"(\w+)"/g)].map(([, name = ""]) => name).filter((name) => name !== "string");
    const { exports } = JSON.parse(read("deno.json")) as { readonly exports: Readonly<Record<string, string>> };
    const imported: string[] = [];
    for (const subpath of Object.keys(exports).map((one) => one.slice(2)).filter((one) => /^\w+$/.test(one))) {
      if (`${subpath}Codec` in await import(`@acemq/amqp/${subpath}`)) imported.push(subpath);
    }
    return [...new Set([...names, ...imported])].sort();
  };

  it("have a page each, which the overview and the index link, and no other has one [DOC-05]", async () => {
    const expected = (await formats()).map((name) => `codec-${name}.md`);
    assert.ok(expected.length >= 6);
    assert.deepEqual(pages.filter((page) => page.startsWith("codec-")), expected);
    const overview = [...read("docs/codecs.md").matchAll(/\]\((codec-[a-z-]+\.md)\)/g)].map(([, page = ""]) => page);
    assert.deepEqual([...new Set(overview)].sort(), expected);
  });

  it("say what they can and cannot hold and what other languages see, with an example that runs [DOC-05]", async () => {
    for (const name of await formats()) {
      const page = read(`docs/codec-${name}.md`);
      for (const part of ["## What it can and cannot hold", "## What other languages see", "```ts runnable"]) {
        assert.ok(page.includes(part), `codec-${name}.md: ${part}`);
      }
    }
  });
});

describe("the documentation", () => {
  it("lists every page in its index, once", () => {
    const listed = [...read("docs/README.md").matchAll(/\]\(([a-z-]+\.md)\)/g)].map(([, page = ""]) => page);
    assert.deepEqual(listed.sort(), pages);
  });

  it("lists the metrics there are, with their kinds, units and labels [DOC-05]", () => {
    const listed = rowsBelow(read("docs/telemetry-and-health.md"), "Metrics")
      .map((
        [name, kind, unit, labels = ""],
      ) => [codeIn(name)[0], { kind, unit, labels: labels === "" ? [] : labels.split(", ") }]);
    assert.deepEqual(Object.fromEntries(listed), structuredClone(root.METRICS));
  });

  it("names no metric, log event or exchange that does not exist [DOC-05]", () => {
    const named = pages.flatMap((page) => codeIn(proseOf(read(`docs/${page}`))).map((name) => ({ page, name })))
      .filter(({ name }) => /^acemq\.[a-z._]+$/.test(name));
    assert.ok(named.length > 20);
    for (const { page, name } of named) {
      const family = `\`${name.slice(0, name.lastIndexOf(".") + 1)}\${`;
      assert.ok(sources.includes(`"${name}"`) || sources.includes(family), `${page}: ${name}`);
    }
  });

  it("lists every error code with a class that is exported, and no other code [DOC-05]", () => {
    const rows = read("docs/errors.md").split("\n").filter((line) => line.startsWith("| `ACEMQ_"))
      .map((line) => codeIn(line));
    const codes = new Set([...read("src/errors.ts").matchAll(/"(ACEMQ_[A-Z_]+)"/g)].map(([, code]) => code));
    assert.deepEqual(rows.map(([code]) => code).sort(), [...codes].sort());
    for (const [, name = ""] of rows) assert.ok(name in root, name);
  });

  it("lists every event of a connection, and no other [DOC-05]", () => {
    const listed = rowsBelow(read("docs/connection.md"), "Losing it").flatMap(([names]) => codeIn(names));
    const union = read("src/ports/broker.ts").split("export type BrokerEvent =")[1]?.split(";\n\n")[0] ?? "";
    const types = [...union.matchAll(/type: "(\w+)"/g)].map(([, type = ""]) => type);
    assert.ok(types.length > 5);
    assert.deepEqual(listed.sort(), types.sort());
  });
});
