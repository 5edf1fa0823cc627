/** Limits the memory for bodies of requests: of each one, and of all requests in flight together. */
import { HTTPException } from "hono/http-exception";
import { type Clock, systemClock } from "../platform/clock.ts";
import { plainResponse } from "./plain-response.ts";

export interface BodyBudgetOptions {
  /** The bytes that the bodies may take together. */
  readonly bytes: number;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
}

/** The part of the budget that one request holds until it has its response. */
export interface BodyShare extends Disposable {
  /**
   * Reserves the room of a small body before it has arrived, so that it can be read at once.
   *
   * @returns false for a larger body, and while half of the budget is held: then a body takes room only as it arrives,
   * so that slow senders leave room for others.
   */
  claim(bytes: number): boolean;
  /**
   * Takes this many more bytes, and waits while other bodies hold them.
   *
   * @returns whether there was room within a second and before the request's end.
   */
  take(bytes: number): boolean | Promise<boolean>;
}

interface Waiting {
  readonly share: BodyShare;
  readonly bytes: number;
  readonly done: (hasRoom: boolean) => void;
}

/**
 * Milliseconds for which a body waits for room: long enough for requests that arrive together by chance, and short
 * enough for a client to retry within its own timeout.
 */
const PATIENCE = 1_000;
/** The maximum size of a body in bytes that may reserve its room before it has arrived. */
const LARGEST_CLAIM = 64 * 1024;

/**
 * **Guarantees.** The bodies take no more than the budget and one body: only the oldest request may exceed it, so that
 * bodies that have arrived in part never wait for each other without end.
 */
export class BodyBudget {
  readonly #bytes: number;
  readonly #clock: Clock;
  /** The bytes that each request holds, oldest request first. */
  readonly #shares = new Map<BodyShare, number>();
  readonly #waiting = new Set<Waiting>();
  #held = 0;

  constructor({ bytes, clock = systemClock }: BodyBudgetOptions) {
    this.#bytes = bytes;
    this.#clock = clock;
  }

  /** The bytes that are held now. */
  get held(): number {
    return this.#held;
  }

  /** Begins a request, which holds nothing at first. */
  open(): BodyShare {
    const share: BodyShare = {
      claim: (bytes) => bytes <= LARGEST_CLAIM && this.#held + bytes <= this.#bytes / 2 && this.#grant(share, bytes),
      take: (bytes) => this.#grant(share, bytes) || this.#wait(share, bytes),
      [Symbol.dispose]: () => this.#end(share),
    };
    this.#shares.set(share, 0);
    return share;
  }

  #grant(share: BodyShare, bytes: number): boolean {
    const held = this.#shares.get(share);
    if (held === undefined) return false;
    const isFirst = this.#shares.keys().next().value === share;
    if (this.#held + bytes > this.#bytes && !isFirst) return false;
    this.#shares.set(share, held + bytes);
    this.#held += bytes;
    return true;
  }

  #wait(share: BodyShare, bytes: number): boolean | Promise<boolean> {
    if (!this.#shares.has(share)) return false;
    return new Promise((resolve) => {
      const done = (hasRoom: boolean): void => {
        timer[Symbol.dispose]();
        this.#waiting.delete(waiting);
        resolve(hasRoom);
      };
      const waiting: Waiting = { share, bytes, done };
      const timer = this.#clock.setTimeout(() => done(false), PATIENCE);
      this.#waiting.add(waiting);
    });
  }

  #end(share: BodyShare): void {
    this.#held -= this.#shares.get(share) ?? 0;
    this.#shares.delete(share);
    for (const waiting of this.#waiting) {
      if (waiting.share === share) waiting.done(false);
      else if (this.#grant(waiting.share, waiting.bytes)) waiting.done(true);
    }
  }
}

export interface BodyLimits {
  /** The largest body in bytes. */
  readonly most: number;
  readonly share: BodyShare;
}

/**
 * Returns a request whose body is read only up to its limits.
 *
 * @throws HTTPException when the declared length is too large (413) or finds no room (429); reading the body throws
 * likewise.
 */
export async function limitedBody(request: Request, { most, share }: BodyLimits): Promise<Request> {
  const { body } = request;
  if (body === null) return request;
  const length = Number(request.headers.get("content-length") ?? Infinity);
  if (length !== Infinity && length > most) throw tooLarge(most);
  if (share.claim(length)) return request;
  const reader = body.getReader();
  let bytes = 0;
  const limited = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        bytes += value.length;
        const refusal = bytes > most ? tooLarge(most) : (await share.take(value.length)) ? undefined : busy();
        if (refusal === undefined) return controller.enqueue(value);
        controller.error(refusal);
        await reader.cancel(refusal).catch(() => {});
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Request(request, { body: limited, duplex: "half" } as RequestInit);
}

function tooLarge(most: number): HTTPException {
  return refusal(413, `413 the body is larger than ${most} bytes\n`);
}

function busy(): HTTPException {
  return refusal(429, "429 too many requests with bodies at once\n", { "Retry-After": "1" });
}

function refusal(status: 413 | 429, text: string, headers?: Record<string, string>): HTTPException {
  return new HTTPException(status, { message: text.trim(), res: plainResponse(text, status, headers) });
}
