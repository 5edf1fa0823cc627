/** The modules as a ConfigMap holds them. */
import { realpathSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import { closureOf } from "../loader/closure.ts";
import { scanFolders } from "../loader/scan.ts";
import { importsOf } from "../platform/module-host.ts";
import { UserError } from "./usage-error.ts";

/** The API server's limit for a ConfigMap, less what is around the data. */
const LIMIT = 1024 * 1024 - 4096;

export interface MountedFile {
  /** In the ConfigMap: letters, digits, `-`, `_` and `.`. */
  readonly key: string;
  /** Below the mount. */
  readonly path: string;
  readonly text: string;
}

/**
 * The modules' files, and what they import from their folder.
 *
 * @param offered what the binary offers for import; there are no other packages beside a ConfigMap.
 * @throws UserError when something would not be there.
 */
export function configMapFiles(folders: readonly string[], offered: readonly string[]): readonly MountedFile[] {
  const files = new Map<string, string>();
  for (const folder of folders) {
    const root = realpathSync(resolve(folder));
    for (const { file } of scanFolders([folder])) {
      for (const [path, text] of closureOf(file).sources) {
        const inside = relative(root, path);
        if (inside.startsWith("..")) {
          throw new UserError(
            `Cannot put '${file}' into a ConfigMap: it imports ${join(dirname(folder), basename(path))}, which is outside of ` +
              `'${folder}'; move it there, or build an image and pass --image`,
          );
        }
        refusePackages(text, { file, shown: join(folder, inside), offered });
        if (files.has(inside) && files.get(inside) !== text) {
          throw new UserError(
            `Cannot put two files called '${inside}' into one ConfigMap: rename one, or build an image and pass --image`,
          );
        }
        files.set(inside, text);
      }
    }
  }
  const size = [...files].reduce((sum, [path, text]) => sum + Buffer.byteLength(text) + 2 * path.length, 0);
  if (size > LIMIT) {
    throw new UserError(
      `Cannot put the modules into a ConfigMap: they take ${size} bytes of ${LIMIT}; build an image and pass --image`,
    );
  }
  return [...files]
    .map(([path, text]) => ({ key: path.replaceAll("/", "__").replaceAll(/[^-._a-zA-Z0-9]/g, "-"), path, text }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function refusePackages(
  text: string,
  { file, shown, offered }: { readonly file: string; readonly shown: string; readonly offered: readonly string[] },
): void {
  if (!/\.[cm]?[tj]sx?$/.test(shown)) return;
  for (const specifier of importsOf(text)) {
    if (/^[./]/.test(specifier) || offered.includes(specifier) || isBuiltin(specifier)) continue;
    throw new UserError(
      `Cannot put '${file}' into a ConfigMap: ${shown} imports the npm package '${specifier}', which would not be there; ` +
        "build an image that holds its node_modules, and pass --image",
    );
  }
}
