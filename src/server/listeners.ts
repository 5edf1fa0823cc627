/** HTTP listeners of the process. */
import { Hono } from "hono";
import type { Log } from "../observe/log.ts";
import { type BindAddress, listenError, parseAddress, shownAddress } from "./bind-address.ts";
import type { Connection } from "./local-request.ts";

export interface ListenerOptions {
  /** As in the flag, such as `metrics` of `--metrics-bind-address`. */
  readonly name: string;
  /** `:8081`, `127.0.0.1:0` for a free port, `[::1]:8081`, or `0` for none. */
  readonly address: string;
  readonly app: Hono;
}

export interface Listeners extends AsyncDisposable {
  /** Where it listens, such as `127.0.0.1:8081`; `undefined` when it is off. */
  address(name: string): string | undefined;
  /** Lets requests in flight finish for up to a second, then closes. */
  stop(): Promise<void>;
}

const EVERYWHERE: ReadonlySet<string | undefined> = new Set([undefined, "0.0.0.0", "::"]);

/** Milliseconds. */
const DRAIN = 1000;

/**
 * Starts all listeners, or none: equal addresses share one, with the routes of all.
 *
 * @throws Error naming the flag and the address that cannot be listened on.
 */
export async function startListeners(
  listeners: readonly ListenerOptions[],
  options: {
    /** Told of routes that throw, and of listeners on all interfaces. */ readonly log?: Log | undefined;
  } = {},
): Promise<Listeners> {
  const shared = new Map<string, { names: string[]; place: BindAddress; app: Hono }>();
  for (const { name, address, app } of listeners) {
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
  const started = new StartedListeners();
  try {
    for (const { names, place, app } of shared.values()) started.add(names, listen({ name: names[0]!, place, app }));
  } catch (error) {
    await started.stop();
    throw error;
  }
  const open = [...shared.values()].filter(({ place }) => EVERYWHERE.has(place.hostname)).flatMap(({ names }) => names);
  if (open.length > 0) {
    const flags = open.map((name) => `--${name}-bind-address`);
    options.log?.info("Listening on all interfaces without authentication: whoever reaches them is answered", {
      flags,
    });
  }
  return started;
}

function emptyApp(log: Log | undefined): Hono {
  const app = new Hono({ strict: false });
  app.onError((error, context) => {
    log?.error("An HTTP route failed", { method: context.req.method, path: context.req.path, error });
    return context.text("internal server error\n", 500);
  });
  return app;
}

type Server = ReturnType<typeof Bun.serve>;

function listen(options: { name: string; place: BindAddress; app: Hono }): Server {
  const { name, place, app } = options;
  try {
    return Bun.serve({
      port: place.port,
      ...(place.hostname === undefined ? undefined : { hostname: place.hostname }),
      fetch: (request, server) => {
        const connection: Connection = { peer: server.requestIP(request)?.address };
        return app.fetch(request, connection);
      },
      development: false,
      // Said outright: Bun turns it on together with `development: false`, and a port in use would be no error.
      reusePort: false,
    });
  } catch (error) {
    throw listenError(place, name, error);
  }
}

class StartedListeners implements Listeners {
  readonly #servers = new Set<Server>();
  readonly #addresses = new Map<string, string>();

  add(names: readonly string[], server: Server): void {
    this.#servers.add(server);
    for (const name of names) this.#addresses.set(name, shownAddress(server));
  }

  address(name: string): string | undefined {
    return this.#addresses.get(name);
  }

  async stop(): Promise<void> {
    const servers = [...this.#servers];
    this.#servers.clear();
    await Promise.all(servers.map(drain));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

async function drain(server: Server): Promise<void> {
  // Idle keep-alive connections would hold a graceful stop open.
  const timer = setTimeout(() => void server.stop(true), DRAIN);
  try {
    await server.stop();
  } finally {
    clearTimeout(timer);
  }
}
