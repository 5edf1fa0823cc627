/** The two servers that children are judged on, as the one who disturbs them reaches each. */
import { createApiServer } from "binnacle-apiserver";
import type { ClusterConfig } from "../../src/kube/config/cluster-config.ts";
import { loadKubeconfig } from "../../src/kube/config/kubeconfig.ts";
import { lendPlane } from "../support/lent-planes.ts";
import type { JsonMap } from "./json.ts";

export type ServerName = "embedded" | "real";

export interface Answer {
  readonly status: number;
  readonly body: JsonMap;
}

export interface SendOptions {
  readonly body?: unknown;
  readonly type?: string;
}

/** An API server that answers. */
export interface Server extends AsyncDisposable {
  readonly name: ServerName;
  readonly config: ClusterConfig;
  answer(request: Request): Promise<Response>;
}

export function startServer(name: ServerName): Promise<Server> {
  return name === "real" ? realServer() : embeddedServer();
}

async function embeddedServer(): Promise<Server> {
  const server = await createApiServer();
  const answer = async (request: Request): Promise<Response> => {
    await new Promise(setImmediate); // as with a socket, so that whatever else waits gets its turn
    return server.fetch(request);
  };
  const tls = { ca: undefined, cert: undefined, key: undefined, serverName: undefined, rejectUnauthorized: true };
  const config: ClusterConfig = {
    server: "https://embedded",
    context: "drift",
    user: "drift",
    namespace: "default",
    tls,
    answer,
    headers: () => ({}),
    reload: async () => false,
  };
  return { name: "embedded", config, answer, [Symbol.asyncDispose]: () => server.stop() };
}

async function realServer(): Promise<Server> {
  const plane = await lendPlane(false);
  const read = await loadKubeconfig({ kubeconfig: plane.kubeconfig, env: {} });
  const { ca, cert, key } = read.tls;
  const tls = { ca: ca!, cert: cert!, key: key! };
  const answer = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const body = request.body === null ? {} : { body: await request.arrayBuffer() };
    const { method, headers, signal } = request;
    return fetch(`${read.server}${pathname}${search}`, { method, headers, signal, tls, ...body });
  };
  const { server, context, user, namespace } = read;
  const config: ClusterConfig = {
    server,
    context,
    user,
    namespace,
    tls: read.tls,
    answer,
    headers: () => ({}),
    reload: async () => false,
  };
  return { name: "real", config, answer, [Symbol.asyncDispose]: () => plane.stop() };
}

/** Sends requests that do not come from the operator. */
export async function send(server: Server, method: string, path: string, options: SendOptions = {}): Promise<Answer> {
  const { body, type = "application/json" } = options;
  const init: RequestInit = { method, headers: { "content-type": type } };
  if (body !== undefined) init.body = JSON.stringify(body);
  const response = await server.answer(new Request(`${server.config.server}${path}`, init));
  return { status: response.status, body: (await response.json()) as JsonMap };
}
