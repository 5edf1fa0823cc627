/**
 * Protects the server from web pages: a browser sends their requests to any address that it can reach, including those
 * of this machine.
 */
import { isIP } from "node:net";
import { hostOf } from "#platform/http-server";
import { answerStatus } from "./request/answer.ts";
import { StatusError } from "./status.ts";

/**
 * The refusal of a request that a web page has sent, or that came by a name that is not this server's; `undefined` for
 * all others. A page whose own host name was redirected to this address is recognized by that name.
 *
 * @param names by which clients know the server; an address needs no mention.
 */
export function webRefusal(request: Request, names: ReadonlySet<string>): Response | undefined {
  const host = hostOf(request);
  const name = nameOf(host);
  if (name === undefined || (isIP(name) === 0 && !names.has(name))) {
    const why = `the request is for ${JSON.stringify(host)}, which is not a name of this server`;
    return refusal(request, 421, "Misdirected", why);
  }
  const site = request.headers.get("sec-fetch-site");
  const isOfPage = !isOwn(request.headers.get("origin"), host) || (site !== null && site !== "none");
  return isOfPage ? refusal(request, 403, "Forbidden", "requests of web pages are not answered") : undefined;
}

/**
 * Whether an origin is that of the server itself, which serves no pages: clients in Java send it with the handshake of
 * a WebSocket, and a browser never lies about it.
 */
function isOwn(origin: string | null, host: string): boolean {
  return origin === null || (URL.canParse(origin) && new URL(origin).host === host.toLowerCase());
}

/** A host without its port and its brackets, in lower case. */
function nameOf(host: string): string | undefined {
  const [, address, name] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(host.toLowerCase()) ?? [];
  return address ?? name?.replace(/\.$/, "");
}

function refusal(request: Request, code: number, reason: string, message: string): Response {
  return answerStatus(request, new StatusError(code, reason, { message }).status);
}

/** Whether an address is of this machine alone. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** Whether an address stands for all addresses of this machine. */
export function isEverywhere(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}
