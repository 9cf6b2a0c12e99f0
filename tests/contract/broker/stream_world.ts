/**
 * What the cases about streams have in common.
 *
 * @module
 */

import type { HeaderValue } from "../../../src/message/header_value.ts";
import type { WireValue } from "../../../src/message/wire_value.ts";
import type { DeclareArguments } from "../../../src/topology/specs.ts";
import type { Reader, ReadOptions, World } from "./world.ts";

/** Makes a queue a stream. */
export const STREAM: DeclareArguments = { "x-queue-type": "stream" };

/** Declares a stream. */
export function streamIn(world: World, label: string, args: DeclareArguments = {}): Promise<string> {
  return world.queue(label, { ...STREAM, ...args });
}

/** Reads a stream from a place in it, a hundred entries at once unless the options say otherwise. */
export function readFrom(
  world: World,
  stream: string,
  { from, ...options }: ReadOptions & { readonly from?: HeaderValue | undefined } = {},
): Promise<Reader> {
  const args: DeclareArguments = from === undefined ? {} : { "x-stream-offset": from };
  return world.read(stream, { prefetch: 100, arguments: args, ...options });
}

/** Where the entries that a reader was given lie. */
export function offsetsOf({ deliveries }: Reader): readonly (WireValue | undefined)[] {
  return deliveries.map(({ message }) => message.headers["x-stream-offset"]);
}

/** Waits until a reader was given so many entries, and says which. */
export async function entriesOf(world: World, reader: Reader, count: number): Promise<readonly string[]> {
  await world.until(`${count} entries`, () => reader.bodies().length >= count);
  return reader.bodies();
}

/** Everything a stream has: a mark is added, and read up to. */
export async function allOf(world: World, stream: string): Promise<readonly string[]> {
  const reader = await readFrom(world, stream, { from: "first", prefetch: 1_000 });
  await world.fill(stream, "the mark");
  await world.until("the mark", () => reader.bodies().includes("the mark"));
  await reader.subscription.close();
  return reader.bodies().slice(0, -1);
}
