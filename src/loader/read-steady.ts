/** Reads mounted ConfigMaps and Secrets, which the kubelet replaces at any time. */
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** The number of repeated reads of a mount, which the kubelet replaces at most every few seconds. */
const MOST_REPEATS = 3;

/** Reads a mount again if reading failed while a new version of it took its place. */
export function readSteady<T>(path: string, read: () => T): T {
  for (let repeats = 0; ; repeats++) {
    const before = versionsIn(path);
    try {
      return read();
    } catch (error) {
      if (repeats === MOST_REPEATS || versionsIn(path) === before) throw error;
    }
  }
}

/** Returns the targets of the links `..data` of a mount, and of the mounts in it. */
function versionsIn(path: string): string {
  const linkIn = (folder: string): string => {
    try {
      return readlinkSync(join(folder, "..data"));
    } catch {
      return ""; // not mounted
    }
  };
  try {
    return [path, ...realFolders(path).map((name) => join(path, name))].map(linkIn).join("\n");
  } catch {
    return ""; // gone for now
  }
}

/** Returns the names of the folders that are not behind a link. */
export function realFolders(path: string): readonly string[] {
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.filter((one) => one.isDirectory() && !one.name.startsWith(".")).map(({ name }) => name);
}
