/**
 * Source files as the architecture rules see them: a path in the repository, the text, its syntax tree, its imports.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import ts from "typescript";

/** One `import`, `export … from`, `import(…)` or `import("…")` type. */
export interface Import {
  readonly specifier: string;
  readonly reexports: boolean;
}

/** A parsed file; `path` is relative to the repository and uses `/`. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
  readonly imports: readonly Import[];
}

/** A rule answers with one sentence for each violation. */
export type Rule = (source: Source) => string[];

export function parseSource(path: string, text: string): Source {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const imports: Import[] = [];
  walk(tree, (node) => {
    const found = importOf(node);
    if (found !== undefined) imports.push(found);
  });
  return { path, text, tree, imports };
}

/** Calls `visit` for every node, parents first. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** The repository path a relative specifier names, or `undefined` for any other specifier. */
export function targetOf(source: Source, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return posix.normalize(posix.join(posix.dirname(source.path), specifier));
}

/** "path:line: sentence", the form of every violation. */
export function violation(source: Source, node: ts.Node, sentence: string): string {
  const { line } = source.tree.getLineAndCharacterOfPosition(node.getStart(source.tree));
  return `${source.path}:${line + 1}: ${sentence}`;
}

/** Every TypeScript file at or below the given paths; a path that does not exist yet holds none. */
export function readSources(root: URL, paths: readonly string[]): Source[] {
  return paths.flatMap((path) => filesUnder(root, path))
    .filter((path) => path.endsWith(".ts"))
    .map((path) => parseSource(path, readFileSync(new URL(path, root), "utf8")));
}

/** The repository paths of all files at or below `path`, sorted. */
export function filesUnder(root: URL, path: string): string[] {
  const parent = new URL(path.includes("/") ? `${posix.dirname(path)}/` : "./", root);
  const entry = entriesOf(parent).find(({ name }) => name === posix.basename(path));
  if (entry === undefined) return [];
  if (!entry.isDirectory()) return [path];
  return entriesOf(new URL(`${path}/`, root)).map(({ name }) => name).sort()
    .flatMap((name) => filesUnder(root, `${path}/${name}`));
}

function entriesOf(folder: URL): { name: string; isDirectory(): boolean }[] {
  return readdirSync(folder, { withFileTypes: true });
}

function importOf(node: ts.Node): Import | undefined {
  if (ts.isImportDeclaration(node)) return importFrom(node.moduleSpecifier, false);
  if (ts.isExportDeclaration(node)) return importFrom(node.moduleSpecifier, true);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return importFrom(node.argument.literal, false);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return importFrom(node.arguments[0], false) ?? { specifier: "(computed)", reexports: false };
  }
  return undefined;
}

function importFrom(specifier: ts.Node | undefined, reexports: boolean): Import | undefined {
  if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return undefined;
  return { specifier: specifier.text, reexports };
}
