/**
 * Sends requests to the API server: each kind of traffic has connections of its own, so that none waits for another.
 */
import { abortable } from "../../platform/abortable.ts";
import { monotonic, type Clock } from "../../platform/clock.ts";
import { type Switches, switchesOf } from "../../platform/switches.ts";
import { AnswerLog } from "./answer-log.ts";
import { isApiError, isUnauthorized, isUnreachable, UnreachableError } from "../errors/api-error.ts";
import { BoundedCall } from "./bounded-call.ts";
import { FailureThrottle } from "./failure-throttle.ts";
import type { Channels, ChannelsRequest } from "./channels.ts";
import type { ClusterConfig, HeaderValues } from "../config/cluster-config.ts";
import { isTlsFailure, transportClosed, wasNotBegun } from "../errors/connection-failure.ts";
import { Deadlines } from "./deadlines.ts";
import { HttpCarrier } from "./http-carrier.ts";
import { FetchCarrier } from "./fetch-carrier.ts";
import { openLazyHttp1 } from "../http/lazy-http1.ts";
import { bodyOf, pathOf, type KubeRequest, type StreamRequest } from "./kube-request.ts";
import { runStream } from "./long-stream.ts";
import { OpenStreams } from "./open-streams.ts";
import { probeServer } from "./probe.ts";
import { ReachabilityProbe, type Reachability } from "./reachability.ts";
import { CredentialReloader } from "../config/credential-reloader.ts";
import { WritesRefused } from "./write-gate.ts";
import { RequestHeaders } from "./request-headers.ts";
import { RequestRate, type RateLimit } from "./request-rate.ts";
import { retryDelay } from "./retry.ts";
import { ReadPacing } from "../http2/read-pacing.ts";
import { REQUEST_MS, ShortRequest } from "./short-request.ts";

export type { KubeRequest, StreamRequest } from "./kube-request.ts";
export type { Reachability } from "./reachability.ts";

/** The activity of a transport, for metrics and health checks. */
interface TransportStats {
  /** Connections that carry watches. */
  readonly sessions: number;
  /** Watches open now. */
  readonly streams: number;
  /** Short requests in flight. */
  readonly inFlight: number;
  /** Answers so far, by `<method> <code>`; the code is `<error>` when there was no answer. */
  readonly answers: ReadonlyMap<string, number>;
  /** The protocol of short requests, as far as it is known. */
  readonly protocol: "h2" | "http/1.1";
}

export interface Transport {
  /** The server's URL without a trailing slash. */
  readonly server: string;
  readonly reachability: Reachability;
  readonly stats: TransportStats;
  /**
   * Sends a request and parses the response.
   *
   * @throws ApiError for a response other than success, UnreachableError when there is none, or the signal's reason.
   */
  request<T>(request: KubeRequest): Promise<T>;
  /** Like `request`, but returns the response as text. */
  text(request: KubeRequest): Promise<string>;
  /**
   * Sends a request with a long response, such as a watch. Resolves when the server ends the response in order.
   *
   * @throws ApiError for a response other than success, UnreachableError when the connection is lost, silent for
   * `idleTimeout`, or does not answer a ping, or the signal's reason.
   */
  stream(request: StreamRequest): Promise<void>;
  /**
   * Opens bidirectional streams over a connection of their own.
   *
   * @throws ApiError for a response other than success, UnreachableError when there is none, or the signal's reason.
   */
  channels(request: ChannelsRequest): Promise<Channels>;
  /** Fails the requests that their gate refuses by now. The server may still receive and process one of them. */
  abortRefused(): void;
  /** Like `abortRefused`, but also drops the connections, so that unsent bytes of refused requests are discarded. */
  endRefused(): void;
  /** Fails requests in flight, and closes every connection and timer. */
  close(): Promise<void>;
}

export interface TransportOptions {
  /** @default systemClock */
  readonly clock?: Clock | undefined;
  /** Called once for each warning of the server. */
  readonly onWarning?: ((text: string) => void) | undefined;
  /**
   * Called for each attempt: HTTP method, and status code or `<error>`, as client-go's `rest_client_requests_total`.
   */
  readonly onRequest?: ((method: string, code: string) => void) | undefined;
  /** @default "binnacle" */
  readonly userAgent?: string | undefined;
  /** The client-side rate limit for requests; watches and the Lease are exempt. @default none */
  readonly rate?: RateLimit | undefined;
  /** Switches optimizations off. @default the environment's switches */
  readonly switches?: Partial<Pick<Switches, "http2" | "readPacing">> | undefined;
}

/** Makes the transport of one cluster; nothing is sent before the first request. */
export function createTransport(config: ClusterConfig, options: TransportOptions = {}): Transport & AsyncDisposable {
  return new KubeTransport(config, options);
}

/** kube-apiserver allows 100 streams per connection; some are left for streams that are being closed. */
const STREAMS_PER_SESSION = 90;
/**
 * Sessions for short requests. kube-apiserver processes 400 reads and 200 writes at a time for all its clients, and
 * each session costs a handshake; the rest of a large burst waits in order.
 */
const REQUEST_SESSIONS = 4;
/** Sessions for lists: many informers list at the start and hardly ever later. */
const LIST_SESSIONS = 2;
/**
 * How long sessions without streams stay open. A watch that ended is usually opened again, and requests come in bursts,
 * whose first one would otherwise wait for a handshake. kube-apiserver closes idle connections after 90 s.
 */
const IDLE_MS = { watches: 10_000, requests: 60_000 };
/** How long requests that were sent before an outage may still take after it. */
const GRACE_MS = 5_000;

class KubeTransport implements Transport, AsyncDisposable {
  readonly server: string;
  readonly #config: ClusterConfig;
  readonly #clock: Clock;
  readonly #fetch: FetchCarrier;
  readonly #requests: HttpCarrier;
  readonly #lists: HttpCarrier;
  readonly #watches: HttpCarrier;
  readonly #leases: HttpCarrier;
  readonly #reachability: ReachabilityProbe;
  readonly #throttle: FailureThrottle;
  readonly #rate: RequestRate | undefined;
  readonly #reload: CredentialReloader;
  readonly #headers: RequestHeaders;
  readonly #log: AnswerLog;
  readonly #deadlines: Deadlines;
  readonly #pacing: ReadPacing | undefined;
  readonly #streams = new OpenStreams();
  /** Requests in flight. */
  readonly #short = new Set<ShortRequest>();
  readonly #settled = (short: ShortRequest): void => {
    this.#short.delete(short);
    this.#deadlines.delete(short, short.request.timeout ?? REQUEST_MS);
    if (short.request.traffic !== "list") this.#pacing?.answered(short.start);
  };
  readonly #json = (request: KubeRequest): Promise<unknown> => this.#attempt(request, true);
  /** A connection failed since the last probe, and others may have failed with it. */
  #lost = false;
  /** A connection was silent: others may be dead too, and their requests would wait for their deadlines. */
  #stalled = false;
  #grace: Disposable | undefined;
  #closed = false;
  /** Whether refused requests have been aborted on connections that are still open. */
  #hasAborted = false;

  constructor(config: ClusterConfig, options: TransportOptions) {
    const clock = monotonic(options.clock);
    this.server = config.server;
    this.#config = config;
    this.#clock = clock;
    const { http2, readPacing } = { ...switchesOf(), ...options.switches };
    this.#fetch = new FetchCarrier(config);
    const path = { config, clock, http2, streamsPerSession: STREAMS_PER_SESSION };
    // Always on the machine's clock, because it is about the machine's load.
    const pacing = (this.#pacing = readPacing ? new ReadPacing(monotonic()) : undefined);
    const short = { ...path, idleMs: IDLE_MS.requests, http1: this.#fetch.http1 };
    this.#requests = new HttpCarrier({ ...short, pacing, mostSessions: REQUEST_SESSIONS });
    this.#lists = new HttpCarrier({ ...short, mostSessions: LIST_SESSIONS });
    this.#watches = new HttpCarrier({ ...path, pacing, idleMs: IDLE_MS.watches, http1: openLazyHttp1 });
    this.#leases = new HttpCarrier({ ...path, idleMs: IDLE_MS.requests, http1: openLazyHttp1 });
    this.#deadlines = new Deadlines(clock);
    this.#reachability = new ReachabilityProbe({
      clock,
      probe: (signal) => this.#probe(signal),
      hasShownLife: () => this.#hasShownLife(),
    });
    this.#throttle = new FailureThrottle(clock);
    this.#rate = options.rate && new RequestRate(options.rate, clock);
    this.#reload = new CredentialReloader(config);
    const compressedLists = config.answer === undefined;
    this.#headers = new RequestHeaders(options.userAgent ?? "binnacle", { compressedLists });
    this.#log = new AnswerLog({ ...options, clock });
  }

  get reachability(): Reachability {
    return this.#reachability;
  }

  get stats(): TransportStats {
    return {
      sessions: this.#watches.sessions,
      streams: this.#watches.streams,
      inFlight: this.#short.size,
      answers: this.#log.answers,
      protocol: this.#requests.protocol,
    };
  }

  request<T>(request: KubeRequest): Promise<T> {
    return this.#retried(request, this.#json) as Promise<T>;
  }

  text(request: KubeRequest): Promise<string> {
    return this.#retried(request, (attempted) => this.#attempt(attempted, false)) as Promise<string>;
  }

  stream(request: StreamRequest): Promise<void> {
    return this.#retried(request, () => this.#streamOnce(request), false);
  }

  channels(request: ChannelsRequest): Promise<Channels> {
    const { path, headers, signal } = request;
    return this.#retried({ method: "GET", path, headers, signal }, () => this.#openChannels(request), false);
  }

  abortRefused(): void {
    for (const short of this.#short) if (!short.mayBeSent()) this.#hasAborted = true;
    this.#streams.abortRefused();
  }

  endRefused(): void {
    this.abortRefused();
    if (this.#hasAborted) this.#requests.drop();
    this.#hasAborted = false;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#reachability.close();
    this.#grace?.[Symbol.dispose]();
    this.#throttle.close();
    this.#rate?.[Symbol.dispose]();
    const reason = transportClosed(this.server);
    this.#streams.abort(reason);
    for (const request of this.#short) request.abort(reason);
    this.#deadlines.close();
    for (const carrier of [this.#fetch, this.#requests, this.#lists, this.#watches, this.#leases]) carrier.close();
  }

  /**
   * @param again whether refusals and lost connections are retried here; a retry with new credentials is always made.
   */
  async #retried<T>(request: KubeRequest, attempt: (attempted: KubeRequest) => Promise<T>, again = true): Promise<T> {
    const bounds = { server: this.server, clock: this.#clock, start: this.#clock.now(), isStream: !again };
    const throttle = this.#throttle;
    let reloaded = false;
    // Created on demand: most calls are answered at once and never need it.
    let call: BoundedCall | undefined;
    try {
      for (;;) {
        const { generation } = this.#reload;
        if ((throttle.isActive || this.#rate !== undefined) && request.traffic !== "lease") {
          call ??= new BoundedCall(request, bounds);
          if (throttle.isActive) await throttle.wait(request.path, call.signal);
          if (again && !this.#closed) await this.#rate?.take(call.signal);
        }
        try {
          const answer = await attempt(call?.request ?? request);
          if (throttle.isActive) throttle.succeeded(request.path);
          return answer;
        } catch (failure) {
          const error = this.#failure(request, failure);
          if (isApiError(error) && error.code < 500 && error.code !== 429) throttle.succeeded(request.path);
          else if (!request.signal?.aborted) throttle.failed(request.path);
          request.signal?.throwIfAborted();
          if (this.#closed) throw error;
          call ??= new BoundedCall(request, bounds);
          if (!reloaded && (isUnauthorized(error) || (isUnreachable(error) && isTlsFailure(error)))) {
            reloaded = true;
            request.attempts?.onRetry();
            if (await this.#reload.reload(generation)) continue;
          }
          const mayRetry = again || (isUnreachable(error) && wasNotBegun(error));
          const delay = mayRetry ? retryDelay(error, { method: request.method, attempts: call.attempts }) : undefined;
          call.failed(error);
          if (delay !== undefined && (await call.pause(delay))) continue;
          if (isUnreachable(error)) this.#suspect(error);
          throw error;
        }
      }
    } catch (error) {
      throw call !== undefined && request.signal?.aborted ? call.interrupted() : error;
    } finally {
      call?.[Symbol.dispose]();
    }
  }

  /** One attempt of a short request, with its deadline. */
  #attempt(request: KubeRequest, json: boolean): Promise<unknown> {
    if (this.#closed) throw transportClosed(this.server);
    request.signal?.throwIfAborted();
    // The credentials come first: if they throw, no request is left open.
    const credentials = this.#config.headers();
    const refused = request.gate?.refused;
    if (refused !== undefined) throw new WritesRefused(refused);
    const short = new ShortRequest(request, {
      json,
      server: this.server,
      log: this.#log,
      start: this.#pacing?.now() ?? 0,
      settled: this.#settled,
    });
    this.#short.add(short);
    const timeout = request.timeout ?? REQUEST_MS;
    if (timeout !== Infinity) this.#deadlines.add(short, timeout);
    if (credentials instanceof Promise) {
      credentials.then(
        (known) => this.#send(request, short, known),
        (error: unknown) => short.abort(error),
      );
    } else this.#send(request, short, credentials);
    return short.answer;
  }

  #send(request: KubeRequest, short: ShortRequest, credentials: HeaderValues): void {
    if (!short.mayBeSent()) return;
    const headers = this.#headers.of(request, credentials);
    if (request.traffic === "lease") return short.send(this.#leases, headers);
    short.send(request.traffic === "list" ? this.#lists : this.#requests, headers);
  }

  async #streamOnce(request: StreamRequest): Promise<void> {
    if (this.#closed) throw transportClosed(this.server);
    const { signal, leave } = this.#streams.enter(request.signal);
    try {
      const credentials = await abortable(Promise.resolve(this.#config.headers()), signal);
      const headers = this.#headers.of(request, credentials);
      const throttle = this.#throttle;
      const observed = !throttle.isActive
        ? request
        : {
            ...request,
            onHeaders: () => {
              throttle.succeeded(request.path);
              request.onHeaders?.();
            },
          };
      await runStream(observed, {
        carrier: this.#watches,
        http: { method: request.method, path: pathOf(request), headers, body: bodyOf(request) },
        signal,
        clock: this.#clock,
        server: this.server,
        log: this.#log,
      });
    } catch (error) {
      throw signal.aborted && !isApiError(error) ? signal.reason : error;
    } finally {
      leave();
    }
  }

  async #openChannels(request: ChannelsRequest): Promise<Channels> {
    if (this.#closed) throw transportClosed(this.server);
    const { signal, leave } = this.#streams.enter(request.signal, request.gate);
    try {
      const credentials = await abortable(Promise.resolve(this.#config.headers()), signal);
      const headers = this.#headers.of({ headers: request.headers, accept: "*/*" }, credentials);
      const { openChannels } = await import("./channels.ts");
      const channels = await openChannels(request, { config: this.#config, clock: this.#clock, headers, signal });
      channels.closed.then(leave, leave);
      return channels;
    } catch (error) {
      leave();
      throw signal.aborted && !isApiError(error) ? signal.reason : error;
    }
  }

  /** Counts a failure, and adds the user and context, which only this side knows. */
  #failure(request: KubeRequest, failure: unknown): unknown {
    if (isUnreachable(failure) && !this.#closed) this.#log.failed(request.method);
    // The server names the user in a 403, but not in a 401.
    if (isUnauthorized(failure)) failure.message += ` (user '${this.#config.user}', context '${this.#config.context}')`;
    return failure;
  }

  async #probe(signal: AbortSignal): Promise<void> {
    await probeServer({
      config: this.#config,
      clock: this.#clock,
      carrier: this.#fetch,
      headers: this.#headers,
      reload: this.#reload,
      signal,
    });
    // A proxy's refusal without a lost connection says nothing against the connections.
    if (!this.#lost && this.#reachability.reachable) return;
    this.#lost = false;
    // Connections from before may be dead although the server answers.
    this.#requests.reconnect();
    this.#lists.reconnect();
    this.#leases.reconnect();
    for (const carrier of [this.#fetch, this.#watches]) carrier.renew();
    if (this.#stalled || !this.#reachability.reachable) this.#giveUpSoon([...this.#short]);
    this.#stalled = false;
  }

  #suspect(error: UnreachableError): void {
    if (error.code === "ETIMEDOUT" || error.code === "ENETRESET") this.#stalled = true;
    this.#lost = true;
    this.#reachability.suspect(error);
  }

  /** A watch over HTTP/2 would have failed, because its connection is pinged; one over HTTP/1.1 may just be silent. */
  #hasShownLife(): boolean {
    const isPinged = this.#watches.protocol === "h2" && this.#watches.streams > 0;
    return this.#log.hasShownLife(isPinged);
  }

  /** The server answers again: earlier requests are answered soon, or were lost on the way. */
  #giveUpSoon(requests: readonly ShortRequest[]): void {
    this.#grace?.[Symbol.dispose]();
    this.#grace = this.#clock.setTimeout(() => {
      const message = "the connection was lost while the server was out of reach";
      const reason = new UnreachableError(this.server, { code: "ECONNRESET", message });
      for (const request of requests) request.abort(reason);
    }, GRACE_MS);
  }
}
