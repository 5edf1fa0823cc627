/** One attempt of a request whose answer is read as a whole, whatever carries it. */
import { BodyTooLarge } from "../../platform/bounded-body.ts";
import { gunzip } from "../../platform/gunzip.ts";
import { AnswerTooLarge, checkValues, notJson, parseJson, refusal } from "./answer.ts";
import type { AnswerLog } from "./answer-log.ts";
import { isApiError, UnreachableError } from "../errors/api-error.ts";
import { BodyPieces } from "./body-pieces.ts";
import type { HeaderValues } from "../config/cluster-config.ts";
import { unreachable } from "../errors/connection-failure.ts";
import type { Expiring } from "./deadlines.ts";
import type { ExchangePath } from "./exchange-path.ts";
import type { ExchangeHandlers, OpenExchange } from "../http/exchange.ts";
import type { FetchPath } from "./fetch-path.ts";
import { bodyOf, pathOf, type KubeRequest } from "./kube-request.ts";
import { MOST_ANSWER_BYTES, MOST_REFUSAL_BYTES } from "../limits.ts";
import { WritesRefused } from "./request-gate.ts";

export interface ShortRequestOptions {
  /** Whether the answer is to be parsed. */
  readonly json: boolean;
  readonly server: string;
  readonly log: AnswerLog;
  readonly start: number;
  /** Told before the answer is. */
  readonly settled: (short: ShortRequest) => void;
}

const utf8 = new TextDecoder();

export class ShortRequest implements ExchangeHandlers, Expiring {
  readonly request: KubeRequest;
  /** Fails with ApiError, UnreachableError, or what it was aborted with. */
  readonly answer: Promise<unknown>;
  readonly start: number;
  readonly #options: ShortRequestOptions;
  #resolve!: (answer: unknown) => void;
  #reject!: (error: unknown) => void;
  #exchange: OpenExchange | undefined;
  #isOver = false;
  #status = 0;
  #header: (name: string) => string | undefined = none;
  /** Nearly every answer comes in one piece. */
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
    // As a listener itself: adding one would otherwise cost a function for each request.
    request.signal?.addEventListener("abort", this);
  }

  /** The caller gave it up. */
  handleEvent(): void {
    this.abort(this.request.signal?.reason);
  }

  send(path: ExchangePath, headers: HeaderValues): void {
    if (this.#isOver) return;
    const request = this.request;
    request.attempts?.onSend();
    try {
      const exchange = { method: request.method, path: pathOf(request), headers, body: bodyOf(request) };
      const opened = path.open(exchange, this);
      if (this.#isOver) opened.cancel();
      else this.#exchange = opened;
    } catch (error) {
      this.abort(error);
    }
  }

  /** A request that its gate refuses ends here. */
  mayBeSent(): boolean {
    const refused = this.request.gate?.refused;
    if (refused !== undefined) this.abort(new WritesRefused(refused));
    return refused === undefined;
  }

  /** To a server in this process, which answers as `fetch` does. */
  sendByFetch(path: FetchPath, headers: HeaderValues): void {
    if (this.#isOver) return;
    this.request.attempts?.onSend();
    const controller = new AbortController();
    this.#exchange = { cancel: () => controller.abort() };
    this.#fetch(path, headers, controller.signal).then(
      (answer) => {
        if (this.#end()) this.#resolve(answer);
      },
      (error: unknown) => this.abort(error),
    );
  }

  /** Ends it with an error, unless it has ended. */
  abort(reason: unknown): void {
    if (!this.#end()) return;
    this.#exchange?.cancel();
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
      // Of the caller's: others on the connection have nothing to do with it.
      this.abort(error);
    }
  }

  onChunk(chunk: Uint8Array): void {
    if (this.#piece === undefined) this.#piece = chunk;
    else this.#keep(chunk);
  }

  /** Another piece. Of a refusal the beginning is enough. */
  #keep(chunk: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#more === undefined) {
      this.#more = new BodyPieces(this.#isRefused ? MOST_REFUSAL_BYTES : this.#most);
      this.#more.add(this.#piece!);
    }
    if (this.#more.add(chunk)) return;
    if (!this.#isRefused) return this.abort(new AnswerTooLarge(this.request, this.#most));
    this.#exchange?.cancel();
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

  /** @returns whether it had not ended yet. */
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
      const told = { retryAfter: this.#header("retry-after"), auditId: this.#header("audit-id") };
      throw refusal({ method, path, code: this.#status, body: piece === undefined ? "" : utf8.decode(piece), ...told });
    }
    if (request.traffic === "list" && piece !== undefined) return this.#readList(piece);
    if (request.binary === true) return piece ?? new Uint8Array();
    const body = piece === undefined ? "" : utf8.decode(piece);
    return this.#options.json ? parseJson(body, request) : body;
  }

  /** Lists may come compressed, and are made objects of without a text in between. */
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
    if (request.parse !== undefined) return parseJson(utf8.decode(bytes), request);
    checkValues(bytes, request);
    return new Response(bytes).json().catch((error: unknown) => {
      throw notJson(request, error);
    });
  }

  async #fetch(path: FetchPath, headers: HeaderValues, signal: AbortSignal): Promise<unknown> {
    const request = this.request;
    const { json, log, server } = this.#options;
    const { method } = request;
    try {
      const response = await path.send({ method, path: pathOf(request), headers, body: bodyOf(request), signal });
      const { status, headers: received } = response;
      log.answered(method, status, received.get("warning"));
      if (!response.ok) {
        const told = { retryAfter: received.get("retry-after"), auditId: received.get("audit-id") };
        throw refusal({ method, path: request.path, code: status, body: await response.text(), ...told });
      }
      if (request.binary === true) return await response.bytes();
      if (json && request.parse === undefined) return await response.json();
      const body = await response.text();
      return json ? parseJson(body, request) : body;
    } catch (error) {
      if (isApiError(error)) throw error;
      throw error instanceof SyntaxError ? notJson(request, error) : unreachable(server, error);
    }
  }
}

function none(): undefined {}

/** Milliseconds that a request may take that says nothing else. */
export const REQUEST_MS = 60_000;
