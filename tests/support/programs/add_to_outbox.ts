/**
 * A program of its own: adds a message to an outbox in PostgreSQL for every id it reads, each in a transaction, and says so. It relays
 * nothing. It ends when its input does.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import postgres from "postgres";
import { postgresOutboxStore } from "../../../adapters/postgres/mod.ts";
import { outboundOf } from "../outbox_world.ts";
import { POSTGRES_URL } from "../services.ts";

const [table = ""] = process.argv.slice(2);
const sql = postgres(POSTGRES_URL, { max: 2, onnotice: () => {} });
const outbox = postgresOutboxStore(sql, { table });
await outbox.check();
console.log("ready");
for await (const id of createInterface({ input: process.stdin })) {
  await sql.begin((tx) => outbox.add(tx, outboundOf(id)));
  console.log(id);
}
await sql.end({ timeout: 5 });
