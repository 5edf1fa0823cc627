import { array, assert, constantFrom, integer, property, tuple, uint8Array } from "fast-check";
import { expect, test } from "bun:test";
import {
  ACK,
  END_HEADERS,
  END_STREAM,
  frame,
  type Frame,
  FrameCutter,
  headerBlock,
  OK,
  PADDED,
  PRIORITY,
  settings,
} from "../../../tests/support/http2-frames.ts";
import type { SecureSocket } from "../../platform/secure-socket.ts";
import { UnreachableError } from "../errors/api-error.ts";
import type { HttpRequest, ResponseHandlers } from "../http/http-request.ts";
import { H2Connection } from "./h2-connection.ts";
import { H2Stream } from "./h2-stream.ts";
import { HeaderReader } from "./hpack.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The server's end of the wire. */
class Wire implements SecureSocket {
  readonly protocol = "h2";
  readonly frames: Frame[] = [];
  closed = 0;
  /** Bytes that it takes before it is full. */
  room = Infinity;
  readonly #cutter = new FrameCutter();

  write(bytes: Uint8Array): number {
    const taken = Math.min(bytes.length, this.room);
    this.room -= taken;
    this.frames.push(...this.#cutter.take(bytes.slice(0, taken)));
    return taken;
  }

  pause(): void {}

  resume(): void {}

  close(): void {
    this.closed++;
  }

  /** What was sent since the last call, such as `data 1 END 5`. */
  take(): string[] {
    return this.frames.splice(0).map(({ type, flags, stream, payload }) => {
      const end = (type === "data" || type === "headers") && flags & END_STREAM ? " END" : "";
      const code = type === "reset" || type === "window" ? payload.readUInt32BE(0) : payload.length;
      return `${type} ${stream}${end} ${code}`;
    });
  }
}

function connect() {
  const wire = new Wire();
  const told: string[] = [];
  const connection = new H2Connection(wire, {
    server: new URL("https://server:6443"),
    onAlive() {},
    onSettings: () => void told.push(`at most ${connection.maxStreams}`),
    onGoAway: () => void told.push("goodbye"),
    onClose: ({ message }) => void told.push(`closed: ${message}`),
  });
  wire.take();
  const open = (name: string, more: Partial<HttpRequest & ResponseHandlers> = {}): H2Stream => {
    const { method = "GET", path = `/${name}`, headers = {}, body, ...own } = more;
    const stream = new H2Stream(
      { method, path, headers, body },
      {
        onResponse: (status) => void told.push(`${name} ${status}`),
        onChunk: (chunk) => void told.push(`${name}: ${Buffer.from(chunk).toString()}`),
        onEnd: () => void told.push(`${name} ended`),
        onError: ({ code, message }) => void told.push(`${name} failed: ${code} ${message}`),
        ...own,
      },
    );
    stream.moveTo({ cancel: (cancelled) => connection.cancel(cancelled), release() {}, resume() {} });
    connection.send(stream);
    return stream;
  };
  const say = (...frames: Uint8Array[]): void => connection.onData(Buffer.concat(frames));
  return { wire, told, connection, open, say, take: () => told.splice(0) };
}

const headers = (stream: number, flags = END_HEADERS, block: Uint8Array = OK): Buffer =>
  frame("headers", block, { stream, flags });
const data = (stream: number, text: string, flags = 0): Buffer => frame("data", text, { stream, flags });

test("H2Connection sends a request and tells its answer; requests of one turn go out in one write", async () => {
  const { wire, open, say, take } = connect();
  open("a", { headers: { accept: "x" } });
  open("b", { method: "PUT", body: "tür" });
  expect(wire.take()).toEqual([]);
  await turn();
  const [first] = wire.frames;
  const block = new HeaderReader().read(first!.payload);
  expect([":method", ":scheme", ":authority", ":path", "accept"].map((name) => block.get(name))).toEqual([
    "GET",
    "https",
    "server:6443",
    "/a",
    "x",
  ]);
  expect(wire.take().map((line) => line.replace(/ \d+$/, ""))).toEqual(["headers 1 END", "headers 3", "data 3 END"]);
  say(
    settings({ 3: 100 }),
    headers(3),
    data(3, "one "),
    headers(1),
    data(3, "two", END_STREAM),
    data(1, "", END_STREAM),
  );
  expect(take()).toEqual(["at most 100", "b 200", "b: one ", "a 200", "b: two", "b ended", "a ended"]);
  await turn();
  expect(wire.take()).toEqual(["settings 0 0"]);
});

test("H2Connection understands padding, priorities, headers in parts, interim answers, trailers and the unknown", () => {
  const { open, say, take } = connect();
  open("a");
  const block = headerBlock({ ":status": "207", "x-long": "y".repeat(100) });
  say(
    headers(1, END_HEADERS, headerBlock({ ":status": "100" })),
    frame("headers", Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 9]), block.subarray(0, 3), Buffer.alloc(2)]), {
      stream: 1,
      flags: PADDED | PRIORITY,
    }),
    frame("continuation", block.subarray(3, 9), { stream: 1 }),
    frame("continuation", new Uint8Array(), { stream: 1 }),
    frame("continuation", block.subarray(9), { stream: 1, flags: END_HEADERS }),
    frame("priority", new Uint8Array(5), { stream: 1 }),
    frame(0x99, "?", { stream: 7, flags: 0xff }),
    frame("data", Buffer.from("\u0003abc\0\0\0"), { stream: 1, flags: PADDED }),
    headers(1, END_HEADERS | END_STREAM, headerBlock({ "grpc-status": "0" })),
    frame("window", [5], { stream: 1 }),
    frame("reset", [0], { stream: 1 }),
  );
  expect(take()).toEqual(["a 207", "a: abc", "a ended"]);
});

test("H2Connection tells the same whatever the pieces in which the bytes arrive", () => {
  const script = Buffer.concat([
    settings({ 3: 100, 4: 1_000 }),
    headers(1, 0, headerBlock({ ":status": "201" }).subarray(0, 4)),
    frame("continuation", headerBlock({ ":status": "201" }).subarray(4), { stream: 1, flags: END_HEADERS }),
    data(1, "0123456789"),
    frame("data", Buffer.from("\u0002ab\0\0"), { stream: 1, flags: PADDED }),
    frame("ping", Buffer.alloc(8)),
    headers(3),
    data(3, "3", END_STREAM),
    data(1, "", END_STREAM),
    frame("goaway", [3, 0]),
  ]);
  const play = (cuts: readonly number[]): string => {
    const { connection, open, take } = connect();
    open("a");
    open("b");
    let from = 0;
    for (const cut of [...cuts.map((at) => at % script.length).toSorted((x, y) => x - y), script.length]) {
      if (cut > from) connection.onData(script.subarray(from, cut));
      from = Math.max(from, cut);
    }
    // Bodies may come in smaller pieces, and nothing else may differ.
    const told: string[] = [];
    for (const line of take()) {
      if (line.startsWith("a: ") && told.at(-1)?.startsWith("a: ")) told.push(told.pop() + line.slice(3));
      else told.push(line);
    }
    return told.join("\n");
  };
  const whole = play([]);
  expect(whole).toContain("a 201\na: 0123456789ab\nb 200\nb: 3\nb ended\na ended\ngoodbye");
  expect(play(Array.from(script.keys()))).toBe(whole);
  for (const at of script.keys()) expect(play([at])).toBe(whole);
  assert(
    property(array(integer({ min: 0, max: script.length }), { maxLength: 12 }), (cuts) =>
      expect(play(cuts)).toBe(whole),
    ),
    { numRuns: 60 },
  );
});

test.each(Array.from({ length: 15 }, (_, code) => code))("H2Connection a stream reset with %d fails alone", (code) => {
  const { open, say, take } = connect();
  open("a");
  open("b");
  say(headers(3), headers(1), frame("reset", [code], { stream: 1 }), data(3, "", END_STREAM));
  const [, , failure, , ...rest] = take();
  expect(rest).toEqual([]);
  if (code === 7) expect(failure).toMatch(/^a failed: HTTP2RefusedStream /);
  else expect(failure).toMatch(/^a failed: ECONNRESET .*the server reset the stream: [A-Z_1]+$|: 14$/);
});

test("H2Connection a goodbye refuses what was not begun, in two steps, and ends with the last stream", async () => {
  const { wire, open, say, take, connection } = connect();
  for (const name of ["a", "b", "c"]) open(name);
  await turn();
  wire.take();
  say(frame("goaway", [0x7fffffff, 0]));
  expect(take()).toEqual(["goodbye"]);
  open("late");
  await turn();
  expect(take()).toEqual([expect.stringMatching(/^late failed: HTTP2RefusedStream/)]);
  say(headers(1), data(1, "x"), frame("goaway", [3, 0]));
  expect(take()).toEqual(["a 200", "a: x", "goodbye", expect.stringMatching(/^c failed: HTTP2RefusedStream/)]);
  say(headers(3, END_HEADERS | END_STREAM));
  expect(wire.closed).toBe(0);
  say(data(1, "", END_STREAM));
  expect(take()).toEqual(["b 200", "b ended", "a ended", expect.stringMatching(/^closed: /)]);
  expect([wire.closed, wire.take()]).toEqual([1, ["goaway 0 8"]]);
  connection.onClose(undefined);
  expect(take()).toEqual([]);
});

test("H2Connection close waits for its streams, and for none when there is none", () => {
  const { wire, open, say, connection } = connect();
  open("a");
  connection.close();
  expect(wire.closed).toBe(0);
  say(headers(1, END_HEADERS | END_STREAM));
  expect(wire.closed).toBe(1);
  const other = connect();
  other.connection.close();
  expect(other.wire.closed).toBe(1);
});

test("H2Connection sends no more of a body than the windows take, which may change on the way, below zero too", async () => {
  const { wire, open, say, take } = connect();
  say(settings({ 4: 10 }));
  open("a", { method: "POST", body: "0123456789ABCDEFGHIJabcdefghij" });
  await turn();
  expect(wire.take()).toEqual(["settings 0 0", expect.stringMatching(/^headers 1 /), "data 1 10"]);
  say(settings({ 4: 0 })); // 10 bytes less than were sent already
  say(frame("window", [9], { stream: 1 }));
  await turn();
  expect(wire.take()).toEqual(["settings 0 0"]);
  say(frame("window", [4], { stream: 1 }));
  await turn();
  expect(wire.take()).toEqual(["data 1 3"]);
  open("empty", { method: "POST", body: "" });
  await turn();
  expect(wire.take()).toEqual([expect.stringMatching(/^headers 3 /), "data 3 END 0"]);
  say(settings({ 4: 100 }));
  await turn();
  expect(wire.take()).toEqual(["data 1 END 17", "settings 0 0"]);
  expect(take().filter((line) => !line.startsWith("at most"))).toEqual([]);
});

test("H2Connection sends 3 MB in frames and windows of the server's size, and the bodies behind it in order", async () => {
  const { wire, open, say } = connect();
  say(settings({ 4: 2 ** 31 - 1, 5: 20_000 }));
  open("large", { method: "POST", body: "ü".repeat(1_500_000) });
  open("small", { method: "POST", body: "{}" });
  let sent = 0;
  for (let round = 0; round < 100; round++) {
    await turn();
    const bodies = wire.frames.splice(0).filter(({ type }) => type === "data");
    for (const { payload } of bodies) expect(payload.length).toBeLessThanOrEqual(20_000);
    for (const { payload, stream } of bodies) if (stream === 1) sent += payload.length;
    const last = bodies.at(-1);
    if (last === undefined) continue;
    if (last.stream === 3) break;
    say(frame("window", [60_000]));
  }
  expect(sent).toBe(3_000_000);
});

test("H2Connection sends headers of 20 KB, and names no table that the server would have to keep", async () => {
  const { wire, open } = connect();
  const authorization = `Bearer ${"t".repeat(20_000)}`;
  open("a", { headers: { authorization } });
  open("b");
  await turn();
  const [first, second, third] = wire.frames;
  expect([first!.flags, second!.type, second!.flags]).toEqual([END_STREAM, "continuation", END_HEADERS]);
  expect(new HeaderReader().read(Buffer.concat([first!.payload, second!.payload])).get("authorization")).toBe(
    authorization,
  );
  expect([first!.payload[0], third!.payload[0]]).toEqual([0x20, 0x82]);
});

test("H2Connection refuses a request that cannot be sent before anything of it is kept", () => {
  const { open, connection, wire } = connect();
  expect(() => open("a", { headers: { "x-a": "b\nc" } })).toThrow(TypeError);
  expect(() => open("a", { path: "/\ud800" })).toThrow(URIError);
  connection.close();
  expect(wire.closed).toBe(1);
});

test("H2Connection answers pings, and opens the windows of bodies again, padding included", async () => {
  const { wire, open, say, connection } = connect();
  open("a", { onChunk() {} });
  await turn();
  wire.take();
  connection.ping();
  say(frame("ping", Buffer.from("12345678")), frame("ping", Buffer.alloc(8), { flags: ACK }));
  await turn();
  expect(wire.frames.map(({ type, flags, payload }) => [type, flags, payload.toString()])).toEqual([
    ["ping", 0, "\0".repeat(8)],
    ["ping", ACK, "12345678"],
  ]);
  wire.take();
  say(headers(1));
  const padded = frame("data", Buffer.concat([Buffer.of(255), Buffer.alloc(16_384 - 1)]), { stream: 1, flags: PADDED });
  for (let sent = 0; sent < 8 * 1_048_576; sent += 16_384) say(padded);
  await turn();
  expect(wire.take()).toEqual([`window 1 ${8 * 1_048_576}`]);
});

test("H2Connection keeps what the socket does not take, in order, however often it is full", async () => {
  const { wire, open, connection } = connect();
  wire.room = 50;
  open("a", { method: "POST", body: "x".repeat(1_000) });
  await turn();
  open("b");
  await turn();
  for (let i = 0; i < 30; i++) {
    wire.room = 50;
    connection.onDrain();
  }
  expect(wire.take().map((line) => line.replace(/ \d+$/, ""))).toEqual(["headers 1", "data 1 END", "headers 3 END"]);
});

test("H2Connection asks again before it writes what has waited for long, and discards all of it with a refused request", async () => {
  for (const socketIsFull of [false, true]) {
    const { wire, open, take, connection } = connect();
    let mayBeSent = true;
    if (socketIsFull) wire.room = 0;
    open("a", { method: "POST", body: "{}", mayBeSent: () => mayBeSent });
    open("b");
    if (socketIsFull) await turn();
    mayBeSent = false;
    // As a process that was stopped, or that a module has blocked.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    wire.room = Infinity;
    if (socketIsFull) connection.onDrain();
    await turn();
    expect([wire.take(), wire.closed]).toEqual([[], 1]);
    const reason = "the connection was dropped with a request that may not be sent any more";
    expect(take()[0]).toContain(reason);
  }
});

test("H2Connection writes late what is not refused", async () => {
  const { wire, open } = connect();
  open("a", { method: "POST", body: "{}", mayBeSent: () => true });
  open("b");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  await turn();
  expect(wire.take().map((line) => line.replace(/ \d+$/, ""))).toEqual(["headers 1", "data 1 END", "headers 3 END"]);
  expect(wire.closed).toBe(0);
});

test("H2Connection sends nothing more of a body that waits for the server when its request is refused", async () => {
  const { wire, open, say, connection } = connect();
  say(settings({ 4: 10 }));
  let mayBeSent = true;
  const stream: H2Stream = open("a", {
    method: "POST",
    body: "x".repeat(30),
    mayBeSent() {
      if (!mayBeSent) stream.cancel();
      return mayBeSent;
    },
  });
  await turn();
  expect(wire.take().at(-1)).toBe("data 1 10");
  mayBeSent = false;
  say(frame("window", [10], { stream: 1 }));
  await turn();
  expect(wire.take()).toEqual(["reset 1 8"]);
  connection.close();
  expect(wire.closed).toBe(1);
});

test("H2Connection cancel ends a stream without a word to its handlers, and what still comes of it is let go", async () => {
  const { wire, open, say, take } = connect();
  const stream = open("a");
  open("b", { method: "POST", body: "x".repeat(100_000) }).cancel();
  await turn();
  wire.take();
  say(headers(1), data(1, "x"));
  stream.cancel();
  stream.cancel();
  say(data(1, "y"), headers(3), data(3, "z", END_STREAM), frame("reset", [8], { stream: 1 }), frame("window", [9]));
  await turn();
  expect(take()).toEqual(["a 200", "a: x"]);
  expect(wire.take()).toEqual(["reset 1 8"]);
});

test("H2Connection cancel and open work inside callbacks, also when the connection ends", async () => {
  const { open, say, take, told } = connect();
  const streams: H2Stream[] = [];
  const cancelAll = (): void => {
    for (const stream of streams) stream.cancel();
  };
  streams.push(open("a", { onChunk: cancelAll }), open("b", { onResponse: () => void open("c") }));
  say(headers(3), headers(1), data(1, "x", END_STREAM), data(3, "y", END_STREAM), headers(5, END_HEADERS | END_STREAM));
  expect(take()).toEqual(["a 200", "c 200", "c ended"]);
  let failed = 0;
  const onError = (): void => {
    failed++;
    cancelAll();
    open("late");
  };
  streams.push(open("d", { onError }), open("e", { onError }));
  say(frame("ping", "too short"));
  expect(failed).toBe(1);
  await turn();
  expect(told).toEqual([
    expect.stringContaining("the server violated HTTP/2: PING frame of 9 bytes"),
    expect.stringMatching(/^late failed: HTTP2RefusedStream/),
  ]);
});

test("H2Connection an answer before the end of its question leaves the rest of it away", async () => {
  const { wire, open, say, take } = connect();
  open("a", { method: "POST", body: "x".repeat(100_000) });
  await turn();
  wire.take();
  say(
    headers(1, END_HEADERS, headerBlock({ ":status": "413" })),
    data(1, "too long", END_STREAM),
    frame("window", [1_000_000]),
  );
  await turn();
  expect(take()).toEqual(["a 413", "a: too long", "a ended"]);
  expect(wire.take()).toEqual(["reset 1 8"]);
});

/** What the server sends, and the words of the RFC that say what is wrong with it. */
const broken: Record<string, readonly [says: string, ...sent: Uint8Array[]]> = {
  "a push": ["PUSH_PROMISE frame although SETTINGS_ENABLE_PUSH is 0", frame("push", new Uint8Array(9), { stream: 1 })],
  "a frame that is too large": [
    "frame of 70000 bytes exceeds SETTINGS_MAX_FRAME_SIZE",
    frame("data", new Uint8Array(70_000), { stream: 1 }),
  ],
  "headers without a status": [
    "response without a valid :status on stream 1",
    headers(1, END_HEADERS, headerBlock({ a: "b" })),
  ],
  "headers whose status is no number": [
    "response without a valid :status on stream 1",
    headers(1, END_HEADERS, headerBlock({ ":status": "abc" })),
  ],
  "an interim answer that is the last": [
    "interim response with END_STREAM on stream 1",
    headers(1, END_HEADERS | END_STREAM, headerBlock({ ":status": "103" })),
  ],
  "a body before headers": ["DATA frame before HEADERS on stream 1", data(1, "x")],
  "headers that go on elsewhere": ["field block interrupted by another frame", headers(1, 0), data(1, "x")],
  "headers that go on in another stream": [
    "unexpected CONTINUATION frame on stream 3",
    headers(1, 0),
    frame("continuation", OK, { stream: 3, flags: END_HEADERS }),
  ],
  "headers that go on without a beginning": [
    "unexpected CONTINUATION frame on stream 1",
    frame("continuation", OK, { stream: 1, flags: END_HEADERS }),
  ],
  "headers without an end": [
    "field block without an end",
    headers(1, 0),
    ...Array(20).fill(frame("continuation", new Uint8Array(60_000), { stream: 1 })),
  ],
  "headers that cannot be read": ["truncated field block", headers(1, END_HEADERS, Uint8Array.of(0xff, 0xff))],
  "more padding than payload": [
    "padding exceeds the frame payload",
    frame("data", Uint8Array.of(9, 1), { stream: 1, flags: PADDED }),
  ],
  "a stream that nobody opened": ["frame for idle stream 9", headers(9)],
  "a stream of the server's": ["frame for idle stream 2", headers(2)],
  "a stream without a number": ["HEADERS frame with stream ID 0", headers(0)],
  "settings of a stream": ["SETTINGS frame with stream ID 1", frame("settings", [], { stream: 1 })],
  "settings in the middle of one": ["SETTINGS frame of 3 bytes", frame("settings", Uint8Array.of(0, 4, 0))],
  "a window beyond its limit": [
    "flow-control window of 2147549182 bytes exceeds 2^31-1",
    frame("window", [0x7fffffff]),
  ],
  "an initial window beyond its limit": [
    "SETTINGS_INITIAL_WINDOW_SIZE of 2147483648 bytes exceeds 2^31-1",
    settings({ 4: 2 ** 31 }),
  ],
  "frames of no size": ["SETTINGS_MAX_FRAME_SIZE of 0 bytes is out of range", settings({ 5: 0 })],
  "a reset without a reason": ["RST_STREAM frame of 0 bytes", frame("reset", "", { stream: 1 })],
  "a ping of five bytes": ["PING frame of 5 bytes", frame("ping", "12345")],
  "a goodbye of four bytes": ["GOAWAY frame of 4 bytes", frame("goaway", [1])],
};

test.each(Object.keys(broken))("H2Connection gives up a connection with %s, and says why", (what) => {
  const { wire, open, say, take } = connect();
  open("a");
  const [says, ...sent] = broken[what]!;
  say(...sent);
  const lines = take();
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/closed: .*(the server violated HTTP\/2|the server floods the connection): /);
  expect(lines[0]).toEndWith(`: ${says}`);
  expect(lines[1]).toMatch(/^a failed: (ECONNRESET|EMSGSIZE) /);
  expect([wire.closed, wire.take().at(-1)]).toEqual([1, "goaway 0 8"]);
});

test("H2Connection fails its streams when the connection is cut in the middle of a frame, with the reason", () => {
  const { connection, open, say, take } = connect();
  open("a");
  say(headers(1), data(1, "0123456789").subarray(0, 12));
  connection.onClose(Object.assign(new Error("Connection reset"), { code: "ECONNRESET" }));
  expect(take()).toEqual([
    "a 200",
    "a: 012",
    expect.stringMatching(/^closed: /),
    expect.stringMatching(/^a failed: ECONNRESET/),
  ]);
  connection.destroy(new UnreachableError("https://server", { code: "X", message: "again" }));
  expect(take()).toEqual([]);
});

test("H2Connection survives whatever a server sends: nothing is thrown, and each stream ends once at most", async () => {
  const anyFrame = tuple(
    integer({ min: 0, max: 10 }),
    integer({ min: 0, max: 255 }),
    constantFrom(0, 1, 1, 3, 3, 5, 2, 9),
    uint8Array({ maxLength: 40 }),
  );
  assert(
    property(array(anyFrame, { maxLength: 12 }), integer({ min: 1, max: 50 }), (frames, size) => {
      const { connection, open, take } = connect();
      const ends = [0, 0, 0];
      for (const i of ends.keys()) {
        const onEnd = (): void => void ends[i]!++;
        open(String(i), { method: "POST", body: "x".repeat(70_000), onEnd, onError: onEnd });
      }
      const bytes = Buffer.concat(
        frames.map(([type, flags, stream, payload]) =>
          frame(type, stream > 0 && type === 1 && flags > 100 ? OK : payload, { flags, stream }),
        ),
      );
      for (let at = 0; at < bytes.length; at += size) connection.onData(bytes.subarray(at, at + size));
      connection.onClose(undefined);
      expect(ends).toEqual([1, 1, 1]);
      expect(take().filter((line) => line.startsWith("closed")).length).toBe(1);
    }),
    { numRuns: 400 },
  );
});
