/**
 * The frames of a WebSocket, as a client writes and reads them.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6455#section-5
 */

import { MOST_MESSAGE_BYTES, MOST_MESSAGE_FRAMES } from "../limits.ts";

export const OPCODE = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa } as const;

const LAST = 0x80;
const MASKED = 0x80;
const SHORTEST_HEAD = 2;

/** Encodes a whole message; a client masks what it sends. */
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

/** Joins received bytes into messages, however they were split. */
export class WebSocketFrameReader {
  readonly #onMessage: (opcode: number, payload: Uint8Array) => void;
  /**
   * A frame that has arrived only in part: at first as much of its head as shows its length, then a buffer of its size.
   */
  #begun = new Uint8Array(SHORTEST_HEAD);
  #have = 0;
  /** The payloads received so far of a message that comes in several frames. */
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #opcode = 0;

  constructor(onMessage: (opcode: number, payload: Uint8Array) => void) {
    this.#onMessage = onMessage;
  }

  /** @throws Error for bytes that are not a WebSocket's, or for a message without an end. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      const control = this.#have === 0 ? controlFrame(chunk, at) : undefined;
      if (control !== undefined) {
        const opcode = chunk[at]! & 0x0f;
        at += SHORTEST_HEAD + control.length;
        this.#onMessage(opcode, control);
        continue;
      }
      const size = Math.min(this.#begun.length - this.#have, chunk.length - at);
      this.#begun.set(chunk.subarray(at, at + size), this.#have);
      this.#have += size;
      at += size;
      if (this.#have === this.#begun.length) this.#next();
    }
  }

  /** Called when the buffer is full, with a head or with a whole frame. */
  #next(): void {
    const begun = this.#begun;
    const head = headBytes(begun);
    if (begun.length >= head) {
      const length = payloadBytes(begun, head);
      if (length + this.#bytes > MOST_MESSAGE_BYTES) {
        throw new Error(`the server sent a message of more than ${MOST_MESSAGE_BYTES / 1024 / 1024} MiB`);
      }
      if (begun.length === head + length) {
        this.#begun = new Uint8Array(SHORTEST_HEAD);
        this.#have = 0;
        return this.#frame((begun[0]! & LAST) !== 0, begun[0]! & 0x0f, begun.subarray(head));
      }
      this.#begun = new Uint8Array(head + length);
    } else this.#begun = new Uint8Array(head);
    this.#begun.set(begun);
  }

  #frame(isLast: boolean, opcode: number, payload: Uint8Array): void {
    if (opcode >= OPCODE.close) return this.#onMessage(opcode, payload); // between the frames of a message too
    if (opcode !== OPCODE.continuation) this.#opcode = opcode;
    if (isLast && this.#parts.length === 0) return this.#onMessage(this.#opcode, payload);
    this.#bytes += payload.length;
    if (this.#parts.push(payload) > MOST_MESSAGE_FRAMES) {
      throw new Error(`the server sent a message of more than ${MOST_MESSAGE_FRAMES} frames`);
    }
    if (!isLast) return;
    const whole = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    this.#onMessage(this.#opcode, whole);
  }
}

/**
 * The payload of a control frame that has arrived completely. It is not copied, because nobody keeps it, and a server
 * may send millions.
 */
function controlFrame(chunk: Uint8Array, at: number): Uint8Array | undefined {
  const first = chunk[at]!;
  const length = chunk[at + 1] ?? MASKED;
  if ((first & 0x0f) < OPCODE.close || length >= 126) return undefined;
  const end = at + SHORTEST_HEAD + length;
  return end > chunk.length ? undefined : chunk.subarray(at + SHORTEST_HEAD, end);
}

/** The size of the head of a frame whose first two bytes have arrived. Servers do not mask frames. */
function headBytes(frame: Uint8Array): number {
  if ((frame[1]! & MASKED) !== 0) throw new Error("the server's answer is not a WebSocket frame of a server");
  return frame[1]! < 126 ? 2 : frame[1] === 126 ? 4 : 10;
}

function payloadBytes(frame: Uint8Array, head: number): number {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  return head === 2 ? frame[1]! : head === 4 ? view.getUint16(2) : Number(view.getBigUint64(2));
}
