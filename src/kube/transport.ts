/** How requests reach the API server: each kind of traffic on connections of its own, so that none waits for another. */
import { sleep, systemClock, type Clock } from "../platform/clock.ts";
import { notJson, parseJson, refusal } from "./answer.ts";
import { isApiError, isUnauthorized, isUnreachable, UnreachableError } from "./api-error.ts";
import type { ClusterConfig, HeaderValues } from "./cluster-config.ts";
import { isTlsFailure, unreachable } from "./connection-failure.ts";
import { ExchangePath } from "./exchange-path.ts";
import { FetchPath } from "./fetch-path.ts";
import type { KubeRequest, StreamRequest } from "./kube-request.ts";
import { runStream } from "./long-stream.ts";
import { ReachabilityProbe, type Reachability } from "./reachability.ts";
import { RequestHeaders } from "./request-headers.ts";
import { retryDelay, type Attempts } from "./retry.ts";
import { Warnings } from "./warnings.ts";

export type { KubeRequest, StreamRequest } from "./kube-request.ts";
export type { Reachability } from "./reachability.ts";

export interface TransportStats {
  /** Connections that carry watches. */
  readonly sessions: number;
  /** Watches open now. */
  readonly streams: number;
  /** Short requests in flight. */
  readonly inFlight: number;
  /** Answers so far, by `<method> <code>`; the code is `error` when there was no answer. */
  readonly answers: ReadonlyMap<string, number>;
  /** What short requests use, as far as known. */
  readonly protocol: "h2" | "http/1.1";
}

export interface Transport {
  /** The server's URL without a slash at the end. */
  readonly server: string;
  readonly reachability: Reachability;
  readonly stats: TransportStats;
  /**
   * Sends a request and parses the answer.
   *
   * @throws ApiError for an answer other than success, UnreachableError when there is none, the signal's reason.
   */
  request<T>(request: KubeRequest): Promise<T>;
  /** As `request`, with the answer's text. */
  text(request: KubeRequest): Promise<string>;
  /**
   * Sends a request whose answer is long, such as a watch. Resolves when the server ends it in order.
   *
   * @throws ApiError for an answer other than success, UnreachableError when the connection is cut, silent for
   * `idleTimeout`, or leaves a ping unanswered; the signal's reason.
   */
  stream(request: StreamRequest): Promise<void>;
  /** Ends what is in flight and every connection and timer. */
  close(): Promise<void>;
}

export interface TransportOptions {
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  /** Told each warning of the server once. */
  readonly onWarning?: ((text: string) => void) | undefined;
  /** Called for each attempt: HTTP method, and status code or `<error>`, as client-go's `rest_client_requests_total`. */
  readonly onRequest?: ((method: string, code: string) => void) | undefined;
  /** @default "binnacle/0.1.0" */
  readonly userAgent?: string | undefined;
}

/** Makes the transport of one cluster; nothing is sent before the first request. */
export function createTransport(config: ClusterConfig, options: TransportOptions = {}): Transport {
  return new KubeTransport(config, options);
}

/** kube-apiserver allows 100 streams per connection; some room is left for what is just being closed. */
const WATCHES_PER_SESSION = 90;
const REQUEST_MS = 60_000;
const PROBE_MS = 3_000;

class KubeTransport implements Transport {
  readonly server: string;
  readonly #config: ClusterConfig;
  readonly #options: TransportOptions;
  readonly #clock: Clock;
  readonly #fetches: FetchPath;
  readonly #watches: ExchangePath;
  readonly #leases: ExchangePath;
  readonly #reachability: ReachabilityProbe;
  readonly #warnings: Warnings | undefined;
  readonly #headers: RequestHeaders;
  readonly #answers = new Map<string, number>();
  /** Aborted by close(); every attempt in flight listens. */
  readonly #inFlight = new Set<AbortController>();
  #closed = false;
  /** Counts successful reloads, so that of many requests refused at once one reloads. */
  #generation = 0;
  #reloading: Promise<boolean> | undefined;

  constructor(config: ClusterConfig, options: TransportOptions) {
    const clock = options.clock ?? systemClock;
    this.server = config.server;
    this.#config = config;
    this.#options = options;
    this.#clock = clock;
    this.#fetches = new FetchPath(config);
    this.#watches = new ExchangePath({ config, clock, streamsPerSession: WATCHES_PER_SESSION });
    this.#leases = new ExchangePath({ config, clock, streamsPerSession: WATCHES_PER_SESSION });
    this.#reachability = new ReachabilityProbe({ clock, probe: (signal) => this.#probe(signal) });
    this.#warnings = options.onWarning && new Warnings(options.onWarning);
    this.#headers = new RequestHeaders(options.userAgent ?? "binnacle/0.1.0");
  }

  get reachability(): Reachability {
    return this.#reachability;
  }

  get stats(): TransportStats {
    return {
      sessions: this.#watches.sessions,
      streams: this.#watches.streams,
      inFlight: this.#inFlight.size - this.#watches.streams,
      answers: this.#answers,
      protocol: this.#fetches.protocol,
    };
  }

  request<T>(request: KubeRequest): Promise<T> {
    return this.#retried(request, () => this.#attempt(request, true)) as Promise<T>;
  }

  text(request: KubeRequest): Promise<string> {
    return this.#retried(request, () => this.#attempt(request, false)) as Promise<string>;
  }

  stream(request: StreamRequest): Promise<void> {
    return this.#retried(request, () => this.#streamOnce(request), false);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#reachability.close();
    for (const controller of [...this.#inFlight]) controller.abort(this.#closedError());
    this.#fetches.close();
    this.#watches.close();
    this.#leases.close();
  }

  async #retried<T>(request: KubeRequest, attempt: () => Promise<T>, again = true): Promise<T> {
    let attempts: Attempts | undefined;
    let reloaded = false;
    for (;;) {
      const generation = this.#generation;
      try {
        return await attempt();
      } catch (error) {
        if (request.signal?.aborted) throw request.signal.reason;
        if (this.#closed) throw error;
        const mayReload = isUnauthorized(error) || (isUnreachable(error) && isTlsFailure(error));
        if (mayReload && !reloaded) {
          reloaded = true;
          if (generation !== this.#generation || (await this.#reload())) continue;
        }
        attempts ??= { refused: 0, reset: 0 };
        const delay = again ? retryDelay(error, { method: request.method, attempts }) : undefined;
        if (delay === undefined) {
          if (isUnreachable(error)) this.#reachability.suspect();
          throw error;
        }
        await sleep(delay, { clock: this.#clock, signal: request.signal });
      }
    }
  }

  /** One attempt of a short request, with its deadline. */
  async #attempt(request: KubeRequest, json: boolean): Promise<unknown> {
    const scope = this.#open(request.signal);
    const ms = request.timeout ?? REQUEST_MS;
    const timer = this.#clock.setTimeout(() => {
      const message = `no answer to ${request.method} ${request.path} within ${ms / 1_000} s`;
      scope.controller.abort(new UnreachableError(this.server, { code: "ETIMEDOUT", message }));
    }, ms);
    try {
      const headers = this.#headers.of(request, await this.#credentials());
      const alone = request.traffic === "lease" || this.#headers.severalValues;
      return alone
        ? await this.#collect(request, headers, { json, signal: scope.controller.signal })
        : await this.#fetch(request, headers, { json, signal: scope.controller.signal });
    } catch (error) {
      throw this.#failure(request, error, scope.controller.signal);
    } finally {
      timer[Symbol.dispose]();
      scope.end();
    }
  }

  async #fetch(request: KubeRequest, headers: HeaderValues, how: { json: boolean; signal: AbortSignal }): Promise<unknown> {
    const { method } = request;
    const { signal } = how;
    try {
      const response = await this.#fetches.send({ method, path: pathOf(request), headers, body: bodyOf(request), signal });
      this.#count(method, response.status);
      const warning = response.headers.get("warning");
      if (warning !== null) this.#warnings?.see(warning);
      if (response.ok) return await (how.json ? response.json() : response.text());
      const retryAfter = response.headers.get("retry-after");
      throw refusal({ method, path: request.path, code: response.status, body: await response.text(), retryAfter });
    } catch (error) {
      if (isApiError(error)) throw error;
      throw error instanceof SyntaxError ? notJson(request, error) : unreachable(this.server, error);
    }
  }

  async #collect(request: KubeRequest, headers: HeaderValues, how: { json: boolean; signal: AbortSignal }): Promise<unknown> {
    const { method } = request;
    const path = request.traffic === "lease" ? this.#leases : this.#watches;
    const answer = await path.collect({ method, path: pathOf(request), headers, body: bodyOf(request) }, how.signal);
    this.#count(method, answer.status);
    const warning = answer.header("warning");
    if (warning !== undefined) this.#warnings?.see(warning);
    if (answer.status < 200 || answer.status > 299) {
      const retryAfter = answer.header("retry-after");
      throw refusal({ method, path: request.path, code: answer.status, body: answer.body, retryAfter });
    }
    return how.json ? parseJson(answer.body, request) : answer.body;
  }

  async #streamOnce(request: StreamRequest): Promise<void> {
    const scope = this.#open(request.signal);
    const { signal } = scope.controller;
    try {
      const headers = this.#headers.of(request, await this.#credentials());
      signal.throwIfAborted();
      await runStream(request, {
        path: this.#watches,
        exchange: { method: request.method, path: pathOf(request), headers, body: bodyOf(request) },
        signal,
        clock: this.#clock,
        server: this.server,
        onAnswer: (code, warning) => {
          this.#count(request.method, code);
          if (warning !== undefined) this.#warnings?.see(warning);
        },
      });
    } catch (error) {
      throw this.#failure(request, error, signal);
    } finally {
      scope.end();
    }
  }

  /** A controller that follows the caller's signal and close(). */
  #open(signal: AbortSignal | undefined): { controller: AbortController; end: () => void } {
    if (this.#closed) throw this.#closedError();
    signal?.throwIfAborted();
    const controller = new AbortController();
    this.#inFlight.add(controller);
    const onAbort = signal && (() => controller.abort(signal.reason));
    if (onAbort) signal.addEventListener("abort", onAbort, { once: true });
    return {
      controller,
      end: () => {
        this.#inFlight.delete(controller);
        if (onAbort) signal.removeEventListener("abort", onAbort);
      },
    };
  }

  #failure(request: KubeRequest, error: unknown, signal: AbortSignal): unknown {
    if (isApiError(error)) return error;
    if (signal.aborted) {
      if (isUnreachable(signal.reason)) this.#count(request.method, "<error>");
      return signal.reason;
    }
    if (isUnreachable(error)) this.#count(request.method, "<error>");
    return error;
  }

  #credentials(): HeaderValues | Promise<HeaderValues> {
    return this.#config.headers();
  }

  #reload(): Promise<boolean> {
    this.#reloading ??= this.#config
      .reload()
      // What cannot be read now may be readable next time; the server's refusal says more than that.
      .catch(() => false)
      .then((changed) => {
        if (changed) this.#generation++;
        this.#reloading = undefined;
        return changed;
      });
    return this.#reloading;
  }

  /** A 401 or 403 is a sign of life too, and so is 404 from a server without this path. */
  async #probe(signal: AbortSignal): Promise<void> {
    const controller = new AbortController();
    const onAbort = () => controller.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const timer = this.#clock.setTimeout(() => controller.abort(new Error("no answer in time")), PROBE_MS);
    try {
      const headers = this.#headers.of(PROBE, await this.#credentials());
      const response = await this.#fetches.sendAlone({ ...PROBE, headers, signal: controller.signal });
      await response.arrayBuffer();
      if (!response.ok && ![401, 403, 404].includes(response.status)) throw new Error(`HTTP ${response.status}`);
      this.#fetches.renew();
      this.#watches.renew();
      this.#leases.renew();
    } catch (error) {
      if (!signal.aborted && isTlsFailure(unreachable(this.server, error))) await this.#reload();
      throw error;
    } finally {
      timer[Symbol.dispose]();
      signal.removeEventListener("abort", onAbort);
    }
  }

  #count(method: string, code: number | string): void {
    const text = String(code);
    const key = `${method} ${text}`;
    this.#answers.set(key, (this.#answers.get(key) ?? 0) + 1);
    this.#options.onRequest?.(method, text);
  }

  #closedError(): UnreachableError {
    return new UnreachableError(this.server, { code: "ECONNABORTED", message: "the transport was closed" });
  }
}

const PROBE = { method: "GET", path: "/readyz" } as const;

function pathOf(request: KubeRequest): string {
  const query = request.query === undefined ? "" : String(request.query);
  return query === "" ? request.path : `${request.path}?${query}`;
}

function bodyOf(request: KubeRequest): string | undefined {
  const { body } = request;
  return body === undefined || typeof body === "string" ? body : JSON.stringify(body);
}
