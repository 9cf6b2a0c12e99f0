/**
 * Nothing runs on import and nothing at module level changes.
 *
 * @module
 */
import ts from "typescript";
import type { Source } from "./source.ts";
import { violation, walk } from "./source.ts";

const READONLY_TYPE = /^(readonly\b|Readonly(Array|Map|Set)?<)|^unique symbol$/;
const STATELESS_CLASSES: readonly string[] = ["TextEncoder", "TextDecoder"];
const COLLECTIONS: readonly string[] = ["Map", "Set"];
const EMPTY_BYTES = /^new Uint8Array\(0?\)$/;
const PURE_CALLS: readonly string[] = ["Object.freeze", "Symbol", "Symbol.for"];

/** The types among the sources whose every member is readonly: a constant of such a type is fixed. */
export function readonlyTypes(sources: readonly Source[]): Set<string> {
  const names = new Set<string>();
  for (const { tree } of sources) {
    walk(tree, (node) => {
      if (ts.isInterfaceDeclaration(node) && node.members.every(isFixedMember)) names.add(node.name.text);
      if (ts.isTypeAliasDeclaration(node) && isFixedShape(node.type)) names.add(node.name.text);
    });
  }
  return names;
}

function isFixedMember(member: ts.TypeElement): boolean {
  return !ts.isPropertySignature(member) || hasModifier(member, ts.SyntaxKind.ReadonlyKeyword);
}

function isFixedShape(type: ts.TypeNode): boolean {
  if (ts.isTypeLiteralNode(type)) return type.members.every(isFixedMember);
  return (ts.isUnionTypeNode(type) || ts.isIntersectionTypeNode(type)) && type.types.every(isFixedShape);
}

/** Each top-level statement declares something, and what it declares is fixed and made of literals. */
export function moduleLevel(source: Source, fixedTypes: ReadonlySet<string> = new Set()): string[] {
  const isReadonly = (type: ts.TypeNode | undefined): boolean => {
    const text = type?.getText(source.tree) ?? "";
    return READONLY_TYPE.test(text) || fixedTypes.has(text.replace(/<.*$/s, ""));
  };
  return source.tree.statements.flatMap((statement) => statementFaults(source, statement, isReadonly));
}

/** Whether a declared type says that the value does not change. */
type IsReadonly = (type: ts.TypeNode | undefined) => boolean;

function statementFaults(source: Source, statement: ts.Statement, isReadonly: IsReadonly): string[] {
  if (ts.isVariableStatement(statement)) return variableFaults(source, statement, isReadonly);
  if (ts.isClassDeclaration(statement)) {
    return statement.members.flatMap((member) => memberFaults(source, member, isReadonly));
  }
  const declares = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) ||
    ts.isFunctionDeclaration(statement);
  return declares || isOptionalLibrary(source, statement) ? [] : [violation(source, statement, "This runs on import")];
}

function variableFaults(source: Source, statement: ts.VariableStatement, isReadonly: IsReadonly): string[] {
  const { declarationList } = statement;
  if (isOptionalLibrary(source, statement)) return [];
  const isDeclared = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword) ?? false;
  if (isDeclared) return [];
  if ((declarationList.flags & ts.NodeFlags.Const) === 0) {
    return [violation(source, statement, "A module-level variable can change")];
  }
  return declarationList.declarations.flatMap(({ type, initializer }) =>
    initializer === undefined ? [] : valueFaults(source, initializer, isReadonly(type))
  );
}

function memberFaults(source: Source, member: ts.ClassElement, isReadonly: IsReadonly): string[] {
  if (ts.isClassStaticBlockDeclaration(member)) return [violation(source, member, "This runs on import")];
  if (!ts.isPropertyDeclaration(member) || !hasModifier(member, ts.SyntaxKind.StaticKeyword)) return [];
  if (!hasModifier(member, ts.SyntaxKind.ReadonlyKeyword)) {
    return [violation(source, member, "A static field can change")];
  }
  return member.initializer === undefined ? [] : valueFaults(source, member.initializer, isReadonly(member.type));
}

/** An array or object is fixed only if its declared type says so, or `as const` does. */
function valueFaults(source: Source, value: ts.Expression, isReadonly: boolean): string[] {
  const inner = unwrap(value);
  if (ts.isArrowFunction(inner) || ts.isFunctionExpression(inner)) {
    return [violation(source, value, "A module-level function is a declaration")];
  }
  const isComposite = ts.isObjectLiteralExpression(inner) || ts.isArrayLiteralExpression(inner);
  if (isComposite && !isReadonly && !isConstAssertion(value)) {
    return [violation(source, value, "A module-level array or object needs 'as const' or a readonly type")];
  }
  return runningParts(source, inner, isReadonly);
}

/** Calls, constructions, assignments and awaits in a value, but for those known to have no effect. */
function runningParts(source: Source, value: ts.Expression, isReadonly: boolean): string[] {
  const faults: string[] = [];
  const visit = (node: ts.Node): void => {
    if (runs(node, isReadonly)) faults.push(violation(source, node, "This runs on import or keeps state"));
    else if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit);
  };
  visit(value);
  return faults;
}

function runs(node: ts.Node, isReadonly: boolean): boolean {
  if (ts.isCallExpression(node)) return !PURE_CALLS.includes(node.expression.getText());
  if (ts.isNewExpression(node)) {
    const name = node.expression.getText();
    return !STATELESS_CLASSES.includes(name) && !(isReadonly && COLLECTIONS.includes(name)) &&
      !EMPTY_BYTES.test(node.getText());
  }
  if (ts.isRegularExpressionLiteral(node)) return /[gy][a-z]*$/.test(node.text);
  return ts.isAwaitExpression(node) || ts.isTaggedTemplateExpression(node) || ts.isPostfixUnaryExpression(node) ||
    ts.isDeleteExpression(node) || (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind));
}

function isAssignment(kind: ts.SyntaxKind): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

/** The `mod.ts` of an adapter may look for its optional library when it is imported, and keep it. */
function isOptionalLibrary(source: Source, statement: ts.Statement): boolean {
  const keeps = ts.isVariableStatement(statement) && (statement.declarationList.flags & ts.NodeFlags.Const) !== 0;
  const text = statement.getText(source.tree);
  return /^adapters\/[^/]+\/mod\.ts$/.test(source.path) && (ts.isTryStatement(statement) || keeps) &&
    /\bawait import\(/.test(text) && /\bCodecMissingError\b/.test(text);
}

function isConstAssertion(value: ts.Expression): boolean {
  if (ts.isSatisfiesExpression(value) || ts.isParenthesizedExpression(value)) return isConstAssertion(value.expression);
  return ts.isAsExpression(value) && value.type.getText() === "const";
}

function unwrap(value: ts.Expression): ts.Expression {
  const isWrapper = ts.isAsExpression(value) || ts.isSatisfiesExpression(value) || ts.isParenthesizedExpression(value);
  return isWrapper ? unwrap(value.expression) : value;
}

function hasModifier(member: ts.PropertyDeclaration | ts.PropertySignature, kind: ts.SyntaxKind): boolean {
  return member.modifiers?.some((modifier) => modifier.kind === kind) ?? false;
}
