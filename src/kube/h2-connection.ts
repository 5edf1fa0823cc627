/**
 * The client's side of an HTTP/2 connection, for requests whose bodies are short and answers as long as they like.
 *
 * Nothing is remembered for the server's sake: no header tables, no priorities, no pushes; bodies are handed on at once,
 * so that their windows open again as they come. What is sent in one turn of the event loop goes out in one write.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9113
 */
import type { SecureSocket, SecureSocketHandlers } from "../platform/secure-socket.ts";
import { UnreachableError } from "./api-error.ts";
import type { HeaderValues } from "./cluster-config.ts";
import { unreachable } from "./connection-failure.ts";
import type { Exchange, ExchangeHandlers } from "./exchange.ts";
import { BodySender, type Outgoing } from "./h2-bodies.ts";
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
  PING,
  PRIORITY,
  PUSH_PROMISE,
  readNumber,
  REFUSED_STREAM,
  RST_STREAM,
  SETTINGS,
  unpadded,
  WINDOW_UPDATE,
} from "./h2-frames.ts";
import { encodeHeaders, encodePath, encodeTarget, HeaderReader } from "./hpack.ts";

export interface H2ConnectionOptions {
  readonly server: URL;
  /** Something has arrived, whatever it is. */
  readonly onAlive: () => void;
  /** The server takes no more requests; those under way go on. */
  readonly onGoAway: () => void;
  /** Nothing will come any more. Told once, before the streams are. */
  readonly onClose: (error: UnreachableError) => void;
}

/** A request and its answer. */
export interface H2Stream extends Outgoing {
  /** 0 as long as nothing was sent. */
  id: number;
  readonly exchange: Exchange;
  readonly handlers: ExchangeHandlers;
  answered: boolean;
  /** Bytes received since its window was opened. */
  received: number;
  /** It ended, in whatever way; told before its handlers. */
  ended(): void;
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
  /** What requests have in common, encoded: by method, and by their headers, which are made once for many. */
  readonly #targets = new Map<string, Uint8Array>();
  readonly #fields = new WeakMap<HeaderValues, Uint8Array>();
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
  #block: { readonly stream: number; readonly isEnd: boolean; bytes: Uint8Array } | undefined;
  #leaving = false;
  #closed = false;

  constructor(socket: SecureSocket, options: H2ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#frames.preface();
    this.#frames.settings([
      [HEADER_TABLE_SIZE, 0],
      [ENABLE_PUSH, 0],
      [INITIAL_WINDOW_SIZE, WINDOW],
      [MAX_FRAME_SIZE, FRAME_BYTES],
    ]);
    this.#frames.numbered(WINDOW_UPDATE, 0, CONNECTION_WINDOW - DEFAULT_WINDOW);
    this.#write();
  }

  /** Sends a request; the caller has seen that there is room. Failures go to its handlers, in a later turn at the earliest. */
  send(stream: H2Stream): void {
    if (this.#closed || this.#leaving || this.#next > LARGEST) {
      const error = refused(this.#options.server);
      queueMicrotask(() => fail(stream, error));
      return;
    }
    const { exchange } = stream;
    const { body } = exchange;
    stream.id = this.#next;
    this.#next += 2;
    this.#streams.set(stream.id, stream);
    const path = encodePath(exchange.path);
    this.#sendHeaders(stream.id, {
      flags: body === undefined ? END_STREAM : 0,
      target: this.#targetOf(exchange.method),
      path,
      fields: this.#fieldsOf(exchange.headers),
    });
    if (body !== undefined) this.#bodies.send(stream, body);
    this.#writeSoon();
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
    this.#socket.close();
    this.#options.onClose(error);
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) fail(stream, error);
  }

  onClose(error: Error | undefined): void {
    const { server } = this.#options;
    this.destroy(error === undefined ? lost(server) : unreachable(server.origin, error));
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
    this.#options.onAlive();
    try {
      this.#reader.take(bytes);
    } catch (error) {
      this.destroy(broken(this.#options.server, error));
    }
  }

  onPiece(id: number, piece: Uint8Array, isEnd: boolean): void {
    if (this.#block !== undefined) throw new Error("headers end in the middle");
    this.#received += piece.length;
    if (this.#received >= CONNECTION_WINDOW / 2) {
      this.#frames.numbered(WINDOW_UPDATE, 0, this.#received);
      this.#received = 0;
      this.#writeSoon();
    }
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    stream.received += piece.length;
    if (stream.received >= WINDOW / 2 && !isEnd) {
      this.#frames.numbered(WINDOW_UPDATE, id, stream.received);
      stream.received = 0;
      this.#writeSoon();
    }
    if (!stream.answered) throw new Error("a body without headers");
    if (piece.length > 0) stream.handlers.onChunk(piece);
    if (isEnd) this.#end(id);
  }

  onFrame(type: number, flags: number, id: number, payload: Uint8Array): void {
    if (this.#block !== undefined && type !== CONTINUATION) throw new Error("headers end in the middle");
    switch (type) {
      case HEADERS: {
        const given = unpadded(flags, payload);
        const bytes = (flags & PRIORITY) === 0 ? given : given.subarray(5);
        const isEnd = (flags & END_STREAM) !== 0;
        if ((flags & END_HEADERS) !== 0) this.#onHeaders(id, bytes, isEnd);
        else this.#block = { stream: id, isEnd, bytes };
        return;
      }
      case CONTINUATION: {
        const block = this.#block;
        if (block?.stream !== id) throw new Error("headers without a beginning");
        block.bytes = concat(block.bytes, payload);
        if (block.bytes.length > CONNECTION_WINDOW >> 10) throw new Error("headers without an end");
        if ((flags & END_HEADERS) === 0) return;
        this.#block = undefined;
        return this.#onHeaders(id, block.bytes, block.isEnd);
      }
      case RST_STREAM: {
        const { server } = this.#options;
        return this.#end(id, readNumber(payload, 0) === REFUSED_STREAM ? refused(server) : lost(server));
      }
      case SETTINGS:
        if ((flags & ACK) === 0) this.#onSettings(payload);
        return;
      case PING:
        if ((flags & ACK) !== 0) return;
        this.#frames.frame(PING, ACK, 0, payload);
        return this.#writeSoon();
      case GOAWAY:
        return this.#onGoAway(readNumber(payload, 0) & LARGEST);
      case WINDOW_UPDATE: {
        const stream = id === 0 ? undefined : this.#streams.get(id);
        if (id !== 0 && stream === undefined) return;
        if (this.#bodies.open(stream, readNumber(payload, 0) & LARGEST)) this.#writeSoon();
        return;
      }
      case PUSH_PROMISE:
        throw new Error("a push that nobody asked for");
      default: // frames that are not known are to be ignored
    }
  }

  #onHeaders(id: number, bytes: Uint8Array, isEnd: boolean): void {
    // Also of a stream that is gone: later blocks may refer to this one.
    const block = this.#headers.read(bytes);
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    if (!stream.answered) {
      const { status } = block;
      if (status >= 200) {
        stream.answered = true;
        stream.handlers.onResponse(status, (name) => block.get(name));
      } else if (status < 100 || isEnd) throw new Error("an answer without a status");
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
    this.#frames.frame(SETTINGS, ACK, 0, NOTHING);
    this.#writeSoon();
  }

  /** What the server has not begun may be sent elsewhere. */
  #onGoAway(last: number): void {
    this.#leaving = true;
    this.#options.onGoAway();
    const error = refused(this.#options.server);
    for (const id of this.#streams.keys()) if (id > last) this.#end(id, error);
    this.#leaveWhenDone();
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
    if (error === undefined) {
      stream.ended();
      stream.handlers.onEnd();
    } else fail(stream, error);
    this.#leaveWhenDone();
  }

  #leaveWhenDone(): void {
    if (!this.#leaving || this.#closed || this.#streams.size > 0) return;
    this.#frames.frame(GOAWAY, 0, 0, OPAQUE);
    this.#write();
    this.destroy(lost(this.#options.server));
  }

  #targetOf(method: string): Uint8Array {
    let target = this.#targets.get(method);
    if (target === undefined) {
      target = encodeTarget(method, this.#options.server.host);
      this.#targets.set(method, target);
    }
    return target;
  }

  #fieldsOf(headers: HeaderValues): Uint8Array {
    let fields = this.#fields.get(headers);
    if (fields === undefined) {
      fields = encodeHeaders(headers);
      this.#fields.set(headers, fields);
    }
    return fields;
  }

  /** Long ones, such as those with a large token, go on in other frames. */
  #sendHeaders(id: number, block: { flags: number; target: Uint8Array; path: Uint8Array; fields: Uint8Array }): void {
    const { flags, target, path, fields } = block;
    const most = this.#bodies.frameBytes;
    if (target.length + path.length + fields.length <= most) {
      return this.#frames.headers(id, flags | END_HEADERS, [target, path, fields]);
    }
    const bytes = concat(concat(target, path), fields);
    for (let at = 0; at < bytes.length; at += most) {
      const isLast = at + most >= bytes.length;
      const its = (at === 0 ? flags : 0) | (isLast ? END_HEADERS : 0);
      this.#frames.frame(at === 0 ? HEADERS : CONTINUATION, its, id, bytes.subarray(at, at + most));
    }
  }

  #writeSoon(): void {
    if (this.#isLate) return;
    this.#isLate = true;
    setImmediate(this.#writeLater);
  }

  #write(): void {
    if (this.#closed || this.#unwritten !== undefined || this.#frames.length === 0) return;
    const bytes = this.#frames.take();
    const taken = this.#socket.write(bytes);
    // The buffer is about to be used again.
    if (taken < bytes.length) this.#unwritten = bytes.slice(taken);
  }
}

function fail(stream: H2Stream, error: UnreachableError): void {
  stream.ended();
  stream.handlers.onError(error);
}

function lost({ origin }: URL): UnreachableError {
  return new UnreachableError(origin, { code: "ECONNRESET", message: "the connection was lost" });
}

/** In the platform's words: the request was not begun. */
function refused({ origin }: URL): UnreachableError {
  return unreachable(origin, Object.assign(new Error("not begun"), { code: "HTTP2RefusedStream" }));
}

function broken({ origin }: URL, cause: unknown): UnreachableError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `the server does not keep to HTTP/2: ${reason}`;
  return new UnreachableError(origin, { code: "ECONNRESET", message, cause });
}
