/**
 * A program of its own: claims ids against others and confirms what it wins, then prints the numbers of the ids it has won.
 *
 * It prints a line when it is ready, and begins with a line of input.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { StoreError } from "../../../src/errors.ts";
import { openSharedClaims } from "../shared_claims.ts";
import { deferred } from "../until.ts";

/** As a consumer would have them in hand. */
const AT_ONCE = 4;

const [address = "", count = "0", firstId = "0"] = process.argv.slice(2);
const begin = deferred();
const input = createInterface({ input: process.stdin }).on("line", () => begin.resolve());

const { store, close } = openSharedClaims(address);
await store.check();
console.log("ready");
await begin.promise;

const ids = Number(count);
const won: number[] = [];
const answers: Record<string, number> = { claimed: 0, in_progress: 0, already_confirmed: 0 };

/** SQLite lets whoever comes first have its file: with as many as here, one may wait in vain, and asks again. */
async function answerTo<T>(question: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await question();
    } catch (error) {
      if (!(error instanceof StoreError) || attempt === 10) throw error;
    }
  }
}

async function claim(id: number): Promise<void> {
  const answer = await answerTo(() => store.tryClaim(`m-${id}`));
  answers[answer.status] = (answers[answer.status] ?? 0) + 1;
  if (answer.status !== "claimed") return;
  won.push(id);
  if (await answerTo(() => store.confirm(`m-${id}`, answer.token)) !== "held") throw new Error(`m-${id} was lost`);
}

// Neighbours begin near each other, so that every id is wanted by several at a time.
const turns = Array.from({ length: ids }, (_, turn) => (turn + Number(firstId)) % ids);
while (turns.length > 0) await Promise.all(turns.splice(0, AT_ONCE).map(claim));
console.log(JSON.stringify({ won, answers }));
input.close();
await close();
