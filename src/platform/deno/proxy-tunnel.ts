/** Requests through an http or https proxy. */
import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import tls from "node:tls";

export interface TunnelOptions {
  /** The proxy's URL, which may hold credentials. */
  readonly proxy: string;
  readonly signal?: AbortSignal | undefined;
}

/** Options of a request for an `http:` URL through a proxy, which gets the whole URL as the path. */
export function absoluteForm(url: URL, proxy: string, headers: Record<string, string | string[]>): http.RequestOptions {
  const through = new URL(proxy);
  return { ...placeOf(through), path: url.href, headers: { ...headers, ...credentialsOf(through) } };
}

/**
 * Returns an agent whose connections lead through the proxy to `target`, such as `10.0.0.1:6443`, for one request.
 *
 * @throws Error of the connection to the proxy, or with the proxy's response when that is not a tunnel.
 */
export async function tunnelTo(target: string, { proxy, signal }: TunnelOptions): Promise<https.Agent> {
  const socket = await openTunnel(target, { proxy, signal });
  const agent = new https.Agent({ keepAlive: false });
  agent.createConnection = (options) => tls.connect({ ...(options as tls.ConnectionOptions), socket });
  return agent;
}

function openTunnel(target: string, { proxy, signal }: TunnelOptions): Promise<Socket> {
  const through = new URL(proxy);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const request = (through.protocol === "https:" ? https : http).request({
    ...placeOf(through),
    method: "CONNECT",
    path: target,
    headers: { host: target, ...credentialsOf(through) },
    agent: false,
    ...(signal !== undefined && { signal }),
  });
  request.on("error", reject);
  request.on("response", (response) => {
    response.resume();
    reject(refused(response.statusCode));
  });
  request.on("connect", ({ statusCode }, socket) => {
    if (statusCode === 200) return resolve(socket);
    socket.destroy();
    reject(refused(statusCode));
  });
  request.end();
  return promise;
}

function refused(status: number | undefined): Error {
  return Object.assign(new Error(`the proxy answered ${status} instead of a tunnel`), { code: "ERR_PROXY_TUNNEL" });
}

function placeOf({ protocol, hostname, port }: URL): http.RequestOptions {
  const standard = protocol === "https:" ? 443 : 80;
  return { protocol, host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || standard };
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const plain = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(plain).toString("base64")}` };
}
