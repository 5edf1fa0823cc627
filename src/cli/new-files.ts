/** Writes new files: all of them or none, and never over existing ones. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../platform/error-message.ts";
import type { Files } from "./templates.ts";
import { UserError } from "./usage-error.ts";

/**
 * Writes the files below a folder.
 *
 * @returns their paths.
 * @throws UserError naming an existing file, or with the system's message; then no file is written.
 */
export function writeNew(folder: string, files: Files): readonly string[] {
  const paths = Object.keys(files).map((name) => join(folder, name));
  const existing = paths.filter((path) => existsSync(path));
  if (existing.length > 0) {
    throw new UserError(`Cannot write ${existing.map((path) => `'${path}'`).join(", ")}: it exists already`);
  }
  const created: string[] = [];
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text, { flag: "wx" });
      created.push(path);
    }
  } catch (error) {
    for (const path of created) rmSync(path, { force: true });
    throw new UserError(`Cannot write into '${folder}': ${messageOf(error)}`);
  }
  return paths;
}
