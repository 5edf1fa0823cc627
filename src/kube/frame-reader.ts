/** Cuts a stream of bytes into frames that begin with their length, wherever the pieces begin and end. */
import { ProtobufReader } from "./protobuf-reader.ts";

/** Of the length, the first byte being the highest. */
const HEAD_BYTES = 4;
/** An object has at most 1.5 MiB at the server; what is said to be longer is no frame. */
const MOST_FRAME_BYTES = 32 * 1_024 * 1_024;

export class FrameReader {
  readonly #onFrame: (reader: ProtobufReader, end: number) => void;
  /** What has come of a frame that has not ended. */
  #open: Uint8Array | undefined;

  /** @param onFrame reads a frame from where the reader is up to `end`. */
  constructor(onFrame: (reader: ProtobufReader, end: number) => void) {
    this.#onFrame = onFrame;
  }

  /** @throws RangeError when this is no stream of frames, and what `onFrame` throws. */
  push(chunk: Uint8Array): void {
    const bytes = this.#open === undefined ? chunk : Buffer.concat([this.#open, chunk]);
    this.#open = undefined;
    const reader = new ProtobufReader(bytes);
    const { length } = bytes;
    let at = 0;
    while (at < length) {
      const size = length - at < HEAD_BYTES ? undefined : reader.bytes.readUInt32BE(at);
      if (size !== undefined && size > MOST_FRAME_BYTES) throw new RangeError("a frame is too long");
      const end = size === undefined ? Infinity : at + HEAD_BYTES + size;
      if (end > length) {
        this.#open = bytes.slice(at);
        return;
      }
      reader.at = at + HEAD_BYTES;
      this.#onFrame(reader, end);
      at = end;
    }
  }
}
