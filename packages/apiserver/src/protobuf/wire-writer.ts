/**
 * Writes the protobuf wire format from the end to the beginning, so that the length of a message is known when its
 * header is written. @see https://protobuf.dev/programming-guides/encoding/
 */
export class WireWriter {
  #bytes: Buffer;
  /** The offset at which the written bytes begin. */
  #at: number;

  constructor(size = 4096) {
    this.#bytes = Buffer.allocUnsafe(size);
    this.#at = size;
  }

  /** The number of bytes written. */
  get length(): number {
    return this.#bytes.length - this.#at;
  }

  finish(): Buffer {
    return this.#bytes.subarray(this.#at);
  }

  text(number: number, value: string): void {
    const length = Buffer.byteLength(value);
    this.#reserve(length);
    this.#at -= length;
    this.#bytes.write(value, this.#at);
    this.#header(number, length);
  }

  bytes(number: number, value: Uint8Array): void {
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#bytes.set(value, this.#at);
    this.#header(number, value.length);
  }

  number(number: number, value: number | bigint): void {
    this.#varint(value);
    this.#varint(number * 8);
  }

  double(number: number, value: number): void {
    this.#reserve(8);
    this.#at -= 8;
    this.#bytes.writeDoubleLE(value, this.#at);
    this.#varint(number * 8 + 1);
  }

  /** Writes a nested message; the callback writes its fields from the last to the first. */
  message(number: number, write: () => void): void {
    const before = this.length;
    write();
    this.#header(number, this.length - before);
  }

  #header(number: number, length: number): void {
    this.#varint(length);
    this.#varint(number * 8 + 2);
  }

  /** Negative numbers take ten bytes, as two's complement of 64 bits. */
  #varint(value: number | bigint): void {
    if (value >= 0 && value < 128) {
      this.#reserve(1);
      this.#bytes[--this.#at] = Number(value);
      return;
    }
    const digits: number[] = [];
    if (value >= 0 && value < 2 ** 31) for (let rest = Number(value); rest > 0; rest >>>= 7) digits.push(rest & 127);
    else for (let rest = BigInt.asUintN(64, BigInt(value)); rest > 0n; rest >>= 7n) digits.push(Number(rest & 127n));
    this.#reserve(digits.length);
    this.#at -= digits.length;
    for (const [index, digit] of digits.entries())
      this.#bytes[this.#at + index] = index === digits.length - 1 ? digit : digit | 128;
  }

  #reserve(length: number): void {
    if (this.#at >= length) return;
    const written = this.finish();
    const size = Math.max(this.#bytes.length * 2, written.length + length);
    const bytes = Buffer.allocUnsafe(size);
    bytes.set(written, size - written.length);
    this.#bytes = bytes;
    this.#at = size - written.length;
  }
}
