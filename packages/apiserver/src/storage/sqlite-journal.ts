/** Implements the journal in one SQLite file. */
import { join } from "node:path";
import { openDatabase } from "#platform/database";
import type { Database } from "../platform/database.ts";
import type { Journal, JournalEntry } from "./journal.ts";
import { makePrivate, privateFile, privateFolder } from "./private-files.ts";
import { Stored } from "./stored.ts";

interface Row {
  readonly collection: string;
  readonly key: string;
  readonly version: number;
  readonly json: string;
}

/**
 * Stores the objects in `DIR/objects.sqlite`.
 *
 * The write-ahead log is flushed to the disk with every commit, so neither kill -9 nor a power failure loses an
 * acknowledged write. Without the flush, only a failure of the machine does.
 */
export class SqliteJournal implements Journal {
  readonly #database: Database;
  readonly #append: (part: { readonly entries: readonly JournalEntry[]; readonly last: number }) => void;

  /** @param durable whether each commit is flushed to the disk. @default true */
  constructor(folder: string, durable = true) {
    privateFolder(folder);
    const file = join(folder, "objects.sqlite");
    // The files that SQLite creates beside it are as private as the file itself.
    privateFile(file);
    for (const end of ["-wal", "-shm"]) makePrivate(`${file}${end}`);
    const database = openDatabase(file);
    // Only one server may use the folder, because two would overwrite each other's data.
    database.run("PRAGMA locking_mode = EXCLUSIVE");
    database.run(`PRAGMA synchronous = ${durable ? "FULL" : "OFF"}`);
    database.run("PRAGMA journal_mode = WAL");
    database.run(
      "CREATE TABLE IF NOT EXISTS object (collection TEXT, key TEXT, version INTEGER, json TEXT, PRIMARY KEY (collection, key)) WITHOUT ROWID",
    );
    database.run("CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER)");
    const put = database.query("INSERT OR REPLACE INTO object (collection, key, version, json) VALUES (?, ?, ?, ?)");
    const remove = database.query("DELETE FROM object WHERE collection = ? AND key = ?");
    const setVersion = database.query("INSERT OR REPLACE INTO state (id, version) VALUES (1, ?)");
    this.#database = database;
    this.#append = database.transaction(({ entries, last }) => {
      for (const { collection, event } of entries) {
        const { key, version, json } = event.stored;
        if (event.type === "DELETED") remove.run(collection, key);
        else put.run(collection, key, version, json);
      }
      setVersion.run(last);
    });
  }

  load(): { version: number; objects: Iterable<{ collection: string; stored: Stored }> } {
    const state = this.#database.query<{ version: number }>("SELECT version FROM state").get();
    const rows = this.#database.query<Row>("SELECT collection, key, version, json FROM object").all();
    const objects = rows.map(({ collection, key, version, json }) => ({
      collection,
      stored: new Stored(key, version, { json }),
    }));
    return { version: state?.version ?? 0, objects };
  }

  append(entries: readonly JournalEntry[], version: number): void {
    this.#append({ entries, last: version });
  }

  close(): void {
    this.#database.close();
  }
}
