import { expect, test } from "bun:test";
import { ConfigError } from "./config-error.ts";
import { proxyFor } from "./proxy.ts";

const server = "https://api.example.com:6443";

test.each([
  ["nothing", server, {}, undefined],
  ["HTTPS_PROXY", server, { HTTPS_PROXY: "http://p:8080" }, "http://p:8080"],
  ["lower case and no scheme", server, { https_proxy: "p:8080" }, "http://p:8080"],
  ["HTTP_PROXY for another scheme", server, { HTTP_PROXY: "http://p" }, undefined],
  ["loopback", "https://127.0.0.1:6443", { HTTPS_PROXY: "http://p" }, undefined],
  ["NO_PROXY suffix", server, { HTTPS_PROXY: "http://p", NO_PROXY: "a.b, .example.com" }, undefined],
  [
    "NO_PROXY of a longer name",
    "https://notexample.com",
    { HTTPS_PROXY: "http://p", NO_PROXY: "example.com" },
    "http://p",
  ],
  ["NO_PROXY port", server, { HTTPS_PROXY: "http://p", NO_PROXY: "api.example.com:443" }, "http://p"],
  ["NO_PROXY range", "https://10.1.2.3", { HTTPS_PROXY: "http://p", NO_PROXY: "10.0.0.0/8" }, undefined],
  ["outside the range", "https://11.1.2.3", { HTTPS_PROXY: "http://p", NO_PROXY: "10.0.0.0/8" }, "http://p"],
  ["NO_PROXY address", "https://10.1.2.3:6443", { HTTPS_PROXY: "http://p", NO_PROXY: "10.1.2.3" }, undefined],
  ["NO_PROXY port of the scheme", "https://10.1.2.3", { HTTPS_PROXY: "http://p", NO_PROXY: "10.1.2.3:443" }, undefined],
  [
    "NO_PROXY range of IPv6",
    "https://[fd00:10::1]:443",
    { HTTPS_PROXY: "http://p", NO_PROXY: "fd00:10::/32" },
    undefined,
  ],
  [
    "outside the range of IPv6",
    "https://[fd00:11::1]",
    { HTTPS_PROXY: "http://p", NO_PROXY: "fd00:10::/32" },
    "http://p",
  ],
  ["NO_PROXY IPv6", "https://[fd00::1]:6443", { HTTPS_PROXY: "http://p", NO_PROXY: "FD00:0:0::1" }, undefined],
  ["NO_PROXY IPv6 port", "https://[fd00::1]:6443", { HTTPS_PROXY: "http://p", NO_PROXY: "[fd00::1]:6443" }, undefined],
  [
    "NO_PROXY IPv6 and another port",
    "https://[fd00::1]",
    { HTTPS_PROXY: "http://p", NO_PROXY: "[fd00::1]:1" },
    "http://p",
  ],
  ["a range that is none", "https://10.1.2.3", { HTTPS_PROXY: "http://p", NO_PROXY: "10.0.0.0/,x/8" }, "http://p"],
  ["IPv6 loopback", "https://[::1]:6443", { HTTPS_PROXY: "http://p" }, undefined],
  ["loopback of names", "https://127.example.com", { HTTPS_PROXY: "http://p" }, "http://p"],
  [
    "NO_PROXY that begins with a dot",
    "https://example.com",
    { HTTPS_PROXY: "http://p", NO_PROXY: ".example.com" },
    "http://p",
  ],
  [
    "NO_PROXY that begins with a star",
    "https://example.com",
    { HTTPS_PROXY: "http://p", NO_PROXY: "*.example.com" },
    "http://p",
  ],
  ["a name below that of NO_PROXY", server, { HTTPS_PROXY: "http://p", NO_PROXY: "*.example.com:6443" }, undefined],
  ["NO_PROXY of a name itself", "https://example.com", { HTTPS_PROXY: "http://p", NO_PROXY: "example.com" }, undefined],
  ["NO_PROXY without a name", server, { HTTPS_PROXY: "http://p", NO_PROXY: ":6443,." }, "http://p"],
  ["NO_PROXY star", server, { HTTPS_PROXY: "http://p", NO_PROXY: "*" }, undefined],
])("proxyFor obeys %s", (_, url, env, proxy) => {
  expect(proxyFor(url, { env })).toBe(proxy);
});

test("proxyFor prefers the kubeconfig's proxy-url, also for loopback", () => {
  expect(proxyFor("https://127.0.0.1", { proxyUrl: "http://q:1", env: { NO_PROXY: "*" } })).toBe("http://q:1");
});

test("proxyFor refuses what it cannot use and says what it can", () => {
  expect(() => proxyFor(server, { proxyUrl: "socks5://p:1080", env: {} })).toThrow(
    "Cannot use the kubeconfig's proxy-url: socks5:// proxies are not supported. Use an http or https proxy",
  );
  const wrong = () => proxyFor(server, { env: { HTTPS_PROXY: "http://jane:hunter2@proxy:no-port" } });
  expect(wrong).toThrow(new ConfigError("Cannot use $HTTPS_PROXY: it is not a URL such as http://host:3128"));
});
