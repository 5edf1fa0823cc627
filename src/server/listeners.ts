/** The HTTP listeners of the process. */
import { Hono } from "hono";
import { serve } from "#runtime/http-server";
import type { Transport } from "../kube/transport/transport.ts";
import type { Log } from "../observe/log.ts";
import type { HttpServer } from "../platform/http-server.ts";
import { arrivedRequests } from "./arrived-requests.ts";
import { type BindAddress, listenError, parseAddress, shownAddress } from "./bind-address.ts";
import type { CertificateSource } from "./certificate-source.ts";
import type { Connection } from "./local-request.ts";
import { RequestAuthorizer } from "./request-authorizer.ts";
import { TlsListener } from "./tls-listener.ts";

export interface ListenerOptions {
  /** The flag's name, such as `metrics` of `--metrics-bind-address`. */
  readonly name: string;
  /** The address: `:8081`, `127.0.0.1:0` for a free port, `[::1]:8081`, or `0` for none. */
  readonly address: string;
  readonly app: Hono;
  /** Serves over TLS, only to clients that the API server authorizes. @default everybody, without TLS */
  readonly secured?: SecuredOptions | undefined;
}

export interface SecuredOptions {
  readonly certificates: CertificateSource;
  /** The account of these requests may create TokenReviews and SubjectAccessReviews. */
  readonly transport: Pick<Transport, "request">;
}

const EVERYWHERE: ReadonlySet<string | undefined> = new Set([undefined, "0.0.0.0", "::"]);

/** Milliseconds that active requests get to finish. */
const DRAIN = 1000;
/** The maximum size of a request's body on a secured listener in bytes; a scrape has none. */
const LARGEST_SECURED_BODY = 65_536;

/**
 * Starts all listeners, or none: equal addresses share one listener with the routes of all.
 *
 * @throws Error naming the flag and the address that cannot be listened on.
 */
export async function startListeners(
  listeners: readonly ListenerOptions[],
  options: {
    /** Logs routes that throw, and listeners on all interfaces. */
    readonly log?: Log | undefined;
  } = {},
): Promise<Listeners> {
  const shared = new Map<string, { names: string[]; place: BindAddress; app: Hono }>();
  for (const { name, address, app, secured } of listeners) {
    if (secured !== undefined) continue;
    const place = parseAddress(address, name);
    if (place === undefined) continue;
    // Two free ports are two listeners.
    const key = place.port === 0 ? `${address} ${name}` : `${place.hostname ?? ""}:${place.port}`;
    const entry = shared.get(key);
    if (entry === undefined) {
      shared.set(key, { names: [name], place, app: emptyApp(options.log).route("/", app) });
    } else {
      entry.names.push(name);
      entry.app.route("/", app);
    }
  }
  const started = new Listeners();
  try {
    for (const { names, place, app } of shared.values()) started.add(names, listen({ name: names[0]!, place, app }));
    for (const listener of listeners) {
      if (listener.secured === undefined || parseAddress(listener.address, listener.name) === undefined) continue;
      started.addSecured(listener.name, listenSecured(listener, listener.secured, options.log));
    }
  } catch (error) {
    await started.stop();
    throw error;
  }
  const open = [...shared.values()].filter(({ place }) => EVERYWHERE.has(place.hostname)).flatMap(({ names }) => names);
  if (open.length > 0) {
    const flags = open.map((name) => `--${name}-bind-address`);
    options.log?.info("Listening on all interfaces without authentication: everybody who reaches them can read this", {
      flags,
    });
  }
  return started;
}

/** Serves an app such as `/metrics` to clients that the API server authorizes. */
function listenSecured({ name, address, app }: ListenerOptions, secured: SecuredOptions, log?: Log): TlsListener {
  const { certificates, transport } = secured;
  const authorizer = new RequestAuthorizer({ transport, log });
  const routes = emptyApp(log).route("/", app);
  return new TlsListener({
    name,
    address,
    certificates,
    log,
    largestBody: LARGEST_SECURED_BODY,
    fetch: async (request, connection) => (await authorizer.refusal(request)) ?? routes.fetch(request, connection),
  });
}

function emptyApp(log: Log | undefined): Hono {
  const app = new Hono({ strict: false });
  app.onError((error, context) => {
    log?.error("An HTTP route failed", { method: context.req.method, path: context.req.path, error });
    return context.text("internal server error\n", 500);
  });
  return app;
}

function listen(options: { name: string; place: BindAddress; app: Hono }): HttpServer {
  const { name, place, app } = options;
  try {
    return serve({
      port: place.port,
      hostname: place.hostname,
      reusePort: false,
      fetch: (request, peers) => {
        const connection: Connection = { peer: peers.addressOf(request) };
        return app.fetch(request, connection);
      },
    });
  } catch (error) {
    throw listenError(place, name, error);
  }
}

export class Listeners implements AsyncDisposable {
  readonly #servers = new Set<HttpServer>();
  readonly #secured = new Set<TlsListener>();
  readonly #addresses = new Map<string, string>();

  add(names: readonly string[], server: HttpServer): void {
    this.#servers.add(server);
    for (const name of names) this.#addresses.set(name, shownAddress(server));
  }

  addSecured(name: string, listener: TlsListener): void {
    this.#secured.add(listener);
    this.#addresses.set(name, listener.address);
  }

  /** The listening address, such as `127.0.0.1:8081`; `undefined` when the listener is off. */
  address(name: string): string | undefined {
    return this.#addresses.get(name);
  }

  /** Lets active requests finish for up to a second, then closes. */
  async stop(): Promise<void> {
    const servers = [...this.#servers];
    this.#servers.clear();
    const secured = [...this.#secured];
    this.#secured.clear();
    await Promise.all([...servers.map(drain), ...secured.map((listener) => listener.stop({ grace: DRAIN }))]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

async function drain(server: HttpServer): Promise<void> {
  await arrivedRequests();
  // Idle keep-alive connections would delay a graceful stop.
  const timer = setTimeout(() => void server.stop(true), DRAIN);
  try {
    await server.stop();
  } finally {
    clearTimeout(timer);
  }
}
