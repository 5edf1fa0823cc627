/** Determines whether a request comes from this machine itself: its sender may then read more than others. */
import { hostOf } from "#runtime/http-server";
import { isIPv4 } from "../kube/config/ip-address.ts";

/** The facts about a request that its sender cannot fake. */
export interface Connection {
  /** The address of the other end. */
  readonly peer?: string | undefined;
}

const FORWARDED =
  /^(?:forwarded|via|x-real-ip|x-client-ip|client-ip|true-client-ip|cf-connecting-ip|x-forwarded(?:-.*)?)$/;

/**
 * True only when the connection comes from a loopback address, the request is for a loopback name, and no proxy header
 * shows that it was forwarded. A proxy on this machine has a loopback address too, and a web page that redirected its
 * own host name to this address is recognized by that name.
 *
 * A port-forward ends on the loopback of the pod, so somebody who is authorized to make one counts as local.
 */
export function isLocal(request: Request, connection: Connection): boolean {
  return isLoopbackPeer(connection) && isLoopbackName(hostOf(request)) && !isForwarded(request);
}

/** Whether the other end of the connection, perhaps a proxy, is on this machine. */
export function isLoopbackPeer({ peer }: Connection): boolean {
  return peer !== undefined && isLoopback(peer.replace(/^::ffff:/i, ""));
}

/** Whether a request says that a proxy passed it on. */
export function isForwarded(request: Request): boolean {
  for (const name of request.headers.keys()) if (FORWARDED.test(name)) return true;
  return false;
}

/** Returns a host without its port and its brackets, in lower case. */
export function nameOf(host: string): string {
  const [, address, name] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(host.toLowerCase()) ?? [];
  return address ?? name ?? "";
}

/** Whether a host with or without a port is a name of this machine's loopback. */
export function isLoopbackName(host: string): boolean {
  return isLoopback(nameOf(host));
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (host.startsWith("127.") && isIPv4(host));
}
