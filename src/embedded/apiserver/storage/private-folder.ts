/** Folders and files that only their owner reads: objects, Secrets among them, and credentials. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";

/** Makes the folder, or takes what others may do in it from them. */
export function privateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
}

/** Makes the file where there is none, for its owner alone in every case. */
export function privateFile(file: string): void {
  closeSync(openSync(file, "a", 0o600));
  chmodSync(file, 0o600);
}

/** Takes from others what they may do with a file that may be there. */
export function makePrivate(file: string): void {
  if (existsSync(file)) chmodSync(file, 0o600);
}
