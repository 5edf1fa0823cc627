/** Databases by `node:sqlite`, which Node has from 22.13 on. */
import type { Database } from "../database.ts";

/**
 * Opens the file, and creates it when it does not exist.
 *
 * @throws Error when it cannot be opened or is not a database, or when the runtime has no SQLite.
 */
export function openDatabase(file: string): Database {
  // Loaded here, so that a server without a folder starts where there is none.
  const library = process.getBuiltinModule?.("node:sqlite");
  if (library === undefined) {
    throw new Error(
      `Cannot keep data in ${file}: Node ${process.versions.node} has no SQLite; use Node 22.13 or newer, or Bun, or leave the folder out`,
    );
  }
  const sqlite = new library.DatabaseSync(file);
  return {
    run: (sql) => sqlite.exec(sql),
    query: <Row>(sql: string) => {
      const statement = sqlite.prepare(sql);
      return {
        run: (...values) => void statement.run(...values),
        get: (...values) => statement.get(...values) as Row | undefined,
        all: (...values) => statement.all(...values) as Row[],
      };
    },
    transaction: (work) => (argument) => {
      sqlite.exec("BEGIN");
      try {
        work(argument);
        sqlite.exec("COMMIT");
      } catch (error) {
        // SQLite may have rolled back by itself, for example when the disk is full.
        if (sqlite.isTransaction) sqlite.exec("ROLLBACK");
        throw error;
      }
    },
    close: () => sqlite.close(),
  };
}
