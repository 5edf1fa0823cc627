/**
 * Refuses requests of web pages. A browser sends a page's requests to any address that it can reach, including those of
 * this machine.
 */
import { hostOf } from "#runtime/http-server";
import type { MiddlewareHandler } from "hono";
import { addressBytes } from "../kube/config/ip-address.ts";
import { plainResponse } from "./plain-response.ts";
import { type Connection, isForwarded, isLoopbackPeer, nameOf } from "./local-request.ts";

/** Names of machines and clusters that cannot exist on the internet, where a malicious page would come from. */
const INNER_NAME = /^[^.]*$|(?:^|\.)(?:localhost|internal|svc|cluster\.local)$/;

/**
 * Refuses a request from this machine for a name of the internet. Such a name was redirected to this address, so that
 * the browser lets its page read the response (DNS rebinding). A proxy for programs may use any name; a page can
 * pretend to be a proxy, but its browser always sends `Accept-Language`.
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

/** Refuses requests of another site's page; following a link does not count. */
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
