import { describe, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import { Hono } from "hono";
import parse from "parse-prometheus-text-format";
import { createLog } from "../observe/log.ts";
import { createMetrics } from "../observe/metrics.ts";
import { startListeners } from "./listeners.ts";
import { metricsApp } from "./metrics-app.ts";

/** Some machines have IPv6 switched off. */
const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));

function app(path: string): Hono {
  return new Hono().get(path, (context) => context.text(path));
}

async function freePort(): Promise<number> {
  await using listeners = await startListeners([{ name: "free", address: "127.0.0.1:0", app: app("/") }]);
  return Number(listeners.address("free")!.split(":")[1]);
}

describe("startListeners", () => {
  test("startListeners listens on the address given and on none for 0", async () => {
    await using listeners = await startListeners([
      { name: "health", address: "127.0.0.1:0", app: app("/a") },
      { name: "metrics", address: "0", app: app("/b") },
    ]);
    expect(listeners.address("metrics")).toBeUndefined();
    const response = await fetch(`http://${listeners.address("health")}/a`);
    expect([response.status, await response.text()]).toEqual([200, "/a"]);
    expect((await fetch(`http://${listeners.address("health")}/b`)).status).toBe(404);
  });

  test.skipIf(!hasIPv6)("startListeners answers both families on [::] and on a port alone", async () => {
    for (const address of ["[::]:0", ":0"]) {
      await using listeners = await startListeners([{ name: "health", address, app: app("/a") }]);
      const port = listeners.address("health")!.replace(/^.*:/, "");
      for (const host of ["127.0.0.1", "[::1]"]) {
        expect(await (await fetch(`http://${host}:${port}/a`)).text(), `${address} at ${host}`).toBe("/a");
      }
    }
    await using listeners = await startListeners([{ name: "health", address: "[::1]:0", app: app("/a") }]);
    expect(listeners.address("health")).toStartWith("[::1]:");
    expect(await (await fetch(`http://${listeners.address("health")}/a`)).text()).toBe("/a");
  });

  test("startListeners shares one listener between equal addresses", async () => {
    const address = `127.0.0.1:${await freePort()}`;
    await using listeners = await startListeners([
      { name: "health", address, app: app("/a") },
      { name: "metrics", address, app: app("/b") },
    ]);
    expect([listeners.address("health"), listeners.address("metrics")]).toEqual([address, address]);
    expect(await (await fetch(`http://${address}/a`)).text()).toBe("/a");
    expect(await (await fetch(`http://${address}/b`)).text()).toBe("/b");
  });

  test("startListeners gives two free ports where two are asked for", async () => {
    await using listeners = await startListeners([
      { name: "health", address: "127.0.0.1:0", app: app("/a") },
      { name: "metrics", address: "127.0.0.1:0", app: app("/b") },
    ]);
    expect(listeners.address("health")).not.toBe(listeners.address("metrics"));
  });

  test("startListeners names flag and address of a port in use, and leaves nothing behind", async () => {
    await using taken = await startListeners([{ name: "health", address: "127.0.0.1:0", app: app("/") }]);
    const free = `127.0.0.1:${await freePort()}`;
    const both = [
      { name: "health", address: free, app: app("/") },
      { name: "metrics", address: taken.address("health")!, app: app("/") },
    ];
    await expect(startListeners(both)).rejects.toThrow(
      `Cannot listen on ${taken.address("health")} (--metrics-bind-address): the port is in use`,
    );
    await using again = await startListeners(both.slice(0, 1));
    expect(again.address("health")).toBe(free);
  });

  test.each(["8080", "localhost", ":99999", "http://127.0.0.1:80", "1.2.3.4:x", "::1:80"])(
    "startListeners refuses the address %p and says how to write one",
    async (address) => {
      await expect(startListeners([{ name: "metrics", address, app: app("/") }])).rejects.toThrow(
        `Cannot use --metrics-bind-address=${address}: write it as ":8080"`,
      );
    },
  );

  test("startListeners says that the host has no such address", async () => {
    const address = "203.0.113.7:0";
    await expect(startListeners([{ name: "health", address, app: app("/") }])).rejects.toThrow(
      `Cannot listen on ${address} (--health-bind-address): `,
    );
  });

  test("startListeners answers 500 without details when a route throws", async () => {
    const broken = new Hono().get("/x", () => {
      throw new Error("hunter2");
    });
    const lines: string[] = [];
    const log = createLog({ level: "info", format: "json", write: (line) => lines.push(line) });
    const listen = [{ name: "health", address: "127.0.0.1:0", app: broken }];
    await using listeners = await startListeners(listen, { log });
    const response = await fetch(`http://${listeners.address("health")}/x`);
    expect([response.status, await response.text()]).toEqual([500, "internal server error\n"]);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: "error", path: "/x", error: { message: "hunter2" } });
  });

  test("stop lets a request in flight finish and does not wait for idle connections", async () => {
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const slow = new Hono().get("/", async (context) => {
      entered.resolve();
      await leave.promise;
      return context.text("done");
    });
    const listeners = await startListeners([{ name: "health", address: "127.0.0.1:0", app: slow }]);
    const url = `http://${listeners.address("health")}/`;
    const response = fetch(url, { keepalive: true });
    await entered.promise;
    const stopped = listeners.stop();
    leave.resolve();
    expect(await (await response).text()).toBe("done");
    await stopped;
    await expect(fetch(url)).rejects.toThrow();
  });
});

describe("metricsApp", () => {
  test("metricsApp answers the text that the scraper prefers", async () => {
    const metrics = createMetrics();
    await using listeners = await startListeners([
      { name: "metrics", address: "127.0.0.1:0", app: metricsApp(metrics) },
    ]);
    const url = `http://${listeners.address("metrics")}/metrics`;
    const text = await fetch(url);
    expect(text.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(parse(await text.text()).map(({ name }) => name)).toContain("process_start_time_seconds");
    const open = await fetch(url, { headers: { Accept: "application/openmetrics-text" } });
    expect(open.headers.get("Content-Type")).toStartWith("application/openmetrics-text");
    expect(await open.text()).toEndWith("# EOF\n");
  });
});
