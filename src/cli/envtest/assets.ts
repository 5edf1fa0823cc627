/** Writes the folder for `KUBEBUILDER_ASSETS`, in which this executable is called `etcd` and `kube-apiserver`. */
import { randomBytes } from "node:crypto";
import {
  accessSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { messageOf } from "../../platform/error-message.ts";
import { shellWord } from "../shell-word.ts";
import { UserError } from "../usage-error.ts";
import { ACT_AS, assetNames } from "./asset-name.ts";

export interface AssetOptions {
  readonly executable: {
    readonly path: string;
    /** The entry's file when the sources run without a build; `path` is then the runtime. */
    readonly source: string | undefined;
  };
  /** The folders in which kubectl is looked for, as in `PATH`. */
  readonly searchPath: string;
}

/** The second line of the scripts that are written. */
const MARK = "# written by binnacle envtest";
const suffix = process.platform === "win32" ? ".exe" : "";

/**
 * Writes the folder, or brings it up to date.
 *
 * @returns where kubectl was found, if it was.
 * @throws UserError when the folder cannot be written, or one of the names is a file of somebody else's.
 */
export function writeAssets(folder: string, { executable, searchPath }: AssetOptions): { kubectl: string | undefined } {
  const { path, source } = executable;
  if (source !== undefined && suffix !== "")
    throw new UserError("Cannot write programs for envtest from the sources on Windows: build the executable first");
  try {
    mkdirSync(folder, { recursive: true });
    for (const name of assetNames) {
      put(join(folder, name + suffix), path, (file) => {
        if (source === undefined) link(path, file);
        else writeFileSync(file, script(path, source, name), { mode: 0o755 });
      });
    }
    return { kubectl: putKubectl(folder, searchPath) };
  } catch (error) {
    throw error instanceof UserError ? error : new UserError(`Cannot write ${folder}: ${messageOf(error)}`);
  }
}

/** Links to the executable; it is copied where neither kind of link can be made. */
function link(target: string, file: string): void {
  for (const way of [symlinkSync, linkSync, copyFileSync]) {
    try {
      way(target, file);
      return;
    } catch (error) {
      if (way === copyFileSync) throw error;
    }
  }
}

function script(runtime: string, source: string, name: string): string {
  return `#!/bin/sh\n${MARK}\nexec ${shellWord(runtime)} ${shellWord(source)} ${ACT_AS} ${name} "$@"\n`;
}

function putKubectl(folder: string, searchPath: string): string | undefined {
  const file = join(folder, `kubectl${suffix}`);
  const there = lstatSync(file, { throwIfNoEntry: false });
  // A kubectl that the user has put there stays.
  if (there?.isFile() === true) return file;
  const kubectl = findKubectl(folder, searchPath);
  if (kubectl !== undefined) put(file, kubectl, (draft) => link(kubectl, draft));
  else if (there !== undefined && statSync(file, { throwIfNoEntry: false }) === undefined) rmSync(file);
  return kubectl ?? (statSync(file, { throwIfNoEntry: false }) && readlinkSync(file));
}

function findKubectl(folder: string, searchPath: string): string | undefined {
  const own = realpathSync(folder);
  for (const place of searchPath.split(delimiter)) {
    const file = join(place, `kubectl${suffix}`);
    try {
      accessSync(file, constants.X_OK);
      if (place !== "" && statSync(file).isFile() && realpathSync(place) !== own) return resolve(file);
    } catch {
      // It is not in this folder.
    }
  }
  return undefined;
}

/** Makes a file under another name and renames it: a test that starts at this moment finds the old or the new one. */
function put(file: string, target: string, make: (draft: string) => void): void {
  if (!isReplaceable(file, target))
    throw new UserError(
      `Cannot write ${file}: a file of that name exists that binnacle did not write. Remove it, or name another folder`,
    );
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  try {
    make(draft);
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

function isReplaceable(file: string, target: string): boolean {
  const there = lstatSync(file, { throwIfNoEntry: false });
  if (there === undefined || there.isSymbolicLink()) return true;
  if (!there.isFile()) return false;
  // A copy or another link of the executable, or a script.
  return there.size === statSync(target).size || (there.size < 65_536 && readFileSync(file, "utf8").includes(MARK));
}
