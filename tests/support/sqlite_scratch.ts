/**
 * A SQLite file of one test, removed at the end.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A file that any number of handles can be opened on. */
export interface SqliteFile {
  readonly path: string;
  /** Another handle on it, as another process would have; closed with it. */
  readonly open: () => DatabaseSync;
  readonly close: () => void;
}

/** Makes a file, with a journal that lets one write while others read. */
export function sqliteFile(): SqliteFile {
  const folder = mkdtempSync(join(tmpdir(), "acemq-sqlite-"));
  const path = join(folder, "a.sqlite");
  const handles: DatabaseSync[] = [];
  const open = (): DatabaseSync => {
    const database = new DatabaseSync(path, { timeout: 0 });
    handles.push(database);
    return database;
  };
  open().exec("PRAGMA journal_mode = WAL");
  const close = (): void => {
    for (const handle of handles) if (handle.isOpen) handle.close();
    rmSync(folder, { recursive: true });
  };
  return { path, open, close };
}
