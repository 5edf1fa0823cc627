/**
 * The client side of an HTTP/2 connection, for requests with short bodies and responses of any length.
 *
 * It keeps no dynamic table and uses neither priorities nor push. Response bodies are handed on as they arrive, so
 * their windows open again at once. Everything sent in one turn of the event loop goes out in one write.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9113
 */
import type { SecureSocket, SecureSocketHandlers } from "../../platform/secure-socket.ts";
import type { UnreachableError } from "../errors/api-error.ts";
import { BodySender } from "./h2-bodies.ts";
import { FrameOutput } from "./frame-output.ts";
import { broken, closed, cut, dropped, refused } from "./h2-failures.ts";
import { FloodGuard, FieldBlockFragments } from "./h2-flood.ts";
import {
  ACK,
  CANCEL,
  CONTINUATION,
  ENABLE_PUSH,
  END_HEADERS,
  END_STREAM,
  type FrameListener,
  H2FrameReader,
  type FrameWriter,
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
  /** Delays reads of a busy connection. @default every read is immediate */
  readonly pacing?: ReadPacing | undefined;
  /** Bytes have arrived. */
  readonly onAlive: () => void;
  /** The server's settings have arrived. */
  readonly onSettings: () => void;
  /** The connection takes no new requests; those under way continue. */
  readonly onGoAway: () => void;
  /** The connection is closed. Called once, before the handlers of its streams. */
  readonly onClose: (error: UnreachableError) => void;
}

/** The receive window of a stream: large, so that a streaming list never waits for a WINDOW_UPDATE. */
const WINDOW = 1 << 24;
const CONNECTION_WINDOW = 1 << 30;
const DEFAULT_WINDOW = 65_535;
const FRAME_BYTES = 65_536;

export class H2Connection implements SecureSocketHandlers, FrameListener {
  /** SETTINGS_MAX_CONCURRENT_STREAMS of the server; `undefined` before its settings have arrived. */
  maxStreams: number | undefined;
  readonly #socket: SecureSocket;
  readonly #options: H2ConnectionOptions;
  readonly #streams = new Map<number, H2Stream>();
  readonly #reader = new H2FrameReader(FRAME_BYTES, this);
  readonly #headers = new HeaderReader();
  readonly #output: FrameOutput;
  readonly #frames: FrameWriter;
  readonly #bodies: BodySender;
  /** The encoded pseudo-header fields that requests of one method share. */
  readonly #targets = new Map<string, Uint8Array>();
  #next = 1;
  #received = 0;
  /** A field block that continues in CONTINUATION frames. */
  #block: FieldBlockFragments | undefined;
  readonly #flood = new FloodGuard();
  #leaving = false;
  #closed = false;
  /** When the connection was last read. */
  #read = 0;

  constructor(socket: SecureSocket, options: H2ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#output = new FrameOutput({
      socket,
      mayWriteLate: () => this.#mayWriteLate(),
      onWritten: () => this.#flood.written(),
    });
    this.#frames = this.#output.frames;
    this.#bodies = new BodySender(this.#frames);
    this.#frames.preface();
    this.#frames.settings([
      [HEADER_TABLE_SIZE, 0],
      [ENABLE_PUSH, 0],
      [INITIAL_WINDOW_SIZE, WINDOW],
      [MAX_FRAME_SIZE, FRAME_BYTES],
      [MAX_HEADER_LIST_SIZE, MOST_HEADER_BYTES],
    ]);
    this.#frames.numbered(WINDOW_UPDATE, 0, CONNECTION_WINDOW - DEFAULT_WINDOW);
    this.#output.write();
  }

  /**
   * Sends a request. The caller has checked that another stream fits. A failure is reported in a later turn at the
   * earliest. A request that may no longer be sent has cancelled itself.
   */
  send(stream: H2Stream): void {
    if (this.#closed || this.#leaving) {
      const error = refused(this.#options.server);
      queueMicrotask(() => stream.fail(error));
      return;
    }
    if (stream.handlers.mayBeSent?.() === false) return;
    const { method, body } = stream.request;
    const isFirst = this.#next === 1;
    stream.id = this.#next;
    this.#next += 2;
    this.#streams.set(stream.id, stream);
    const target = this.#targetOf(method);
    const parts = [target, stream.path, stream.fields];
    if (isFirst) parts.unshift(NO_TABLE);
    this.#frames.headers(stream.id, {
      flags: body === undefined ? END_STREAM : 0,
      parts,
      most: this.#bodies.frameBytes,
    });
    if (body !== undefined) this.#bodies.send(stream, body);
    this.#output.writeSoon();
    // RFC 9113, section 5.1.1: stream identifiers cannot be reused.
    if (this.#next > LARGEST) this.#leave();
  }

  /** Resets a stream; its handlers are not called again. */
  cancel(stream: H2Stream): void {
    if (!this.#streams.delete(stream.id)) return;
    this.#bodies.forget(stream);
    this.#sendSoon(RST_STREAM, stream.id, CANCEL);
    this.#leaveWhenDone();
  }

  /** Sends a ping; any bytes that arrive afterwards show that the server is alive. */
  ping(): void {
    if (this.#closed) return;
    this.#flood.pinged();
    this.#frames.frame(PING, 0, 0, new Uint8Array(8));
    this.#output.write();
  }

  /** Closes the connection once its last stream has ended. */
  close(): void {
    this.#leaving = true;
    this.#leaveWhenDone();
  }

  destroy(error: UnreachableError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#output.close();
    this.#options.pacing?.forget(this.#socket);
    this.#socket.close();
    this.#options.onClose(error);
    for (const [id, stream] of this.#streams) {
      this.#streams.delete(id);
      stream.fail(error);
    }
  }

  onClose(error: Error | undefined): void {
    this.destroy(closed(this.#options.server, error));
  }

  onDrain(): void {
    this.#output.drained();
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
    else this.#flood.unproductive();
    if (!stream.answered) throw new Error(`DATA frame before HEADERS on stream ${id}`); // RFC 9113, section 8.1
    if (piece.length > 0) stream.handlers.onChunk(piece);
    if (isEnd) this.#end(id);
  }

  onPadding(id: number, bytes: number): void {
    this.#take(id, bytes);
    this.#flood.unproductive();
  }

  onFrame(type: number, flags: number, id: number, payload: Uint8Array): void {
    if (type !== CONTINUATION) this.#checkNoFieldBlock();
    switch (type) {
      case HEADERS: {
        const content = unpadded(flags, payload);
        const bytes = (flags & PRIORITY) === 0 ? content : content.subarray(5);
        const isEnd = (flags & END_STREAM) !== 0;
        if ((flags & END_HEADERS) !== 0) this.#onHeaders(id, bytes, isEnd);
        else this.#block = new FieldBlockFragments(id, isEnd, bytes);
        return;
      }
      case CONTINUATION: {
        const block = this.#block;
        // RFC 9113, section 6.10.
        if (block?.streamId !== id) throw new Error(`unexpected CONTINUATION frame on stream ${id}`);
        block.add(payload);
        if ((flags & END_HEADERS) === 0) return;
        this.#block = undefined;
        return this.#onHeaders(id, block.whole(), block.isEnd);
      }
      case RST_STREAM: {
        const { server } = this.#options;
        if (!this.#streams.has(id)) this.#flood.unproductive();
        const code = readNumber(payload, 0);
        return this.#end(id, code === REFUSED_STREAM ? refused(server) : cut(server, code));
      }
      case SETTINGS:
        if ((flags & ACK) === 0) this.#onSettings(payload);
        else this.#flood.unproductive();
        return;
      case PING:
        if ((flags & ACK) === 0) return this.#acknowledge(PING, payload);
        return this.#flood.ponged();
      case GOAWAY:
        return this.#onGoAway(readNumber(payload, 0) & LARGEST);
      case WINDOW_UPDATE: {
        this.#flood.unproductive();
        const stream = id === 0 ? undefined : this.#streams.get(id);
        if (id !== 0 && stream === undefined) return;
        if (this.#bodies.open(stream, readNumber(payload, 0) & LARGEST)) this.#output.writeSoon();
        return;
      }
      case PUSH_PROMISE:
        // RFC 9113, sections 6.6 and 8.4: our settings disable push.
        throw new Error("PUSH_PROMISE frame although SETTINGS_ENABLE_PUSH is 0");
      default: // RFC 9113, section 5.5: frames of unknown types are ignored
        this.#flood.unproductive();
    }
  }

  /**
   * Counts flow-controlled bytes and opens the windows again (RFC 9113, section 6.9).
   *
   * @returns the stream, unless it has ended.
   */
  #take(id: number, bytes: number): H2Stream | undefined {
    this.#checkNoFieldBlock();
    const stream = this.#streamOf(id);
    this.#received += bytes;
    if (this.#received >= CONNECTION_WINDOW / 2) {
      this.#sendSoon(WINDOW_UPDATE, 0, this.#received);
      this.#received = 0;
    }
    if (stream !== undefined) stream.received += bytes;
    if (stream?.isPaused === false) this.resume(stream);
    return stream;
  }

  /** Opens the window of a stream again when half of it is used up. */
  resume(stream: H2Stream): void {
    if (stream.received < WINDOW / 2 || !this.#streams.has(stream.id)) return;
    this.#sendSoon(WINDOW_UPDATE, stream.id, stream.received);
    stream.received = 0;
  }

  /** RFC 9113, section 6.10: nothing may come between the frames of one field block. */
  #checkNoFieldBlock(): void {
    if (this.#block !== undefined) throw new Error("field block interrupted by another frame");
  }

  #onHeaders(id: number, bytes: Uint8Array, isEnd: boolean): void {
    // The block of a stream that has ended is decoded too: it may change the dynamic table (RFC 7541, section 2.2).
    const block = this.#headers.read(bytes);
    const stream = this.#streamOf(id);
    if (stream === undefined || stream.answered) this.#flood.unproductive();
    else {
      const { status } = block;
      // RFC 9113, sections 8.3.2 and 8.1.
      if (!(status >= 100)) throw new Error(`response without a valid :status on stream ${id}`);
      if (status < 200 && isEnd) throw new Error(`interim response with END_STREAM on stream ${id}`);
      if (status >= 200) {
        this.#flood.progress();
        stream.answered = true;
        stream.handlers.onResponse(status, (name) => block.get(name));
      } else this.#flood.unproductive();
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
    this.#acknowledge(SETTINGS, new Uint8Array(0));
    this.#options.onSettings();
  }

  #acknowledge(type: number, payload: Uint8Array): void {
    this.#flood.acknowledge();
    this.#frames.frame(type, ACK, 0, payload);
    this.#output.writeSoon();
  }

  /** Streams above the last one that the server processes may be sent again elsewhere: RFC 9113, section 6.8. */
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

  /** @returns `undefined` for a stream that has ended. */
  #streamOf(id: number): H2Stream | undefined {
    const stream = this.#streams.get(id);
    // RFC 9113, section 5.1: servers open no streams without push, and ours are idle above the last one used.
    if (stream === undefined && (id >= this.#next || id % 2 === 0)) throw new Error(`frame for idle stream ${id}`);
    return stream;
  }

  #end(id: number, error?: UnreachableError): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#streams.delete(id);
    // A complete response before the end of the request: the rest of the request is not needed (RFC 9113, section 8.1).
    if (this.#bodies.forget(stream) && error === undefined) this.#sendSoon(RST_STREAM, id, CANCEL);
    if (error === undefined) stream.end();
    else stream.fail(error);
    this.#leaveWhenDone();
  }

  #leaveWhenDone(): void {
    if (!this.#leaving || this.#closed || this.#streams.size > 0) return;
    this.#goodbye(0);
    this.destroy(closed(this.#options.server));
  }

  /** Sends GOAWAY with last stream ID 0, because the server opens no streams (RFC 9113, section 6.8). */
  #goodbye(code: number): void {
    this.#frames.frame(GOAWAY, 0, 0, new Uint8Array([0, 0, 0, 0, 0, 0, 0, code]));
    this.#output.write();
  }

  #targetOf(method: string): Uint8Array {
    let target = this.#targets.get(method);
    if (target === undefined) this.#targets.set(method, (target = encodeTarget(method, this.#options.server.host)));
    return target;
  }

  #sendSoon(type: number, id: number, value: number): void {
    this.#frames.numbered(type, id, value);
    this.#output.writeSoon();
  }

  /**
   * Whether waiting bytes may be written. They cannot be separated: if they may contain a request that is refused by
   * now, all are discarded.
   */
  #mayWriteLate(): boolean {
    let isRefused = false;
    for (const { handlers } of this.#streams.values()) if (handlers.mayBeSent?.() === false) isRefused = true;
    if (isRefused) this.destroy(dropped(this.#options.server));
    return !isRefused;
  }
}
