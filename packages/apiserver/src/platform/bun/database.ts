/** Databases by `bun:sqlite`. */
import { Database as Sqlite } from "bun:sqlite";
import type { Database, SqlValue } from "../database.ts";

/**
 * Opens the file, and creates it when it does not exist. @throws Error when it cannot be opened or is not a database.
 */
export function openDatabase(file: string): Database {
  const sqlite = new Sqlite(file, { create: true, strict: true });
  return {
    run: (sql) => void sqlite.run(sql),
    query: <Row>(sql: string) => {
      const statement = sqlite.query<Row, SqlValue[]>(sql);
      return {
        run: (...values) => void statement.run(...values),
        get: (...values) => statement.get(...values) ?? undefined,
        all: (...values) => statement.all(...values),
      };
    },
    transaction: (work) => sqlite.transaction(work),
    close: () => sqlite.close(),
  };
}
