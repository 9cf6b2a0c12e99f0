/**
 * Reading XML into what JavaScript has: texts, objects, and a list where a name stands more than once (contract codecs 2.4).
 *
 * @module
 */

import { isUtf8 } from "../../src/codec/text_format.ts";
import { DecodeError } from "../../src/errors.ts";
import { assertXmlDepth } from "./depth.ts";
import type { XmlElementNode, XmlLibrary, XmlNode } from "./library.ts";
import { isBookkeeping, isDeclaration, Scope } from "./xml_name.ts";

/** How a document is read. */
export interface XmlReaderOptions {
  readonly exposeRoot: boolean;
  readonly maxDepth: number;
}

/** The value of a document. */
export function readXml(library: XmlLibrary, text: string, { exposeRoot, maxDepth }: XmlReaderOptions): unknown {
  assertXmlDepth(text, maxDepth);
  const root = rootOf(parse(library, text));
  const { name, content } = new Reader(text.includes("=")).root(root);
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

/** Walks the elements; the depth was bounded before. */
class Reader {
  readonly #hasAttributes: boolean;
  readonly #scope = new Scope();

  /** Most documents have no attributes at all, and looking for some takes longer than reading the element. */
  constructor(hasAttributes: boolean) {
    this.#hasAttributes = hasAttributes;
  }

  root(root: XmlElementNode): { readonly name: string; readonly content: unknown } {
    const names = this.#namesOf(root);
    this.#scope.enter(names);
    return { name: this.#scope.localName(root.name), content: this.#contentOf(root, names) };
  }

  #namesOf({ attributes }: XmlElementNode): readonly string[] {
    return this.#hasAttributes ? Object.keys(attributes) : NONE;
  }

  /** The text of a leaf; an object of the elements and the attributes of anything else. */
  #contentOf({ attributes, children }: XmlElementNode, names: readonly string[]): unknown {
    let object: Record<string, unknown> | undefined;
    for (let index = 0; index < children.length; index++) {
      const node = children[index] as XmlNode | XmlElementNode;
      if ("children" in node) this.#addElement(object ??= {}, node);
    }
    const isLeaf = object === undefined;
    for (const name of names) {
      const local = isDeclaration(name) ? name : this.#scope.localName(name);
      if (isDeclaration(name) || isBookkeeping(name)) continue;
      object ??= {};
      // An element of the same name stands before an attribute.
      if (!Object.hasOwn(object, local)) withMember(object, local, attributes[name]);
    }
    if (object === undefined) return textOf(children);
    const text = isLeaf ? textOf(children) : "";
    return text === "" ? object : withMember(object, "", text);
  }

  #addElement(object: Record<string, unknown>, element: XmlElementNode): void {
    const names = this.#namesOf(element);
    this.#scope.enter(names);
    addContent(object, this.#scope.localName(element.name), this.#contentOf(element, names));
    this.#scope.leave(names);
  }
}

const NONE: readonly string[] = [];

/** A name that stands a second time makes a list of its contents, which are no lists themselves. */
function addContent(object: Record<string, unknown>, name: string, content: unknown): void {
  const before = object[name];
  // What is there without having been put there is the prototype's.
  if (before === undefined || !Object.hasOwn(object, name)) withMember(object, name, content);
  else if (Array.isArray(before)) before.push(content);
  else withMember(object, name, [before, content]);
}

function textOf(children: readonly XmlNode[]): string {
  const [first] = children;
  if (children.length === 1 && first?.text !== undefined) return first.text;
  let text = "";
  for (const node of children) if (node.type === "text") text += node.text;
  return text;
}

function withMember(object: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  return object;
}
