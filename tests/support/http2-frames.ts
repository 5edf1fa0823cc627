/** Frames of HTTP/2 for servers in tests that say exactly what the test wants said, right or wrong. */

export const TYPES = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;

export type FrameType = keyof typeof TYPES | number;

export interface Frame {
  readonly type: FrameType;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export const END_STREAM = 1;
export const ACK = 1;
export const END_HEADERS = 4;
export const PADDED = 8;
export const PRIORITY = 0x20;

/** `:status: 200`, as a whole block. */
export const OK: Uint8Array = Uint8Array.of(0x88);

/** A frame as bytes; a text is sent as UTF-8, numbers as four bytes each. */
export function frame(
  type: FrameType,
  payload: Uint8Array | string | readonly number[] = [],
  of: { readonly flags?: number; readonly stream?: number } = {},
): Buffer {
  const body =
    typeof payload === "string"
      ? Buffer.from(payload)
      : payload instanceof Uint8Array
        ? payload
        : Buffer.concat(payload.map(number));
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = typeof type === "number" ? type : TYPES[type];
  head[4] = of.flags ?? 0;
  head.writeUInt32BE(of.stream ?? 0, 5);
  return Buffer.concat([head, body]);
}

/** A block of headers that is not compressed. */
export function headerBlock(fields: Readonly<Record<string, string>>): Uint8Array {
  return Buffer.concat(
    Object.entries(fields)
      .flatMap(([name, value]) => [Buffer.of(0, name.length), name, Buffer.of(value.length), value])
      .map((part) => Buffer.from(part)),
  );
}

/** Settings by their number. */
export function settings(values: Readonly<Record<number, number>> = {}): Buffer {
  const entries = Object.entries(values).map(([id, value]) => {
    const entry = Buffer.alloc(6);
    entry.writeUInt16BE(Number(id), 0);
    entry.writeUInt32BE(value, 2);
    return entry;
  });
  return frame("settings", Buffer.concat(entries));
}

/** Cuts what a client sends into frames, after its preface. */
export class FrameCutter {
  #rest: Buffer = Buffer.alloc(0);
  #preface = true;

  take(bytes: Uint8Array): Frame[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const frames: Frame[] = [];
    if (this.#preface && this.#rest.length >= 24) {
      this.#preface = false;
      this.#rest = this.#rest.subarray(24);
    }
    while (!this.#preface && this.#rest.length >= 9) {
      const end = 9 + this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < end) break;
      const type = this.#rest[3] ?? 0;
      frames.push({
        type: (Object.keys(TYPES) as (keyof typeof TYPES)[])[type] ?? type,
        flags: this.#rest[4] ?? 0,
        stream: this.#rest.readUInt32BE(5),
        payload: this.#rest.subarray(9, end),
      });
      this.#rest = this.#rest.subarray(end);
    }
    return frames;
  }
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
