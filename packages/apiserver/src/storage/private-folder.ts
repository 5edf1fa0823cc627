/** Makes folders and files private to their owner, because they hold Secrets and credentials. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";

/** Creates the folder, or removes the permissions of others from it. */
export function privateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}

/** Creates the file if it does not exist, and makes it private in any case. */
export function privateFile(file: string): void {
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
}

/** Removes the permissions of others from a file that may exist. */
export function makePrivate(file: string): void {
  if (existsSync(file)) chmodSync(file, 0o600);
}
