/** Reads the needs of a Linux executable: its processor, its loader and its shared libraries. */
import { closeSync, openSync, readSync } from "node:fs";

const MAGIC = 0x7f_45_4c_46;
const BITS_64 = 2;
const LITTLE_ENDIAN = 1;
const LOAD = 1;
const DYNAMIC = 2;
const INTERPRETER = 3;
const NEEDED = 1;
const STRING_TABLE = 5;
const SONAME = 14;
/** The maximum number of bytes that are read of one table. */
const MOST = 1024 * 1024;

const machines: ReadonlyMap<number, Architecture> = new Map([
  [62, "amd64"],
  [183, "arm64"],
]);

/** Processors as images name them. */
export type Architecture = "amd64" | "arm64";

export interface Elf {
  readonly architecture: Architecture;
  /** The path of the loader; `undefined` for a library, and for a statically linked executable. */
  readonly interpreter: string | undefined;
  /** Names of shared libraries. */
  readonly needed: readonly string[];
  /** The name of the library itself. */
  readonly soname: string | undefined;
}

/**
 * Reads a file. @returns `undefined` unless it is a 64-bit executable or library of Linux for a supported processor.
 */
export function readElf(file: string): Elf | undefined {
  const descriptor = openSync(file, "r");
  const read = (at: number, length: number): Buffer => {
    const buffer = Buffer.alloc(Math.min(length, MOST));
    return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, at));
  };
  try {
    return parse(read);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // it is shorter than it says
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

function parse(read: (at: number, length: number) => Buffer): Elf | undefined {
  const header = read(0, 64);
  if (header.length < 64 || header.readUInt32BE(0) !== MAGIC) return undefined;
  if (header[4] !== BITS_64 || header[5] !== LITTLE_ENDIAN) return undefined;
  const architecture = machines.get(header.readUInt16LE(18));
  if (architecture === undefined) return undefined;
  const [entrySize, count] = [header.readUInt16LE(54), header.readUInt16LE(56)];
  const table = read(Number(header.readBigUInt64LE(32)), entrySize * count);
  const segments = Array.from({ length: count }, (_, index): Segment => {
    const at = index * entrySize;
    return {
      type: table.readUInt32LE(at),
      offset: Number(table.readBigUInt64LE(at + 8)),
      address: Number(table.readBigUInt64LE(at + 16)),
      size: Number(table.readBigUInt64LE(at + 32)),
    };
  });
  const interpreter = segments.find(({ type }) => type === INTERPRETER);
  return {
    architecture,
    interpreter: interpreter && textIn(read(interpreter.offset, interpreter.size), 0),
    ...libraries(segments, read),
  };
}

function libraries(
  segments: readonly Segment[],
  read: (at: number, length: number) => Buffer,
): Pick<Elf, "needed" | "soname"> {
  const dynamic = segments.find(({ type }) => type === DYNAMIC);
  if (dynamic === undefined) return { needed: [], soname: undefined };
  const table = read(dynamic.offset, dynamic.size);
  const tags = Array.from({ length: Math.floor(table.length / 16) }, (_, index) => ({
    tag: Number(table.readBigInt64LE(index * 16)),
    value: Number(table.readBigUInt64LE(index * 16 + 8)),
  }));
  const address = tags.find(({ tag }) => tag === STRING_TABLE)?.value ?? 0;
  const home = segments.find(
    ({ type, address: start, size }) => type === LOAD && address >= start && address < start + size,
  );
  if (home === undefined) return { needed: [], soname: undefined };
  const strings = address - home.address + home.offset;
  const named = (type: number): string[] =>
    tags.filter(({ tag }) => tag === type).map(({ value }) => textIn(read(strings + value, 256), 0));
  return { needed: named(NEEDED), soname: named(SONAME)[0] };
}

function textIn(buffer: Buffer, at: number): string {
  const end = buffer.indexOf(0, at);
  return buffer.toString("utf8", at, end < 0 ? buffer.length : end);
}
