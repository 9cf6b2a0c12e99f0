/** An outbox in a SQLite file, in every layout another language may have made. */
import { virtualClock } from "../../../adapters/memory/mod.ts";
import type { OutboxLayoutName } from "../../../adapters/sql/mod.ts";
import { sqliteOutboxStore, sqliteSession } from "../../../adapters/sqlite/mod.ts";
import { MAX_ATTEMPTS, outboxStoreContract } from "../../contract/outbox_store.ts";
import { sqliteFile } from "../../support/sqlite_scratch.ts";

const LAYOUTS: readonly OutboxLayoutName[] = ["typescript", "ruby"];

for (const layout of LAYOUTS) {
  outboxStoreContract(`SQLite, layout '${layout}'`, async () => {
    const file = sqliteFile();
    const clock = virtualClock();
    const session = sqliteSession(file.open());
    const store = sqliteOutboxStore(file.open(), { maxAttempts: MAX_ATTEMPTS, clock, layout });
    await store.createSchemaIfAbsent();
    // What the file says is all the second one knows.
    const other = sqliteOutboxStore(file.open(), { maxAttempts: MAX_ATTEMPTS, clock });
    return {
      store,
      other,
      transaction: (work) => session.transaction(work),
      outside: session,
      isOrdered: layout === "typescript",
      isWhole: layout !== "java" && layout !== "dotnet",
      keepsPublished: layout !== "python" && layout !== "go",
      pass: (ms) => clock.advance(ms),
      close: async () => file.close(),
    };
  });
}
