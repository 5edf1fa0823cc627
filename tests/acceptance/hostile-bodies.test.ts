/** Tests servers whose responses never end, or grow far larger after decompression. Each attack is bounded in size. */
import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { END_HEADERS, END_STREAM, frame, headerBlock } from "../support/http2-frames.ts";
import { Victim } from "../support/hostile/bench.ts";
import { type Attack, chunk, ok, okHead, type Peer } from "../support/hostile/hostile-server.ts";
import type { Ask } from "../support/hostile/victim.ts";

const MiB = 1024 * 1024;
const PIECE = Buffer.alloc(16_000, 0x61);
let victim: Victim;

beforeAll(async () => {
  victim = await Victim.start();
}, 180_000);
afterAll(() => victim[Symbol.asyncDispose]());

/** Sends a 200, then the same piece for ever. */
function endless(piece: Uint8Array, most = 600 * MiB): Attack {
  return async (peer, { stream }) => {
    await peer.write(stream > 0 ? ok(stream) : okHead());
    await peer.flood(stream > 0 ? frame("data", piece, { stream }) : chunk(piece), most);
  };
}

/** Sends a whole body, compressed or not. */
function answer(body: Uint8Array, headers: Readonly<Record<string, string>> = {}): Attack {
  return async (peer, { stream }) => {
    if (stream === 0) return peer.write(okHead(headers), chunk(body), "0\r\n\r\n");
    await peer.write(frame("headers", headerBlock({ ":status": "200", ...headers }), { stream, flags: END_HEADERS }));
    for (let at = 0; at < body.length; at += 16_000) {
      const flags = at + 16_000 >= body.length ? END_STREAM : 0;
      await peer.write(frame("data", body.subarray(at, at + 16_000), { stream, flags }));
    }
  };
}

const PROTOCOLS = ["h2", "http/1.1"] as const;

describe("an answer without an end is given up", () => {
  const asks: readonly (readonly [Ask, RegExp])[] = [
    ["request", /it is larger than (32|64) MiB$/],
    ["lease", /it is larger than (32|64) MiB$/],
    ["list", /it is larger than (32|64) MiB$/],
    ["pages", /it is larger than 32 MiB$|keeps sending responses that were cancelled$/],
    ["watch", /a line of it is longer than 20 MiB$/],
  ];
  for (const protocol of PROTOCOLS) {
    test.each(asks)(
      `%s over ${protocol}`,
      async (ask, says) => {
        // Pages are requested four times, of fewer items each, and the memory of earlier attempts may still be
        // garbage.
        const growth = ask === "pages" ? 200 : 120;
        await victim.withstands("an endless answer", { protocol, ask, says, attack: endless(PIECE), growth });
      },
      60_000,
    );
  }

  test.each(["request", "watch"] as const)(
    "a refusal of a %s, of which the beginning is told",
    async (ask) => {
      const attack: Attack = async (peer, { stream }) => {
        await peer.write(frame("headers", headerBlock({ ":status": "403" }), { stream, flags: END_HEADERS }));
        await peer.flood(frame("data", PIECE, { stream }), 400 * MiB);
      };
      const { said } = await victim.withstands("an endless refusal", {
        ask,
        says: /Forbidden \(403\): a{500}/,
        attack,
      });
      expect(said.length).toBeLessThan(1_000);
    },
    60_000,
  );
});

describe("an answer that becomes far more than it was is given up", () => {
  const bomb = gzipSync(Buffer.alloc(512 * MiB, 0x20), { level: 9 });
  const objects = Buffer.from(`{"kind":"List","apiVersion":"v1","metadata":{},"items":[${"{},".repeat(5 * MiB)}{}]}`);
  const zipped = gzipSync(objects, { level: 1 });
  const nested = Buffer.from(`{"a":${"[".repeat(5 * MiB)}${"]".repeat(5 * MiB)}}`);
  for (const protocol of PROTOCOLS) {
    test.each([
      ["a list's gzip bomb", "list", /it is larger than (32|64) MiB$/, answer(bomb, { "content-encoding": "gzip" })],
      ["a gzip bomb that nobody asked for", "request", /it is not JSON$/, answer(bomb, { "content-encoding": "gzip" })],
      ["a watch's gzip bomb", "watch", /answered 0 events|not JSON/, answer(bomb, { "content-encoding": "gzip" })],
      ["a list of millions of empty objects", "list", /it holds more than 4 million values$/, answer(objects)],
      ["the same, compressed", "list", /more than 4 million values$/, answer(zipped, { "content-encoding": "gzip" })],
      ["an object of millions of values", "request", /it holds more than 4 million values$/, answer(objects)],
      [
        "an event of millions of values",
        "watch",
        /it holds more than 4 million values$/,
        answer(Buffer.concat([objects, Buffer.of(10)])),
      ],
      ["a list nested a million times", "request", /it holds more than 4 million values$/, answer(nested)],
    ] as const)(
      `%s over ${protocol}`,
      (name, ask, says, attack) => victim.withstands(name, { protocol, ask, says, attack, growth: 200 }),
      60_000,
    );
  }
});

describe("a WebSocket that floods is closed", () => {
  const shake = (head: string): string => {
    const key = /sec-websocket-key: (.+)/i.exec(head)?.[1]?.trim() ?? "";
    const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    const lines = ["HTTP/1.1 101 Switching Protocols", "upgrade: websocket", "connection: upgrade"];
    return [...lines, `sec-websocket-accept: ${accept}`, "sec-websocket-protocol: v5.channel.k8s.io", "", ""].join(
      "\r\n",
    );
  };
  const socket =
    (send: (peer: Peer) => Promise<void>): Attack =>
    async (peer, { head }) => {
      await peer.write(shake(head));
      await send(peer);
    };
  const header = (first: number, length: number): Buffer => {
    const bytes = Buffer.alloc(10);
    bytes[0] = first;
    bytes[1] = 127;
    bytes.writeBigUInt64BE(BigInt(length), 2);
    return bytes;
  };
  const many = (one: Buffer, count = 4_000): Buffer => Buffer.concat(Array.from({ length: count }, () => one));

  test.each([
    [
      "fragments without an end",
      /a message of more than 4 MiB$/,
      socket((peer) => peer.flood(Buffer.concat([header(0x02, 16_000), PIECE]), 600 * MiB)),
    ],
    [
      "fragments that are empty",
      /a message of more than 1000 frames$/,
      socket((peer) => peer.flood(many(Buffer.of(0x02, 0)), 100 * MiB)),
    ],
    [
      "a message of 1 GiB",
      /a message of more than 4 MiB$/,
      socket(async (peer) => {
        await peer.write(header(0x82, 1024 * MiB));
        await peer.flood(PIECE, 600 * MiB);
      }),
    ],
    [
      "a length of more than 2^53",
      /a message of more than 4 MiB$/,
      socket((peer) => peer.write(Buffer.of(0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255))),
    ],
    [
      "masked frames",
      /is not a WebSocket frame of a server$/,
      socket((peer) => peer.write(Buffer.of(0x82, 0x85, 1, 2, 3, 4, 5, 6, 7, 8, 9))),
    ],
    [
      "pings whose answers nobody reads",
      /operation timed out|connection was lost/,
      socket(async (peer) => {
        peer.socket.pause();
        await peer.flood(many(Buffer.concat([Buffer.of(0x89, 125), Buffer.alloc(125)])), 300 * MiB);
      }),
    ],
  ] as const)(
    "%s",
    (name, says, attack) =>
      victim.withstands(name, { protocol: "http/1.1", ask: "exec", says, attack, within: 6_000, sent: 400 * MiB }),
    60_000,
  );

  test.each([
    [
      "headers without an end",
      /more than 64 KiB of headers$/,
      (peer: Peer): Promise<void> => peer.flood(Buffer.concat([Buffer.from("x: "), PIECE]), 200 * MiB),
    ],
    [
      "a refusal without an end",
      /Forbidden \(403\)/,
      async (peer: Peer): Promise<void> => {
        await peer.write("HTTP/1.1 403 Forbidden\r\n\r\n");
        await peer.flood(PIECE, 200 * MiB);
      },
    ],
    [
      "an answer that is no HTTP",
      /\(502\)/,
      async (peer: Peer): Promise<void> => {
        await peer.write("SSH-2.0-OpenSSH\r\n\r\n");
        peer.socket.end();
      },
    ],
    [
      "another accept",
      /speaks none of/,
      (peer: Peer) =>
        peer.write("HTTP/1.1 101 OK\r\nsec-websocket-accept: x\r\nsec-websocket-protocol: v5.channel.k8s.io\r\n\r\n"),
    ],
  ] as const)(
    "%s",
    (name, says, attack) => victim.withstands(name, { protocol: "http/1.1", ask: "exec", says, attack }),
    60_000,
  );
});

describe("a proxy that answers CONNECT with what it should not", () => {
  const refuse = (text: string) =>
    function (socket: Socket): void {
      socket.end(text);
    };
  const leave = (socket: Socket): void => {
    socket.destroy();
  };
  test.each([
    ["a refusal", refuse("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), /refused with HTTP 407|EPROXY|proxy/],
    ["a redirect", refuse("HTTP/1.1 302 Found\r\nlocation: https://127.0.0.1:1/\r\n\r\n"), /proxy/],
    ["a success without a tunnel", refuse("HTTP/1.1 200 OK\r\n\r\nhello"), /./],
    ["what is no HTTP", refuse("SSH-2.0-OpenSSH_9\r\n"), /proxy/],
    ["nothing", leave, /proxy/],
    ["headers without an end", flooded, /./],
  ] as const)(
    "%s",
    async (name, answers, says) => {
      const proxy: Server = createServer();
      proxy.on("connect", (_, socket: Socket) => {
        socket.on("error", () => {});
        answers(socket);
      });
      await new Promise<void>((resolve) => {
        proxy.listen(0, "127.0.0.1", resolve);
      });
      try {
        for (const ask of ["request", "list", "watch", "lease", "exec"] as const) {
          const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
          const outcome = await victim.ask({ ask, server: "https://192.0.2.1:6443", proxy: address, within: 4_000 });
          victim.table.push(
            `CONNECT answered with ${name} (${ask}): +${outcome.growth.toFixed(0)} MiB: ${outcome.said.slice(0, 120)}`,
          );
          expect(outcome.said).toMatch(says);
          expect(outcome.said).not.toStartWith("answered");
          expect(outcome.growth).toBeLessThan(32);
          expect(outcome.livez).toBeLessThan(1_000);
        }
      } finally {
        proxy.closeAllConnections();
        proxy.close();
      }
    },
    60_000,
  );
});

/** Sends 100 MiB of headers, as fast as they are read. */
function flooded(socket: Socket): void {
  let left = 100 * MiB;
  const more = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= PIECE.length;
      if (!socket.write(Buffer.concat([Buffer.from("x: "), PIECE, Buffer.from("\r\n")]))) return;
    }
  };
  socket.on("drain", more);
  socket.write("HTTP/1.1 200 OK\r\n");
  more();
}
