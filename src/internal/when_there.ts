/**
 * Going on with a value that may be a promise.
 *
 * @module
 */

/** Goes on at once where nothing has to be waited for: a promise a message is not free. */
export function whenThere<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return isPromise(value) ? value.then(next) : next(value);
}

/** Whether a value has to be waited for. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
