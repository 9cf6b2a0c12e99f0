/**
 * The npm package as somebody else gets it: packed, unpacked beside its dependency, imported on every runtime, type-checked.
 *
 * @module
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import process from "node:process";
import type { Outcome } from "./outcome.ts";
import { failed, NONE, passed, skipped, sum } from "./outcome.ts";
import { check, entryPoints } from "./static.ts";
import { ROOT, run, TOOLS } from "./tools.ts";

const IMPORT_EVERYTHING = `
import { readFileSync } from "node:fs";
const { name, exports } = JSON.parse(readFileSync("node_modules/@acemq/amqp/package.json", "utf8"));
for (const subpath of Object.keys(exports)) {
  const specifier = name + subpath.slice(1);
  const names = Object.entries(await import(specifier));
  const hollow = names.filter(([, value]) => value === undefined || value?.[Symbol.toStringTag] === "Module");
  if (names.length === 0) throw new Error("Nothing is exported by " + specifier);
  if (hollow.length > 0) throw new Error(specifier + " exports no value under " + hollow.map(([name]) => name));
  console.log(specifier + ": " + names.length + " names");
}
`;

const IMPORTERS: readonly (readonly [keyof typeof TOOLS, readonly string[]])[] = [
  ["node20", []],
  ["node24", []],
  ["bun", []],
  ["deno", ["run", "--allow-read", "--allow-env"]],
];

/** Builds, packs and uses the package. */
export async function packageStep(): Promise<Outcome> {
  if (entryPoints().length === 0) return NONE;
  const folder = mkdtempSync(`${tmpdir()}/acemq-package-`);
  try {
    const built = await check("build", process.execPath, ["scripts/build.ts"]);
    if (built.failures.length > 0) return built;
    await unpack(folder);
    writeFileSync(`${folder}/use.mjs`, IMPORT_EVERYTHING);
    return sum([built, await importStep(folder), await typeStep(folder)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The dependency is linked instead of installed, so that this needs no registry. */
async function unpack(folder: string): Promise<void> {
  const scope = `${folder}/node_modules/@acemq`;
  mkdirSync(scope, { recursive: true });
  await expectSuccess("npm", ["pack", `${ROOT}dist`, "--silent", "--pack-destination", folder]);
  const tarball = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  await expectSuccess("tar", ["-xzf", `${folder}/${tarball}`, "-C", scope]);
  await expectSuccess("mv", [`${scope}/package`, `${scope}/amqp`]);
  for (const linked of ["@cloudamqp", "@types"]) {
    symlinkSync(`${ROOT}node_modules/${linked}`, `${folder}/node_modules/${linked}`);
  }
  writeFileSync(`${folder}/package.json`, '{ "type": "module", "private": true }\n');
}

async function importStep(folder: string): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const [runtime, args] of IMPORTERS) {
    const name = `import of the package on ${runtime}`;
    console.log(`-- ${name}`);
    if (!existsSync(TOOLS[runtime])) {
      outcomes.push(skipped(name, "no binary of this runtime for this platform"));
      continue;
    }
    const code = await run(TOOLS[runtime], [...args, "use.mjs"], { cwd: folder });
    outcomes.push(code === 0 ? passed(1) : failed(name, `Ended with ${code}`));
  }
  return sum(outcomes);
}

/** A strict user's compiler reads our declarations, and does not skip them. */
async function typeStep(folder: string): Promise<Outcome> {
  const manifest = readFileSync(`${folder}/node_modules/@acemq/amqp/package.json`, "utf8");
  const { exports } = JSON.parse(manifest) as { exports: Record<string, unknown> };
  const lines = Object.keys(exports).map((subpath, index) =>
    `import * as m${index} from "@acemq/amqp${subpath.slice(1)}";\nvoid m${index};\n`
  );
  writeFileSync(`${folder}/use.ts`, lines.join(""));
  const flags = ["--strict", "--noEmit", "--skipLibCheck", "false", "--module", "nodenext", "--target", "es2023"];
  const code = await run(TOOLS.tsc, [...flags, "--lib", "es2023,esnext.disposable,dom", "--types", "node", "use.ts"], {
    cwd: folder,
  });
  return code === 0 ? passed(1) : failed("declarations of the package", `'tsc' ended with ${code}`);
}

async function expectSuccess(command: string, args: readonly string[]): Promise<void> {
  const code = await run(command, args);
  if (code !== 0) throw new Error(`Cannot unpack the package: '${command}' ended with ${code}`);
}
