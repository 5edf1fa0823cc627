/** Locks of files by `node:sqlite`. The system releases them in any case when the process ends. */
import { DatabaseSync } from "node:sqlite";

/** Locks the file, and creates it when it is not there. @returns undefined when another process holds the lock. */
export function lockFile(file: string): Disposable | undefined {
  const lock = new DatabaseSync(file);
  try {
    lock.exec("PRAGMA busy_timeout = 0");
    lock.exec("BEGIN EXCLUSIVE");
    return { [Symbol.dispose]: () => lock.close() };
  } catch {
    lock.close();
    return undefined;
  }
}
