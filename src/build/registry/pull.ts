/** Pulls the base of an image from a registry: its configuration, and its layers into a folder. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { printable } from "../../observe/printable.ts";
import { type Blob, type Descriptor, digestOf, mediaTypes, type Platform } from "../image/blob.ts";
import type { BaseImage } from "../image/image.ts";
import { fileDigest } from "../image/layer.ts";
import { writing } from "../build-error.ts";
import { messageOf } from "../../platform/error-message.ts";
import { type Manifest, parseConfig, parseManifest } from "./documents.ts";
import { oneLine, RegistryError } from "./registry-error.ts";
import { RegistrySession, type SessionOptions } from "./session.ts";

export interface PullOptions extends Omit<SessionOptions, "action"> {
  readonly platforms: readonly Platform[];
  /** The folder in which layers are cached. */
  readonly cache: string;
  /** Called with the number of bytes that have arrived since the last call. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

export interface PulledImage {
  /** The digest of the manifest or index that the name led to. */
  readonly digest: string;
  /** The images, in the order of the requested platforms. */
  readonly images: readonly BaseImage[];
}

const dockerTypes: Readonly<Record<string, string>> = {
  "application/vnd.docker.distribution.manifest.v2+json": mediaTypes.manifest,
  "application/vnd.docker.distribution.manifest.list.v2+json": mediaTypes.index,
  "application/vnd.docker.container.image.v1+json": mediaTypes.config,
  "application/vnd.docker.image.rootfs.diff.tar.gzip": mediaTypes.gzipLayer,
};
const ACCEPT = [mediaTypes.index, mediaTypes.manifest, ...Object.keys(dockerTypes).slice(0, 2)].join(", ");
/** The largest manifest or configuration that is read. */
const MOST_DOCUMENT = 8 * 1024 * 1024;
const ATTEMPTS = 6;

/** @throws RegistryError, CredentialsError */
export async function pullImage(options: PullOptions): Promise<PulledImage> {
  const session = new RegistrySession({ ...options, action: "pull" });
  const { reference } = options;
  const path = `manifests/${reference.digest ?? reference.tag ?? "latest"}`;
  const root = await document(session, { path, digest: reference.digest, parse: parseManifest });
  const images: BaseImage[] = [];
  for (const platform of options.platforms)
    images.push(await pullPlatform(session, { root: root.value, platform, options }));
  return { digest: root.digest, images };
}

async function pullPlatform(
  session: RegistrySession,
  { root, platform, options }: { readonly root: Manifest; readonly platform: Platform; readonly options: PullOptions },
): Promise<BaseImage> {
  const { reference } = session;
  const name = `${reference.registry}/${reference.repository}`;
  const madeFor = (offered: readonly string[]): RegistryError => {
    const platforms = oneLine(offered.join(", ")) || "nothing";
    return new RegistryError(
      `Cannot build on ${name} for ${platformName(platform)}: it is made for ${platforms}; choose another --base or --target`,
    );
  };
  let manifest = root;
  if (root.manifests !== undefined) {
    const choice = root.manifests.find(
      (one) => one.platform?.os === platform.os && one.platform.architecture === platform.architecture,
    );
    if (choice === undefined) {
      const offered = root.manifests.flatMap((one) => (one.platform === undefined ? [] : [platformName(one.platform)]));
      throw madeFor([...new Set(offered)].filter((one) => one !== "unknown/unknown"));
    }
    const path = `manifests/${choice.digest}`;
    manifest = (await document(session, { path, digest: choice.digest, parse: parseManifest })).value;
  }
  if (manifest.config === undefined || manifest.layers === undefined) {
    throw new RegistryError(
      `Cannot build on ${name}: it is not an image, but ${oneLine(manifest.mediaType ?? "something else")}`,
    );
  }
  const { digest } = manifest.config;
  const { value: config } = await document(session, { path: `blobs/${digest}`, digest, parse: parseConfig });
  if (config.os !== platform.os || config.architecture !== platform.architecture) {
    throw madeFor([platformName(config)]);
  }
  const layers: Blob[] = [];
  for (const layer of manifest.layers) layers.push(await pullLayer(session, { layer, options }));
  return { config, layers };
}

function platformName({ os, architecture }: { readonly os: string; readonly architecture: string }): string {
  return `${os}/${architecture}`;
}

/**
 * Reads a document of the registry. A document that was named by a tag is trusted; one that was named by a digest is
 * compared with it.
 */
async function document<T>(
  session: RegistrySession,
  {
    path,
    digest: expected,
    parse,
  }: { readonly path: string; readonly digest: string | undefined; readonly parse: (bytes: Uint8Array) => T },
): Promise<{ readonly value: T; readonly digest: string }> {
  const bytes = await session.read({ method: "GET", path, headers: { accept: ACCEPT } }, MOST_DOCUMENT);
  const digest = digestOf(bytes);
  if (expected !== undefined && digest !== expected) throw corrupt(session, expected);
  try {
    return { value: parse(bytes), digest };
  } catch (error) {
    const { registry, repository } = session.reference;
    const why = messageOf(error);
    throw new RegistryError(
      `Cannot pull ${registry}/${repository}: what the registry sends as ${path} is malformed: ${printable(why)}`,
    );
  }
}

function corrupt({ reference }: RegistrySession, digest: string): RegistryError {
  return new RegistryError(
    `Cannot pull ${reference.registry}/${reference.repository}: what the registry sends as ${digest} is something else`,
  );
}

async function pullLayer(
  session: RegistrySession,
  { layer, options: { cache, onBytes } }: { readonly layer: Descriptor; readonly options: PullOptions },
): Promise<Blob> {
  const { digest, size } = layer;
  await writing(cache, () => mkdir(cache, { recursive: true, mode: 0o700 }));
  const file = join(cache, `${digest.slice("sha256:".length)}.base`);
  const blob: Blob = {
    descriptor: { mediaType: dockerTypes[layer.mediaType] ?? layer.mediaType, digest, size },
    content: file,
    from: session.reference.repository,
  };
  const earlier = await stat(file).catch(() => undefined);
  if (earlier?.size === size && (await fileDigest(file)) === digest) {
    onBytes?.(size);
    const now = new Date();
    await utimes(file, now, now);
    return blob;
  }
  const draft = `${file}.${process.pid}`;
  try {
    await writing(cache, async () => {
      await download(session, { layer, draft, onBytes });
      await rename(draft, file);
    });
  } finally {
    await rm(draft, { force: true });
  }
  return blob;
}

/** Downloads a blob, and resumes where the connection broke off. */
async function download(
  session: RegistrySession,
  {
    layer: { digest, size },
    draft,
    onBytes,
  }: { readonly layer: Descriptor; readonly draft: string; readonly onBytes: PullOptions["onBytes"] },
): Promise<void> {
  let at = 0;
  await using file = await open(draft, "w");
  for (let attempt = 1; at < size; attempt++) {
    const response = await session.send({
      method: "GET",
      path: `blobs/${digest}`,
      ...(at > 0 && { headers: { range: `bytes=${at}-` } }),
    });
    if (at > 0 && response.status !== 206) {
      onBytes?.(-at);
      at = 0;
    }
    try {
      for await (const bytes of response.body ?? []) {
        if (at + bytes.length > size) throw corrupt(session, digest);
        await file.write(bytes, 0, bytes.length, at);
        at += bytes.length;
        onBytes?.(bytes.length);
      }
    } catch (error) {
      if (attempt === ATTEMPTS || error instanceof RegistryError || isLocal(error))
        throw isLocal(error) ? error : session.unreachable(error);
    }
    if (at < size) {
      if (attempt === ATTEMPTS) throw corrupt(session, digest);
      await session.pause(attempt);
    }
  }
  const hash = createHash("sha256");
  for await (const piece of createReadStream(draft)) hash.update(piece as Uint8Array);
  if (`sha256:${hash.digest("hex")}` !== digest) throw corrupt(session, digest);
}

/** Whether an error comes from this machine's own files. */
function isLocal(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && (error.syscall === "write" || error.syscall === "open");
}
