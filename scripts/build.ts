/**
 * Builds `dist/`, which is the npm package: compiled files, declarations, a manifest without tools, the documents.
 *
 * The manifest in the root carries the pinned runtimes of the tool chain; nobody who installs the library wants them.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import process from "node:process";
import { ROOT, TOOLS } from "./gate/tools.ts";

type Manifest = Readonly<Record<string, unknown>>;
type Conditions = Readonly<Record<string, string>>;

/** What of the root's manifest a user of the package has any use for. */
const KEPT: readonly string[] = [
  ...["name", "version", "description", "keywords", "license", "homepage", "repository", "bugs", "type"],
  ...["sideEffects", "engines", "bin", "dependencies", "peerDependencies", "peerDependenciesMeta"],
];

/** The manifest of the package, with its paths relative to `dist/`. */
export function packageManifest(root: Manifest): Manifest {
  const kept = Object.entries(root).filter(([name]) => KEPT.includes(name));
  const exports = Object.entries(root["exports"] as Record<string, Conditions>).map(([name, conditions]) => [
    name,
    Object.fromEntries(
      Object.entries(conditions).filter(([condition]) => condition !== "@acemq/source")
        .map(([condition, path]) => [condition, fromDist(path)]),
    ),
  ]);
  const browser = Object.entries(root["browser"] as Conditions).filter(([path]) => path.startsWith("./dist/"))
    .map(([path, instead]) => [fromDist(path), fromDist(instead)]);
  return { ...Object.fromEntries(kept), exports: Object.fromEntries(exports), browser: Object.fromEntries(browser) };
}

function fromDist(path: string): string {
  return path.replace("./dist/", "./");
}

function build(): void {
  const dist = `${ROOT}dist/`;
  rmSync(dist, { recursive: true, force: true });
  const { status } = spawnSync(TOOLS.tsc, ["-p", "tsconfig.build.json"], { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) throw new Error(`Cannot build 'dist': 'tsc' ended with ${status}`);
  const root = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as Manifest;
  writeFileSync(`${dist}package.json`, `${JSON.stringify(packageManifest(root), null, 2)}\n`);
  for (const document of ["README.md", "CHANGELOG.md", "LICENSE"]) {
    if (existsSync(ROOT + document)) cpSync(ROOT + document, dist + document);
  }
  console.log("Built dist/");
}

if (process.argv[1] === import.meta.filename) build();
