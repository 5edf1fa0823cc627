/** The archives of a release. The same entries make the same bytes: order, owner, permissions and times are all given. */
import { createWriteStream } from "node:fs";
import { open, readFile, writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { crc32, createGzip, deflateRawSync } from "node:zlib";
import { tar, type TarEntry } from "../../src/build/image/tar.ts";

export interface ArchiveOptions {
  /** Seconds since the epoch: the time of every entry. */
  readonly mtime: number;
  /** Of the compression, 1 to 9. */
  readonly level: number;
}

/** Where the header of gzip names the operating system, and the number for one that is not told. */
const [SYSTEM_AT, UNKNOWN_SYSTEM] = [9, 255];

export async function writeTarGz(
  file: string,
  entries: readonly TarEntry[],
  { mtime, level }: ArchiveOptions,
): Promise<void> {
  await pipeline(Readable.from(tar(entries, { mtime })), createGzip({ level }), createWriteStream(file));
  await using written = await open(file, "r+");
  await written.write(Uint8Array.of(UNKNOWN_SYSTEM), 0, 1, SYSTEM_AT);
}

const DEFLATE = 8;
/** What is needed to read the archive: version 2.0 of the format. */
const NEEDED = 20;
/** Made on Unix, so that permissions count. */
const MADE_BY = (3 << 8) | NEEDED;
/** Names are UTF-8. */
const FLAGS = 1 << 11;
const REGULAR_FILE = 0o100000;
/** 1980, where times of the format begin. */
const EARLIEST = 315_532_800;

/** Writes a zip archive, which has files alone. */
export async function writeZip(
  file: string,
  entries: readonly TarEntry[],
  { mtime, level }: ArchiveOptions,
): Promise<void> {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    if (entry.type !== "file") continue;
    const bytes = "bytes" in entry ? entry.bytes : await readFile(entry.source);
    const packed = deflateRawSync(bytes, { level });
    const name = Buffer.from(entry.path);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(NEEDED, 0);
    shared.writeUInt16LE(FLAGS, 2);
    shared.writeUInt16LE(DEFLATE, 4);
    shared.writeUInt32LE(dosTime(mtime), 6);
    shared.writeUInt32LE(crc32(bytes), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(bytes.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const local = [Buffer.from("PK\u0003\u0004", "latin1"), shared, name, packed];
    const end = Buffer.alloc(14);
    end.writeUInt32LE(((REGULAR_FILE | entry.mode) << 16) >>> 0, 6);
    end.writeUInt32LE(offset, 10);
    const madeBy = Buffer.alloc(2);
    madeBy.writeUInt16LE(MADE_BY);
    directory.push(Buffer.from("PK\u0001\u0002", "latin1"), madeBy, shared, end, name);
    pieces.push(...local);
    offset += local.reduce((sum, { length }) => sum + length, 0);
  }
  const count = pieces.length / 4;
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", 0, "latin1");
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  await writeFile(file, Buffer.concat([...pieces, ...directory, end]));
}

/** Date and time as MS-DOS has them, in UTC. */
function dosTime(mtime: number): number {
  const at = new Date(Math.max(mtime, EARLIEST) * 1000);
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return ((date << 16) | time) >>> 0;
}
