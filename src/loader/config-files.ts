/** Reads the files and folders that `--module-config` names. */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseYaml } from "#runtime/yaml";
import { whyUnreadable } from "../kube/config/config-error.ts";
import type { ConfigFolder, ConfigPlace } from "../module/config/sources.ts";
import { isFields } from "../resource/json.ts";
import { readSteady, realFolders } from "./read-steady.ts";

/**
 * The maximum size of a file, which is more than any ConfigMap or Secret has; a larger file must be here by mistake.
 */
const MOST_BYTES = 4 * 2 ** 20;

/** Thrown for a file or folder that cannot be read as configuration. */
class ConfigFileError extends Error {
  override readonly name = "UserError" as const;
}

/** Reads all places. @throws ConfigFileError naming the first path that cannot be read. */
export async function readPlaces(paths: readonly string[]): Promise<readonly ConfigPlace[]> {
  const places: ConfigPlace[] = [];
  for (const path of paths) {
    places.push(isFolder(path) ? folderAt(path) : { kind: "file", path, sections: await sectionsIn(path) });
  }
  return places;
}

/** Returns the folders whose changes may be changes of configuration. A file may be a link into another folder. */
export function watchedFoldersOf(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    try {
      if (!isFolder(path)) return [dirname(path), dirname(realpathSync(path))];
      return [path, ...innerFolders(path).map((name) => join(path, name))];
    } catch {
      return [dirname(path)]; // gone for now
    }
  });
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw unreadable(path, whyUnreadable(error));
  }
}

function unreadable(path: string, why: string): ConfigFileError {
  return new ConfigFileError(`Cannot read --module-config '${path}': ${why}`);
}

/** @param displayPath the path as the user knows it. */
function textOf(path: string, displayPath: string = path): string {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw unreadable(displayPath, "it is neither a file nor a folder");
    if (stat.size > MOST_BYTES) throw unreadable(displayPath, `it is larger than ${MOST_BYTES / 2 ** 20} MiB`);
    return readFileSync(path, "utf8");
  } catch (error) {
    throw error instanceof ConfigFileError ? error : unreadable(displayPath, whyUnreadable(error));
  }
}

/** The folder to which `..data` leads, whose files have one version; without a mount, the folder itself. */
function dataOf(folder: string): string {
  const link = join(folder, "..data");
  return existsSync(link) ? realpathSync(link) : folder;
}

async function sectionsIn(path: string): Promise<Readonly<Record<string, Readonly<Record<string, unknown>>>>> {
  let parsed: unknown;
  const text = textOf(path);
  try {
    parsed = await parseYaml(text);
  } catch (error) {
    // The parser's message may quote a secret.
    const at = /at line (\d+), column (\d+)/.exec(error instanceof Error ? error.message : "");
    throw unreadable(path, `it is not YAML${at === null ? "" : ` (line ${at[1]}, column ${at[2]})`}`);
  }
  const sections = mapping(parsed ?? {}, path, "expected values by module, such as `guestbook: { replicas: 3 }`");
  return Object.fromEntries(
    Object.entries(sections).map(([name, section]) => [
      name,
      mapping(section ?? {}, path, `'${name}': expected values by name, such as \`replicas: 3\``),
    ]),
  );
}

function mapping(value: unknown, path: string, expected: string): Readonly<Record<string, unknown>> {
  if (!isFields(value)) throw unreadable(path, expected);
  return value;
}

/**
 * Reads a mounted ConfigMap or Secret: links that lead through `..data`, which is replaced as a whole. A file in an
 * inner folder counts as if the folder's name were the first part of its own.
 */
function folderAt(path: string): ConfigFolder {
  const texts = new Map<string, { text: string; file: string }>();
  const read = (key: string, { file, shown }: { readonly file: string; readonly shown: string }): void => {
    // Editors and `echo` end a file with a line break that is not part of the value.
    texts.set(key, { text: textOf(file, shown).replace(/\r?\n$/, ""), file: shown });
  };
  const readAll = (folder: string, { prefix, shown }: { readonly prefix: string; readonly shown: string }): void => {
    const data = dataOf(folder);
    const files = entriesOf(data).map((name) => [name, join(data, name)] as const);
    // Another volume may be mounted into the folder. Links lead through `..data`, which may be a later version by now.
    const mounted = data === folder ? [] : realFolders(folder).map((name) => [name, join(folder, name)] as const);
    for (const [name, file] of [...files, ...mounted]) {
      const place = join(shown, name);
      if (!statSync(file).isDirectory()) read(`${prefix}${name}`, { file, shown: place });
      else if (prefix === "") readAll(file, { prefix: `${name}.`, shown: place });
    }
  };
  try {
    readSteady(path, () => {
      texts.clear();
      readAll(path, { prefix: "", shown: path });
    });
  } catch (error) {
    throw error instanceof ConfigFileError ? error : unreadable(path, whyUnreadable(error));
  }
  return { kind: "folder", path, texts };
}

/** Lists a folder without names that begin with a dot, which belong to the kubelet and to editors. */
function entriesOf(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith("."))
    .sort();
}

function innerFolders(path: string): readonly string[] {
  // The kubelet removes the link of a removed key only after the file behind it.
  return entriesOf(path).filter((name) => statSync(join(path, name), { throwIfNoEntry: false })?.isDirectory());
}
