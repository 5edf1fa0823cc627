/** Images as files: a layout folder of OCI, or the same as an archive that container engines load. */
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createWriteStream } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Blob, type Descriptor, mediaTypes } from "./blob.ts";
import type { BuiltImage } from "./image.ts";
import { BuildError, writing } from "../build-error.ts";
import { fullName } from "./reference.ts";
import { tar, type TarEntry } from "./tar.ts";

export interface WriteOptions {
  readonly mtime: number;
  readonly signal?: AbortSignal | undefined;
}

const LAYOUT = JSON.stringify({ imageLayoutVersion: "1.0.0" });

/**
 * Writes an archive that `ctr images import`, `kind load image-archive`, `docker load`, `podman load` and skopeo read.
 * It is written beside its place and then put there.
 */
export async function writeArchive(file: string, image: BuiltImage, options: WriteOptions): Promise<void> {
  await writing(file, () => archive(file, image, options));
}

async function archive(file: string, image: BuiltImage, options: WriteOptions): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true });
  const aside = await mkdtemp(join(folder, `.${basename(file)}-`));
  try {
    const draft = join(aside, basename(file));
    await pipeline(
      Readable.from(tar(archiveEntries(image), options)),
      createWriteStream(draft),
      ...(options.signal === undefined ? [] : [{ signal: options.signal }]),
    );
    await rename(draft, file);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

function archiveEntries(image: BuiltImage): readonly TarEntry[] {
  const text = (path: string, content: string): TarEntry => ({
    type: "file",
    path,
    mode: 0o644,
    bytes: Buffer.from(content),
  });
  return [
    text("oci-layout", LAYOUT),
    text("index.json", JSON.stringify(layoutIndex(image))),
    text("manifest.json", JSON.stringify(dockerManifest(image))),
    { type: "folder", path: "blobs", mode: 0o755 },
    { type: "folder", path: "blobs/sha256", mode: 0o755 },
    ...image.blobs.map(({ descriptor, content }): TarEntry => {
      const path = blobPath(descriptor);
      return typeof content === "string"
        ? { type: "file", path, mode: 0o644, source: content, size: descriptor.size }
        : { type: "file", path, mode: 0o644, bytes: content };
    }),
  ];
}

function blobPath({ digest }: Descriptor): string {
  return `blobs/${digest.replace(":", "/")}`;
}

/** An annotation in the index of a layout that this program wrote; such a layout may be replaced. */
const WRITER = { "dev.binnacle.writer": "binnacle build" };

/** The entry of a layout. containerd reads the name from its own annotation, other engines from OCI's. */
function layoutIndex({ root, reference }: BuiltImage): object {
  const annotations = {
    "io.containerd.image.name": fullName(reference),
    "org.opencontainers.image.ref.name": reference.tag ?? "latest",
  };
  const manifests = [{ ...root.descriptor, annotations }];
  return { schemaVersion: 2, mediaType: mediaTypes.index, manifests, annotations: WRITER };
}

/** The manifest for engines that do not know layouts; it can name only one platform. */
function dockerManifest({ reference, platforms }: BuiltImage): object {
  const [first] = platforms;
  if (first === undefined) return [];
  return [
    {
      Config: blobPath(first.config.descriptor),
      RepoTags: [fullName(reference)],
      Layers: first.layers.map(({ descriptor }) => blobPath(descriptor)),
    },
  ];
}

/**
 * Writes a layout folder of OCI. It is written beside its place and then moved there, replacing an earlier layout of
 * this program.
 *
 * @throws BuildError when the folder has any other content, such as an image of another program.
 */
export async function writeLayout(folder: string, image: BuiltImage): Promise<void> {
  await writing(folder, () => layout(folder, image));
}

async function layout(folder: string, image: BuiltImage): Promise<void> {
  const there = await readdir(folder).catch(() => undefined);
  const what = there === undefined || there.length === 0 ? undefined : await foreign(folder, there);
  if (what !== undefined) {
    throw new BuildError(`Cannot write the image to '${folder}': it holds ${what}; remove it, or name another folder`);
  }
  await mkdir(dirname(folder), { recursive: true });
  const aside = await mkdtemp(join(dirname(folder), `.${basename(folder)}-`));
  try {
    const draft = join(aside, "new");
    await mkdir(join(draft, "blobs", "sha256"), { recursive: true });
    for (const blob of image.blobs) await writeBlob(draft, blob);
    await writeFile(join(draft, "oci-layout"), LAYOUT);
    await writeFile(join(draft, "index.json"), JSON.stringify(layoutIndex(image)));
    if (there !== undefined) await rename(folder, join(aside, "old"));
    await rename(draft, folder).catch(async (error: unknown) => {
      if (there !== undefined) await rename(join(aside, "old"), folder);
      throw error;
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Names the foreign content of a folder; `undefined` when this program wrote all of it. */
async function foreign(folder: string, names: readonly string[]): Promise<string | undefined> {
  if (!names.includes("oci-layout")) return "something else than an image";
  const other = names.find((name) => !["oci-layout", "index.json", "blobs"].includes(name));
  if (other !== undefined) return `'${other}' beside an image`;
  const index = await readFile(join(folder, "index.json"), "utf8").catch(() => "");
  return index.includes(JSON.stringify(WRITER)) ? undefined : "images that another program has written";
}

async function writeBlob(folder: string, { descriptor, content }: Blob): Promise<void> {
  const path = join(folder, blobPath(descriptor));
  await (typeof content === "string" ? cp(content, path) : writeFile(path, content));
}

/** Writes the bill of materials beside an image. */
export async function writeSbom(file: string, document: string): Promise<void> {
  await writing(file, () => writeFile(file, document));
}
