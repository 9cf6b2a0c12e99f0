/**
 * Queues in PostgreSQL that others made. They move the payloads through their own tables to a handler that does nothing.
 *
 * @module
 */
import process from "node:process";
import postgres from "postgres";
import { runtimeName } from "../_harness.ts";
import type { Peer } from "./movers.ts";
import type { BenchPayload } from "./rows.ts";
import { POSTGRES_URL } from "./stores.ts";

/** Opens those that run here; they ask for Node 22, and are left out elsewhere. */
export async function openPeers(payloads: readonly BenchPayload[]): Promise<readonly Peer[]> {
  if (runtimeName() !== "node") {
    console.error(`pg-boss and graphile-worker are left out: they are made for Node, and this is ${runtimeName()}`);
    return [];
  }
  const [{ openPgBoss }, { openGraphileWorker }] = await Promise.all([
    import("./pg_boss.ts"),
    import("./graphile_worker.ts"),
  ]);
  const open = async (
    name: string,
    make: (schema: string, all: readonly BenchPayload[]) => Promise<Peer>,
  ): Promise<Peer> => {
    const schema = `acemq_bench_${name}_${process.pid}`;
    const peer = await make(schema, payloads);
    return {
      ...peer,
      close: async () => {
        await peer.close();
        await dropSchema(schema);
      },
    };
  };
  return [await open("boss", openPgBoss), await open("graphile", openGraphileWorker)];
}

async function dropSchema(schema: string): Promise<void> {
  const sql = postgres(POSTGRES_URL, { max: 1, onnotice: () => {} });
  await sql.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await sql.end();
}
