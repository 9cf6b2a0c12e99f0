/**
 * Reading XML into what JavaScript has: texts, objects, and a list where a name stands more than once (contract codecs 2.4).
 *
 * @module
 */

import { isUtf8 } from "../../src/codec/text_format.ts";
import { DecodeError } from "../../src/errors.ts";
import { assertXmlDepth } from "./depth.ts";
import type { XmlElementNode, XmlLibrary, XmlNode } from "./library.ts";
import { type Attributes, isBookkeeping, isDeclaration, Scope } from "./xml_name.ts";

/** How a document is read. */
export interface XmlReaderOptions {
  readonly exposeRoot: boolean;
  readonly maxDepth: number;
}

/** The value of a document. */
export function readXml(library: XmlLibrary, text: string, { exposeRoot, maxDepth }: XmlReaderOptions): unknown {
  assertXmlDepth(text, maxDepth);
  const root = rootOf(parse(library, text));
  const scope = new Scope();
  scope.enter(root.attributes);
  const name = scope.localName(root.name);
  const content = contentOf(root, scope);
  return exposeRoot ? withMember({}, name, content) : content;
}

function parse({ parseXml }: XmlLibrary, text: string): readonly XmlNode[] {
  // XML's own first step; the library takes a step through the whole text for every carriage return.
  const lines = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  try {
    return parseXml(lines, { preserveDocumentType: true, preserveXmlDeclaration: true }).children;
  } catch (error) {
    // The library's words quote the body.
    const { line } = error as { readonly line?: number };
    throw new DecodeError(
      `Cannot read the body as XML: it is not valid XML${typeof line === "number" ? `, line ${line}` : ""}`,
    );
  }
}

function rootOf(nodes: readonly XmlNode[]): XmlElementNode {
  let root: XmlElementNode | undefined;
  for (const node of nodes) {
    if (node.type === "doctype") {
      throw new DecodeError("Cannot read the body as XML: it has a document type, which is not allowed");
    }
    if (node.type === "xmldecl" && !isUtf8(node.encoding?.toLowerCase() ?? "utf-8")) {
      throw new DecodeError("Cannot read the body as XML: it declares another encoding than UTF-8");
    }
    if (node.type === "element") root = node as XmlElementNode;
  }
  if (root === undefined) throw new DecodeError("Cannot read the body as XML: it has no element");
  return root;
}

/** The text of a leaf; an object of the elements and the attributes of anything else. The depth was bounded before. */
function contentOf({ attributes, children }: XmlElementNode, scope: Scope): unknown {
  let object: Record<string, unknown> | undefined;
  for (const node of children) {
    if (node.type !== "element") continue;
    const element = node as XmlElementNode;
    const declared = scope.enter(element.attributes);
    addElement(object ??= {}, scope.localName(element.name), contentOf(element, scope));
    scope.leave(declared);
  }
  const isLeaf = object === undefined;
  object = withAttributes(object, attributes, scope);
  if (!isLeaf) return object;
  const text = textOf(children);
  if (object === undefined) return text;
  return text === "" ? object : withMember(object, "", text);
}

/** A name that stands a second time makes a list of its contents, which are no lists themselves. */
function addElement(object: Record<string, unknown>, name: string, content: unknown): void {
  const before = Object.hasOwn(object, name) ? object[name] : undefined;
  if (before === undefined) withMember(object, name, content);
  else if (Array.isArray(before)) before.push(content);
  else withMember(object, name, [before, content]);
}

/** The attributes that are of the payload; an element of the same name stands before one. */
function withAttributes(
  object: Record<string, unknown> | undefined,
  attributes: Attributes,
  scope: Scope,
): Record<string, unknown> | undefined {
  for (const name in attributes) {
    if (isDeclaration(name)) continue;
    const local = scope.localName(name);
    if (isBookkeeping(name)) continue;
    object ??= {};
    if (!Object.hasOwn(object, local)) withMember(object, local, attributes[name]);
  }
  return object;
}

function textOf(children: readonly XmlNode[]): string {
  let text = "";
  for (const node of children) if (node.type === "text") text += node.text;
  return text;
}

function withMember(object: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  return object;
}
