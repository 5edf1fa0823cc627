/** Reads the wire format of protocol buffers. @see https://protobuf.dev/programming-guides/encoding/ */

export interface WireField {
  readonly number: number;
  /** A varint as a number; fixed-size values as their bytes. */
  readonly content: Uint8Array | bigint;
}

/** Reads the fields of one message in their order. */
export class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @throws RangeError when the bytes end within a field. */
  *fields(): Generator<WireField> {
    while (this.#at < this.#bytes.length) {
      const tag = this.#varint();
      const number = Number(tag >> 3n);
      switch (Number(tag & 7n)) {
        case 0:
          yield { number, content: this.#varint() };
          break;
        case 1:
          yield { number, content: this.#take(8) };
          break;
        case 2:
          yield { number, content: this.#take(Number(this.#varint())) };
          break;
        case 5:
          yield { number, content: this.#take(4) };
          break;
        default:
          throw new RangeError("illegal wire type");
      }
    }
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new RangeError("unexpected end");
      this.#at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError("integer overflow");
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError("unexpected end");
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }
}
