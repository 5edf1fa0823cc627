/**
 * Refuses requests that web pages have a browser send. A browser sends what a page asks for to any address that it can
 * reach, this machine's included.
 */
import { hostOf } from "#runtime/http-server";
import type { MiddlewareHandler } from "hono";
import { addressBytes } from "../kube/config/ip-address.ts";
import { plainResponse } from "./plain-response.ts";
import { type Connection, isForwarded, isLoopbackPeer, nameOf } from "./local-request.ts";

/** Names of machines and clusters that nobody can have on the internet, where a page would come from. */
const INNER_NAME = /^[^.]*$|(?:^|\.)(?:localhost|internal|svc|cluster\.local)$/;

/**
 * Refuses a request from this machine that is for a name of the internet. Such a name was made to lead here, so that a
 * page of it has the browser's leave to read the answer (DNS rebinding). A proxy that passes on requests of programs
 * may use any name; a page can pretend to be a proxy, but its browser always says which languages it reads.
 */
export function misdirected(request: Request, connection: Connection): Response | undefined {
  if (!isLoopbackPeer(connection)) return undefined;
  const host = hostOf(request);
  const name = nameOf(host).replace(/\.$/, "");
  const isMalformed = name === "" && host !== "";
  if ((INNER_NAME.test(name) && !isMalformed) || addressBytes(name) !== undefined) return undefined;
  if (isForwarded(request) && !request.headers.has("accept-language")) return undefined;
  return plainResponse(`421 the request is for ${JSON.stringify(host)}, which is not a name of this machine\n`, 421);
}

/** Refuses misdirected requests to the routes of an app, whose environment is the connection. */
export const refuseMisdirected: MiddlewareHandler = async (context, next) =>
  misdirected(context.req.raw, (context.env as Connection | undefined) ?? {}) ?? next();

/**
 * Refuses what a page of another site has sent; following a link is no such request.
 *
 * @see https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Sec-Fetch-Site
 */
export function crossSite(request: Request): Response | undefined {
  const { headers, method } = request;
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  // Browsers say no site to plain HTTP, other than on the loopback.
  const isOther = site === null ? origin !== null && !isOf(origin, request) : site !== "none" && site !== "same-origin";
  if (!isOther) return undefined;
  const isLink = headers.get("sec-fetch-mode") === "navigate" && (method === "GET" || method === "HEAD");
  return isLink ? undefined : plainResponse("403 requests of other sites are not answered\n", 403);
}

function isOf(origin: string, request: Request): boolean {
  return URL.canParse(origin) && new URL(origin).host === hostOf(request).toLowerCase();
}
