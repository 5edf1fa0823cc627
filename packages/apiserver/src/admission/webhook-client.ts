/** Sends a review to a webhook. */
import { post as send } from "#platform/post";
import { boundedBytes, BodyTooLarge } from "../request/bounded-body.ts";
import type { Fields, Reader } from "../hooks.ts";
import { parseJson, writeJson } from "../numbers.ts";
import type { ClientConfig } from "./webhook.ts";

/** The largest response: it has room for a base64 patch that contains the largest storable object several times. */
const MOST_ANSWER_BYTES = 16 * 1024 * 1024;

export interface SendOptions {
  readonly reader: Reader;
  /** The timeout in seconds. */
  readonly timeout: number;
}

/** Posts JSON and reads the response. @throws Error in the words of the server's own client */
export async function post(config: ClientConfig, body: unknown, { reader, timeout }: SendOptions): Promise<unknown> {
  const shown = new URL(config.url ?? serviceUrl(config));
  shown.searchParams.set("timeout", `${timeout}s`);
  // The `Host` header has the port as it was written, even if it is the default one.
  const authority = config.url === undefined ? `${shown.hostname}:${config.service?.port ?? 443}` : shown.host;
  const text = `https://${authority}${pathOf(config, shown)}${shown.search}`;
  const failed = (why: string): Error => new Error(`Post ${JSON.stringify(text)}: ${why}`);
  const url = config.service === undefined ? shown : atEndpoint(shown, config.service, { reader, failed });
  const ca = config.caBundle ? Buffer.from(config.caBundle, "base64").toString() : undefined;
  let response: Response;
  try {
    response = await send({
      url: url.href,
      headers: { "content-type": "application/json", accept: "application/json, */*", host: shown.host },
      body: writeJson(body),
      signal: AbortSignal.timeout(timeout * 1000),
      ca,
      serverName: shown.hostname,
    });
  } catch (error) {
    throw failed(reason(error, url, shown.hostname));
  }
  const bytes = await boundedBytes(response, MOST_ANSWER_BYTES).catch((error: unknown) => {
    throw failed(error instanceof BodyTooLarge ? "http: response body too large" : reason(error, url, shown.hostname));
  });
  const answer = new TextDecoder().decode(bytes);
  if (!response.ok) throw new Error(httpError(response.status, answer));
  try {
    return parseJson(answer);
  } catch (error) {
    throw new Error(`couldn't get version/kind; json parse error: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns the request's path: a service's path gets a leading slash, a URL's path stays as it was written. */
function pathOf({ url }: ClientConfig, { pathname }: URL): string {
  return url !== undefined && pathname === "/" && !url.endsWith("/") ? "" : pathname;
}

function serviceUrl({ service }: ClientConfig): string {
  const { namespace = "", name = "", path = "", port = 443 } = service ?? {};
  return `https://${name}.${namespace}.svc:${port}${path === "" || path.startsWith("/") ? path : `/${path}`}`;
}

interface Place {
  readonly reader: Reader;
  readonly failed: (why: string) => Error;
}

/** Reaches a service at one of its endpoints, because there is no service network here. */
function atEndpoint(shown: URL, service: NonNullable<ClientConfig["service"]>, { reader, failed }: Place): URL {
  const { namespace, name } = service;
  const found = reader.get({ group: "", plural: "services" }, { namespace, name });
  if (found === undefined) throw failed(`service ${JSON.stringify(name)} not found`);
  const ports = ((found["spec"] as Fields)["ports"] ?? []) as { port: number; name?: string }[];
  const port = ports.find((each) => each.port === (service.port ?? 443));
  if (port === undefined)
    throw failed(`no service port ${service.port ?? 443} found for service ${JSON.stringify(name)}`);
  for (const slice of reader.list({ group: "discovery.k8s.io", plural: "endpointslices" }, namespace)) {
    if (slice.metadata.labels?.["kubernetes.io/service-name"] !== name) continue;
    const target = ((slice["ports"] ?? []) as { port?: number; name?: string }[]).find(
      (each) => (each.name ?? "") === (port.name ?? ""),
    );
    const address = ((slice["endpoints"] ?? []) as { addresses?: string[]; conditions?: { ready?: boolean } }[]).find(
      ({ conditions }) => conditions?.ready !== false,
    )?.addresses?.[0];
    if (target?.port !== undefined && address !== undefined) return moved(shown, address, target.port);
  }
  const subsets = (reader.get({ group: "", plural: "endpoints" }, { namespace, name })?.["subsets"] ?? []) as {
    addresses?: { ip: string }[];
    ports?: { port: number; name?: string }[];
  }[];
  for (const { addresses = [], ports: targets = [] } of subsets) {
    const target = targets.find((each) => (each.name ?? "") === (port.name ?? ""));
    if (target && addresses[0]) return moved(shown, addresses[0].ip, target.port);
  }
  throw failed(`no endpoints available for service ${JSON.stringify(name)}`);
}

function moved(url: URL, address: string, port: number): URL {
  const at = new URL(url.href);
  at.hostname = address.includes(":") ? `[${address}]` : address;
  at.port = String(port);
  return at;
}

/** Says in the words of Go why there is no response. */
function reason(error: unknown, url: URL, serverName: string): string {
  const { code = "", name = "", message = String(error) } = error as { code?: string; name?: string; message?: string };
  const place = `${url.hostname}:${url.port || "443"}`;
  if (name === "TimeoutError") return "context deadline exceeded";
  if (code === "ConnectionRefused" || code === "ECONNREFUSED") return `dial tcp ${place}: connect: connection refused`;
  if (code === "FailedToOpenSocket" || code === "ENOTFOUND") return `dial tcp: lookup ${url.hostname}: no such host`;
  if (code === "ConnectionClosed" || code === "ECONNRESET") return "EOF";
  if (/CERT|SELF_SIGNED|UNABLE_TO|INVALID_(CA|PURPOSE)/.test(code)) {
    return `tls: failed to verify certificate: x509: ${distrust(code, serverName)}`;
  }
  return message;
}

function distrust(code: string, serverName: string): string {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return `certificate is not valid for ${serverName}`;
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID")
    return "certificate has expired or is not yet valid";
  if (code === "INVALID_PURPOSE") return "certificate specifies an incompatible key usage";
  return "certificate signed by unknown authority";
}

function httpError(code: number, body: string): string {
  try {
    const status = JSON.parse(body) as { kind?: string; message?: string };
    if (status.kind === "Status" && status.message) return status.message;
  } catch {
    // not a Status
  }
  switch (code) {
    case 400:
      return "the server rejected our request for an unknown reason";
    case 401:
      return "the server has asked for the client to provide credentials";
    case 403:
      return body === "" ? "unknown" : body.trim();
    case 404:
      return "the server could not find the requested resource";
    case 405:
      return "the server does not allow this method on the requested resource";
    case 503:
      return "the server is currently unable to handle the request";
    default:
      return code >= 500
        ? `an error on the server (${JSON.stringify(body.trim() || "unknown")}) has prevented the request from succeeding`
        : `the server responded with the status code ${code} but did not return more information`;
  }
}
