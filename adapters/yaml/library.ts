/**
 * The part of js-yaml that is used here.
 *
 * @module
 */

/** How a scalar of one tag is read. */
export interface YamlScalarTag {
  readonly resolve: (source: string, isExplicit: boolean, tagName: string) => unknown;
}

/** How a mapping is put together. */
export interface YamlMapTag {
  readonly has: (carrier: Record<string, unknown>, key: unknown) => boolean;
  readonly addPair: (carrier: Record<string, unknown>, key: unknown, value: unknown) => string;
}

/** Which tags there are, and how each is read. */
export interface YamlSchema {
  readonly tags: readonly object[];
}

/** What a document is read with. */
export interface YamlLoadOptions {
  readonly schema?: YamlSchema;
  readonly maxDepth?: number;
  readonly maxAliases?: number;
}

/** `import("js-yaml")`, version 5. */
export interface YamlLibrary {
  load(text: string, options?: YamlLoadOptions): unknown;
  readonly CORE_SCHEMA: { withTags(...tags: object[]): YamlSchema };
  readonly NOT_RESOLVED: symbol;
  readonly intCoreTag: YamlScalarTag;
  readonly timestampTag: YamlScalarTag;
  readonly mapTag: YamlMapTag;
}
