/** Locks of files by `bun:sqlite`. The system releases them in any case when the process ends. */
import { Database } from "bun:sqlite";

/** Locks the file, and creates it when it is not there. @returns undefined when another process holds the lock. */
export function lockFile(file: string): Disposable | undefined {
  const lock = new Database(file);
  try {
    lock.run("PRAGMA busy_timeout = 0");
    lock.run("BEGIN EXCLUSIVE");
    return { [Symbol.dispose]: () => lock.close() };
  } catch {
    lock.close();
    return undefined;
  }
}
