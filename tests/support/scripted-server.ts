/** An API server whose responses the test determines: lists by a function, watches line by line. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ClusterConfig } from "../../src/kube/config/cluster-config.ts";

/** A request as the server saw it. */
export interface ScriptedRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The header `Accept`. */
  readonly accept: string;
}

/** The response to a list or to the opening of a watch. */
export interface ScriptedAnswer {
  /** @default 200 */
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** An open watch. */
class ScriptedWatch {
  readonly request: ScriptedRequest;
  readonly #response: ServerResponse;
  /** Whether the client has disconnected. */
  closed = false;

  constructor(request: ScriptedRequest, response: ServerResponse) {
    this.request = request;
    this.#response = response;
    response.on("close", () => {
      this.closed = true;
    });
  }

  /** Sends events in one piece. */
  send(...events: readonly (readonly [type: string, object: unknown])[]): void {
    this.#response.write(events.map(([type, object]) => `${JSON.stringify({ type, object })}\n`).join(""));
  }

  sendText(text: string): void {
    this.#response.write(text);
  }

  /** Ends the stream in order. */
  end(): void {
    this.#response.end();
  }

  /** Cuts the connection. */
  cut(): void {
    this.#response.destroy();
  }
}

/** A loopback server; `using` or `close` stops it. */
export class ScriptedServer implements AsyncDisposable {
  readonly #server: Server;
  readonly lists: ScriptedRequest[] = [];
  readonly watches: ScriptedWatch[] = [];
  /** Counts rejected attempts to watch too. */
  watchRequests = 0;
  /** Responds to lists, and to everything else that is not a watch. */
  onList: (request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer> = () => ({ body: listOf([], "1") });
  /** Rejects a watch; `undefined` opens it. */
  onWatch: (request: ScriptedRequest) => ScriptedAnswer | undefined = () => undefined;

  constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<ScriptedServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new ScriptedServer(server);
  }

  get config(): ClusterConfig {
    const { port } = this.#server.address() as AddressInfo;
    return {
      server: `http://127.0.0.1:${port}`,
      context: "test",
      user: "test",
      namespace: "default",
      tls: { ca: undefined, cert: undefined, key: undefined, serverName: undefined, rejectUnauthorized: true },
      headers: () => ({}),
      reload: () => Promise.resolve(false),
    };
  }

  /** The newest watch. */
  get watch(): ScriptedWatch {
    const watch = this.watches.at(-1);
    if (watch === undefined) throw new Error("No watch has been opened");
    return watch;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(message.url ?? "/", "http://localhost");
    const request: ScriptedRequest = {
      path: url.pathname,
      query: url.searchParams,
      accept: message.headers.accept ?? "",
    };
    if (url.pathname === "/readyz") {
      response.end("ok");
      return;
    }
    if (url.searchParams.get("watch") !== "true") {
      this.lists.push(request);
      send(response, await this.onList(request));
      return;
    }
    this.watchRequests++;
    const refusal = this.onWatch(request);
    if (refusal !== undefined) send(response, refusal);
    else {
      response.writeHead(200, { "content-type": "application/json" });
      response.flushHeaders();
      this.watches.push(new ScriptedWatch(request, response));
    }
  }
}

function send(response: ServerResponse, { code = 200, headers = {}, body }: ScriptedAnswer): void {
  response.writeHead(code, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** Makes the body of a list of ConfigMaps. */
export function listOf(items: readonly unknown[], resourceVersion: string, next?: string): object {
  return { apiVersion: "v1", kind: "ConfigMapList", metadata: { resourceVersion, continue: next }, items };
}

/** Makes an error in the API server's words. */
export function refusal(code: number, reason: string, message: string): ScriptedAnswer & { readonly body: object } {
  return { code, body: { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message } };
}
