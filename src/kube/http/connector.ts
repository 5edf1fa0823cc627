/** Opens a TLS connection to the server, through a proxy if there is one, and negotiates the HTTP version. */
import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import tls, { type TLSSocket } from "node:tls";
import { UnreachableError } from "../errors/api-error.ts";
import { CONNECT_MS, connectionLost, connectTimeout } from "../errors/connection-failure.ts";
import type { TlsSettings } from "../config/cluster-config.ts";
import { tlsOptions } from "../../platform/tls-options.ts";

export interface ConnectOptions {
  readonly server: URL;
  readonly tls: TlsSettings;
  readonly proxy: string | undefined;
  /** ALPN protocols in order of preference, such as `["h2", "http/1.1"]`. */
  readonly protocols: readonly string[];
}

/** Connects. @throws the platform's error, or UnreachableError when connecting takes too long. */
export async function connectTls(options: ConnectOptions): Promise<TLSSocket> {
  const { server, proxy } = options;
  const host = server.hostname.replace(/^\[|\]$/g, "");
  const verified = tlsOptions(host, options.tls);
  const tunnel = proxy === undefined ? undefined : await openTunnel(server, new URL(proxy));
  const socket = tls.connect({
    ...(tunnel ? { socket: tunnel } : { host, port: Number(server.port) || 443 }),
    ...verified,
    ALPNProtocols: [...options.protocols],
  });
  await connected(socket, server.origin);
  socket.setNoDelay(true);
  return socket;
}

/** @see https://developer.mozilla.org/docs/Web/HTTP/Reference/Methods/CONNECT */
async function openTunnel(server: URL, proxy: URL): Promise<Socket> {
  const target = `${server.hostname}:${server.port || 443}`;
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const request = (proxy.protocol === "https:" ? https : http).request({
    host: proxy.hostname.replace(/^\[|\]$/g, ""),
    port: Number(proxy.port) || (proxy.protocol === "https:" ? 443 : 80),
    method: "CONNECT",
    path: target,
    headers: {
      host: target,
      ...(proxy.username && { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` }),
    },
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => request.destroy(connectTimeout(proxy.origin)), CONNECT_MS);
    request.once("error", (error) => {
      clearTimeout(timer);
      reject(
        new UnreachableError(server.origin, {
          code: "EPROXY",
          message: `through the proxy ${proxy.host}: ${error.message}`,
          cause: error,
        }),
      );
    });
    request.once("connect", (response, socket) => {
      clearTimeout(timer);
      socket.on("error", () => {});
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      const message = `the proxy ${proxy.host} refused with HTTP ${response.statusCode}`;
      reject(new UnreachableError(server.origin, { code: "EPROXY", message }));
    });
    request.end();
  });
}

function connected(socket: TLSSocket, server: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => done(connectTimeout(server)), CONNECT_MS);
    const done = (error?: Error) => {
      clearTimeout(timer);
      socket.off("secureConnect", opened).off("error", done).off("close", closed);
      // The session listens for the end from here on; an error without a listener would end the process.
      socket.on("error", () => {});
      if (!error) return resolve();
      socket.destroy();
      reject(error);
    };
    const opened = () => done();
    const closed = () => done(connectionLost(server));
    socket.once("secureConnect", opened).once("error", done).once("close", closed);
  });
}
