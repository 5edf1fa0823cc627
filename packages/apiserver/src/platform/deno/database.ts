/** Databases by `node:sqlite`. */
import { DatabaseSync } from "node:sqlite";
import type { Database } from "../database.ts";

/**
 * Opens the file, and creates it when it does not exist. @throws Error when it cannot be opened or is not a database.
 */
export function openDatabase(file: string): Database {
  const sqlite = new DatabaseSync(file);
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
