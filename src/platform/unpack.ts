/** Files that are embedded as one: JSON, one text per path, compressed with zstd. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** Where files may be kept between runs. */
function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "binnacle");
}

/**
 * Unpacks an asset into the cache, once per content.
 *
 * @returns the folder.
 */
export async function unpack(asset: string, env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const packed = await Bun.file(asset).bytes();
  const cache = cacheFolder(env);
  const folder = join(cache, `sdk-${Bun.hash(packed).toString(36)}`);
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  // Written aside, then renamed: another process sees all of it or nothing.
  const aside = await mkdtemp(join(cache, "unpacking-"));
  const files = JSON.parse(new TextDecoder().decode(Bun.zstdDecompressSync(packed))) as Record<string, string>;
  const folders = new Set(Object.keys(files).map((path) => dirname(join(aside, path))));
  for (const one of folders) await mkdir(one, { recursive: true });
  await Promise.all(Object.entries(files).map(([path, text]) => writeFile(join(aside, path), text)));
  try {
    await rename(aside, folder);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    if (!existsSync(folder)) throw error; // else another process was first
  }
  return folder;
}
