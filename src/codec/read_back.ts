/**
 * The type of what a format reads where something was written that it does not hold.
 *
 * @module
 */

/** What a format reads where these were written. */
export interface ReadBackTypes {
  /** Where a `Date` was. */
  readonly date: unknown;
  /** Where a `bigint` was. */
  readonly bigint: unknown;
  /** Where bytes were. */
  readonly bytes: unknown;
}

/** What is read where a `T` was written: `T` itself wherever the format holds all of it. */
export type ReadBack<T, As extends ReadBackTypes> = (
  unknown extends T ? T
    : T extends string | number | boolean | null | undefined ? T
    : T extends bigint ? As["bigint"]
    : T extends Date ? As["date"]
    : T extends ArrayBuffer | ArrayBufferView ? As["bytes"]
    : T extends { toJSON(): infer Written } ? ReadBack<Written, As>
    : T extends object ? { [Name in keyof T]: ReadBack<T[Name], As> }
    : never
) extends infer Read ? [Read] extends [T] ? T : Read : never;
