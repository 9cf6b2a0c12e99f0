/**
 * An object with other members in the place of some.
 *
 * @module
 */

/** Everything else is done by the object itself, its private members too. */
export function instead<T extends object>(inner: T, members: Partial<T>): T {
  return new Proxy(inner, {
    get: (target, name) => {
      if (Object.hasOwn(members, name)) return members[name as keyof T];
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
