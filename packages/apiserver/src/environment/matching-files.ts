/** Files by a path: of one file, of a folder, or of a pattern. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the files that a path names, in the order of their names: the file itself, what a folder holds directly, or what matches
 * a pattern with `*`, `?`, `{a,b}` and `**` for folders at any depth.
 *
 * @throws Error when there is none.
 */
export function matchingFiles(path: string): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return [path];
  const isPattern = /[*?{]/.test(path);
  const files = matches("", (isPattern ? path : join(path, ENDINGS)).replaceAll("\\", "/").split("/"));
  if (files.length > 0) return files;
  if (isPattern) throw new Error(`Cannot read ${path}: no file matches`);
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  throw new Error(`Cannot read ${path}: ${isThere ? "the folder has no YAML or JSON file" : "there is no such file"}`);
}

/** The names of files that may be manifests. */
const ENDINGS = "*.{yaml,yml,json}";

function matches(folder: string, [step, ...rest]: readonly string[]): string[] {
  if (step === undefined) return [folder];
  if (step === "**") {
    const below = namesIn(folder).filter((name) => isFolder(joined(folder, name)));
    return [...matches(folder, rest), ...below.flatMap((name) => matches(joined(folder, name), ["**", ...rest]))];
  }
  if (!/[*?{]/.test(step)) {
    const next = step === "" && folder === "" ? "/" : joined(folder, step);
    return statSync(next, { throwIfNoEntry: false }) === undefined ? [] : matches(next, rest);
  }
  const pattern = expressionOf(step);
  return namesIn(folder)
    .filter((name) => pattern.test(name) && (rest.length === 0) !== isFolder(joined(folder, name)))
    .flatMap((name) => matches(joined(folder, name), rest));
}

function joined(folder: string, name: string): string {
  return folder === "" || folder.endsWith("/") ? folder + name : `${folder}/${name}`;
}

/** Returns the names in a folder, without hidden files and `node_modules`, which hold no manifests of the project. */
function namesIn(folder: string): readonly string[] {
  const names = isFolder(folder || ".") ? readdirSync(folder || ".") : [];
  return names.filter((name) => !name.startsWith(".") && name !== "node_modules").sort();
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function expressionOf(step: string): RegExp {
  const parts = step.split(/([*?{},])/).map((part) => {
    if (part === "*") return ".*";
    if (part === "?") return ".";
    if (part === "{") return "(?:";
    if (part === "}") return ")";
    return part === "," ? "|" : part.replaceAll(/[.+^$()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("")}$`, "s");
}
