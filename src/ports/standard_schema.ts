/**
 * Port: a schema of the caller's. The shape is Standard Schema's first version, which zod, valibot and arktype speak; it is written
 * down here because the core depends on nothing.
 *
 * @module
 */

/** A schema of any library that speaks Standard Schema, version 1. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** What the libraries have in common. */
  readonly "~standard": {
    /** The only version there is. */
    readonly version: 1;
    /** The library's name. */
    readonly vendor: string;
    /** The value as the schema makes it, or why it does not fit; at once or later. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** For the compiler alone. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a schema says of a value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One reason why a value does not fit, in the words of the schema's library. */
export interface StandardIssue {
  /** The library's words, or the schema author's. */
  readonly message: string;
  /** The members that lead to the place, outermost first; absent for the value itself. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a schema takes; `T` where there is none. */
export type InputOf<S, T> = S extends StandardSchema<infer Input, unknown> ? Input : T;

/** What a schema makes of it; `T` where there is none. */
export type OutputOf<S, T> = S extends StandardSchema<unknown, infer Output> ? Output : T;
