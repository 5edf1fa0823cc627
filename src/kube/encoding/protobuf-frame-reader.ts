/** Splits a stream of bytes into length-prefixed frames, whatever its chunks are. */
import { MOST_EVENT_BYTES } from "../limits.ts";
import { ProtobufReader } from "./protobuf-reader.ts";

/** The size of the length prefix, which is big-endian. */
const HEAD_BYTES = 4;

export class ProtobufFrameReader {
  readonly #onFrame: (reader: ProtobufReader, end: number) => void;
  /** An incomplete frame: at first only its length prefix, then a buffer of its size. */
  #open: Buffer = Buffer.alloc(HEAD_BYTES);
  #have = 0;

  /** @param onFrame reads a frame from the reader's position up to `end`. */
  constructor(onFrame: (reader: ProtobufReader, end: number) => void) {
    this.#onFrame = onFrame;
  }

  /** Takes a chunk. @throws RangeError when the stream has no valid frames, or the error of `onFrame`. */
  push(chunk: Uint8Array): void {
    const { length } = chunk;
    let at = this.#have === 0 ? 0 : this.#complete(chunk, 0);
    if (at === length) return;
    const reader = new ProtobufReader(chunk);
    while (length - at >= HEAD_BYTES) {
      const end = at + HEAD_BYTES + lengthAt(reader.bytes, at);
      if (end > length) break;
      reader.at = at + HEAD_BYTES;
      this.#onFrame(reader, end);
      at = end;
    }
    if (at < length) this.#complete(chunk, at);
  }

  /** Continues an incomplete frame, or begins one. @returns the end of its bytes in the chunk. */
  #complete(chunk: Uint8Array, from: number): number {
    let at = from;
    for (;;) {
      const size = Math.min(this.#open.length - this.#have, chunk.length - at);
      this.#open.set(chunk.subarray(at, at + size), this.#have);
      this.#have += size;
      at += size;
      if (this.#have < this.#open.length) return at;
      const frame = this.#open;
      const whole = HEAD_BYTES + lengthAt(frame, 0);
      if (frame.length === whole) {
        this.#open = Buffer.alloc(HEAD_BYTES);
        this.#have = 0;
        this.#onFrame(new ProtobufReader(frame, HEAD_BYTES), whole);
        return at;
      }
      this.#open = Buffer.alloc(whole);
      frame.copy(this.#open);
    }
  }
}

function lengthAt(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32BE(at);
  if (length > MOST_EVENT_BYTES) throw new RangeError(`a frame is too long: ${length} bytes`);
  return length;
}
