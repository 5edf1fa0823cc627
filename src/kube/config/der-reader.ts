/** Reads the binary structures (DER) of certificates and keys. */

export const SEQUENCE = 0x30;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;

/**
 * Reads the first block of a PEM text.
 *
 * @param label the block's type, such as `CERTIFICATE`; a pattern matches several.
 * @throws Error when there is none.
 */
export function pemReader(pem: string, label: string): DerReader {
  const blocks = new RegExp(`-----BEGIN ${label}-----([\\sA-Za-z0-9+/=]+)-----END ${label}-----`);
  const base64 = blocks.exec(pem)?.[1];
  if (base64 === undefined) throw new Error(`no ${label.toLowerCase()}`);
  return new DerReader(Buffer.from(base64, "base64"));
}

/** Reads one value after the other. @see https://www.itu.int/rec/T-REC-X.690 */
export class DerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The tag of the next value. */
  get tag(): number | undefined {
    return this.#bytes[this.#at];
  }

  /** Returns a reader for the values within the next value. */
  enter(tag: number): DerReader {
    if (this.tag !== tag) throw new Error("another structure");
    return new DerReader(this.value());
  }

  /** The content of the next value, a bit string without unused bits. */
  bits(): DerReader {
    const value = this.value();
    if (value[0] !== 0) throw new Error("another structure");
    return new DerReader(value.subarray(1));
  }

  /** The bytes that have not been read. */
  rest(): Buffer {
    return this.#bytes.subarray(this.#at);
  }

  skip(): void {
    this.value();
  }

  time(): number {
    const { tag } = this;
    const text = this.value().toString("latin1");
    if (tag !== UTC_TIME && tag !== GENERALIZED_TIME) throw new Error("no time");
    const parts = /^(\d{2,4}?)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(text);
    if (parts === null) throw new Error("no time");
    const [year = 0, month = 0, ...rest] = parts.slice(1).map(Number);
    // Two-digit years mean 1950 to 2049.
    const full = tag === GENERALIZED_TIME ? year : year + (year < 50 ? 2000 : 1900);
    return Date.UTC(full, month - 1, ...(rest as [number, number, number, number]));
  }

  /** The bytes of the next value. */
  value(): Buffer {
    this.#at++;
    let length = this.#byte();
    if (length >= 0x80) {
      let size = length & 0x7f;
      if (size === 0 || size > 4) throw new Error("a length that is none");
      for (length = 0; size > 0; size--) length = length * 256 + this.#byte();
    }
    const start = this.#at;
    this.#at += length;
    if (this.#at > this.#bytes.length) throw new Error("cut off");
    return this.#bytes.subarray(start, this.#at);
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new Error("cut off");
    return byte;
  }
}
