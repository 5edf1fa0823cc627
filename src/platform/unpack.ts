/**
 * Files that are embedded as one asset: a line with the digest of all files, then JSON with one text per path,
 * compressed with zstd.
 */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative } from "node:path";
import { zstdCompress, zstdDecompress } from "#runtime/compression";

/** The name of the file beside the program's code that contains the order in which it uses its bytecode. */
export const BYTECODE_ORDER = "bytecode.order";

/** The permissions of the group and of others. */
const OTHERS = 0o077;
const DIGEST_LENGTH = 64;

/** Packs files so that {@link unpack} can read them. */
export function pack(files: Readonly<Record<string, string>>): Uint8Array {
  const texts = Object.entries(files).map(([path, text]) => [path, Buffer.from(text)] as const);
  const packed = zstdCompress(JSON.stringify(files));
  return Buffer.concat([Buffer.from(`${digestOf(texts)}\n`), packed]);
}

/** Reads the files from the result of {@link pack}. */
export function filesIn(packed: Uint8Array<ArrayBuffer>): Readonly<Record<string, string>> {
  const text = new TextDecoder().decode(zstdDecompress(packed.subarray(DIGEST_LENGTH + 1)));
  return JSON.parse(text) as Record<string, string>;
}

/** Returns the folder for files that are kept between runs. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "binnacle");
}

/**
 * Unpacks an asset into the cache, once per content.
 *
 * Existing files are checked by their digest, because they will be run: if a file differs, is missing or is surplus,
 * all files are written again.
 *
 * @returns the folder.
 */
export async function unpack(asset: string, env: Readonly<Record<string, string | undefined>>): Promise<string> {
  // An embedded file cannot be opened by a handle, so it is read as a whole.
  const packed = await readFile(asset);
  const digest = packed.toString("latin1", 0, DIGEST_LENGTH);
  const cache = cacheFolder(env);
  const folder = join(cache, `sdk-${digest.slice(0, 16)}`);
  if (holds(folder, digest)) return folder;
  await mkdir(cache, { recursive: true, mode: 0o700 });
  // The files are written to another folder and renamed, so that other processes see all of them or none.
  const aside = await mkdtemp(join(cache, "unpacking-"));
  try {
    await write(join(aside, "new"), filesIn(packed));
    await rename(join(aside, "new"), folder).catch(async (error: unknown) => {
      if (holds(folder, digest)) return; // another process was faster
      await rename(folder, join(aside, "old")).catch(() => Promise.reject(error));
      await rename(join(aside, "new"), folder);
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return folder;
}

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  const folders = new Set(Object.keys(files).map((path) => dirname(join(folder, path))));
  for (const one of folders) await mkdir(one, { recursive: true });
  await Promise.all(Object.entries(files).map(([path, text]) => writeFile(join(folder, path), text)));
}

/** Whether a folder to which only this user can write contains exactly the files of this digest. */
function holds(folder: string, digest: string): boolean {
  try {
    const stat = lstatSync(folder);
    const isOurs = process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & OTHERS) === 0);
    if (!stat.isDirectory() || !isOurs) return false;
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => !one.isDirectory());
    if (!entries.every((one) => one.isFile())) return false;
    const paths = entries.map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
    return digestOf(paths.map((path) => [path, readFileSync(join(folder, path))])) === digest;
  } catch {
    return false;
  }
}

function digestOf(files: readonly (readonly [path: string, text: Uint8Array])[]): string {
  const hash = createHash("sha256");
  for (const [path, text] of files.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${path}\0${text.length}\0`).update(text);
  }
  return hash.digest("hex");
}
