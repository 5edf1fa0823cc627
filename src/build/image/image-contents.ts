/** The contents of the layers of an image, and their entries in its bill of materials. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import { architectureOf, RUNTIME_VERSION, type Target } from "../executable/targets.ts";
import type { InstalledPackage } from "../modules/installed-packages.ts";
import { BINARY_PATH, MODULES_PATH, serverProgram } from "./image.ts";
import type { Library } from "./libraries.ts";
import { CERTIFICATES_PATH, sharedFolder, textEntry, withFolders } from "./root-files.ts";
import type { Component } from "./sbom.ts";
import { packagesOf } from "./system-packages.ts";
import type { TarEntry } from "./tar.ts";

/** The path of the bill of materials in the image. */
const SBOM_PATH = "usr/share/sbom/binnacle.cdx.json";

/** A module with everything that it imports, in one file. */
export interface ModuleFile {
  /** The module's name in `run`: that of its file or folder. */
  readonly name: string;
  readonly code: string;
  /** Files that the code refers to, by name. */
  readonly assets: ReadonlyMap<string, Uint8Array>;
}

/** This program, as a part of the image or executable. */
export interface Program {
  readonly version: string;
  /** Versions of the packages in it, by name. */
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * The modules, each as a folder of its name: `guestbook.ts/index.js` is loaded as the module `guestbook.ts`, so that
 * Leases, permissions and metrics do not depend on the way of installation.
 */
export function moduleEntries(modules: readonly ModuleFile[], document: string): readonly TarEntry[] {
  return withFolders([
    ...modules.flatMap(({ name, code, assets }) => [
      textEntry(`${MODULES_PATH}/${name}/index.js`, code),
      ...[...assets].map(([asset, bytes]) => textEntry(`${MODULES_PATH}/${name}/${asset}`, bytes)),
    ]),
    { type: "folder", path: MODULES_PATH, mode: 0o755 },
    textEntry(SBOM_PATH, document),
  ]);
}

/** Returns what the API server needs beside the binary: a folder for its kubeconfig. */
export function serverEntries(document: string): readonly TarEntry[] {
  return withFolders([...serverProgram.folders.map(sharedFolder), textEntry(SBOM_PATH, document)]);
}

export interface ContentsOptions {
  readonly program: Program;
  readonly target: Target;
  readonly binary: string;
  readonly libraries: readonly Library[];
  readonly modules: readonly ModuleFile[];
  /** The packages of npm that the modules import. */
  readonly packages: readonly InstalledPackage[];
  /** Name and digest of the base, if there is one. */
  readonly base: { readonly name: string; readonly digest: string } | undefined;
}

export function componentsOf(options: ContentsOptions): readonly Component[] {
  const { program, target, binary, libraries, modules, packages, base } = options;
  return [
    {
      type: "application",
      name: "binnacle",
      version: program.version,
      sha256: sha256(readFileSync(binary)),
      path: BINARY_PATH,
    },
    {
      type: "platform",
      name: "bun",
      version: RUNTIME_VERSION,
      purl: purlOf(target.runtime, RUNTIME_VERSION),
      license: "MIT",
      path: BINARY_PATH,
    },
    ...Object.entries(program.dependencies).map(([name, version]): Component => {
      return { type: "library", name, version, purl: purlOf(name, version), path: BINARY_PATH };
    }),
    ...modules.map(({ name, code }): Component => {
      return { type: "file", name, sha256: sha256(Buffer.from(code)), path: `${MODULES_PATH}/${name}/index.js` };
    }),
    ...packages.map(({ name, version, license }): Component => {
      return { type: "library", name, version, license, purl: purlOf(name, version), path: MODULES_PATH };
    }),
    ...(base === undefined ? fromThisMachine(libraries, target) : [baseComponent(base)]),
  ];
}

function baseComponent({ name, digest }: { readonly name: string; readonly digest: string }): Component {
  return {
    type: "platform",
    name,
    version: digest,
    description: "The image that this one is built on",
    sha256: digest.slice("sha256:".length),
  };
}

function fromThisMachine(libraries: readonly Library[], target: Target): readonly Component[] {
  const owners = packagesOf(libraries.map(({ source }) => source));
  return [
    ...libraries.map(({ path, source }): Component => {
      const owner = owners.get(source);
      const shared = { type: "library", sha256: sha256(readFileSync(source)), path } as const;
      if (owner !== undefined) return { ...shared, name: owner.name, version: owner.version, purl: owner.purl };
      return { ...shared, name: path, description: `From the build machine, for ${architectureOf(target)}` };
    }),
    {
      type: "data",
      name: "certificates of authorities",
      version: RUNTIME_VERSION,
      description: `${rootCertificates.length} certificates of Mozilla's programme, as the runtime carries them`,
      license: "MPL-2.0",
      path: CERTIFICATES_PATH,
    },
  ];
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
