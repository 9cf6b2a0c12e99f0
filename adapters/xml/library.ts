/**
 * The part of parse-xml that is used here.
 *
 * @module
 */

/** A node of a document. */
export interface XmlNode {
  /** `element`, `text`, `pi`, and where they were asked for `doctype` and `xmldecl`. */
  readonly type: string;
  /** Of a text. */
  readonly text?: string;
  /** Of a declaration, as it stands there. */
  readonly encoding?: string | null;
}

/** An element. */
export interface XmlElementNode extends XmlNode {
  readonly name: string;
  /** By name, with its prefix; without a prototype. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlNode[];
}

/** What a document is read with. */
export interface XmlParseOptions {
  readonly preserveDocumentType: boolean;
  readonly preserveXmlDeclaration: boolean;
}

/** `import("@rgrove/parse-xml")`, version 5. */
export interface XmlLibrary {
  readonly parseXml: (text: string, options: XmlParseOptions) => { readonly children: readonly XmlNode[] };
}
