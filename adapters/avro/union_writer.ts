/**
 * Which branch of a union a value is of (contract codecs 2.7): the one it fits, or the one that is named: `{ "branch.name": value }`.
 *
 * @module
 */

import { describeKind } from "../../src/internal/option_kinds.ts";
import { MAX_DEPTH } from "./byte_reader.ts";
import { Fault } from "./fault.ts";
import { branchName, type UnionType } from "./schema.ts";
import { isEntries, type Writer } from "./writer.ts";

/** A branch, and the value it is to write. */
interface Choice {
  readonly index: number;
  readonly value: unknown;
}

/** What writes a union of these branches. */
export function unionWriter({ branches }: UnionType, writers: readonly Writer[]): Writer {
  const names = branches.map(branchName);
  const choices = (value: unknown, depth: number): readonly Choice[] => {
    const plain = writers.flatMap((writer, index) => writer.fits(value, depth) ? [{ index, value }] : []);
    const named = namedChoice(value, names);
    return named !== undefined && writers[named.index]?.fits(named.value, depth) ? [...plain, named] : plain;
  };
  return {
    may: (value) => isEntries(value) || writers.some((writer) => writer.may(value)),
    fits: (value, depth) => choices(value, depth).length === 1,
    write: (value, into) => {
      const { index, value: chosen } = onlyLook(value, names, writers) ??
        onlyFit(choices(value, MAX_DEPTH), value, names);
      into.whole(index);
      (writers[index] as Writer).write(chosen, into);
    },
  };
}

/** The branch that alone looks right needs no look inside: what does not fit is refused by it, and it says why. */
function onlyLook(value: unknown, names: readonly string[], writers: readonly Writer[]): Choice | undefined {
  let found = -1;
  for (let index = 0; index < writers.length; index++) {
    if (!(writers[index] as Writer).may(value)) continue;
    if (found >= 0) return undefined;
    found = index;
  }
  return found < 0 || namedChoice(value, names) !== undefined ? undefined : { index: found, value };
}

function onlyFit(choices: readonly Choice[], value: unknown, names: readonly string[]): Choice {
  const [only] = choices;
  if (only !== undefined && choices.length === 1) return only;
  if (only === undefined) throw new Fault(`it is a value of none of ${names.join(", ")}, found ${describeKind(value)}`);
  const several = choices.map(({ index }) => names[index]).join(" and of ");
  throw new Fault(`it is a value of ${several}: say of which, as { "${names[only.index]}": value }`);
}

/** What an object of one member says when the member is called as a branch is. */
function namedChoice(value: unknown, names: readonly string[]): Choice | undefined {
  if (!isEntries(value)) return undefined;
  const keys = Object.keys(value);
  const [key] = keys;
  if (key === undefined || keys.length !== 1) return undefined;
  const index = names.indexOf(key);
  return index < 0 ? undefined : { index, value: value[key] };
}
