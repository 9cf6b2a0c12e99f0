/**
 * A relay process: drains a table once and says how many rows it published. It prints a line when it is ready, and begins with a line
 * of input.
 *
 * @module
 */
import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline";
import { connect } from "../../mod.ts";
import { AMQP_URL } from "../_clients/client.ts";
import { storeAt } from "./stores.ts";

const [address = "", table = ""] = process.argv.slice(2);
const input = createInterface({ input: process.stdin });
const begin = once(input, "line");
const { store, close } = storeAt(address, table);
const mq = await connect(AMQP_URL, { name: "bench-relay" });
await store.check();
console.log("ready");
await begin;
const { published } = await mq.relay(store).runOnce({ budgetMs: 600_000 });
console.log(String(published));
input.close();
await mq.close();
await close();
