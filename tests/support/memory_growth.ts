/**
 * Whether work keeps what it was given.
 *
 * @module
 */
import process from "node:process";

/**
 * The smallest growth of this process's memory, in MiB, that one of several runs of the same work leaves; the first that stays
 * below the bound ends it. What is kept adds to every run, while a collector that has not come round yet adds to some.
 */
export async function smallestGrowthMiB(
  work: () => Promise<void>,
  { belowMiB, runs }: { readonly belowMiB: number; readonly runs: number },
): Promise<number> {
  let smallest = Infinity;
  for (let run = 0; run < runs && smallest >= belowMiB; run++) {
    const before = process.memoryUsage().rss;
    await work();
    smallest = Math.min(smallest, (process.memoryUsage().rss - before) / 2 ** 20);
  }
  return smallest;
}
