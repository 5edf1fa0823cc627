/** Serves an API server on an address, with a certificate that is given. */
import { holdsHeaders, serve as startServer } from "#platform/http-server";
import type { Connection } from "./authentication/identify.ts";
import { listenWithCertificates } from "./certificate-listener.ts";
import type { HttpServer } from "./platform/http-server.ts";
import { largestBody } from "./request/body.ts";
import { type ApiServer, type ApiServerOptions, createApiServer } from "./server.ts";
import { isEverywhere, webRefusal } from "./web-guard.ts";
import { withoutSocket } from "./web-socket.ts";

export interface ServeOptions {
  readonly host: string;
  /** The port; 0 takes a free one. */
  readonly port: number;
  /** The port to try first when any will do. @default none */
  readonly preferredPort?: number | undefined;
  /** The certificate of the server and its private key (PEM). */
  readonly tls: { readonly cert: string; readonly key: string };
  /** The authority (PEM) whose client certificates identify users. @default none */
  readonly clientAuthority?: string | undefined;
  /**
   * The names by which clients know the server: requests for others, and those of web pages, are refused.
   *
   * @default any name, and every request is answered
   */
  readonly names?: ReadonlySet<string> | undefined;
  /** Makes the options of the server once its address is known. */
  readonly serverOptions: (listening: { readonly address: string; readonly port: number }) => ApiServerOptions;
}

export interface ServedApiServer extends AsyncDisposable {
  readonly server: ApiServer;
  /** The address, `host:port`; that of the loopback when the server listens on all addresses. */
  readonly address: string;
  readonly stop: () => Promise<void>;
}

/** Starts a server that listens. @throws Error when the address is taken or not available. */
export async function serveApiServer(options: ServeOptions): Promise<ServedApiServer> {
  const { host, names, serverOptions } = options;
  let server: ApiServer | undefined;
  const listener = await listen(options, options.port || options.preferredPort || 0, async (request, connection) => {
    const refusal = (names && webRefusal(request, names)) ?? withoutSocket(request);
    return refusal ?? server?.fetch(request, connection) ?? new Response(null, { status: 503 });
  });
  const { port } = listener;
  const reachable = isEverywhere(host) ? "127.0.0.1" : host;
  const address = `${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
  try {
    server = await createApiServer({ ...serverOptions({ address, port }), address });
  } catch (error) {
    await listener.stop();
    throw error;
  }
  const started = server;
  const stop = async (): Promise<void> => {
    await started.stop();
    await listener.stop();
  };
  return { server: started, address, stop, [Symbol.asyncDispose]: stop };
}

type Answer = (request: Request, connection: Connection) => Promise<Response>;

async function listen(options: ServeOptions, port: number, answer: Answer): Promise<HttpServer> {
  const { host, clientAuthority } = options;
  try {
    if (clientAuthority !== undefined)
      return await listenWithCertificates({ host, port, tls: options.tls, clientAuthority, answer });
    return await listenWithTokens({ ...options, port }, answer);
  } catch (error) {
    if (port === 0 || options.port !== 0) throw error;
    return listen(options, 0, answer);
  }
}

const overHttp2: Connection = { holdsHeaders };

function listenWithTokens({ host: hostname, port, tls }: ServeOptions, answer: Answer): Promise<HttpServer> {
  return startServer({
    hostname,
    port,
    tls,
    // The server itself reports a body that is slightly too large; a still larger one is cut off while it arrives.
    largestBody: largestBody + 1024 * 1024,
    fetch: (request) => answer(request, overHttp2),
  });
}
