/**
 * Sessions of `fetch` by `node:http`: Deno's own `fetch` knows no server name other than the URL's, cannot leave a
 * server unverified, and its errors have no code for the reason.
 */
import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import type { FetchInit, FetchSession, FetchTls } from "../fetch-session.ts";
import { tlsOptions } from "../tls-options.ts";
import { absoluteForm, tunnelTo } from "./proxy-tunnel.ts";
import { inCommonTerms } from "./tls-errors.ts";

/** Sessions do not share connections, so a new session means new connections. */
export function openFetchSession(tls: FetchTls): FetchSession {
  const agents = { "http:": new http.Agent({ keepAlive: true }), "https:": new https.Agent({ keepAlive: true }) };
  const close = (): void => {
    for (const agent of Object.values(agents)) {
      // `destroy` would cut off active requests; theirs close when they have ended.
      agent.maxFreeSockets = 0;
      for (const free of Object.values(agent.freeSockets)) for (const socket of free ?? []) socket.destroy();
    }
  };
  return {
    // Every server also speaks HTTP/1.1; requests that need HTTP/2 have a client of their own.
    fetch: async (text, init) => {
      const { signal } = init;
      signal?.throwIfAborted();
      const url = new URL(text);
      const body = await bytesOf(init);
      const request = await begin(url, init, { tls, agents, body });
      return answerTo(request, { body, signal: signal ?? undefined });
    },
    close,
    [Symbol.dispose]: close,
  };
}

/** The sessions of single requests, by their settings, so that these share connections too. */
const sessions = new Map<string, FetchSession>();
const MOST_SESSIONS = 32;

/** Sends one request; requests with the same settings share connections. */
export function fetchOnce(url: string, init: FetchInit, tls: FetchTls): Promise<Response> {
  const id = JSON.stringify(tls);
  let session = sessions.get(id);
  if (session === undefined) {
    const [oldest] = sessions.keys();
    if (sessions.size >= MOST_SESSIONS && oldest !== undefined) {
      sessions.get(oldest)?.close();
      sessions.delete(oldest);
    }
    sessions.set(id, (session = openFetchSession(tls)));
  }
  return session.fetch(url, init);
}

interface BeginOptions {
  readonly tls: FetchTls;
  readonly body: Uint8Array | undefined;
  readonly agents: { readonly "http:": http.Agent; readonly "https:": https.Agent };
}

async function begin(url: URL, init: FetchInit, { tls, agents, body }: BeginOptions): Promise<ClientRequest> {
  const { method = "GET", signal, proxy } = init;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const options = { method, headers: headersOf(url, init, body), ...(signal && { signal }) };
  const path = url.pathname + url.search;
  if (url.protocol === "http:") {
    if (proxy) return http.request({ ...options, ...absoluteForm(url, proxy, options.headers) });
    return http.request({ ...options, host, path, port: Number(url.port) || 80, agent: agents["http:"] });
  }
  const port = Number(url.port) || 443;
  return https.request({
    ...options,
    host,
    path,
    port,
    ...tlsOptions(host, tls),
    ...(proxy
      ? { agent: await tunnelTo(`${url.hostname}:${port}`, { proxy, signal: signal ?? undefined }) }
      : { agent: agents["https:"] }),
  });
}

function headersOf(url: URL, { headers }: FetchInit, body: Uint8Array | undefined): Record<string, string | string[]> {
  const all: Record<string, string | string[]> = { host: url.host, "accept-encoding": "identity" };
  const entries = Array.isArray(headers) || headers instanceof Headers ? headers : Object.entries(headers ?? {});
  for (const [name, value] of entries as Iterable<[string, string]>) {
    const key = name.toLowerCase();
    const before = key === "accept-encoding" || key === "host" ? undefined : all[key];
    all[key] = before === undefined ? value : [before, value].flat();
  }
  if (body !== undefined) all["content-length"] = String(body.length);
  return all;
}

interface AnswerOptions {
  readonly body: Uint8Array | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The bytes of a body of whatever kind. */
async function bytesOf({ body }: FetchInit): Promise<Uint8Array | undefined> {
  if (body === undefined || body === null) return undefined;
  return typeof body === "string" ? Buffer.from(body) : new Uint8Array(await new Response(body).arrayBuffer());
}

function answerTo(request: ClientRequest, { body, signal }: AnswerOptions): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  request.on("error", (error) => reject(signal?.aborted === true ? signal.reason : inCommonTerms(error)));
  request.on("response", (message) => {
    try {
      resolve(responseOf(message, signal));
    } catch (error) {
      // A status or a header that no response can have.
      message.destroy();
      reject(error);
    }
  });
  request.end(body);
  return promise;
}

/** Statuses whose responses have no body. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

function responseOf(message: IncomingMessage, signal: AbortSignal | undefined): Response {
  const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = message;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  if (!BODILESS.has(status)) return new Response(bodyOf(message, signal), { status, statusText, headers });
  message.resume();
  return new Response(null, { status, statusText, headers });
}

function bodyOf(message: IncomingMessage, signal: AbortSignal | undefined): ReadableStream<Uint8Array<ArrayBuffer>> {
  let isOver = false;
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const fail = (error: unknown): void => {
        if (isOver) return;
        isOver = true;
        controller.error(signal?.aborted === true ? signal.reason : error);
      };
      message.on("data", (chunk: Buffer<ArrayBuffer>) => {
        if (isOver) return;
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) <= 0) message.pause();
      });
      message.on("end", () => {
        if (isOver) return;
        isOver = true;
        controller.close();
      });
      message.on("error", fail);
      message.on("close", () => fail(Object.assign(new Error("the connection was lost"), { code: "ECONNRESET" })));
    },
    pull: () => void message.resume(),
    cancel: () => {
      isOver = true;
      message.destroy();
    },
  });
}
