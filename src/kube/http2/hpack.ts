/**
 * Headers of HTTP/2, compressed as HPACK. Our settings allow the server no table of what it has sent before, and we use
 * none: so a block stands for itself, and only the fields that somebody asks for are read. Servers that keep a table all
 * the same are understood.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7541
 */
import type { HeaderValues } from "../config/cluster-config.ts";
import { Flood } from "./h2-flood.ts";
import { MOST_HEADER_BYTES } from "../limits.ts";
import { HUFFMAN_LENGTHS, STATIC_TABLE } from "./hpack-tables.ts";

const utf8 = new TextEncoder();
const LITERAL = 0x00;
/** No proxy on the way may keep it in a table. */
const NEVER_INDEXED = 0x10;
const PATH = 4;
const AUTHORITY = 1;
const METHOD = 2;
const INDEXED_METHODS: Readonly<Record<string, number>> = { GET: 0x82, POST: 0x83 };
const SCHEME_HTTPS = 0x87;

/** Before the first block: we use no table, so that a server that wants it small need not be told again. */
export const NO_TABLE: Uint8Array = Uint8Array.of(0x20);

/** The fields that say what is asked, up to the text of the path. */
export function encodeTarget(method: string, authority: string): Uint8Array {
  const known = INDEXED_METHODS[method];
  return joined([
    known === undefined ? joined([[LITERAL | METHOD], text(method)]) : [known],
    [SCHEME_HTTPS, LITERAL | AUTHORITY],
    text(authority),
    [LITERAL | PATH],
  ]);
}

/**
 * Several values of one name become several fields.
 *
 * @throws TypeError when a value holds what no header may.
 */
export function encodeHeaders(headers: HeaderValues): Uint8Array {
  const parts: ArrayLike<number>[] = [];
  for (const [given, values] of Object.entries(headers)) {
    const name = given.toLowerCase();
    for (const value of typeof values === "string" ? [values] : values) {
      if (/[\0\r\n]/.test(value)) throw new TypeError(`The header '${name}' must not hold a line break`);
      parts.push([name === "authorization" ? NEVER_INDEXED : LITERAL], text(name), text(value));
    }
  }
  return joined(parts);
}

/** The text of a path, in which everything but ASCII is percent-encoded. */
export function encodePath(path: string): Uint8Array {
  return text(/[^!-~]/.test(path) ? encodeURI(path).replaceAll("%25", "%") : path);
}

/** A text as it is, after its length. */
function text(value: string): Uint8Array {
  const size = Buffer.byteLength(value, "utf8");
  const length = encodeLength(size);
  const bytes = new Uint8Array(length.length + size);
  bytes.set(length);
  utf8.encodeInto(value, bytes.subarray(length.length));
  return bytes;
}

function encodeLength(value: number): number[] {
  if (value < 127) return [value];
  const bytes = [127];
  let rest = value - 127;
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 127) | 128);
  bytes.push(rest);
  return bytes;
}

function joined(parts: readonly ArrayLike<number>[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** What a server refers back to. A new one for each entry: none is ever made for a server that heeds our settings. */
interface Table {
  /** The newest first. */
  readonly entries: readonly (readonly [name: string, value: string])[];
  readonly bytes: number;
  readonly most: number;
}

/** The size that the standard gives a table as long as nobody says otherwise. */
const TABLE_BYTES = 4_096;
/** Beside its name and value, in the arithmetic of the standard. */
const ENTRY_BYTES = 32;

const STATIC_NAMES = new Set(STATIC_TABLE.map(([name]) => name));

/** Reads the blocks of one connection, in their order. Broken ones throw: the connection cannot be used any more. */
export class HeaderReader {
  #table: Table = { entries: [], bytes: 0, most: TABLE_BYTES };

  read(bytes: Uint8Array): HeaderBlock {
    const block = new HeaderBlock(bytes, this.#table);
    // Who has given up its table, as asked, will refer to nothing: then only fields that somebody asks for are looked at.
    if (this.#table.most > 0) this.#table = block.after();
    return block;
  }
}

/** The fields of one block, read when they are asked for. */
class HeaderBlock {
  readonly #bytes: Uint8Array;
  readonly #before: Table;
  #table: Table;
  #at = 0;
  /** Of the field at hand; undefined when it has a name of its own. */
  #entry: readonly [name: string, value: string] | undefined;
  /** Where the name of its own begins, with its length. */
  #name = 0;
  /** Where its value begins; -1 when the entry has it. */
  #value = 0;

  constructor(bytes: Uint8Array, before: Table) {
    this.#bytes = bytes;
    this.#before = before;
    this.#table = before;
  }

  /** The table that the next block refers to. */
  after(): Table {
    this.#begin();
    // An entry of the table takes one byte each time it is meant, and up to 4 KiB when it is read.
    for (let bytes = 0; this.#next();) {
      if (this.#value < 0) bytes += sizeOf(this.#entry!);
      if (bytes > MOST_HEADER_BYTES) throw new Flood(`headers of more than ${MOST_HEADER_BYTES / 1024} KiB`);
    }
    return this.#table;
  }

  /** 0 when the block does not begin with a status: it is a trailer. */
  get status(): number {
    this.#begin();
    return this.#next() && this.#isNamed(":status") ? Number(this.#text()) : 0;
  }

  /** Several values of one name are joined. */
  get(name: string): string | undefined {
    let found: string | undefined;
    if (!this.#mayHold(name)) return found;
    this.#begin();
    while (this.#next()) {
      if (!this.#isNamed(name)) continue;
      found = found === undefined ? this.#text() : `${found}, ${this.#text()}`;
    }
    return found;
  }

  /** Each answer is asked for warnings, and nearly none has one: whether the name is there at all is told at once. */
  #mayHold(name: string): boolean {
    if (this.#before.most > 0 || STATIC_NAMES.has(name)) return true;
    const bytes = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length);
    return bytes.includes(packedName(name)) || bytes.includes(name, 0, "latin1");
  }

  #begin(): void {
    this.#at = 0;
    this.#table = this.#before;
  }

  /** Goes on to the next field. @returns whether there is one. */
  #next(): boolean {
    const bytes = this.#bytes;
    while (this.#at < bytes.length) {
      const first = bytes[this.#at]!;
      if (first >= 0x80) {
        this.#entry = this.#known(this.#integer(7));
        this.#value = -1;
        return true;
      }
      if ((first & 0xe0) === 0x20) {
        this.#resize(this.#integer(5));
        continue;
      }
      const isIndexed = first >= 0x40;
      const place = this.#integer(isIndexed ? 6 : 4);
      this.#entry = place === 0 ? undefined : this.#known(place);
      this.#name = this.#at;
      if (place === 0) this.#skip();
      this.#value = this.#at;
      this.#skip();
      if (isIndexed) this.#remember();
      return true;
    }
    return false;
  }

  #isNamed(name: string): boolean {
    if (this.#entry !== undefined) return this.#entry[0] === name;
    const next = this.#at;
    this.#at = this.#name;
    const wanted = this.#bytes[this.#at]! >= 128 ? packedName(name) : Buffer.from(name, "latin1");
    const size = this.#integer(7);
    const start = this.#at;
    this.#at = next;
    if (size !== wanted.length) return false;
    for (let i = 0; i < size; i++) if (this.#bytes[start + i] !== wanted[i]) return false;
    return true;
  }

  #known(place: number): readonly [name: string, value: string] {
    const entry = STATIC_TABLE[place] ?? this.#table.entries[place - STATIC_TABLE.length];
    if (entry === undefined || place === 0) throw new Error(`no header at ${place} of the table`);
    return entry;
  }

  #remember(): void {
    const name = this.#entry?.[0] ?? this.#decode(this.#name);
    const value = this.#text();
    const { entries, bytes, most } = this.#table;
    this.#table = fitting([[name, value], ...entries], bytes + sizeOf([name, value]), most);
  }

  #resize(most: number): void {
    if (most > TABLE_BYTES) throw new Error(`a header table of ${most} bytes was not offered`);
    this.#table = fitting(this.#table.entries, this.#table.bytes, most);
  }

  /** The value of the field at hand. */
  #text(): string {
    return this.#value < 0 ? this.#entry![1] : this.#decode(this.#value);
  }

  #integer(bits: number): number {
    const most = 2 ** bits - 1;
    let value = this.#byte() & most;
    if (value < most) return value;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (value > 2 ** 31) throw new Error("a number in the headers is too large");
      if (byte < 128) return value;
    }
  }

  #skip(): void {
    const size = this.#integer(7);
    this.#at += size;
    if (this.#at > this.#bytes.length) throw new Error("the headers end in the middle");
  }

  #decode(place: number): string {
    const next = this.#at;
    this.#at = place;
    const isPacked = this.#bytes[place]! >= 128;
    const size = this.#integer(7);
    const bytes = this.#bytes.subarray(this.#at, this.#at + size);
    this.#at = next;
    return isPacked ? unpacked(bytes) : Buffer.from(bytes).toString("latin1");
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new Error("the headers end in the middle");
    return byte;
  }
}

function fitting(entries: Table["entries"], bytes: number, most: number): Table {
  let kept = entries.length;
  let left = bytes;
  while (left > most) left -= sizeOf(entries[--kept]!);
  return { entries: entries.slice(0, kept), bytes: left, most };
}

function sizeOf([name, value]: readonly [string, string]): number {
  return name.length + value.length + ENTRY_BYTES;
}

/** By the length of a code: the first code, and the bytes in the order of their codes. Made on first use. */
let codes: { readonly first: number; readonly bytes: readonly number[] }[] | undefined;

function canonicalCodes(): { readonly first: number; readonly bytes: readonly number[] }[] {
  const table = Array.from({ length: 31 }, () => ({ first: 0, bytes: [] as number[] }));
  HUFFMAN_LENGTHS.forEach((bits, byte) => table[bits]!.bytes.push(byte));
  let code = 0;
  for (const entry of table) {
    entry.first = code;
    code = (code + entry.bytes.length) * 2;
  }
  return table;
}

function unpacked(packed: Uint8Array): string {
  codes ??= canonicalCodes();
  let result = "";
  let code = 0;
  let bits = 0;
  for (const byte of packed) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1);
      const { first, bytes } = codes[++bits]!;
      const found = bytes[code - first];
      if (found !== undefined) {
        if (found > 255) throw new Error("the headers hold an end in the middle");
        result += String.fromCharCode(found);
        code = 0;
        bits = 0;
      } else if (bits === 30) throw new Error("the headers hold an unknown code");
    }
  }
  // What is left are the first bits of the end, all of them 1.
  if (bits > 7 || code !== 2 ** bits - 1) throw new Error("the headers end in the middle of a code");
  return result;
}

/** Names that somebody asked for, in Huffman's code: so they are compared without decoding what stands there. */
const packedNames = new Map<string, Uint8Array>();

function packedName(name: string): Uint8Array {
  let packed = packedNames.get(name);
  if (packed === undefined) {
    packed = pack(name);
    packedNames.set(name, packed);
  }
  return packed;
}

function pack(name: string): Uint8Array {
  codes ??= canonicalCodes();
  let digits = "";
  for (const byte of Buffer.from(name, "latin1")) {
    const bits = HUFFMAN_LENGTHS[byte]!;
    const { first, bytes } = codes[bits]!;
    digits += (first + bytes.indexOf(byte)).toString(2).padStart(bits, "0");
  }
  digits = digits.padEnd(Math.ceil(digits.length / 8) * 8, "1");
  return Uint8Array.from(digits.match(/.{8}/g) ?? [], (eight) => Number.parseInt(eight, 2));
}
