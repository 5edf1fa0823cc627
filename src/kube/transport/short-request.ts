/** One attempt of a request whose response is read as a whole. */
import { BodyTooLarge } from "../../platform/bounded-body.ts";
import { gunzip } from "../../platform/gunzip.ts";
import { AnswerTooLarge, checkValues, notJson, parseJson, refusal } from "./answer.ts";
import type { AnswerLog } from "./answer-log.ts";
import { UnreachableError } from "../errors/api-error.ts";
import { BodyPieces } from "./body-pieces.ts";
import type { HeaderValues } from "../config/cluster-config.ts";
import type { Expiring } from "./deadlines.ts";
import type { HttpCarrier } from "./http-carrier.ts";
import type { ResponseHandlers, OpenRequest } from "../http/http-request.ts";
import { bodyOf, pathOf, type KubeRequest } from "./kube-request.ts";
import { MOST_ANSWER_BYTES, MOST_REFUSAL_BYTES } from "../limits.ts";
import { WritesRefused } from "./write-gate.ts";

export interface ShortRequestOptions {
  /** Whether the response is parsed as JSON. */
  readonly json: boolean;
  readonly server: string;
  readonly log: AnswerLog;
  readonly start: number;
  /** Called when the request has ended, before its promise settles. */
  readonly settled: (short: ShortRequest) => void;
}

const utf8 = new TextDecoder();

export class ShortRequest implements ResponseHandlers, Expiring {
  readonly request: KubeRequest;
  /** Rejects with ApiError, UnreachableError, or the reason of `abort`. */
  readonly answer: Promise<unknown>;
  readonly start: number;
  readonly #options: ShortRequestOptions;
  #resolve!: (answer: unknown) => void;
  #reject!: (error: unknown) => void;
  #open: Pick<OpenRequest, "cancel"> | undefined;
  #isOver = false;
  #status = 0;
  #header: (name: string) => string | undefined = none;
  /** The first chunk; nearly every response has only one. */
  #piece: Uint8Array | undefined;
  #more: BodyPieces | undefined;

  constructor(request: KubeRequest, options: ShortRequestOptions) {
    this.request = request;
    this.start = options.start;
    this.#options = options;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The request is its own listener, which saves a function for each request.
    request.signal?.addEventListener("abort", this);
  }

  /** The caller's signal aborted. */
  handleEvent(): void {
    this.abort(this.request.signal?.reason);
  }

  send(carrier: HttpCarrier, headers: HeaderValues): void {
    if (this.#isOver) return;
    const request = this.request;
    request.attempts?.onSend();
    try {
      const http = { method: request.method, path: pathOf(request), headers, body: bodyOf(request) };
      const opened = carrier.open(http, this);
      if (this.#isOver) opened.cancel();
      else this.#open = opened;
    } catch (error) {
      this.abort(error);
    }
  }

  /** Asks the gate; a refused request fails at once. */
  mayBeSent(): boolean {
    const refused = this.request.gate?.refused;
    if (refused !== undefined) this.abort(new WritesRefused(refused));
    return refused === undefined;
  }

  /** Fails the request, unless it has ended. */
  abort(reason: unknown): void {
    if (!this.#end()) return;
    this.#open?.cancel();
    this.#reject(reason);
  }

  expire(): void {
    const { method, path, timeout = REQUEST_MS } = this.request;
    const message = `no answer to ${method} ${path} within ${timeout / 1_000} s`;
    this.abort(new UnreachableError(this.#options.server, { code: "ETIMEDOUT", message }));
  }

  onResponse(status: number, header: (name: string) => string | undefined): void {
    this.#status = status;
    this.#header = header;
    try {
      this.#options.log.answered(this.request.method, status, header("warning"));
    } catch (error) {
      // The error of a caller's callback must not affect other requests on the connection.
      this.abort(error);
    }
  }

  onChunk(chunk: Uint8Array): void {
    if (this.#piece === undefined) this.#piece = chunk;
    else this.#keep(chunk);
  }

  /** Keeps a further chunk; of a refusal only the beginning. */
  #keep(chunk: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#more === undefined) {
      this.#more = new BodyPieces(this.#isRefused ? MOST_REFUSAL_BYTES : this.#most);
      this.#more.add(this.#piece!);
    }
    if (this.#more.add(chunk)) return;
    if (!this.#isRefused) return this.abort(new AnswerTooLarge(this.request, this.#most));
    this.#open?.cancel();
    this.onEnd();
  }

  get #isRefused(): boolean {
    return this.#status < 200 || this.#status > 299;
  }

  get #most(): number {
    return this.request.mostBytes ?? MOST_ANSWER_BYTES;
  }

  onEnd(): void {
    if (!this.#end()) return;
    try {
      this.#resolve(this.#read());
    } catch (error) {
      this.#reject(error);
    }
  }

  onError(error: UnreachableError): void {
    this.abort(error);
  }

  /** Ends the request. @returns false when it had ended already. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.request.signal?.removeEventListener("abort", this);
    this.#options.settled(this);
    return true;
  }

  #read(): unknown {
    const { request } = this;
    const piece = this.#more === undefined ? this.#piece : this.#more.whole();
    if (this.#isRefused) {
      const { method, path } = request;
      const details = { retryAfter: this.#header("retry-after"), auditId: this.#header("audit-id") };
      throw refusal({
        method,
        path,
        code: this.#status,
        body: piece === undefined ? "" : utf8.decode(piece),
        ...details,
      });
    }
    if (request.traffic === "list" && piece !== undefined) return this.#readList(piece);
    if (request.binary === true) return piece ?? new Uint8Array();
    const body = piece === undefined ? "" : utf8.decode(piece);
    return this.#options.json ? parseJson(body, request) : body;
  }

  /** Lists may be compressed, and are parsed from bytes without an intermediate string. */
  #readList(piece: Uint8Array): unknown {
    const { request } = this;
    let bytes = piece as Uint8Array<ArrayBuffer>;
    if (this.#header("content-encoding") === "gzip") {
      try {
        bytes = gunzip(bytes, this.#most);
      } catch (error) {
        if (error instanceof BodyTooLarge) throw new AnswerTooLarge(request, this.#most);
        throw new Error(`Cannot read the answer to ${request.method} ${request.path}: it is not gzip`, {
          cause: error,
        });
      }
    }
    if (request.binary === true) return bytes;
    if (!this.#options.json) return utf8.decode(bytes);
    checkValues(bytes, request);
    return new Response(bytes).json().catch((error: unknown) => {
      throw notJson(request, error);
    });
  }
}

function none(): undefined {}

/** The default timeout of a request in milliseconds. */
export const REQUEST_MS = 60_000;
