/**
 * Tar archives as image layers and image archives need them: ustar, with an extended header where a path does not fit.
 *
 * The same entries always make the same bytes, because owner, group and time of every entry are arguments instead of
 * being read.
 */
import { open } from "node:fs/promises";

const BLOCK = 512;
/** Bytes that are read from a file at once. */
const PIECE = 1024 * 1024;
/** The longest path that a ustar header holds without a prefix. */
const LONGEST_NAME = 100;

/** The content of an archive's entry. */
export type TarContent =
  | { readonly type: "file"; readonly bytes: Uint8Array }
  /** A file of this machine; it must not change its size while it is written. */
  | { readonly type: "file"; readonly source: string; readonly size: number }
  | { readonly type: "folder" }
  | { readonly type: "link"; readonly target: string };

export type TarEntry = TarContent & {
  /** Without a slash at the beginning or at the end. */
  readonly path: string;
  /** Permissions. */
  readonly mode: number;
};

export interface TarOptions {
  /** Seconds since the epoch: the time of every entry. */
  readonly mtime: number;
  readonly signal?: AbortSignal | undefined;
}

const typeFlags: Readonly<Record<TarEntry["type"], string>> = { file: "0", link: "2", folder: "5" };

/** An archive, piece by piece. @throws Error when a file cannot be read or changes its size. */
export async function* tar(
  entries: Iterable<TarEntry>,
  { mtime, signal }: TarOptions,
): AsyncGenerator<Uint8Array, void, void> {
  for (const entry of entries) {
    signal?.throwIfAborted();
    const size = sizeOf(entry);
    const path = entry.type === "folder" ? `${entry.path}/` : entry.path;
    const target = entry.type === "link" ? entry.target : "";
    const records = extendedRecords({ path, target });
    if (records.length > 0) {
      yield header({ path: "pax", mode: 0o644, size: records.length, mtime, flag: "x", target: "" });
      yield records;
      yield padding(records.length);
    }
    yield header({ path, mode: entry.mode, size, mtime, flag: typeFlags[entry.type], target });
    if (entry.type !== "file") continue;
    if ("bytes" in entry) yield entry.bytes;
    else yield* contentOf(entry.source, { size, signal });
    yield padding(size);
  }
  yield new Uint8Array(2 * BLOCK);
}

/** The bytes that {@link tar} makes of these entries. */
export function tarSize(entries: Iterable<TarEntry>): number {
  let sum = 2 * BLOCK;
  for (const entry of entries) {
    const path = entry.type === "folder" ? `${entry.path}/` : entry.path;
    const records = extendedRecords({ path, target: entry.type === "link" ? entry.target : "" }).length;
    const size = sizeOf(entry);
    sum += BLOCK + roundedUp(size) + (records > 0 ? BLOCK + roundedUp(records) : 0);
  }
  return sum;
}

function sizeOf(entry: TarEntry): number {
  return entry.type !== "file" ? 0 : "bytes" in entry ? entry.bytes.length : entry.size;
}

async function* contentOf(
  source: string,
  { size, signal }: { readonly size: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<Uint8Array, void, void> {
  await using file = await open(source, "r");
  let rest = size;
  while (rest > 0) {
    signal?.throwIfAborted();
    const { bytesRead, buffer } = await file.read(new Uint8Array(Math.min(PIECE, rest)), 0, Math.min(PIECE, rest));
    if (bytesRead === 0) break;
    rest -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
  if (rest > 0 || (await file.read(new Uint8Array(1), 0, 1)).bytesRead > 0) {
    throw new Error(`Cannot pack '${source}': its size has changed meanwhile; build again`);
  }
}

function roundedUp(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}

function padding(size: number): Uint8Array {
  return new Uint8Array(roundedUp(size) - size);
}

interface HeaderFields {
  readonly path: string;
  readonly mode: number;
  readonly size: number;
  readonly mtime: number;
  readonly flag: string;
  readonly target: string;
}

/** Makes a header. A name that is too long is cut here, and complete in the extended header before it. */
function header({ path, mode, size, mtime, flag, target }: HeaderFields): Uint8Array {
  const block = Buffer.alloc(BLOCK);
  const number = (value: number, { at, digits }: { readonly at: number; readonly digits: number }): void => {
    const text = value.toString(8).padStart(digits, "0");
    if (text.length > digits) throw new Error(`Cannot pack '${path}': it is too large for a tar archive`);
    block.write(text, at, "latin1");
  };
  block.write(path, 0, LONGEST_NAME, "utf8");
  number(mode, { at: 100, digits: 7 });
  number(0, { at: 108, digits: 7 });
  number(0, { at: 116, digits: 7 });
  number(size, { at: 124, digits: 11 });
  number(mtime, { at: 136, digits: 11 });
  block.write(" ".repeat(8), 148, "latin1");
  block.write(flag, 156, "latin1");
  block.write(target, 157, LONGEST_NAME, "utf8");
  block.write("ustar\u000000", 257, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

/**
 * Returns the extended records of paths that a header cannot express: long ones, and those with characters beyond
 * ASCII.
 */
function extendedRecords({ path, target }: { readonly path: string; readonly target: string }): Uint8Array {
  const fits = (text: string): boolean => text.length <= LONGEST_NAME && /^[\x20-\x7e]*$/.test(text);
  const records = [
    ...(fits(path) ? [] : [record("path", path)]),
    ...(fits(target) ? [] : [record("linkpath", target)]),
  ];
  return Buffer.from(records.join(""));
}

/** Returns `LENGTH KEY=VALUE\n`, where the length includes its own digits. */
function record(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length > length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}
