/**
 * A program of its own: registers schemas against others, each as often as it takes, and prints the ids they have.
 *
 * It prints a line when it is ready, and begins with a line of input. Every third of its transactions is rolled back at the end.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { isRetryable } from "../../../src/errors.ts";
import { numbered, openSharedSchemas, rolledBack } from "../shared_schemas.ts";
import { deferred } from "../until.ts";

const [address = "", owner = "", count = "0"] = process.argv.slice(2);
const begin = deferred();
const input = createInterface({ input: process.stdin }).on("line", () => begin.resolve());

let transactions = 0;
const { registry, database } = openSharedSchemas(
  address,
  (session) => rolledBack(session, () => transactions++ % 3 === 1),
);
await registry.check();
console.log("ready");
await begin.promise;

async function idOf(number: number, of?: string): Promise<number> {
  for (let attempt = 1;; attempt++) {
    try {
      return (await registry.register("of many", numbered(number, of))).id;
    } catch (error) {
      if (!isRetryable(error) || attempt === 30) throw error;
    }
  }
}

const shared: number[] = [];
const own: number[] = [];
for (let number = 0; number < Number(count); number++) {
  const ids = await Promise.all([idOf(number), idOf(number, owner)]);
  shared.push(ids[0]);
  own.push(ids[1]);
}
console.log(JSON.stringify({ shared, own, rolledBack: Math.floor((transactions + 1) / 3) }));
input.close();
await database.close();
