import { expect, test } from "bun:test";
import { createMetrics } from "../observe/metrics.ts";
import { healthApp } from "./health-app.ts";
import { HealthChecks } from "./health-checks.ts";
import { startListeners } from "./listeners.ts";
import { metricsApp } from "./metrics-app.ts";
import { crossSite, misdirected } from "./web-guard.ts";

const local = { peer: "127.0.0.1" };
const asked = (host: string, headers: Record<string, string> = {}, method = "GET") =>
  new Request("http://x/metrics", { method, headers: { host, ...headers } });

test("health and metrics answer no name of the internet that leads to this machine", async () => {
  const checks = { healthz: new HealthChecks(), livez: new HealthChecks(), readyz: new HealthChecks() };
  await using listeners = await startListeners([
    { name: "health", address: "127.0.0.1:0", app: healthApp(checks) },
    { name: "metrics", address: "127.0.0.1:0", app: metricsApp(createMetrics({})) },
  ]);
  const statusOf = async (name: string, path: string, host?: string) => {
    const headers: Record<string, string> = host === undefined ? {} : { host };
    return (await fetch(`http://${listeners.address(name)}${path}`, { headers })).status;
  };
  for (const path of ["/healthz", "/livez", "/readyz", "/readyz/ping", "/readyz?verbose"]) {
    expect(await statusOf("health", path, "page.example:8081")).toBe(421);
    expect([200, 404]).toContain(await statusOf("health", path));
  }
  expect(await statusOf("metrics", "/metrics", "page.example")).toBe(421);
  expect(await statusOf("metrics", "/metrics")).toBe(200);
});

test("misdirected lets through what names this machine or the cluster, comes from elsewhere, or from a proxy of programs", () => {
  const hosts = [
    "localhost:8081",
    "127.0.0.1",
    "[::1]:8081",
    "10.1.2.3:8080",
    "desk:8081",
    "a.localhost",
    "host.docker.internal",
  ];
  for (const host of [...hosts, "shop.shop.svc:8080", "shop.shop.svc.cluster.local", "LOCALHOST."]) {
    expect([host, misdirected(asked(host), local)?.status]).toEqual([host, undefined]);
  }
  expect(misdirected(asked("metrics.example"), { peer: "10.0.0.7" })).toBeUndefined();
  const proxied = { "x-forwarded-for": "10.0.0.7" };
  expect(misdirected(asked("shop.example", proxied), local)).toBeUndefined();
  expect(misdirected(asked("shop.example", { ...proxied, "accept-language": "de" }), local)?.status).toBe(421);
  for (const host of [
    "page.example",
    "localhost.page.example",
    "127.0.0.1.page.example",
    "svc.example",
    "xsvc.example",
    "page.example:80:90",
    "[::1].page.example",
  ]) {
    for (const peer of ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
      expect(misdirected(asked(host), { peer })?.status).toBe(421);
  }
});

test("crossSite refuses what pages of other sites send, and no link, own page or program", () => {
  const statusOf = (headers: Record<string, string>, method = "POST") =>
    crossSite(asked("shop.example", headers, method))?.status;
  for (const site of ["cross-site", "same-site"]) {
    expect(statusOf({ "sec-fetch-site": site })).toBe(403);
    expect(statusOf({ "sec-fetch-site": site, "sec-fetch-mode": "no-cors" }, "GET")).toBe(403);
    expect(statusOf({ "sec-fetch-site": site, "sec-fetch-mode": "navigate" })).toBe(403);
    expect(statusOf({ "sec-fetch-site": site, "sec-fetch-mode": "navigate" }, "GET")).toBeUndefined();
  }
  for (const origin of ["https://page.example", "http://shop.example:81", "null"])
    expect(statusOf({ origin })).toBe(403);
  expect(statusOf({ origin: "https://shop.example" })).toBeUndefined();
  expect(statusOf({ origin: "https://shop.example", "sec-fetch-site": "same-origin" })).toBeUndefined();
  expect(statusOf({ "sec-fetch-site": "none" })).toBeUndefined();
  expect(statusOf({})).toBeUndefined();
});
