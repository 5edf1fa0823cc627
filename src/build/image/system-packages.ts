/**
 * Finds the package of the build machine's distribution to which a file belongs, so that an image can list its content.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface SystemPackage {
  readonly name: string;
  readonly version: string;
  /** Package URL. @see https://github.com/package-url/purl-spec */
  readonly purl: string;
}

export interface OwnerOptions {
  /** The root of the file system. @default / */
  readonly root?: string | undefined;
}

/**
 * Returns the packages by the paths of `files`; files that no package owns are left out. dpkg and apk are understood.
 */
export function packagesOf(
  files: readonly string[],
  { root = "/" }: OwnerOptions = {},
): ReadonlyMap<string, SystemPackage> {
  const release = releaseOf(root);
  return new Map([...debianOwners(files, { root, release }), ...alpineOwners(files, { root, release })]);
}

interface Release {
  readonly id: string;
  readonly version: string;
}

function releaseOf(root: string): Release {
  const text = textOf(join(root, "etc", "os-release"));
  const value = (name: string): string => new RegExp(`^${name}="?([^"\\n]*)"?$`, "m").exec(text)?.[1] ?? "";
  return { id: value("ID") || "linux", version: value("VERSION_ID") };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

interface Machine {
  readonly root: string;
  readonly release: Release;
}

/** Files of packages may be listed under /lib or under /usr/lib, which are the same folder on merged systems. */
function spellings(file: string): readonly string[] {
  return file.startsWith("/usr/") ? [file, file.slice("/usr".length)] : [file, `/usr${file}`];
}

function* debianOwners(
  files: readonly string[],
  { root, release }: Machine,
): Generator<readonly [string, SystemPackage]> {
  const info = join(root, "var", "lib", "dpkg", "info");
  let lists: readonly string[];
  try {
    lists = readdirSync(info).filter((name) => name.endsWith(".list"));
  } catch {
    return;
  }
  const spellingsOfFiles = new Map(
    files.flatMap((file) => spellings(file).map((spelling) => [spelling, file] as const)),
  );
  const versions = debianVersions(textOf(join(root, "var", "lib", "dpkg", "status")));
  for (const list of lists) {
    const owned = textOf(join(info, list))
      .split("\n")
      .filter((line) => spellingsOfFiles.has(line));
    if (owned.length === 0) continue;
    const [name = "", architecture] = list.slice(0, -".list".length).split(":");
    const version = versions.get(architecture === undefined ? name : `${name}:${architecture}`) ?? versions.get(name);
    if (version === undefined) continue;
    const distribution = release.version === "" ? "" : `&distro=${release.id}-${release.version}`;
    const purl = `pkg:deb/${release.id}/${encodeURIComponent(name)}@${encodeURIComponent(version.version)}?arch=${version.architecture}${distribution}`;
    for (const line of owned) yield [spellingsOfFiles.get(line)!, { name, version: version.version, purl }];
  }
}

interface DebianVersion {
  readonly version: string;
  readonly architecture: string;
}

function debianVersions(status: string): ReadonlyMap<string, DebianVersion> {
  const versions = new Map<string, DebianVersion>();
  for (const paragraph of status.split("\n\n")) {
    const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(paragraph)?.[1] ?? "";
    const [name, version, architecture] = [field("Package"), field("Version"), field("Architecture")];
    if (name === "" || version === "") continue;
    versions.set(name, { version, architecture }).set(`${name}:${architecture}`, { version, architecture });
  }
  return versions;
}

/** Paragraphs have a letter for each field: package, version, architecture, then folders with their files. */
function* alpineOwners(
  files: readonly string[],
  { root, release }: Machine,
): Generator<readonly [string, SystemPackage]> {
  const spellingsOfFiles = new Map(
    files.flatMap((file) => spellings(file).map((spelling) => [spelling, file] as const)),
  );
  for (const paragraph of textOf(join(root, "lib", "apk", "db", "installed")).split("\n\n")) {
    const fields: Record<string, string> = {};
    let folder = "";
    for (const line of paragraph.split("\n")) {
      const letter = line.slice(0, 1);
      const value = line.slice(2);
      if (letter === "F") folder = value;
      else if (letter === "R") {
        const file = spellingsOfFiles.get(`/${folder}/${value}`);
        const { P: name = "", V: version = "", A: architecture = "" } = fields;
        const distribution = release.version === "" ? "" : `&distro=${release.id}-${release.version}`;
        const purl = `pkg:apk/${release.id}/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}${distribution}`;
        if (file !== undefined) yield [file, { name, version, purl }];
      } else fields[letter] = value;
    }
  }
}
