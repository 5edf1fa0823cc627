/**
 * The addresses under which files of modules are loaded. Each version of a module has its own, because the runtime
 * keeps everything that it has loaded under an address for as long as the process lives.
 */

const ADDRESS = /^binnacle-module:\/\/(\d+)(\/.*)$/;

export interface ModuleFile {
  /** The version of the module. */
  readonly id: string;
  /** The file's real path. */
  readonly path: string;
}

/** Returns the address of a file. */
export function moduleAddress({ id, path }: ModuleFile): string {
  return `binnacle-module://${id}${encodeURI(path).replaceAll("?", "%3F").replaceAll("#", "%23")}`;
}

/** Returns the file of an address; `undefined` for an address that is not a module's. */
export function moduleFile(address: string): ModuleFile | undefined {
  const [, id, path] = ADDRESS.exec(address) ?? [];
  return id === undefined || path === undefined ? undefined : { id, path: decodeURIComponent(path) };
}

/** Replaces addresses by paths, so that users and programs see the paths of the user's files. */
export function withPaths(text: string): string {
  return text.replaceAll(/binnacle-module:\/\/\d+(\/[^\s):]*)/g, (_, path: string) => decodeURIComponent(path));
}

/** Returns the versions of modules whose files a stack names, the innermost first. */
export function versionsIn(text: string): readonly string[] {
  return [...text.matchAll(/binnacle-module:\/\/(\d+)\//g)].map(([, id]) => id!);
}
