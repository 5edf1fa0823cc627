/** Files that only this user may read or write. */
import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, renameSync, rmSync, writeSync } from "node:fs";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/**
 * Writes a file completely or not at all, for this user only.
 *
 * It is written beside its place as a new file with an unpredictable name, and then renamed, so an existing link is not
 * followed.
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
