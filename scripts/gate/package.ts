/**
 * The npm package as somebody else gets it: built, packed, looked through for what resolvers trip over, and used.
 *
 * @module
 */
import type { Problem } from "@arethetypeswrong/core";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import process from "node:process";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { usePackage, usePackageAlone } from "./consumers.ts";
import type { Outcome } from "./outcome.ts";
import { failed, NONE, passed, sum } from "./outcome.ts";
import { check, entryPoints } from "./static.ts";
import { ROOT, run } from "./tools.ts";

/** Remarks about what is meant to be so: the contracts are tests that are published, and one file gives way in a browser. */
const BY_DESIGN: readonly string[] = ["USE_FILES", "USE_EXPORTS_OR_IMPORTS_BROWSER"];

/** Builds, packs and uses the package. */
export async function packageStep(): Promise<Outcome> {
  if (entryPoints().length === 0) return NONE;
  const folder = mkdtempSync(`${tmpdir()}/acemq-package-`);
  try {
    const built = await check("build", process.execPath, ["scripts/build.ts"]);
    if (built.failures.length > 0) return built;
    const tarball = await pack(folder);
    await unpack(folder, tarball);
    const alone = await usePackageAlone(folder);
    linkPeers(folder);
    return sum([built, await manifestRemarks(), await typeResolution(tarball), alone, await usePackage(folder)]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function pack(folder: string): Promise<string> {
  await expectSuccess("npm", ["pack", `${ROOT}dist`, "--silent", "--pack-destination", folder]);
  const [tarball = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  return `${folder}/${tarball}`;
}

/** The dependency is linked instead of installed, so that this needs no registry. */
async function unpack(folder: string, tarball: string): Promise<void> {
  const scope = `${folder}/node_modules/@acemq`;
  mkdirSync(scope, { recursive: true });
  await expectSuccess("tar", ["-xzf", tarball, "-C", scope]);
  await expectSuccess("mv", [`${scope}/package`, `${scope}/amqp`]);
  for (const linked of ["@cloudamqp", "@types"]) {
    symlinkSync(`${ROOT}node_modules/${linked}`, `${folder}/node_modules/${linked}`);
  }
}

/** The libraries of the formats, which whoever uses one installs. */
function linkPeers(folder: string): void {
  const { peerDependencies } = JSON.parse(readFileSync(`${ROOT}dist/package.json`, "utf8")) as {
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  for (const name of Object.keys(peerDependencies)) {
    mkdirSync(dirname(`${folder}/node_modules/${name}`), { recursive: true });
    symlinkSync(`${ROOT}node_modules/${name}`, `${folder}/node_modules/${name}`);
  }
}

/** What `publint` says of the manifest and of the files it names. */
async function manifestRemarks(): Promise<Outcome> {
  const { messages, pkg } = await publint({ pkgDir: `${ROOT}dist`, strict: true, pack: false });
  const remarks = messages.filter(({ code }) => !BY_DESIGN.includes(code))
    .map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
  return remarks.length === 0 ? passed(1) : failed("publint", remarks.join("; "));
}

/** Whether every resolver finds the types, and finds the right ones. */
async function typeResolution(tarball: string): Promise<Outcome> {
  const result = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
  if (!result.types) return failed("types of the package", "There are none");
  const problems = result.problems.filter((problem) => !isByDesign(problem));
  return problems.length === 0 ? passed(1) : failed("types of the package", JSON.stringify(problems));
}

/** The package is ESM alone, which a `require` takes since Node 22.12; a resolver of Node 10 knows no `exports`. */
function isByDesign(problem: Problem): boolean {
  const isForNode10 = problem.kind === "NoResolution" && problem.resolutionKind === "node10";
  return problem.kind === "CJSResolvesToESM" || isForNode10;
}

async function expectSuccess(command: string, args: readonly string[]): Promise<void> {
  const code = await run(command, args);
  if (code !== 0) throw new Error(`Cannot unpack the package: '${command}' ended with ${code}`);
}
