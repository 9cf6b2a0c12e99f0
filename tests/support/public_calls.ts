/**
 * Every function and method of the public interface that takes an object of options, read from the sources.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import ts from "typescript";
import { readSources, type Source, targetOf } from "../architecture/source.ts";

/** A function, or a method as `Class.method`, and the options it has. */
export interface PublicCall {
  readonly name: string;
  readonly options: readonly string[];
}

/** Reads what the manifest exports. */
export function callsWithOptions(root: URL): readonly PublicCall[] {
  const { exports } = JSON.parse(readFileSync(new URL("deno.json", root), "utf8")) as {
    exports: Record<string, string>;
  };
  const sources = new Map(
    readSources(root, ["mod.ts", "core.ts", "connect.ts", "src", "adapters", "tests/contract"]).map((source) => [
      source.path,
      source,
    ]),
  );
  const found = new Map<string, PublicCall>();
  for (const entry of Object.values(exports)) {
    for (const declaration of exportedBy(entry.slice(2), sources)) {
      for (const call of callsOf(declaration, sources)) found.set(call.name, call);
    }
  }
  return [...found.values()].toSorted((one, other) => one.name < other.name ? -1 : 1);
}

type Sources = ReadonlyMap<string, Source>;

/** The functions and classes that a module exports, followed to where they are declared. */
function* exportedBy(path: string, sources: Sources): Generator<ts.Declaration> {
  const source = sources.get(path);
  if (source === undefined) throw new Error(`There is no ${path}`);
  for (const statement of source.tree.statements) {
    if (isExported(statement)) yield statement;
    if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) continue;
    if (!ts.isNamedExports(statement.exportClause) || statement.moduleSpecifier === undefined) continue;
    const target = targetOf(source, (statement.moduleSpecifier as ts.StringLiteral).text);
    const names = new Set(statement.exportClause.elements.map(({ name, propertyName }) => (propertyName ?? name).text));
    for (const declaration of exportedBy(target ?? "", sources)) {
      const { name } = declaration as ts.DeclarationStatement;
      if (name !== undefined && names.has(name.text)) yield declaration;
    }
  }
}

function isExported(statement: ts.Statement): statement is ts.FunctionDeclaration | ts.ClassDeclaration {
  return (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) &&
    statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

function* callsOf(declaration: ts.Declaration, sources: Sources): Generator<PublicCall> {
  if (ts.isFunctionDeclaration(declaration)) return yield* callOf(declaration.name?.text ?? "", declaration, sources);
  if (!ts.isClassDeclaration(declaration)) return;
  for (const member of declaration.members) {
    if (!ts.isMethodDeclaration(member) || !ts.isIdentifier(member.name)) continue;
    if (member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ProtectedKeyword) === true) continue;
    yield* callOf(`${declaration.name?.text}.${member.name.text}`, member, sources);
  }
}

/** An object of options comes last, and its type says so. */
function* callOf(name: string, { parameters }: ts.SignatureDeclaration, sources: Sources): Generator<PublicCall> {
  const type = parameters.at(-1)?.type;
  if (type === undefined || !isOfOptions(type)) return;
  const options = membersOf(type, sources);
  if (options.size > 0) yield { name, options: [...options].toSorted() };
}

function isOfOptions(type: ts.TypeNode): boolean {
  if (ts.isTypeLiteralNode(type)) return type.members.some(({ questionToken }) => questionToken !== undefined);
  if (ts.isIntersectionTypeNode(type)) return type.types.some(isOfOptions);
  if (!ts.isTypeReferenceNode(type)) return false;
  return /(Options|Sources)$/.test(type.typeName.getText()) || (type.typeArguments ?? []).some(isOfOptions);
}

function membersOf(type: ts.TypeNode, sources: Sources): ReadonlySet<string> {
  if (ts.isTypeLiteralNode(type)) return namesOf(type.members);
  if (ts.isIntersectionTypeNode(type)) return new Set(type.types.flatMap((part) => [...membersOf(part, sources)]));
  if (!ts.isTypeReferenceNode(type)) return new Set();
  if (type.typeName.getText() === "Pick") {
    const literals = type.typeArguments?.[1]?.getText().match(/\w+/g);
    return new Set(literals);
  }
  return membersOfNamed(type.typeName.getText(), sources);
}

function membersOfNamed(name: string, sources: Sources): ReadonlySet<string> {
  for (const { tree } of sources.values()) {
    for (const statement of tree.statements) {
      if (ts.isTypeAliasDeclaration(statement) && statement.name.text === name) {
        return membersOf(statement.type, sources);
      }
      if (!ts.isInterfaceDeclaration(statement) || statement.name.text !== name) continue;
      const parents = statement.heritageClauses?.flatMap(({ types }) =>
        types.map(({ expression }) => expression.getText())
      );
      const inherited = (parents ?? []).flatMap((parent) => [...membersOfNamed(parent, sources)]);
      return new Set([...namesOf(statement.members), ...inherited]);
    }
  }
  throw new Error(`No type is called ${name}`);
}

function namesOf(members: ts.NodeArray<ts.TypeElement>): ReadonlySet<string> {
  return new Set(members.map(({ name }) => name?.getText() ?? ""));
}
