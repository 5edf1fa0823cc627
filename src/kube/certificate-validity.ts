/** From when until when a certificate is valid. `node:crypto` knows that too, but loads 2 MiB for it at every start. */

const SEQUENCE = 0x30;
const VERSION = 0xa0;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;

export interface Validity {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly until: number;
}

/**
 * Reads the first certificate of a PEM text.
 *
 * @throws Error when there is none.
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1
 */
export function validityOf(pem: string): Validity {
  const base64 = /-----BEGIN CERTIFICATE-----([\sA-Za-z0-9+/=]+)-----END CERTIFICATE-----/.exec(pem)?.[1];
  if (base64 === undefined) throw new Error("no certificate");
  const certificate = new DerReader(Buffer.from(base64, "base64")).enter(SEQUENCE);
  const fields = certificate.enter(SEQUENCE);
  if (fields.tag === VERSION) fields.skip();
  for (const _ of ["serial number", "signature", "issuer"]) fields.skip();
  const validity = fields.enter(SEQUENCE);
  return { from: validity.time(), until: validity.time() };
}

/** Reads one value after the other. @see https://www.itu.int/rec/T-REC-X.690 */
class DerReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Of the next value. */
  get tag(): number | undefined {
    return this.#bytes[this.#at];
  }

  /** The values within the next one. */
  enter(tag: number): DerReader {
    if (this.tag !== tag) throw new Error("another structure");
    return new DerReader(this.#value());
  }

  skip(): void {
    this.#value();
  }

  time(): number {
    const { tag } = this;
    const text = this.#value().toString("latin1");
    if (tag !== UTC_TIME && tag !== GENERALIZED_TIME) throw new Error("no time");
    const parts = /^(\d{2,4}?)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(text);
    if (parts === null) throw new Error("no time");
    const [year = 0, month = 0, ...rest] = parts.slice(1).map(Number);
    // Two digits stand for the years from 1950 to 2049.
    const full = tag === GENERALIZED_TIME ? year : year + (year < 50 ? 2000 : 1900);
    return Date.UTC(full, month - 1, ...(rest as [number, number, number, number]));
  }

  #value(): Buffer {
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
