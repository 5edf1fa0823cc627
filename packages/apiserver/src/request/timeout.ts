/** Checks the `timeout` that a request asks for. */
import { goQuoted } from "../field-error.ts";
import type { Attributes } from "../hooks.ts";
import { badRequest } from "../status.ts";

const endless: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/**
 * Checks the option `timeout`, which every request except endless ones may have. It is only checked, because no request
 * takes long enough here.
 *
 * @param attributes the attributes of the request; called only where there is an option
 * @throws StatusError 400 when it is no duration of Go
 */
export function checkTimeout(query: URLSearchParams, attributes: () => Attributes): void {
  const timeout = query.get("timeout");
  if (timeout === null || timeout === "" || duration.test(timeout)) return;
  const { verb, subresource, isResource } = attributes();
  if (isResource && (verb === "watch" || verb === "proxy" || endless.has(subresource))) return;
  throw badRequest(`invalid timeout specified in the request URL - time: invalid duration ${goQuoted(timeout)}`);
}

/** Durations of Go; the micro sign has two code points. */
const duration = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/;
