/** Builds an image of the controllers: libraries, binary and modules in layers of their own. */
import { basename } from "node:path";
import type { ModuleEntry } from "../loader/scan.ts";
import { BuildError } from "./build-error.ts";
import { architectureOf, type Target } from "./executable/targets.ts";
import type { Platform } from "./image/blob.ts";
import {
  type BaseImage,
  BINARY_PATH,
  buildImage,
  type BuiltImage,
  MODULES_PATH,
  type PlatformParts,
  serverProgram,
} from "./image/image.ts";
import { componentsOf, moduleEntries, type Program, serverEntries } from "./image/image-contents.ts";
import { type Compression, type Layer, makeLayer } from "./image/layer.ts";
import { librariesOf, type Library, MissingLibrary } from "./image/libraries.ts";
import { fullName, type Reference } from "./image/reference.ts";
import { executableEntry, rootFiles, withFolders } from "./image/root-files.ts";
import { sbom } from "./image/sbom.ts";
import { type TarEntry, tarSize } from "./image/tar.ts";
import { type BundledModule, bundleModules } from "./modules/bundle-modules.ts";
import type { Progress } from "./progress.ts";

export interface ImageBuild {
  readonly reference: Reference;
  readonly targets: readonly Target[];
  /** `undefined` leaves the folder outside; `apiserver` makes an image of the API server alone, without modules. */
  readonly modules: readonly ModuleEntry[] | "apiserver" | undefined;
  /** The packages that the binary offers to modules, with their exports. */
  readonly offered: Readonly<Record<string, object>>;
  readonly program: Program;
  /** The path of this program for a target. */
  readonly binaryFor: (target: Target) => Promise<string>;
  /** The base images, one for each target in the same order; `undefined` for an image without a base. */
  readonly base: { readonly name: string; readonly digest: string; readonly images: readonly BaseImage[] } | undefined;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly compression: Compression;
  /** The folder in which layers are cached. */
  readonly cache: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
}

export interface ImageResult {
  readonly image: BuiltImage;
  /** CycloneDX documents, by target. */
  readonly documents: ReadonlyMap<Target, string>;
}

/** @throws BuildError */
export async function buildProgramImage(options: ImageBuild): Promise<ImageResult> {
  const { targets, modules, offered, progress, base } = options;
  const isBundling = typeof modules === "object";
  if (isBundling) progress.begin("Bundling modules");
  const bundled = isBundling ? await bundleModules(modules, { offered, destination: `/${MODULES_PATH}/` }) : [];
  const documents = new Map<Target, string>();
  const parts: PlatformParts[] = [];
  for (const [index, target] of targets.entries()) {
    const binary = await options.binaryFor(target);
    const libraries = base === undefined ? findLibraries(binary, target) : [];
    const document = documentOf({ target, binary, libraries, bundled }, options);
    documents.set(target, document);
    const platform: Platform = { os: "linux", architecture: architectureOf(target) };
    const layers = await makeLayers({ binary, libraries, bundled, document, platform }, options);
    parts.push({ platform, base: base?.images[index], layers });
  }
  const { reference, created, labels } = options;
  const program = modules === "apiserver" ? serverProgram : undefined;
  return { image: buildImage(parts, { reference, program, created, labels }), documents };
}

interface Contents {
  readonly binary: string;
  readonly libraries: readonly Library[];
  readonly bundled: readonly BundledModule[];
  readonly document: string;
  readonly platform: Platform;
}

/** The layers, from the one that changes least to the one that changes most, which is the smallest. */
async function makeLayers(
  { binary, libraries, bundled, document, platform }: Contents,
  { modules, base, compression, cache, created, progress, signal }: ImageBuild,
): Promise<readonly Layer[]> {
  const sets: readonly (readonly [createdBy: string, entries: readonly TarEntry[]])[] = [
    ...(base === undefined ? [["libraries and certificates", rootFiles(libraries)] as const] : []),
    ["binary", withFolders([executableEntry(BINARY_PATH, binary)])],
    modules === "apiserver"
      ? ["bill of materials", serverEntries(document)]
      : ["modules", moduleEntries(bundled, document)],
  ];
  const layers: Layer[] = [];
  for (const [what, entries] of sets) {
    progress.begin(`Packing ${what} for ${platform.os}/${platform.architecture}`, tarSize(entries));
    layers.push(
      await makeLayer(entries, {
        createdBy: `binnacle build: ${what}`,
        compression,
        cache,
        mtime: Math.floor(created / 1000),
        signal,
        onBytes: (bytes) => progress.advance(bytes),
      }),
    );
  }
  return layers;
}

function findLibraries(binary: string, target: Target): readonly Library[] {
  try {
    return librariesOf(binary);
  } catch (error) {
    if (!(error instanceof MissingLibrary)) throw error;
    throw new BuildError(
      `Cannot build for ${target.name}: this machine has no ${error.library} for that processor; install the C library for ` +
        `it, or name an image that has it with --base`,
    );
  }
}

function documentOf(
  {
    target,
    binary,
    libraries,
    bundled,
  }: Pick<Contents, "binary" | "libraries" | "bundled"> & { readonly target: Target },
  { program, base, created, reference, labels }: ImageBuild,
): string {
  const packages = bundled.flatMap((module) => module.packages);
  const unique = [...new Map(packages.map((one) => [`${one.name}@${one.version}`, one])).values()];
  const components = componentsOf({ program, target, binary, libraries, modules: bundled, packages: unique, base });
  return sbom(components, {
    name: basename(fullName({ ...reference, tag: undefined, digest: undefined })),
    version: labels["org.opencontainers.image.version"] ?? reference.tag,
    created,
    tool: { name: "binnacle", version: program.version },
  });
}

/**
 * Milliseconds since the epoch, as `$SOURCE_DATE_EPOCH` says in seconds; otherwise the epoch itself.
 *
 * @see https://reproducible-builds.org/specs/source-date-epoch/
 * @throws BuildError
 */
export function createdAt(env: Readonly<Record<string, string | undefined>>): number {
  const text = env["SOURCE_DATE_EPOCH"] ?? "";
  if (text === "") return 0;
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds < 8 ** 11) return seconds * 1000;
  throw new BuildError(`SOURCE_DATE_EPOCH is '${text}': expected seconds since 1970`);
}
