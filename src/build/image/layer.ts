/** Layers of images, made once for the same content and kept in a folder. */
import { createHash, type Hash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip, createZstdCompress } from "node:zlib";
import { type Blob, digestOf, mediaTypes } from "./blob.ts";
import { writing } from "../build-error.ts";
import { tar, type TarEntry } from "./tar.ts";

export type Compression = "gzip" | "zstd";

export interface Layer extends Blob {
  /** The digest of the archive before it was compressed. */
  readonly diffId: string;
  /** The program that made the layer, for the history of the image. */
  readonly createdBy: string;
}

export interface LayerOptions {
  readonly createdBy: string;
  readonly compression: Compression;
  /** Seconds since the epoch: the time of every entry. */
  readonly mtime: number;
  /** The folder in which layers are cached. */
  readonly cache: string;
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of bytes that have been packed since the last call. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** The note about a layer in the cache. */
interface Remembered {
  readonly diffId: string;
  readonly digest: string;
  readonly size: number;
}

/**
 * Packs and compresses a layer, unless the cache has one of the same content.
 *
 * @throws Error when a file cannot be read, or the cache cannot be written.
 */
export async function makeLayer(entries: readonly TarEntry[], options: LayerOptions): Promise<Layer> {
  const { cache, compression, createdBy } = options;
  await writing(cache, () => mkdir(cache, { recursive: true, mode: 0o700 }));
  const key = await keyOf(entries, options);
  const note = join(cache, `${key}.json`);
  const file = join(cache, `${key}.layer`);
  const kept =
    (await remembered(note, file)) ?? (await writing(cache, () => pack(entries, { ...options, note, file })));
  const mediaType = compression === "zstd" ? mediaTypes.zstdLayer : mediaTypes.gzipLayer;
  return {
    descriptor: { mediaType, digest: kept.digest, size: kept.size },
    content: file,
    diffId: kept.diffId,
    createdBy,
  };
}

/** Returns the key of a layer in the cache: a hash of its entries, their contents, and how they are packed. */
async function keyOf(entries: readonly TarEntry[], { compression, mtime, signal }: LayerOptions): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify([compression, mtime, process.versions["bun"]]));
  for (const entry of entries) {
    const { path, mode, type } = entry;
    hash.update(JSON.stringify([path, mode, type, type === "link" ? entry.target : ""]));
    if (type !== "file") continue;
    hash.update("bytes" in entry ? digestOf(entry.bytes) : await fileDigest(entry.source, signal));
  }
  return hash.digest("hex").slice(0, 32);
}

/** The digest of a file's content. */
export async function fileDigest(file: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(file, { ...(signal && { signal }), highWaterMark: 1024 * 1024 })) {
    hash.update(piece as Uint8Array);
  }
  return `sha256:${hash.digest("hex")}`;
}

/** Returns a layer of the cache after checking its content: a cache may be damaged. */
async function remembered(note: string, file: string): Promise<Remembered | undefined> {
  try {
    const { diffId, digest, size } = JSON.parse(await readFile(note, "utf8")) as Remembered;
    if ((await stat(file)).size !== size || (await fileDigest(file)) !== digest) return undefined;
    const now = new Date();
    await Promise.all([note, file].map((path) => utimes(path, now, now)));
    return { diffId, digest, size };
  } catch {
    return undefined;
  }
}

async function pack(
  entries: readonly TarEntry[],
  { note, file, cache, compression, mtime, signal, onBytes }: LayerOptions & { note: string; file: string },
): Promise<Remembered> {
  const aside = await mkdtemp(join(cache, "packing-"));
  try {
    const [plain, packed] = [createHash("sha256"), createHash("sha256")];
    let size = 0;
    await pipeline(
      Readable.from(tar(entries, { mtime, signal })),
      hashing(plain, onBytes),
      compression === "zstd" ? createZstdCompress() : createGzip({ level: 6 }),
      hashing(packed, (bytes) => void (size += bytes)),
      createWriteStream(join(aside, "layer")),
      ...(signal === undefined ? [] : [{ signal }]),
    );
    const record = {
      diffId: `sha256:${plain.digest("hex")}`,
      digest: `sha256:${packed.digest("hex")}`,
      size,
    };
    await writeFile(join(aside, "note"), JSON.stringify(record));
    await rename(join(aside, "layer"), file);
    await rename(join(aside, "note"), note);
    return record;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Passes everything on, and takes it into a hash. */
function hashing(hash: Hash, onBytes?: (bytes: number) => void): Transform {
  return new Transform({
    transform(piece: Uint8Array, _encoding, done) {
      hash.update(piece);
      onBytes?.(piece.length);
      done(null, piece);
    },
  });
}
