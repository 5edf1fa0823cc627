/**
 * A TLS listener that replaces its certificate while it serves, and stops without losing requests.
 *
 * The platform keeps the certificate with which a server started, so a new one gets its own server on the same port
 * (`SO_REUSEPORT`). A server that stops closes its idle connections at once, and a request that is on its way to one
 * of them would be lost. So the old server first responds with `Connection: close` for a moment, which moves the busy
 * connections away from it. During that moment a new connection may still get the old certificate.
 */
import { freeAddress, serve } from "#runtime/http-server";
import type { Log } from "../observe/log.ts";
import type { HttpServer } from "../platform/http-server.ts";
import { type Clock, sleep, systemClock } from "../platform/clock.ts";
import { arrivedRequests } from "./arrived-requests.ts";
import { type BindAddress, listenError, parseAddress, shownAddress } from "./bind-address.ts";
import type { CertificateSource, ServingCertificate } from "./certificate-source.ts";
import type { Connection } from "./local-request.ts";

export interface TlsListenerOptions {
  /** The flag's name, such as `webhook` of `--webhook-bind-address`. */
  readonly name: string;
  /** The address as in `startListeners`, except `0`. */
  readonly address: string;
  readonly certificates: CertificateSource;
  readonly fetch: (request: Request, connection: Connection) => Response | Promise<Response>;
  readonly log?: Log | undefined;
  /** The largest body in bytes; the platform rejects larger ones with 413. */
  readonly largestBody: number;
  /** @default systemClock */
  readonly clock?: Clock | undefined;
}

/**
 * Seconds after which the server closes an idle connection. Go's clients do so after 90 s, so that they are the first.
 */
const IDLE_TIMEOUT = 120;
/**
 * Milliseconds without a request after which a server with an old certificate is closed. Until then each response is
 * the last one of its connection. Closing it sooner would cut connections that a client is about to use.
 */
const QUIET = 1_000;
/** Milliseconds after which such a server is closed in any case; by then a Go client has closed idle connections. */
const MOVED_AWAY = 100_000;

export class TlsListener implements AsyncDisposable {
  readonly #options: TlsListenerOptions;
  readonly #place: BindAddress;
  readonly #clock: Clock;
  readonly #subscription: Disposable;
  /** The servers of this listener; the last one accepts new connections. */
  readonly #generations: Generation[] = [];
  #address: string | undefined;
  /** The port; for `:0` it is known once the listener has started. */
  #port: number;
  #certificate: ServingCertificate | undefined;
  #closing = false;

  /**
   * Listens as soon as there is a certificate.
   *
   * @throws Error naming the flag and the address that cannot be listened on, even while there is no certificate.
   */
  constructor(options: TlsListenerOptions) {
    const { name, address, certificates } = options;
    const place = parseAddress(address, name);
    if (place === undefined) throw new Error(`Cannot listen on --${name}-bind-address=${address}: it is off`);
    this.#options = options;
    this.#place = place;
    this.#port = place.port;
    this.#clock = options.clock ?? systemClock;
    this.#takePort();
    this.#subscription = certificates.subscribe(() => this.#swap());
    if (certificates.current() !== undefined) this.#listen(certificates.current()!);
  }

  /** The listening address, such as `127.0.0.1:9443`; the port is known before there is a certificate. */
  get address(): string {
    return this.#address!;
  }

  /** Why no requests are served; `undefined` while they are. */
  get notListening(): string | undefined {
    if (this.#generations.length > 0) return undefined;
    return this.#closing ? "the listener is closed" : "there is no certificate yet";
  }

  /**
   * Asks clients with persistent connections to close them: from now on each response is the last one of its
   * connection.
   */
  retire(): void {
    this.#closing = true;
    for (const generation of this.#generations) generation.retired = true;
  }

  /**
   * Accepts no more connections, and ends the existing ones after their active requests.
   *
   * @param grace the milliseconds for these requests.
   */
  async stop({ grace }: { readonly grace: number }): Promise<void> {
    this.retire();
    this.#subscription[Symbol.dispose]();
    await Promise.all(this.#generations.splice(0).map((generation) => generation.end(grace)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop({ grace: 0 });
  }

  /** With `SO_REUSEPORT` a port in use is not an error, so the port is first requested without it. */
  #takePort(): void {
    const { hostname } = this.#place;
    try {
      const free = freeAddress({ hostname, port: this.#port });
      this.#address = shownAddress(free);
      this.#port = free.port;
    } catch (error) {
      throw listenError(this.#place, this.#options.name, error);
    }
  }

  #swap(): void {
    const { certificates, log, name } = this.#options;
    const next = certificates.current();
    if (this.#closing || next === undefined) return;
    if (next.cert === this.#certificate?.cert && next.key === this.#certificate.key) return;
    try {
      this.#listen(next);
    } catch (error) {
      log?.error("Cannot use the new certificate: the previous one stays in use", { listener: name, error });
    }
  }

  #listen(certificate: ServingCertificate): void {
    const { fetch, largestBody, log, name } = this.#options;
    const { hostname } = this.#place;
    let server: HttpServer;
    const generation = new Generation(this.#clock);
    try {
      server = serve({
        port: this.#port,
        hostname,
        reusePort: true,
        tls: { cert: certificate.cert, key: certificate.key },
        idleTimeout: IDLE_TIMEOUT,
        largestBody,
        fetch: (request, peers) => generation.answer(() => fetch(request, { peer: peers.addressOf(request) })),
      });
    } catch (error) {
      throw listenError(this.#place, name, error);
    }
    generation.server = server;
    this.#certificate = certificate;
    const before = this.#generations.at(-1);
    this.#generations.push(generation);
    if (before === undefined) return;
    log?.info("A new certificate is in use", { listener: name });
    void this.#leaveTo(before);
  }

  async #leaveTo(before: Generation): Promise<void> {
    const clock = this.#clock;
    before.retired = true;
    const latest = clock.now() + MOVED_AWAY;
    do {
      const wait = QUIET - before.quiet;
      if (wait > 0) await sleep(wait, { clock });
      await arrivedRequests();
      // The end of the listener has ended it.
      if (!this.#generations.includes(before)) return;
    } while (before.quiet < QUIET && clock.now() < latest);
    await before.takeNoMore();
    const index = this.#generations.indexOf(before);
    if (index >= 0) this.#generations.splice(index, 1);
  }
}

/** A server with one certificate. */
class Generation {
  server: HttpServer | undefined;
  /** Whether each response is the last one of its connection. */
  retired = false;
  #running = 0;
  /** When the last response was sent. */
  #answered = -Infinity;
  readonly #clock: Clock;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since the last request. */
  get quiet(): number {
    return this.#running > 0 ? 0 : this.#clock.now() - this.#answered;
  }

  async answer(fetch: () => Response | Promise<Response>): Promise<Response> {
    this.#running++;
    try {
      const response = await fetch();
      // HTTP/2 has no such header, and the platform omits it there.
      if (this.retired) response.headers.set("Connection", "close");
      return response;
    } finally {
      this.#answered = this.#clock.now();
      if (--this.#running === 0) this.#idle?.resolve();
    }
  }

  /** Resolves when the last connection has ended. */
  async takeNoMore(): Promise<void> {
    await this.server?.stop();
  }

  async end(grace: number): Promise<void> {
    await arrivedRequests();
    const ended = this.takeNoMore();
    const inTime = new AbortController();
    const latest = this.#clock.now() + grace;
    const over = sleep(grace, { clock: this.#clock, signal: inTime.signal }).catch(() => {});
    // A connection that was being established stays open, and may bring a request until the end.
    do {
      if (this.#running > 0) {
        this.#idle = Promise.withResolvers();
        await Promise.race([this.#idle.promise, over]);
      }
      // A response has begun when its promise has resolved, and is sent a moment later.
      await Promise.race([ended, sleep(LAST_ANSWER)]);
    } while (this.#running > 0 && this.#clock.now() < latest);
    inTime.abort();
    await this.server?.stop(true);
  }
}

/** Milliseconds for the last responses. */
const LAST_ANSWER = 100;
