/** The frames of a WebSocket, as a client writes and reads them. @see https://www.rfc-editor.org/rfc/rfc6455#section-5 */

export const OPCODE = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa } as const;

/** More than any server sends at once; what is longer is not what it claims to be. */
const LONGEST = 64 * 1024 * 1024;

/** One whole message; a client masks what it sends. */
export function encodeFrame(opcode: number, payload: Uint8Array): Uint8Array {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 0x10000 ? 2 : 8;
  const frame = Buffer.allocUnsafe(2 + extended + 4 + length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) frame.writeUInt16BE(length, 2);
  if (extended === 8) frame.writeBigUInt64BE(BigInt(length), 2);
  const mask = crypto.getRandomValues(frame.subarray(2 + extended, 6 + extended));
  const body = 6 + extended;
  for (let index = 0; index < length; index++) frame[body + index] = payload[index]! ^ mask[index & 3]!;
  return frame;
}

/** Puts messages together from what arrives, however it is cut. */
export class FrameReader {
  readonly #onMessage: (opcode: number, payload: Uint8Array) => void;
  #pending: Buffer = Buffer.alloc(0);
  /** The frames so far of a message in several. */
  #parts: Uint8Array[] = [];
  #opcode = 0;

  constructor(onMessage: (opcode: number, payload: Uint8Array) => void) {
    this.#onMessage = onMessage;
  }

  /** @throws Error for what is no WebSocket. */
  push(chunk: Uint8Array): void {
    this.#pending = this.#pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#pending, chunk]);
    while (this.#next());
  }

  #next(): boolean {
    const buffer = this.#pending;
    if (buffer.length < 2) return false;
    const opcode = buffer[0]! & 0x0f;
    const short = buffer[1]! & 0x7f;
    const head = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (buffer.length < head) return false;
    const length = short < 126 ? short : short === 126 ? buffer.readUInt16BE(2) : Number(buffer.readBigUInt64BE(2));
    if (length > LONGEST || (buffer[1]! & 0x80) !== 0)
      throw new Error("the server's answer is no WebSocket of its side");
    if (buffer.length < head + length) return false;
    this.#pending = buffer.subarray(head + length);
    this.#frame((buffer[0]! & 0x80) !== 0, opcode, buffer.subarray(head, head + length));
    return true;
  }

  #frame(isLast: boolean, opcode: number, payload: Uint8Array): void {
    if (opcode >= OPCODE.close) return this.#onMessage(opcode, payload); // between the frames of a message too
    if (opcode !== OPCODE.continuation) this.#opcode = opcode;
    if (isLast && this.#parts.length === 0) return this.#onMessage(this.#opcode, payload);
    this.#parts.push(payload);
    if (!isLast) return;
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#onMessage(this.#opcode, whole);
  }
}
