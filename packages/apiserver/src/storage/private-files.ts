/** Makes folders and files private to their owner, because they hold Secrets and credentials. */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

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

/**
 * Writes a file completely or not at all, for this user only.
 *
 * It is written beside its place as a new file with an unpredictable name, and then renamed, so a link that somebody
 * has placed there is not followed.
 */
export function writePrivate(file: string, text: string): void {
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  // This flag does not exist on Windows.
  const descriptor = openSync(draft, O_CREAT | O_EXCL | O_WRONLY | (O_NOFOLLOW ?? 0), 0o600);
  try {
    try {
      for (let rest = Buffer.from(text); rest.length > 0;) rest = rest.subarray(writeSync(descriptor, rest));
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
