/**
 * The client's side of an HTTP/2 connection, for requests whose bodies are short and answers as long as they like.
 *
 * Nothing is remembered for the server's sake: no header tables, no priorities, no pushes; bodies are handed on at once,
 * so that their windows open again as they come. What is sent in one turn of the event loop goes out in one write.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9113
 */
import type { SecureSocket, SecureSocketHandlers } from "../../platform/secure-socket.ts";
import type { UnreachableError } from "../errors/api-error.ts";
import { BodySender } from "./h2-bodies.ts";
import { broken, closed, cut, refused } from "./h2-failures.ts";
import { FloodGuard, HeaderParts } from "./h2-flood.ts";
import {
  ACK,
  CANCEL,
  concat,
  CONTINUATION,
  ENABLE_PUSH,
  END_HEADERS,
  END_STREAM,
  type FrameListener,
  FrameReader,
  FrameWriter,
  GOAWAY,
  HEADER_TABLE_SIZE,
  HEADERS,
  INITIAL_WINDOW_SIZE,
  LARGEST,
  MAX_CONCURRENT_STREAMS,
  MAX_FRAME_SIZE,
  MAX_HEADER_LIST_SIZE,
  PING,
  PRIORITY,
  PROTOCOL_ERROR,
  PUSH_PROMISE,
  readNumber,
  REFUSED_STREAM,
  RST_STREAM,
  SETTINGS,
  unpadded,
  WINDOW_UPDATE,
} from "./h2-frames.ts";
import type { H2Stream } from "./h2-stream.ts";
import { encodeTarget, HeaderReader, NO_TABLE } from "./hpack.ts";
import { MOST_HEADER_BYTES } from "../limits.ts";
import type { ReadPacing } from "./read-pacing.ts";

export interface H2ConnectionOptions {
  readonly server: URL;
  /** When to read what arrives. @default at once */
  readonly pacing?: ReadPacing | undefined;
  /** Something has arrived, whatever it is. */
  readonly onAlive: () => void;
  /** The server has said how many streams it allows. */
  readonly onSettings: () => void;
  /** The server takes no more requests; those under way go on. */
  readonly onGoAway: () => void;
  /** Nothing will come any more. Told once, before the streams are. */
  readonly onClose: (error: UnreachableError) => void;
}

/** Of a stream: a list that comes as a stream is not to wait for us. */
const WINDOW = 1 << 24;
const CONNECTION_WINDOW = 1 << 30;
const DEFAULT_WINDOW = 65_535;
const FRAME_BYTES = 65_536;
const OPAQUE = new Uint8Array(8);
const NOTHING = new Uint8Array(0);

export class H2Connection implements SecureSocketHandlers, FrameListener {
  /** The most streams that the server allows, once it has said so. */
  maxStreams: number | undefined;
  readonly #socket: SecureSocket;
  readonly #options: H2ConnectionOptions;
  readonly #streams = new Map<number, H2Stream>();
  readonly #reader = new FrameReader(FRAME_BYTES, this);
  readonly #headers = new HeaderReader();
  readonly #frames = new FrameWriter();
  readonly #bodies = new BodySender(this.#frames);
  /** What requests of one method have in common, encoded. */
  readonly #targets = new Map<string, Uint8Array>();
  readonly #writeLater = (): void => {
    this.#isLate = false;
    this.#write();
  };
  #isLate = false;
  /** What the socket did not take. */
  #unwritten: Uint8Array | undefined;
  #next = 1;
  #received = 0;
  /** A header block under way. */
  #block: HeaderParts | undefined;
  readonly #flood = new FloodGuard();
  #leaving = false;
  #closed = false;
  /** When something was read last. */
  #read = 0;

  constructor(socket: SecureSocket, options: H2ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#frames.preface();
    this.#frames.settings([
      [HEADER_TABLE_SIZE, 0],
      [ENABLE_PUSH, 0],
      [INITIAL_WINDOW_SIZE, WINDOW],
      [MAX_FRAME_SIZE, FRAME_BYTES],
      [MAX_HEADER_LIST_SIZE, MOST_HEADER_BYTES],
    ]);
    this.#frames.numbered(WINDOW_UPDATE, 0, CONNECTION_WINDOW - DEFAULT_WINDOW);
    this.#write();
  }

  /**
   * Sends a request; the caller has seen that there is room. It fails in a later turn at the earliest. One that may not
   * be sent any more has cancelled itself.
   */
  send(stream: H2Stream): void {
    if (this.#closed || this.#leaving) {
      const error = refused(this.#options.server);
      queueMicrotask(() => stream.fail(error));
      return;
    }
    if (stream.handlers.mayBeSent?.() === false) return;
    const { method, body } = stream.exchange;
    const isFirst = this.#next === 1;
    stream.id = this.#next;
    this.#next += 2;
    this.#streams.set(stream.id, stream);
    const target = this.#targetOf(method);
    const parts = [isFirst ? concat(NO_TABLE, target) : target, stream.path, stream.fields];
    this.#frames.headers(stream.id, {
      flags: body === undefined ? END_STREAM : 0,
      parts,
      most: this.#bodies.frameBytes,
    });
    if (body !== undefined) this.#bodies.send(stream, body);
    this.#writeSoon();
    // Numbers are not used twice.
    if (this.#next > LARGEST) this.#leave();
  }

  /** Ends a stream without another call of its handlers. */
  cancel(stream: H2Stream): void {
    if (!this.#streams.delete(stream.id)) return;
    this.#bodies.forget(stream);
    this.#frames.numbered(RST_STREAM, stream.id, CANCEL);
    this.#writeSoon();
    this.#leaveWhenDone();
  }

  /** What comes back shows that somebody is there. */
  ping(): void {
    if (this.#closed) return;
    this.#flood.pinged();
    this.#frames.frame(PING, 0, 0, OPAQUE);
    this.#write();
  }

  /** Ends when the last stream has. */
  close(): void {
    this.#leaving = true;
    this.#leaveWhenDone();
  }

  destroy(error: UnreachableError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.pacing?.forget(this.#socket);
    this.#socket.close();
    this.#options.onClose(error);
    for (const [id, stream] of this.#streams) {
      this.#streams.delete(id);
      stream.fail(error);
    }
  }

  onClose(error: Error | undefined): void {
    const { server } = this.#options;
    this.destroy(closed(server, error));
  }

  onDrain(): void {
    const rest = this.#unwritten;
    if (rest === undefined || this.#closed) return;
    const taken = this.#socket.write(rest);
    this.#unwritten = taken < rest.length ? rest.subarray(taken) : undefined;
    this.#write();
  }

  onData(bytes: Uint8Array): void {
    if (this.#closed) return;
    const { onAlive, pacing } = this.#options;
    onAlive();
    if (pacing !== undefined) this.#read = pacing.read(this.#socket, this.#read);
    try {
      this.#reader.take(bytes);
    } catch (error) {
      this.#goodbye(PROTOCOL_ERROR);
      this.destroy(broken(this.#options.server, error));
    }
  }

  onPiece(id: number, piece: Uint8Array, isEnd: boolean): void {
    const stream = this.#take(id, piece.length);
    if (stream === undefined) return this.#flood.unwanted(piece.length);
    if (piece.length > 0 || isEnd) this.#flood.progress();
    else this.#flood.idle();
    if (!stream.answered) throw new Error("a body without headers");
    if (piece.length > 0) stream.handlers.onChunk(piece);
    if (isEnd) this.#end(id);
  }

  onPadding(id: number, bytes: number): void {
    this.#take(id, bytes);
    this.#flood.idle();
  }

  onFrame(type: number, flags: number, id: number, payload: Uint8Array): void {
    if (this.#block !== undefined && type !== CONTINUATION) throw new Error("headers end in the middle");
    switch (type) {
      case HEADERS: {
        const given = unpadded(flags, payload);
        const bytes = (flags & PRIORITY) === 0 ? given : given.subarray(5);
        const isEnd = (flags & END_STREAM) !== 0;
        if ((flags & END_HEADERS) !== 0) this.#onHeaders(id, bytes, isEnd);
        else this.#block = new HeaderParts(id, isEnd, bytes);
        return;
      }
      case CONTINUATION: {
        const block = this.#block;
        if (block?.stream !== id) throw new Error("headers without a beginning");
        block.add(payload);
        if ((flags & END_HEADERS) === 0) return;
        this.#block = undefined;
        return this.#onHeaders(id, block.whole(), block.isEnd);
      }
      case RST_STREAM: {
        const { server } = this.#options;
        if (!this.#streams.has(id)) this.#flood.idle();
        const code = readNumber(payload, 0);
        return this.#end(id, code === REFUSED_STREAM ? refused(server) : cut(server, code));
      }
      case SETTINGS:
        if ((flags & ACK) === 0) this.#onSettings(payload);
        else this.#flood.idle();
        return;
      case PING:
        if ((flags & ACK) === 0) return this.#acknowledge(PING, payload);
        return this.#flood.ponged();
      case GOAWAY:
        return this.#onGoAway(readNumber(payload, 0) & LARGEST);
      case WINDOW_UPDATE: {
        this.#flood.idle();
        const stream = id === 0 ? undefined : this.#streams.get(id);
        if (id !== 0 && stream === undefined) return;
        if (this.#bodies.open(stream, readNumber(payload, 0) & LARGEST)) this.#writeSoon();
        return;
      }
      case PUSH_PROMISE:
        throw new Error("a push that nobody asked for");
      default: // frames that are not known are to be ignored
        this.#flood.idle();
    }
  }

  /** Opens the windows again for what has come. @returns the stream, unless it has ended. */
  #take(id: number, bytes: number): H2Stream | undefined {
    if (this.#block !== undefined) throw new Error("headers end in the middle");
    const stream = this.#streamOf(id);
    this.#received += bytes;
    if (this.#received >= CONNECTION_WINDOW / 2) {
      this.#frames.numbered(WINDOW_UPDATE, 0, this.#received);
      this.#received = 0;
      this.#writeSoon();
    }
    if (stream === undefined) return undefined;
    stream.received += bytes;
    if (stream.received >= WINDOW / 2) {
      this.#frames.numbered(WINDOW_UPDATE, id, stream.received);
      stream.received = 0;
      this.#writeSoon();
    }
    return stream;
  }

  #onHeaders(id: number, bytes: Uint8Array, isEnd: boolean): void {
    // Also of a stream that is gone: later blocks may refer to this one.
    const block = this.#headers.read(bytes);
    const stream = this.#streamOf(id);
    if (stream === undefined || stream.answered) this.#flood.idle();
    else {
      const { status } = block;
      if (status >= 200) {
        this.#flood.progress();
        stream.answered = true;
        stream.handlers.onResponse(status, (name) => block.get(name));
      } else if (!(status >= 100) || isEnd) throw new Error("an answer without a status");
      else this.#flood.idle();
    }
    if (isEnd) this.#end(id);
  }

  #onSettings(payload: Uint8Array): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      const setting = (payload[at]! << 8) | payload[at + 1]!;
      const value = readNumber(payload, at + 2);
      if (setting === MAX_CONCURRENT_STREAMS) this.maxStreams = value;
      else if (setting === INITIAL_WINDOW_SIZE) this.#bodies.setInitial(value);
      else if (setting === MAX_FRAME_SIZE) this.#bodies.setFrameBytes(value);
    }
    this.#acknowledge(SETTINGS, NOTHING);
    this.#options.onSettings();
  }

  #acknowledge(type: number, payload: Uint8Array): void {
    this.#flood.acknowledge();
    this.#frames.frame(type, ACK, 0, payload);
    this.#writeSoon();
  }

  /** What the server has not begun may be sent elsewhere. */
  #onGoAway(last: number): void {
    const error = refused(this.#options.server);
    this.#leave();
    for (const id of this.#streams.keys()) if (id > last) this.#end(id, error);
    this.#leaveWhenDone();
  }

  #leave(): void {
    this.#leaving = true;
    this.#options.onGoAway();
  }

  /** @returns undefined for one that has ended. */
  #streamOf(id: number): H2Stream | undefined {
    const stream = this.#streams.get(id);
    if (stream === undefined && (id >= this.#next || id % 2 === 0)) throw new Error(`nobody opened stream ${id}`);
    return stream;
  }

  #end(id: number, error?: UnreachableError): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#streams.delete(id);
    // An answer that comes before all of the question: the rest of it is not wanted.
    if (this.#bodies.forget(stream) && error === undefined) {
      this.#frames.numbered(RST_STREAM, id, CANCEL);
      this.#writeSoon();
    }
    if (error === undefined) stream.end();
    else stream.fail(error);
    this.#leaveWhenDone();
  }

  #leaveWhenDone(): void {
    if (!this.#leaving || this.#closed || this.#streams.size > 0) return;
    this.#goodbye(0);
    this.destroy(closed(this.#options.server));
  }

  /** No stream of the server was begun, there are none. */
  #goodbye(code: number): void {
    this.#frames.frame(GOAWAY, 0, 0, new Uint8Array([0, 0, 0, 0, 0, 0, 0, code]));
    this.#write();
  }

  #targetOf(method: string): Uint8Array {
    let target = this.#targets.get(method);
    if (target === undefined) {
      target = encodeTarget(method, this.#options.server.host);
      this.#targets.set(method, target);
    }
    return target;
  }

  #writeSoon(): void {
    if (this.#isLate) return;
    this.#isLate = true;
    setImmediate(this.#writeLater);
  }

  #write(): void {
    if (this.#closed || this.#unwritten !== undefined) return;
    if (this.#frames.length > 0) {
      const bytes = this.#frames.take();
      const taken = this.#socket.write(bytes);
      // The buffer is about to be used again.
      if (taken < bytes.length) this.#unwritten = bytes.slice(taken);
    }
    if (this.#unwritten === undefined) this.#flood.written();
  }
}
