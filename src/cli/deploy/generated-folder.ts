/** A folder of files that are made anew each time, beside which nobody's own files are touched. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "../usage-error.ts";
import { messageOf } from "../../platform/error-message.ts";

/** Lists what was written, so that the next time removes what it does not write any more. */
const LIST = ".binnacle-files";

/** The result of writing a folder. */
export interface GeneratedFolder {
  /** Files of the time before that are no longer part of the folder, and were removed. */
  readonly removed: readonly string[];
}

/**
 * Writes the files, by their paths in the folder.
 *
 * @throws UserError when the folder holds something and was not made this way, or cannot be written; then nothing is
 * changed.
 */
export function writeGenerated(folder: string, files: Readonly<Record<string, string>>, flag: string): GeneratedFolder {
  const isNew = !existsSync(folder);
  const former = formerOf(folder, flag);
  const names = Object.keys(files).sort();
  const foreign = names.filter((name) => !former.includes(name) && existsSync(join(folder, name)));
  if (foreign.length > 0) {
    throw new UserError(
      `Cannot write '${join(folder, foreign[0]!)}' (${flag}): somebody else's file is there; move it, or name another folder`,
    );
  }
  for (const name of [...names, ...former]) refuseLink(folder, name, flag);
  const all = { ...files, [LIST]: `${names.join("\n")}\n` };
  const drafts: string[] = [];
  const draftOf = (path: string): string => `${path}.${process.pid}.new`;
  try {
    for (const [name, text] of Object.entries(all)) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      drafts.push(path);
      writeFileSync(draftOf(path), text, { flag: "wx" });
    }
    for (const path of drafts) renameSync(draftOf(path), path);
    const removed = former.filter((name) => !names.includes(name) && existsSync(join(folder, name)));
    for (const name of removed) rmSync(join(folder, name));
    return { removed };
  } catch (error) {
    for (const path of drafts) removeDraft(draftOf(path));
    if (isNew) rmSync(folder, { recursive: true, force: true });
    throw new UserError(`Cannot write into '${folder}' (${flag}): ${messageOf(error)}`);
  }
}

/** A folder inside that is a link leads out of here, where nothing is ours to write or to remove. */
function refuseLink(folder: string, name: string, flag: string): void {
  const parts = name.split("/").slice(0, -1);
  for (const [index] of parts.entries()) {
    const path = join(folder, ...parts.slice(0, index + 1));
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
    throw new UserError(
      `Cannot write into '${folder}' (${flag}): '${path}' is a link; remove it, or name another folder`,
    );
  }
}

function removeDraft(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // somebody else's, which was in the way
  }
}

/** The files of the time before; empty for a folder that is new or empty. */
function formerOf(folder: string, flag: string): readonly string[] {
  let entries: readonly string[];
  try {
    entries = readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw new UserError(`Cannot use '${folder}' (${flag}): ${messageOf(error)}`);
  }
  if (entries.length === 0) return [];
  if (!entries.includes(LIST)) {
    throw new UserError(
      `Cannot write into '${folder}' (${flag}): it holds files that are not of this command; name a folder of its own`,
    );
  }
  const inside = (name: string): boolean => name !== "" && !name.startsWith("/") && !name.split("/").includes("..");
  return readFileSync(join(folder, LIST), "utf8").split("\n").filter(inside);
}
