/** What an archive holds beside the executable, and what the executable consists of. */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { RUNTIME_VERSION, type Target } from "../../src/build/executable/targets.ts";
import { type Component, sbom } from "../../src/build/image/sbom.ts";
import type { TarEntry } from "../../src/build/image/tar.ts";
import { type InstalledPackage, packagesOfFiles } from "../../src/build/modules/installed-packages.ts";

const root = join(import.meta.dirname, "..", "..");

/** The packages of npm whose code is in the executable. */
export async function packagesInside(): Promise<readonly InstalledPackage[]> {
  const inputs = new Set<string>();
  await Bun.build({
    entrypoints: [join(root, "src", "main.ts")],
    target: "bun",
    splitting: true,
    external: ["*/sdk.json.zst"],
    plugins: [
      {
        name: "inputs",
        setup(build) {
          build.onLoad({ filter: /.*/, namespace: "file" }, ({ path }) => {
            inputs.add(path);
            return undefined;
          });
        },
      },
    ],
  });
  return packagesOfFiles(inputs);
}

export interface Contents {
  readonly version: string;
  readonly target: Target;
  readonly binary: string;
  readonly packages: readonly InstalledPackage[];
  /** Seconds since the epoch. */
  readonly mtime: number;
}

/** The bill of materials of an executable, as CycloneDX. */
export async function billOf({ version, target, binary, packages, mtime }: Contents): Promise<string> {
  const components: readonly Component[] = [
    { type: "application", name: "binnacle", version, sha256: await digestOf(binary), path: binaryName(target) },
    {
      type: "platform",
      name: "bun",
      version: RUNTIME_VERSION,
      purl: `pkg:npm/${target.runtime.replace("@", "%40")}@${RUNTIME_VERSION}`,
      license: "MIT",
      path: binaryName(target),
    },
    ...packages.map(({ name, version: own, license }): Component => {
      const purl = `pkg:npm/${name.replace(/^@/, "%40")}@${own}`;
      return { type: "library", name, version: own, purl, license, path: binaryName(target) };
    }),
  ];
  const tool = { name: "binnacle release", version };
  return sbom(components, { name: "binnacle", version, created: mtime * 1000, tool, type: "application" });
}

/** The entries of an archive, below a folder that says what they are. */
export async function archiveEntries(contents: Contents, bill: string): Promise<readonly TarEntry[]> {
  const { version, target, binary, packages } = contents;
  const folder = archiveName(version, target);
  const { size } = await stat(binary);
  const text = (name: string, content: string): TarEntry => {
    return { type: "file", path: `${folder}/${name}`, mode: 0o644, bytes: Buffer.from(content) };
  };
  return [
    { type: "folder", path: folder, mode: 0o755 },
    { type: "file", path: `${folder}/${binaryName(target)}`, mode: 0o755, source: binary, size },
    text("CHANGELOG.md", readFileSync(join(root, "CHANGELOG.md"), "utf8")),
    text("LICENSE", readFileSync(join(root, "LICENSE"), "utf8")),
    text("README.md", readFileSync(join(root, "README.md"), "utf8")),
    text("THIRD-PARTY-LICENSES.txt", licensesOf(packages)),
    text("binnacle.cdx.json", bill),
  ];
}

/** Of the archive without its ending, and of the folder in it. */
export function archiveName(version: string, { name }: Target): string {
  return `binnacle-${version}-${name}`;
}

export function binaryName({ os }: Target): string {
  return os === "windows" ? "binnacle.exe" : "binnacle";
}

/** The texts that come with the packages, which their licenses ask to pass on. */
function licensesOf(packages: readonly InstalledPackage[]): string {
  const bun = `bun ${RUNTIME_VERSION} (MIT), with JavaScriptCore (LGPL-2.1) and others: its documentation lists all licenses\n`;
  const texts = packages.map(({ name, version, license, folder }) => {
    const files = existsSync(folder)
      ? readdirSync(folder).filter((one) => /^(licen[cs]e|notice|copying)/i.test(one))
      : [];
    const content = files.sort().map((file) => readFileSync(join(folder, file), "utf8").trim());
    return [`${name} ${version}${license === undefined ? "" : ` (${license})`}`, ...content].join("\n\n");
  });
  return [bun, ...texts].join(`\n${"-".repeat(80)}\n\n`).concat("\n");
}

/** SHA-256 of a file, in hexadecimal. */
export async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
