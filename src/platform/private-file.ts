/** Files that nobody but this user should read or have a hand in. */
import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, renameSync, rmSync, writeSync } from "node:fs";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * Writes a file whole or not at all, for this user only.
 *
 * It is written beside its place under a name that nobody knows, as a new file, and then put there: a link that somebody has
 * laid in either place is not followed.
 */
export function writePrivate(file: string, text: string): void {
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  // Not on Windows.
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
