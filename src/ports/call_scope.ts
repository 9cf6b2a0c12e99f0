/**
 * Port: knowing, at any await of a handler, that one is inside that handler.
 *
 * The Web platform has no such thing yet, so an adapter brings it. With it, closing a connection from inside one of its own
 * handlers does not wait for that handler; without it, such a close waits until the drain budget ends.
 *
 * @module
 */

/** Follows a value through everything a function calls and awaits. */
export interface CallScope {
  /** Calls `fn`; until it has settled, {@linkcode CallScope.current} gives `value` inside of it. */
  run<T>(value: object, fn: () => T): T;
  /** The value of the innermost running scope of the caller. */
  current(): object | undefined;
}
