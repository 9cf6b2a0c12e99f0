/** An outbox in a SQLite file, in every layout another language may have made. */
import { virtualClock } from "../../../adapters/memory/mod.ts";
import type { OutboxLayoutName } from "../../../adapters/sql/mod.ts";
import { sqliteOutboxStore, sqliteSession } from "../../../adapters/sqlite/mod.ts";
import { MAX_ATTEMPTS, outboxStoreContract } from "../../contract/outbox_store.ts";
import { sqliteFile } from "../../support/sqlite_scratch.ts";

const LAYOUTS: readonly OutboxLayoutName[] = ["typescript", "ruby", "java", "python", "go", "dotnet"];

/** Whether leases stand in a table of their own, and rows go when they are published. */
function hasLeases(layout: OutboxLayoutName): boolean {
  return layout === "python" || layout === "go";
}

for (const layout of LAYOUTS) {
  outboxStoreContract(`SQLite, layout '${layout}'`, async () => {
    const file = sqliteFile();
    const clock = virtualClock();
    const handles = [file.open(), file.open(), file.open()] as const;
    // Nothing is crashed here, so nobody has to wait for the disk.
    for (const handle of handles) handle.exec("PRAGMA synchronous = OFF");
    // The clock stands still, so that chance alone would tell the tokens apart where a time is one.
    const session = sqliteSession(handles[0]);
    const store = sqliteOutboxStore(handles[1], { maxAttempts: MAX_ATTEMPTS, clock, layout, random: () => 0 });
    await store.createSchemaIfAbsent();
    // What the file says is all the second one knows.
    const other = sqliteOutboxStore(handles[2], { maxAttempts: MAX_ATTEMPTS, clock, random: () => 0.5 });
    return {
      store,
      other,
      transaction: (work) => session.transaction(work),
      outside: session,
      isOrdered: layout === "typescript",
      isWhole: layout !== "java" && layout !== "dotnet",
      keepsPublished: !hasLeases(layout),
      pass: (ms) => clock.advance(ms),
      close: async () => file.close(),
    };
  });
}
