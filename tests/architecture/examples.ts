/**
 * Every function a user can call shows itself running.
 *
 * That each exported symbol has a doc comment at all is `deno doc --lint`'s to say.
 *
 * @module
 */
import ts from "typescript";
import type { Source } from "./source.ts";
import { targetOf, violation } from "./source.ts";

/** The functions an entry point exports, itself or from other files, that have no `@example`. */
export function missingExamples(entry: Source, sources: readonly Source[]): string[] {
  return publicFunctions(entry, sources)
    .filter(({ node }) => !ts.getJSDocTags(node).some(({ tagName }) => tagName.text === "example"))
    .map(({ source, node }) => violation(source, node, `The public function '${node.name?.text}' has no @example`));
}

interface PublicFunction {
  readonly source: Source;
  readonly node: ts.FunctionDeclaration;
}

function publicFunctions(entry: Source, sources: readonly Source[]): PublicFunction[] {
  return entry.tree.statements.flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement)) return isExported(statement) ? [{ source: entry, node: statement }] : [];
    if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) return [];
    const names = exportedNames(statement);
    const target = targetOf(entry, (statement.moduleSpecifier as ts.StringLiteral).text);
    const source = sources.find(({ path }) => path === target);
    if (source === undefined) return [];
    return publicFunctions(source, sources).filter(({ node }) => names.includes(node.name?.text ?? ""));
  });
}

function exportedNames({ exportClause }: ts.ExportDeclaration): string[] {
  if (exportClause === undefined || !ts.isNamedExports(exportClause)) return [];
  return exportClause.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

/** Of an overloaded function the first signature carries the documentation. */
function isExported(node: ts.FunctionDeclaration): boolean {
  const isFirst = !node.parent.getChildren().flatMap((list) => list.getChildren()).some((other) =>
    ts.isFunctionDeclaration(other) && other.name?.text === node.name?.text && other.pos < node.pos
  );
  return isFirst && (node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false);
}
