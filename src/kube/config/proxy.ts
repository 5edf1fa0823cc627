/** Determines the proxy, if any, between us and a server. */
import { ConfigError } from "./config-error.ts";
import { addressBytes, isIPv4, isIPv6 } from "./ip-address.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Returns the proxy for a server: the kubeconfig's `proxy-url`, else the environment's, with Go's rules.
 *
 * @throws ConfigError for an invalid URL, or one of an unsupported kind.
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
  // The address may hold a password, so the message does not repeat it.
  if (!URL.canParse(proxy)) throw new ConfigError(`Cannot use ${where}: it is not a URL such as http://host:3128`);
  const { protocol } = new URL(proxy);
  if (protocol !== "http:" && protocol !== "https:") {
    throw new ConfigError(`Cannot use ${where}: ${protocol}// proxies are not supported. Use an http or https proxy`);
  }
  return proxy;
}

function isExempt(url: URL, noProxy: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  if (host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."))) return true;
  return noProxy.split(",").some((part) => matches(part.trim().toLowerCase(), host, port));
}

function matches(pattern: string, host: string, port: string): boolean {
  if (pattern === "") return false;
  if (pattern === "*") return true;
  if (pattern.includes("/")) return inRange(host, pattern);
  const [name, onlyPort] = withPort(pattern);
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const address = addressBytes(name);
  if (address !== undefined) return addressBytes(host)?.join() === address.join();
  // As in Go, a pattern that begins with a dot matches names below the domain, but not the domain itself.
  const suffix = name.startsWith("*.") ? name.slice(1) : name;
  if (suffix === "" || suffix === ".") return false;
  return suffix.startsWith(".") ? host.endsWith(suffix) : host === suffix || host.endsWith(`.${suffix}`);
}

/** An IPv6 address has a port only behind brackets. */
function withPort(pattern: string): readonly [name: string, port: string | undefined] {
  const [, address, ofAddress] = /^\[([^\]]*)\](?::(\d+))?$/.exec(pattern) ?? [];
  if (address !== undefined) return [address, ofAddress];
  if (isIPv6(pattern)) return [pattern, undefined];
  const [name = "", port] = pattern.split(":");
  return [name, port];
}

function inRange(host: string, range: string): boolean {
  const [text = "", prefix = ""] = range.split("/");
  const [address, base] = [addressBytes(host), addressBytes(text)];
  if (address === undefined || base?.length !== address.length || !/^\d{1,3}$/.test(prefix)) return false;
  if (Number(prefix) > 8 * base.length) return false;
  const bits = (bytes: readonly number[]): string => bytes.map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return bits(address).startsWith(bits(base).slice(0, Number(prefix)));
}
