/** Reads protocol buffers field by field, without a schema and without a copy. */

/** The encodings of a field: the lowest bits of its tag. */
const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;
const LONGEST_VARINT = 10;

/**
 * A reader for bytes that hold one message after another.
 *
 * **Guarantees.** It never reads beyond the bytes: an incomplete field or an invalid message throws a RangeError.
 *
 * @see https://protobuf.dev/programming-guides/encoding/
 */
export class ProtobufReader {
  readonly bytes: Buffer;
  /** The offset of the next byte. */
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = at;
  }

  /** Reads a number, exact up to 2^53; a tag is a number too. */
  varint(): number {
    const { bytes } = this;
    let byte = this.#byte(bytes[this.at++]);
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 0x80;
    for (let length = 2; length <= LONGEST_VARINT; length++) {
      byte = this.#byte(bytes[this.at++]);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    throw new RangeError("a number is too long");
  }

  /** Reads the length of a field or of a nested message. @returns its end. */
  end(): number {
    const end = this.varint() + this.at;
    if (end > this.bytes.length) throw new RangeError("the bytes end within a field");
    return end;
  }

  /** Reads a string field. */
  text(): string {
    const end = this.end();
    const text = this.bytes.toString("utf8", this.at, end);
    this.at = end;
    return text;
  }

  /** Skips a field whose tag has been read. */
  skip(tag: number): void {
    switch (tag & 7) {
      case VARINT:
        this.varint();
        break;
      case FIXED64:
        this.at += 8;
        break;
      case LENGTH:
        this.at = this.end();
        break;
      case FIXED32:
        this.at += 4;
        break;
      default:
        throw new RangeError("a field has an unknown type");
    }
  }

  #byte(byte: number | undefined): number {
    if (byte === undefined) throw new RangeError("the bytes end within a field");
    return byte;
  }
}

/** The tag of a field that begins with its length: a text, a message, or one element of a list or map of them. */
export function tagOf(field: number): number {
  return field * 8 + LENGTH;
}

/** The tag of a number or a truth value. */
export function numberTagOf(field: number): number {
  return field * 8 + VARINT;
}
