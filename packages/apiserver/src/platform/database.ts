/** A database in one file. */

export interface Database {
  /** Executes SQL without parameters. */
  run(sql: string): void;
  /** Prepares a statement; a returned row has a property for each column. */
  query<Row = unknown>(sql: string): Statement<Row>;
  /** Returns a function that does all of its work, or none of it when it throws. */
  transaction<T>(work: (argument: T) => void): (argument: T) => void;
  close(): void;
}

export interface Statement<Row> {
  run(...values: readonly SqlValue[]): void;
  /** Returns the first row; `undefined` when there is none. */
  get(...values: readonly SqlValue[]): Row | undefined;
  all(...values: readonly SqlValue[]): Row[];
}

export type SqlValue = string | number | null;
