/**
 * HPACK, the compression of HTTP/2 header fields. Our settings allow the server no dynamic table, and our encoder uses
 * none: each block is independent, and only the fields that a caller asks for are decoded. The decoder still
 * understands servers that keep a dynamic table, because they may until they have seen our settings.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7541
 */
import type { HeaderValues } from "../config/cluster-config.ts";
import { Flood } from "./h2-flood.ts";
import { MOST_HEADER_BYTES } from "../limits.ts";
import { HUFFMAN_LENGTHS, STATIC_TABLE } from "./hpack-tables.ts";

const utf8 = new TextEncoder();
const LITERAL = 0x00;
/** A literal that no intermediary may put into a table: RFC 7541, section 6.2.3. */
const NEVER_INDEXED = 0x10;
const PATH = 4;
const AUTHORITY = 1;
const METHOD = 2;
const INDEXED_METHODS: Readonly<Record<string, number>> = { GET: 0x82, POST: 0x83 };
const SCHEME_HTTPS = 0x87;

/** A dynamic table size update to 0, sent before our first block: RFC 7541, section 6.3. */
export const NO_TABLE: Uint8Array = Uint8Array.of(0x20);

/** The pseudo-header fields of a request (RFC 9113, section 8.3.1), up to the value of `:path`. */
export function encodeTarget(method: string, authority: string): Uint8Array {
  const indexed = INDEXED_METHODS[method];
  return joined([
    indexed === undefined ? joined([[LITERAL | METHOD], text(method)]) : [indexed],
    [SCHEME_HTTPS, LITERAL | AUTHORITY],
    text(authority),
    [LITERAL | PATH],
  ]);
}

/**
 * Encodes header fields; several values of one name become several fields.
 *
 * @throws TypeError when a value contains characters that no header may have.
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

/** The value of `:path`; everything but visible ASCII is percent-encoded. */
export function encodePath(path: string): Uint8Array {
  return text(/[^!-~]/.test(path) ? encodeURI(path).replaceAll("%25", "%") : path);
}

/** A string literal without Huffman coding: RFC 7541, section 5.2. */
function text(value: string): Uint8Array {
  const size = Buffer.byteLength(value, "utf8");
  const length = encodeLength(size);
  const bytes = new Uint8Array(length.length + size);
  bytes.set(length);
  utf8.encodeInto(value, bytes.subarray(length.length));
  return bytes;
}

/** An integer with a 7-bit prefix: RFC 7541, section 5.1. */
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

/**
 * The dynamic table (RFC 7541, section 2.3.2). Immutable: an entry makes a new one, which is rare once our settings
 * apply.
 */
interface Table {
  /** Newest first. */
  readonly entries: readonly (readonly [name: string, value: string])[];
  readonly bytes: number;
  readonly most: number;
}

/** The initial maximum size of the dynamic table: RFC 9113, section 6.5.2. */
const TABLE_BYTES = 4_096;
/** The bytes that an entry counts in addition to its name and value: RFC 7541, section 4.1. */
const ENTRY_BYTES = 32;

const STATIC_NAMES = new Set(STATIC_TABLE.map(([name]) => name));

/** Decodes the field blocks of one connection in order. A decoding error ends the connection: RFC 9113, section 4.3. */
export class HeaderReader {
  #table: Table = { entries: [], bytes: 0, most: TABLE_BYTES };

  read(bytes: Uint8Array): HeaderBlock {
    const block = new HeaderBlock(bytes, this.#table);
    // Once the peer sets the table size to 0, blocks are independent and decode lazily.
    if (this.#table.most > 0) this.#table = block.after();
    return block;
  }
}

/** One field block, whose fields are decoded on demand. */
class HeaderBlock {
  readonly #bytes: Uint8Array;
  readonly #before: Table;
  #table: Table;
  #at = 0;
  /** The table entry of the current field; `undefined` when its name is a literal. */
  #entry: readonly [name: string, value: string] | undefined;
  /** The position of the literal name, at its length. */
  #name = 0;
  /** The position of the literal value; -1 when the table entry has the value. */
  #value = 0;

  constructor(bytes: Uint8Array, before: Table) {
    this.#bytes = bytes;
    this.#before = before;
    this.#table = before;
  }

  /** The dynamic table after this block. */
  after(): Table {
    this.#begin();
    // The decoded size is limited: an indexed field takes one byte, but may decode to 4 KiB.
    for (let bytes = 0; this.#next();) {
      if (this.#value < 0) bytes += sizeOf(this.#entry!);
      if (bytes > MOST_HEADER_BYTES) throw new Flood(`field section of more than ${MOST_HEADER_BYTES / 1024} KiB`);
    }
    return this.#table;
  }

  /** The value of `:status`; 0 when the block does not begin with it, as a trailer section does not. */
  get status(): number {
    this.#begin();
    return this.#next() && this.#isNamed(":status") ? Number(this.#text()) : 0;
  }

  /** The value of a field; several fields of one name are joined by commas (RFC 9110, section 5.3). */
  get(name: string): string | undefined {
    let value: string | undefined;
    if (!this.#mayHold(name)) return value;
    this.#begin();
    while (this.#next()) {
      if (!this.#isNamed(name)) continue;
      value = value === undefined ? this.#text() : `${value}, ${this.#text()}`;
    }
    return value;
  }

  /**
   * Whether the block may contain a field. Every response is searched for `warning` and hardly any has one; this
   * excludes a name without decoding the block.
   */
  #mayHold(name: string): boolean {
    if (this.#before.most > 0 || STATIC_NAMES.has(name)) return true;
    const bytes = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length);
    return bytes.includes(packedName(name)) || bytes.includes(name, 0, "latin1");
  }

  #begin(): void {
    this.#at = 0;
    this.#table = this.#before;
  }

  /** Moves to the next field. @returns whether there is one. */
  #next(): boolean {
    const bytes = this.#bytes;
    while (this.#at < bytes.length) {
      const first = bytes[this.#at]!;
      // Indexed field: RFC 7541, section 6.1.
      if (first >= 0x80) {
        this.#entry = this.#known(this.#integer(7));
        this.#value = -1;
        return true;
      }
      // Dynamic table size update: section 6.3.
      if ((first & 0xe0) === 0x20) {
        this.#resize(this.#integer(5));
        continue;
      }
      // Literal field with incremental indexing (section 6.2.1), without indexing (6.2.2), or never indexed (6.2.3).
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
    const encoded = this.#bytes[this.#at]! >= 128 ? packedName(name) : Buffer.from(name, "latin1");
    const size = this.#integer(7);
    const start = this.#at;
    this.#at = next;
    if (size !== encoded.length) return false;
    for (let i = 0; i < size; i++) if (this.#bytes[start + i] !== encoded[i]) return false;
    return true;
  }

  #known(place: number): readonly [name: string, value: string] {
    const entry = STATIC_TABLE[place] ?? this.#table.entries[place - STATIC_TABLE.length];
    // RFC 7541, sections 2.3.3 and 6.1.
    if (entry === undefined || place === 0) throw new Error(`invalid HPACK table index ${place}`);
    return entry;
  }

  #remember(): void {
    const name = this.#entry?.[0] ?? this.#decode(this.#name);
    const value = this.#text();
    const { entries, bytes, most } = this.#table;
    this.#table = fitting([[name, value], ...entries], bytes + sizeOf([name, value]), most);
  }

  #resize(most: number): void {
    // RFC 7541, section 6.3.
    if (most > TABLE_BYTES) throw new Error(`HPACK dynamic table size update to ${most} bytes exceeds the limit`);
    this.#table = fitting(this.#table.entries, this.#table.bytes, most);
  }

  /** The value of the current field. */
  #text(): string {
    return this.#value < 0 ? this.#entry![1] : this.#decode(this.#value);
  }

  /** Decodes an integer with a prefix of so many bits: RFC 7541, section 5.1. */
  #integer(bits: number): number {
    const most = 2 ** bits - 1;
    let value = this.#byte() & most;
    if (value < most) return value;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (value > 2 ** 31) throw new Error("HPACK integer overflow");
      if (byte < 128) return value;
    }
  }

  #skip(): void {
    const size = this.#integer(7);
    this.#at += size;
    if (this.#at > this.#bytes.length) throw new Error("truncated field block");
  }

  /** Decodes a string literal: RFC 7541, section 5.2. */
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
    if (byte === undefined) throw new Error("truncated field block");
    return byte;
  }
}

/** Evicts the oldest entries until the others fit: RFC 7541, sections 4.3 and 4.4. */
function fitting(entries: Table["entries"], bytes: number, most: number): Table {
  let kept = entries.length;
  let left = bytes;
  while (left > most) left -= sizeOf(entries[--kept]!);
  return { entries: entries.slice(0, kept), bytes: left, most };
}

function sizeOf([name, value]: readonly [string, string]): number {
  return name.length + value.length + ENTRY_BYTES;
}

/**
 * The Huffman code (RFC 7541, appendix B) by code length: the first code, and the bytes in code order. Made on first
 * use.
 */
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

/** Decodes a Huffman-encoded string literal: RFC 7541, section 5.2. */
function unpacked(packed: Uint8Array): string {
  codes ??= canonicalCodes();
  let result = "";
  let code = 0;
  let bits = 0;
  for (const byte of packed) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1);
      const { first, bytes } = codes[++bits]!;
      const symbol = bytes[code - first];
      if (symbol !== undefined) {
        if (symbol > 255) throw new Error("Huffman-encoded string contains EOS");
        result += String.fromCharCode(symbol);
        code = 0;
        bits = 0;
      } else if (bits === 30) throw new Error("invalid Huffman code");
    }
  }
  // RFC 7541, section 5.2: the padding is the most significant bits of EOS, which are all 1, and shorter than 8 bits.
  if (bits > 7 || code !== 2 ** bits - 1) throw new Error("invalid Huffman padding");
  return result;
}

/** Requested field names, Huffman-encoded, so that names are compared without decoding those in the block. */
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
