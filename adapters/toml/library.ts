/**
 * The part of smol-toml that is used here.
 *
 * @module
 */

/** What the library makes of a date or a time. */
export interface TomlTime extends Date {
  /** Whether it names no moment: a date alone, a time alone, or both without an offset. */
  isLocal(): boolean;
}

/** What a document is read with. */
export interface TomlParseOptions {
  readonly integersAsBigInt: "asNeeded";
  readonly maxDepth: number;
}

/** `import("smol-toml")`, version 1.9. */
export interface TomlLibrary {
  readonly parse: (text: string, options: TomlParseOptions) => unknown;
}
