/** The shared libraries of the build machine that an executable needs in an image without a base. */
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Architecture, type Elf, readElf } from "./elf.ts";

export interface Library {
  /** The path in the image, without a slash at the beginning. */
  readonly path: string;
  /** The path on this machine. */
  readonly source: string;
}

/** The libraries that glibc loads by itself when it resolves names. */
const loadedByName: readonly string[] = ["libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"];
const triplets: Readonly<Record<Architecture, string>> = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" };

/** This machine lacks a library that the executable needs. */
export class MissingLibrary extends Error {
  override readonly name = "MissingLibrary" as const;
  readonly library: string;

  constructor(library: string) {
    super(`there is no ${library}`);
    this.library = library;
  }
}

export interface FindOptions {
  /** The root of the file system that has the libraries. @default / */
  readonly root?: string | undefined;
}

/**
 * Returns the loader and the libraries, each at the place where the loader searches it.
 *
 * @throws MissingLibrary
 */
export function librariesOf(executable: string, { root = "/" }: FindOptions = {}): readonly Library[] {
  const elf = readElf(executable);
  if (elf?.interpreter === undefined) return [];
  const { architecture, interpreter } = elf;
  const folders = foldersFor(architecture, root);
  const libraries = new Map<string, Library>();
  const loader = findLoader(interpreter, { architecture, folders, root });
  libraries.set(basename(interpreter), { path: interpreter.replace(/^\/+/, ""), source: loader });
  const visit = (names: readonly string[], isOptional: boolean): void => {
    for (const name of names) {
      if (libraries.has(name)) continue;
      const place = find(name, { architecture, folders });
      if (place === undefined) {
        if (isOptional) continue;
        throw new MissingLibrary(name);
      }
      libraries.set(name, { path: place.path, source: place.source });
      visit(place.elf.needed, isOptional);
    }
  };
  visit(elf.needed, false);
  if (!basename(interpreter).startsWith("ld-musl")) visit(loadedByName, true);
  return [...libraries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A folder with libraries, and its name in the image. */
interface Folder {
  readonly source: string;
  readonly path: string;
}

/**
 * Returns the folders with libraries for a processor: the usual ones, and those of distributions for other processors.
 */
function foldersFor(architecture: Architecture, root: string): readonly Folder[] {
  const triplet = triplets[architecture];
  const own = [`lib/${triplet}`, `usr/lib/${triplet}`, "lib64", "usr/lib64", "lib", "usr/lib"];
  const configured = configuredFolders(root);
  return [
    ...[...own, ...configured].map((path) => ({ source: join(root, path), path })),
    { source: join(root, "usr", triplet, "lib"), path: `lib/${triplet}` },
  ];
}

/** Returns the folders that the loader's configuration adds. */
function configuredFolders(root: string): readonly string[] {
  const folder = join(root, "etc", "ld.so.conf.d");
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith(".conf"));
    const lines = files.sort().flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
    return lines.filter((line) => line.startsWith("/")).map((line) => line.trim().slice(1));
  } catch {
    return [];
  }
}

interface Found {
  readonly path: string;
  readonly source: string;
  readonly elf: Elf;
}

function find(
  name: string,
  { architecture, folders }: { readonly architecture: Architecture; readonly folders: readonly Folder[] },
): Found | undefined {
  for (const { source, path } of folders) {
    const file = join(source, name);
    if (!existsSync(file)) continue;
    const real = realpathSync(file);
    const elf = readElf(real);
    if (elf?.architecture === architecture) return { path: `${path}/${name}`, source: real, elf };
  }
  return undefined;
}

function findLoader(
  interpreter: string,
  {
    architecture,
    folders,
    root,
  }: { readonly architecture: Architecture; readonly folders: readonly Folder[]; readonly root: string },
): string {
  const own = join(root, interpreter);
  if (existsSync(own)) {
    const real = realpathSync(own);
    if (readElf(real)?.architecture === architecture) return real;
  }
  const elsewhere = find(basename(interpreter), {
    architecture,
    folders: [{ source: join(root, dirname(interpreter)), path: "" }, ...folders],
  });
  if (elsewhere === undefined) throw new MissingLibrary(interpreter);
  return elsewhere.source;
}
