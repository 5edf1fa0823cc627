/** `binnacle build --image` */
import { join, resolve } from "node:path";
import {
  type BaseImage,
  buildProgramImage,
  createdAt,
  credentialsFor,
  fullName,
  labelsOf,
  libcOf,
  mebibytes,
  parseReference,
  type Progress,
  pruneUnused,
  pullImage,
  pushImage,
  type Reference,
  type Target,
  targets,
  writeArchive,
  writeLayout,
  writeSbom,
} from "../build/index.ts";
import { withoutLogin } from "../observe/without-login.ts";
import { allLoaded } from "../platform/module-host.ts";
import { cacheFolder } from "../platform/unpack.ts";
import type { BuildValues } from "./build-options.ts";
import { binaryFor, modulesToBuild, runtimeCache, targetsOf } from "./build-targets.ts";
import type { Host } from "./command.ts";
import { projectName } from "./operator-name.ts";
import { UsageError, UserError } from "./usage-error.ts";

export interface BuildContext {
  readonly host: Host;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Called with each file that is complete. */
  readonly onWritten: (file: string) => void;
}

/** @returns the exit status. @throws UsageError, UserError */
export async function buildImageOf(
  values: BuildValues & { readonly image: string },
  { host, progress, signal }: BuildContext,
): Promise<number> {
  const reference = referenceOf(values.image, "--image");
  if (reference.digest !== undefined)
    throw new UsageError("--image has a digest, which follows from what is built: leave it out");
  const requested = targetsOf(values.target);
  const other = requested.find(({ os }) => os !== "linux");
  if (other !== undefined) throw new UsageError(`--target is '${other.name}': images are built for linux only`);
  const twice = requested.find(({ cpu }, index) => requested.findIndex((one) => one.cpu === cpu) !== index);
  if (twice !== undefined)
    throw new UsageError(`--target has two for ${twice.cpu}: an image holds one for each processor; leave one out`);
  const baseReference = values.base === undefined ? undefined : referenceOf(values.base, "--base");
  const unnamed = values.label?.find((label) => !/^[^=]+=/.test(label));
  if (unnamed !== undefined) throw new UsageError(`--label is '${unnamed}': expected key=value`);
  const created = createdAt(host.env);
  const labels = labelsOf({
    reference,
    created,
    base: baseReference,
    ...(values.apiserver
      ? { title: "binnacle apiserver", folder: undefined, flags: [ownVersion(host), ...(values.label ?? [])] }
      : {
          title: projectName(values.controllers[0] ?? "."),
          folder: resolve(values.controllers[0] ?? "."),
          flags: values.label ?? [],
        }),
  });
  const entries = values.apiserver ? "apiserver" : await modulesToBuild(values, host);
  const cache = join(cacheFolder(host.env), "layers");
  const registry = {
    credentials: (name: string) => credentialsFor(name, host.env),
    plainHttp: values["plain-http"],
    signal,
  };
  // When an image is pushed without TLS, its base is still pulled from another registry over TLS.
  const plainBase =
    values["plain-http"] && (values.output !== undefined || baseReference?.registry === reference.registry);
  const base =
    baseReference &&
    (await pullBase(baseReference, {
      targets: requested,
      cache,
      registry: { ...registry, plainHttp: plainBase },
      progress,
    }));
  const platforms = base === undefined ? requested : await targetsOn(base, requested);
  const { image, documents } = await buildProgramImage({
    reference,
    targets: platforms,
    modules: entries,
    offered: await allLoaded(await host.embedded.offered()),
    program: { version: host.embedded.version, dependencies: host.embedded.dependencies ?? {} },
    binaryFor: (target) => binaryFor(target, { host, progress, signal }),
    base,
    created,
    labels: base === undefined ? labels : { ...labels, "org.opencontainers.image.base.digest": base.digest },
    compression: values.compression,
    cache,
    progress,
    signal,
  });
  const size = image.blobs.reduce((sum, { descriptor }) => sum + descriptor.size, 0);
  // The output names the processors: on a node with another one, the only hint would be `exec format error`.
  const processors = image.platforms.map(({ platform }) => `${platform.os}/${platform.architecture}`).join(", ");
  const where = await deliver();
  for (const [{ cpu }, document] of documents) {
    if (values.sbom !== undefined) await writeSbom(sbomFile(values.sbom, documents.size > 1 ? cpu : ""), document);
  }
  for (const one of [cache, runtimeCache(host)]) await pruneUnused(one);
  progress[Symbol.dispose]();
  host.out(`${where}\n`);
  return 0;

  async function deliver(): Promise<string> {
    const mtime = Math.floor(created / 1000);
    if (values.output?.endsWith(".tar") === true) {
      progress.begin(`Writing ${values.output}`);
      await writeArchive(values.output, image, { mtime, signal });
    } else if (values.output !== undefined) {
      progress.begin(`Writing ${values.output}`);
      await writeLayout(values.output, image);
    } else {
      progress.begin(`Pushing ${fullName(reference)}`, size);
      const pushed = await pushImage(image, {
        ...registry,
        credentials: () => registry.credentials(reference.registry),
        mountFrom: baseReference?.registry === reference.registry ? baseReference.repository : undefined,
        onBytes: (bytes) => progress.advance(bytes),
      });
      return `${reference.registry}/${reference.repository}@${pushed.digest} (${mebibytes(pushed.sent)} of ${mebibytes(size)} MiB sent) for ${processors}`;
    }
    return `${values.output}: ${fullName(reference)}@${image.root.descriptor.digest} (${mebibytes(size)} MiB) for ${processors}`;
  }
}

/** The label with the version of binnacle, for an image without modules. */
function ownVersion({ embedded }: Host): string {
  return `org.opencontainers.image.version=${embedded.version}`;
}

interface Base {
  readonly name: string;
  readonly digest: string;
  readonly images: readonly BaseImage[];
}

/** The binary uses the C library of the base. @throws UserError for a base without one */
async function targetsOn({ name, images }: Base, requested: readonly Target[]): Promise<readonly Target[]> {
  const candidates = images.map(async (image, index) => {
    const libc = await libcOf(image);
    const { cpu } = requested[index]!;
    const target = targets.find((one) => one.os === "linux" && one.cpu === cpu && one.libc === libc);
    if (target !== undefined) return target;
    throw new UserError(
      `Cannot build on ${name}: it has no C library, which the binary needs; choose another --base, or leave it out`,
    );
  });
  return Promise.all(candidates);
}

interface BaseOptions {
  readonly targets: readonly Target[];
  readonly cache: string;
  readonly registry: {
    readonly credentials: (name: string) => ReturnType<typeof credentialsFor>;
    readonly plainHttp: boolean;
    readonly signal: AbortSignal;
  };
  readonly progress: Progress;
}

async function pullBase(
  reference: Reference,
  { targets: wanted, cache, registry, progress }: BaseOptions,
): Promise<Base> {
  progress.begin(`Pulling ${fullName(reference)}`);
  const pulled = await pullImage({
    ...registry,
    reference,
    credentials: () => registry.credentials(reference.registry),
    platforms: wanted.map(({ cpu }) => ({ os: "linux", architecture: cpu === "x64" ? "amd64" : "arm64" })),
    cache,
  });
  return { name: fullName(reference), ...pulled };
}

/** One file for each processor: `bom.json` becomes `bom-arm64.json`. */
function sbomFile(file: string, cpu: string): string {
  return cpu === "" ? file : file.replace(/(\.[^./]*)?$/, `-${cpu}$1`);
}

function referenceOf(text: string, option: string): Reference {
  const reference = parseReference(text);
  if (typeof reference === "string") throw new UsageError(`${option} is '${withoutLogin(text)}': ${reference}`);
  return reference;
}
