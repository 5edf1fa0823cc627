import { expect, test } from "bun:test";
import { encodeFrame, WebSocketFrameReader, OPCODE } from "./websocket-frames.ts";

/** As a server sends it: not masked, in so many frames. */
function served(payload: Uint8Array, frames = 1): Buffer {
  const size = Math.ceil(payload.length / frames);
  const parts: Buffer[] = [];
  for (let index = 0; index < frames; index++) {
    const part = payload.subarray(index * size, (index + 1) * size);
    const opcode = (index === frames - 1 ? 0x80 : 0) | (index === 0 ? OPCODE.binary : OPCODE.continuation);
    const head = part.length < 126 ? Buffer.of(opcode, part.length) : Buffer.alloc(part.length < 0x10000 ? 4 : 10);
    if (part.length >= 126) {
      head[0] = opcode;
      head[1] = part.length < 0x10000 ? 126 : 127;
      if (head.length === 4) head.writeUInt16BE(part.length, 2);
      else head.writeBigUInt64BE(BigInt(part.length), 2);
    }
    parts.push(head, Buffer.from(part));
  }
  return Buffer.concat(parts);
}

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => index % 251);

test("WebSocketFrameReader puts messages of every length together, however they are cut and framed", () => {
  const seen: Uint8Array[] = [];
  const reader = new WebSocketFrameReader((opcode, payload) => {
    if (opcode === OPCODE.binary) seen.push(Uint8Array.from(payload));
  });
  const sent = [0, 1, 125, 126, 300, 65_535, 65_536, 70_000].map(bytes);
  const ping = Buffer.of(0x80 | OPCODE.ping, 1, 7);
  const stream = Buffer.concat(sent.flatMap((payload, index) => [served(payload, 1 + (index % 3)), ping]));
  for (let at = 0; at < stream.length; at += 997) reader.push(stream.subarray(at, at + 997));
  expect(seen.map(({ length }) => length)).toEqual(sent.map(({ length }) => length));
  expect(seen).toEqual(sent);
});

test("WebSocketFrameReader refuses what no server sends", () => {
  const reader = new WebSocketFrameReader(() => {});
  expect(() => reader.push(encodeFrame(OPCODE.binary, bytes(3)))).toThrow("not a WebSocket");
});

test("encodeFrame masks, with the length in the shortest form", () => {
  for (const [length, head] of [
    [5, 2],
    [126, 4],
    [70_000, 10],
  ] as const) {
    const payload = bytes(length);
    const frame = encodeFrame(OPCODE.binary, payload);
    expect(frame.length).toBe(head + 4 + length);
    expect(frame[1]! & 0x80).toBe(0x80);
    const mask = frame.subarray(head, head + 4);
    expect(frame.subarray(head + 4).map((byte, index) => byte ^ mask[index & 3]!)).toEqual(Buffer.from(payload));
  }
});
