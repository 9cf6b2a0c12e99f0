/**
 * Claims about types, checked when the tests are compiled.
 *
 * @module
 */

/** `true` when two types are the same, `any` being the same only as itself. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

/** `true` when a value of `A` may be handed over where `B` is asked for. */
export type Fits<A, B> = [A] extends [B] ? true : false;

/** Compiles only with `true`. */
export function claim<_Claim extends true>(): void {}
