/** Which proxy, if any, stands between us and a server. */
import { ConfigError } from "./config-error.ts";
import { isIPv4, isIPv6 } from "./ip-address.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for a server: the kubeconfig's `proxy-url`, else the environment's, read as Go reads it.
 *
 * @throws ConfigError for a URL that is none, or of a kind that is not supported.
 */
export function proxyFor(server: string, options: { proxyUrl?: string | undefined; env: Env }): string | undefined {
  const { proxyUrl, env } = options;
  if (proxyUrl) return check(proxyUrl, "the kubeconfig's proxy-url");
  const url = new URL(server);
  const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const value = env[name] || env[name.toLowerCase()];
  if (!value || isExempt(url, env["NO_PROXY"] || env["no_proxy"] || "")) return undefined;
  return check(value.includes("://") ? value : `http://${value}`, `$${name}`);
}

function check(proxy: string, where: string): string {
  if (!URL.canParse(proxy)) throw new ConfigError(`Cannot use ${where}: "${proxy}" is not a URL`);
  const { protocol } = new URL(proxy);
  if (protocol !== "http:" && protocol !== "https:") {
    throw new ConfigError(`Cannot use ${where}: ${protocol}// proxies are not supported. Use an http or https proxy`);
  }
  return proxy;
}

function isExempt(url: URL, noProxy: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (host === "localhost" || host === "::1" || host.startsWith("127.")) return true;
  return noProxy.split(",").some((part) => matches(part.trim().toLowerCase(), host, url.port));
}

function matches(pattern: string, host: string, port: string): boolean {
  if (pattern === "") return false;
  if (pattern === "*") return true;
  if (pattern.includes("/")) return isIPv4(host) && inRange(host, pattern);
  const [name = "", onlyPort] = isIPv6(pattern) ? [pattern] : pattern.split(":");
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const suffix = name.replace(/^\*?\./, "");
  return host === suffix || host.endsWith(`.${suffix}`);
}

function inRange(address: string, range: string): boolean {
  const [base = "", bits = ""] = range.split("/");
  if (!isIPv4(base)) return false;
  const shift = 2 ** (32 - Number(bits));
  return Math.floor(numberOf(address) / shift) === Math.floor(numberOf(base) / shift);
}

function numberOf(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}
