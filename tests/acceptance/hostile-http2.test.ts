/** Tests servers that flood with HTTP/2 frames. Each attack is bounded, so that it ends and fails without a limit here, too. */
import { afterAll, beforeAll, describe, test } from "bun:test";
import { END_HEADERS, END_STREAM, frame, headerBlock, PADDED } from "../support/http2-frames.ts";
import { ok, type Attack } from "../support/hostile/hostile-server.ts";
import { Victim } from "../support/hostile/bench.ts";
import type { Ask } from "../support/hostile/victim.ts";

const MiB = 1024 * 1024;
const STATUS = Uint8Array.of(0x88);
let victim: Victim;

beforeAll(async () => {
  victim = await Victim.start();
}, 180_000);
afterAll(() => victim[Symbol.asyncDispose]());

const many = (one: Uint8Array, count = 4_000): Buffer => Buffer.concat(Array.from({ length: count }, () => one));
const headers = (stream: number, block: Uint8Array, flags = END_HEADERS): Buffer =>
  frame("headers", block, { stream, flags });

/** Sends frames again and again, after the response to a watch has begun. */
function flood(
  make: (stream: number) => Uint8Array,
  options: { begun?: boolean; deaf?: boolean; most?: number; count?: number } = {},
): Attack {
  const { begun = true, deaf = false, most = 200 * MiB, count } = options;
  return async (peer, { stream }) => {
    if (begun) await peer.write(ok(stream));
    if (deaf) peer.socket.pause();
    await peer.flood(many(make(stream), count), most);
  };
}

/** A field for the dynamic table, which our settings do not allow: a literal name and a value of 4,000 bytes. */
function tableEntry(name: string): Buffer {
  return Buffer.concat([
    Buffer.of(0x40, name.length),
    Buffer.from(name),
    Buffer.of(0x7f, 0xa1, 0x1e),
    Buffer.alloc(4_000, 0x61),
  ]);
}

/** Sends a block in as many frames as necessary. */
async function sendBlock(peer: Parameters<Attack>[0], stream: number, block: Uint8Array): Promise<void> {
  for (let at = 0; at < block.length; at += 16_000) {
    const flags = at + 16_000 >= block.length ? END_HEADERS : 0;
    await peer.write(frame(at === 0 ? "headers" : "continuation", block.subarray(at, at + 16_000), { stream, flags }));
  }
}

const floods: readonly (readonly [name: string, ask: Ask, says: RegExp, attack: Attack])[] = [
  [
    "headers that go on in frames of one byte",
    "request",
    /the server floods the connection: field block without an end$/,
    async (peer, { stream }) => {
      await peer.write(headers(stream, STATUS, 0));
      await peer.flood(many(frame("continuation", Buffer.of(0), { stream })), 12 * MiB);
    },
  ],
  [
    "headers that go on in empty frames",
    "request",
    /the server floods the connection: field block without an end$/,
    async (peer, { stream }) => {
      await peer.write(headers(stream, STATUS, 0));
      await peer.flood(many(frame("continuation", [], { stream })), 12 * MiB);
    },
  ],
  [
    "headers of 400 kB",
    "request",
    /the server floods the connection: field block without an end$/,
    (peer, { stream }) =>
      sendBlock(peer, stream, Buffer.concat([STATUS, tableEntry("warning"), Buffer.alloc(400_000, 0xbe)])),
  ],
  [
    "headers whose values come from a table, 4,000 bytes for each byte",
    "request",
    /the server floods the connection: field section of more than 64 KiB$/,
    (peer, { stream }) =>
      sendBlock(peer, stream, Buffer.concat([STATUS, tableEntry("warning"), Buffer.alloc(50_000, 0xbe)])),
  ],
  [
    "pings whose answers nobody reads",
    "watch",
    /the server floods the connection: 1000 PING or SETTINGS frames/,
    flood(() => frame("ping", Buffer.alloc(8)), { deaf: true }),
  ],
  [
    "settings whose answers nobody reads",
    "watch",
    /the server floods the connection: 1000 PING or SETTINGS frames/,
    flood(() => frame("settings"), { deaf: true }),
  ],
  [
    "pings",
    "watch",
    /the server floods the connection: 1000 PING or SETTINGS frames|10000 frames in a row/,
    flood(() => frame("ping", Buffer.alloc(8))),
  ],
  [
    "answers to pings that were never sent",
    "watch",
    /the server floods the connection: 10000 frames in a row/,
    flood(() => frame("ping", Buffer.alloc(8), { flags: 1 })),
  ],
  [
    "answers to settings",
    "watch",
    /the server floods the connection: 10000 frames in a row/,
    flood(() => frame("settings", [], { flags: 1 })),
  ],
  [
    "priorities",
    "watch",
    /the server floods the connection: 10000 frames in a row/,
    flood((stream) => frame("priority", Buffer.alloc(5), { stream })),
  ],
  [
    "windows",
    "watch",
    /the server floods the connection: 10000 frames in a row/,
    flood((stream) => frame("window", [1], { stream }), { most: 40 * MiB }),
  ],
  [
    "frames of an unknown kind",
    "watch",
    /the server floods the connection: 10000 frames in a row/,
    flood(() => frame(0xbe, Buffer.alloc(100))),
  ],
  [
    "empty bodies",
    "watch",
    /the server floods the connection: 10000 frames in a row/,
    flood((stream) => frame("data", [], { stream })),
  ],
  [
    "bodies of padding alone",
    "watch",
    /the server floods the connection: 10000 frames in a row/,
    flood((stream) => frame("data", Buffer.concat([Buffer.of(99), Buffer.alloc(99)]), { stream, flags: PADDED })),
  ],
  [
    "interim answers",
    "request",
    /the server floods the connection: 10000 frames in a row/,
    flood((stream) => headers(stream, headerBlock({ ":status": "103" })), { begun: false }),
  ],
  [
    "trailers again and again",
    "watch",
    /the server floods the connection: 10000 frames in a row/,
    flood((stream) => headers(stream, headerBlock({ x: "y" }))),
  ],
  [
    "resets of streams that ended",
    "watch",
    /the server reset the stream|the server floods/,
    flood((stream) => frame("reset", [8], { stream })),
  ],
  [
    "a window beyond its limit",
    "watch",
    /the server violated HTTP\/2: flow-control window of/,
    flood(() => frame("window", [0x7fffffff])),
  ],
  [
    "a push",
    "request",
    /the server violated HTTP\/2: PUSH_PROMISE frame/,
    flood((stream) => frame("push", [2], { stream, flags: END_HEADERS }), { begun: false }),
  ],
  [
    "frames larger than was allowed",
    "watch",
    /the server violated HTTP\/2: frame of 100000 bytes exceeds SETTINGS_MAX_FRAME_SIZE$/,
    flood((stream) => frame("data", Buffer.alloc(100_000), { stream }), { most: MiB, count: 10 }),
  ],
  [
    "goodbyes",
    "request",
    /the server refused the stream without processing the request$/,
    flood(() => frame("goaway", [0, 0]), { begun: false, most: MiB }),
  ],
  [
    "refused streams",
    "request",
    /the server refused the stream without processing the request$|the server floods/,
    flood((stream) => frame("reset", [7], { stream }), { begun: false, most: MiB }),
  ],
];

describe("a server that floods over HTTP/2 is left with a reason, memory flat and /livez answering", () => {
  test.each(floods)("%s", (name, ask, says, attack) => victim.withstands(name, { ask, says, attack }), 60_000);
});

test("a body of frames with one byte each takes no more memory than another", async () => {
  await victim.withstands("a watch in frames of one byte", {
    ask: "watch",
    says: /operation timed out|is longer than 20 MiB$/,
    attack: flood((stream) => frame("data", "a", { stream }), { most: 40 * MiB }),
    within: 8_000,
    growth: 96,
  });
  await victim.withstands("an answer in frames of one byte", {
    ask: "request",
    says: /it is larger than 32 MiB$/,
    attack: flood((stream) => frame("data", "a", { stream }), { most: 40 * MiB }),
    growth: 160,
  });
}, 180_000);

test("an answer that goes on after it was cancelled ends the connection", async () => {
  const piece = frame("data", Buffer.alloc(16_000, 0x61), { stream: 1 });
  await victim.withstands("an answer that was cancelled", {
    ask: "request",
    says: /it is larger than 32 MiB$/,
    attack: async (peer, { stream }) => {
      await peer.write(ok(stream));
      await peer.flood(piece, 400 * MiB);
    },
    growth: 160,
    sent: 200 * MiB,
  });
}, 180_000);

test("headers that come slowly hold up nobody else", async () => {
  await victim.withstands("headers byte by byte", {
    ask: "request",
    says: /operation timed out/,
    within: 3_000,
    attack: async (peer, { stream }) => {
      const block = headers(stream, headerBlock({ ":status": "200", x: "y".repeat(120) }), END_HEADERS | END_STREAM);
      for (const byte of block.subarray(0, -1)) {
        await peer.write(Buffer.of(byte));
        await Bun.sleep(40);
      }
    },
  });
}, 180_000);
