/** Frames of HTTP/2. @see https://www.rfc-editor.org/rfc/rfc9113#section-6 */

export const DATA = 0;
export const HEADERS = 1;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PUSH_PROMISE = 5;
export const PING = 6;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;
export const CONTINUATION = 9;

/** The names of the frame types by their code. */
const FRAMES: readonly string[] =
  "DATA HEADERS PRIORITY RST_STREAM SETTINGS PUSH_PROMISE PING GOAWAY WINDOW_UPDATE CONTINUATION".split(" ");

// Flags. Only SETTINGS and PING frames have ACK.
export const END_STREAM = 0x1;
export const ACK = 0x1;
export const END_HEADERS = 0x4;
const PADDED = 0x8;
export const PRIORITY = 0x20;

// Settings: RFC 9113, section 6.5.2.
export const HEADER_TABLE_SIZE = 1;
export const ENABLE_PUSH = 2;
export const MAX_CONCURRENT_STREAMS = 3;
export const INITIAL_WINDOW_SIZE = 4;
export const MAX_FRAME_SIZE = 5;
export const MAX_HEADER_LIST_SIZE = 6;

// Error codes: RFC 9113, section 7.
export const PROTOCOL_ERROR = 1;
export const REFUSED_STREAM = 7;
export const CANCEL = 8;
/** The names of all error codes. @see https://www.rfc-editor.org/rfc/rfc9113#section-7 */
export const REASONS: readonly string[] =
  "NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED FRAME_SIZE_ERROR REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM INADEQUATE_SECURITY HTTP_1_1_REQUIRED".split(
    " ",
  );

const HEADER_BYTES = 9;
/** The largest stream ID and the largest window: their high bit is reserved. */
export const LARGEST = 0x7fffffff;

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const START_BYTES = 16_384;
/** The largest buffer that is kept; a larger one, made for a large body, is dropped. */
const KEPT_BYTES = 262_144;
const utf8 = new TextEncoder();

/** Encodes frames into one buffer, which is used again once they are written. */
export class FrameWriter {
  #buffer = new Uint8Array(START_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Takes the frames since the last call; the bytes are valid until the next frame. */
  take(): Uint8Array {
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#length = 0;
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = new Uint8Array(START_BYTES);
    return bytes;
  }

  preface(): void {
    this.#reserve(PREFACE.length);
    this.#put(utf8.encode(PREFACE));
  }

  frame(type: number, flags: number, stream: number, payload: Uint8Array): void {
    this.#head(payload.length, type, flags, stream);
    this.#put(payload);
  }

  settings(values: readonly (readonly [setting: number, value: number])[]): void {
    this.#head(values.length * 6, SETTINGS, 0, 0);
    for (const [setting, value] of values) {
      this.#buffer[this.#length++] = setting >>> 8;
      this.#buffer[this.#length++] = setting;
      this.#number(value);
    }
  }

  /** `WINDOW_UPDATE` and `RST_STREAM` have nothing but a number. */
  numbered(type: number, stream: number, value: number): void {
    this.#head(4, type, 0, stream);
    this.#number(value);
  }

  /**
   * Encodes a header block. A block of more than `most` bytes, such as one with a large token, continues in further
   * frames.
   */
  headers(stream: number, block: { flags: number; parts: readonly Uint8Array[]; most: number }): void {
    const { flags, parts, most } = block;
    let length = 0;
    for (const part of parts) length += part.length;
    if (length <= most) {
      this.#head(length, HEADERS, flags | END_HEADERS, stream);
      for (const part of parts) this.#put(part);
      return;
    }
    const bytes = Buffer.concat(parts, length);
    for (let at = 0; at < length; at += most) {
      const its = (at === 0 ? flags : 0) | (at + most >= length ? END_HEADERS : 0);
      this.frame(at === 0 ? HEADERS : CONTINUATION, its, stream, bytes.subarray(at, at + most));
    }
  }

  /** Encodes a body that fits into one frame, the last of its stream. It may take three bytes a character. */
  body(stream: number, text: string): number {
    const most = text.length * 3;
    const start = this.#head(most, DATA, END_STREAM, stream);
    const { written } = utf8.encodeInto(text, this.#buffer.subarray(this.#length, this.#length + most));
    this.#length += written;
    this.#buffer[start] = written >>> 16;
    this.#buffer[start + 1] = written >>> 8;
    this.#buffer[start + 2] = written;
    return written;
  }

  /** Begins a frame. @returns its position. There is room for the payload after it. */
  #head(length: number, type: number, flags: number, stream: number): number {
    this.#reserve(HEADER_BYTES + length);
    const buffer = this.#buffer;
    const start = this.#length;
    buffer[start] = length >>> 16;
    buffer[start + 1] = length >>> 8;
    buffer[start + 2] = length;
    buffer[start + 3] = type;
    buffer[start + 4] = flags;
    this.#length = start + 5;
    this.#number(stream);
    return start;
  }

  #number(value: number): void {
    const buffer = this.#buffer;
    buffer[this.#length++] = value >>> 24;
    buffer[this.#length++] = value >>> 16;
    buffer[this.#length++] = value >>> 8;
    buffer[this.#length++] = value;
  }

  #put(bytes: Uint8Array): void {
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(bytes: number): void {
    const size = this.#length + bytes;
    if (size <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(size, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}

/** Receives frames in their order; `take` rethrows its errors. */
export interface FrameListener {
  /** Receives a piece of a body. The last one, which may be empty, ends its stream when the frame says so. */
  onPiece(stream: number, piece: Uint8Array, isEnd: boolean): void;
  /** Receives the number of padding bytes of a body's frame, which count for flow control. */
  onPadding(stream: number, bytes: number): void;
  /** Every other frame, as a whole. */
  onFrame(type: number, flags: number, stream: number, payload: Uint8Array): void;
}

/**
 * Splits the received bytes into frames. Bodies are passed on as they arrive, without waiting for the end of their
 * frame.
 */
export class H2FrameReader {
  readonly #listener: FrameListener;
  readonly #largest: number;
  /** A frame that has arrived only in part: at first its head, then a buffer of its size. */
  #begun: Uint8Array | undefined;
  #have = 0;
  // The bytes of the present body that have not arrived yet.
  #left = 0;
  #stream = 0;
  #isEnd = false;

  /** @param largest the most bytes of a frame that our settings allow. */
  constructor(largest: number, listener: FrameListener) {
    this.#largest = largest;
    this.#listener = listener;
  }

  /** @throws Error for a connection error of the server (RFC 9113, section 5.4.1). */
  take(bytes: Uint8Array): void {
    const end = bytes.length;
    let at = this.#begun === undefined ? 0 : this.#complete(bytes);
    while (at < end) {
      if (this.#left > 0) {
        const size = Math.min(this.#left, end - at);
        this.#left -= size;
        this.#listener.onPiece(this.#stream, bytes.subarray(at, at + size), this.#isEnd && this.#left === 0);
        at += size;
        continue;
      }
      if (end - at < HEADER_BYTES) break;
      const length = this.#lengthAt(bytes, at);
      if (this.#beginBody(bytes, at, length)) {
        at += HEADER_BYTES;
        continue;
      }
      if (end - at < HEADER_BYTES + length) break;
      this.#hand(bytes, at, length);
      at += HEADER_BYTES + length;
    }
    if (at < end) this.#complete(bytes.subarray(at));
  }

  /** Continues the incomplete frame, or begins one. @returns the number of bytes that belong to it. */
  #complete(bytes: Uint8Array): number {
    let used = 0;
    for (;;) {
      const begun = (this.#begun ??= new Uint8Array(HEADER_BYTES));
      const size = Math.min(begun.length - this.#have, bytes.length - used);
      begun.set(bytes.subarray(used, used + size), this.#have);
      this.#have += size;
      used += size;
      if (this.#have < begun.length) return used;
      const length = this.#lengthAt(begun, 0);
      if (begun.length === HEADER_BYTES && !this.#beginBody(begun, 0, length) && length > 0) {
        // The buffer has exactly this size, because whoever gets the payload may keep it.
        this.#begun = new Uint8Array(HEADER_BYTES + length);
        this.#begun.set(begun);
        continue;
      }
      this.#begun = undefined;
      this.#have = 0;
      if (this.#left === 0) this.#hand(begun, 0, length);
      return used;
    }
  }

  #lengthAt(bytes: Uint8Array, at: number): number {
    const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    // RFC 9113, section 4.2: FRAME_SIZE_ERROR.
    if (length > this.#largest) throw new Error(`frame of ${length} bytes exceeds SETTINGS_MAX_FRAME_SIZE`);
    return length;
  }

  /** Begins a body that is passed on as it arrives. @returns whether the frame contains a body. */
  #beginBody(bytes: Uint8Array, at: number, length: number): boolean {
    const flags = bytes[at + 4]!;
    const stream = readNumber(bytes, at + 5) & LARGEST;
    checkFrame(bytes[at + 3]!, length, stream);
    if (bytes[at + 3] !== DATA || (flags & PADDED) !== 0 || length === 0) return false;
    this.#left = length;
    this.#stream = stream;
    this.#isEnd = (flags & END_STREAM) !== 0;
    return true;
  }

  /** Hands over a frame that is complete. */
  #hand(bytes: Uint8Array, at: number, length: number): void {
    const flags = bytes[at + 4]!;
    const stream = readNumber(bytes, at + 5) & LARGEST;
    const type = bytes[at + 3]!;
    const payload = bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length);
    if (type !== DATA) return this.#listener.onFrame(type, flags, stream, payload);
    const piece = unpadded(flags, payload);
    if (piece.length < length) this.#listener.onPadding(stream, length - piece.length);
    this.#listener.onPiece(stream, piece, (flags & END_STREAM) !== 0);
  }
}

/** Frames about the connection have stream ID 0, all others do not; some have a fixed length. */
function checkFrame(type: number, length: number, stream: number): void {
  switch (type) {
    case SETTINGS: // RFC 9113, section 6.5
    case PING: // section 6.7
    case GOAWAY: // section 6.8
      if (stream !== 0) throw new Error(`${FRAMES[type]} frame with stream ID ${stream}`);
      break;
    case DATA: // section 6.1
    case HEADERS: // section 6.2
    case RST_STREAM: // section 6.4
    case CONTINUATION: // section 6.10
      if (stream === 0) throw new Error(`${FRAMES[type]} frame with stream ID 0`);
      break;
  }
  // A wrong length is a FRAME_SIZE_ERROR: RFC 9113, sections 6.4, 6.5, 6.7, 6.8 and 6.9.
  const hasFixedLength =
    type === RST_STREAM || type === WINDOW_UPDATE
      ? length === 4
      : type === PING
        ? length === 8
        : type === SETTINGS
          ? length % 6 === 0
          : type !== GOAWAY || length >= 8;
  if (!hasFixedLength) throw new Error(`${FRAMES[type]} frame of ${length} bytes`);
}

/** @throws Error when the padding is as long as the payload or longer: RFC 9113, sections 6.1 and 6.2. */
export function unpadded(flags: number, payload: Uint8Array): Uint8Array {
  if ((flags & PADDED) === 0) return payload;
  const end = payload.length - (payload[0] ?? 0);
  if (end < 1) throw new Error("padding exceeds the frame payload");
  return payload.subarray(1, end);
}

export function readNumber(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}
