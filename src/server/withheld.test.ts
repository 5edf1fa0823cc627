/** Tests what clients on other machines see. */
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { expect, test } from "bun:test";
import { createLog } from "../observe/log.ts";
import { healthApp } from "./health-app.ts";
import { HealthChecks } from "./health-checks.ts";
import { startListeners } from "./listeners.ts";

const SECRET = "token hunter2hunter2";

function app() {
  const readyz = new HealthChecks();
  readyz.add("told", () => ({ cause: "the cache has not synced", text: `the cache has not synced: ${SECRET}` }));
  readyz.add("long", () => SECRET + "x".repeat(3_000_000));
  readyz.add("throws", () => {
    throw new Error(`\u001b[2J${SECRET}\nreadyz check passed`);
  });
  readyz.note("module/a.ts", () => ({ cause: "broken", text: `broken: ${SECRET}\u001b]52;c;AAAA\u0007\r\nnext` }));
  readyz.note("module/b.ts", () => SECRET);
  readyz.note("module/c.ts", () => {
    throw new Error(SECRET);
  });
  return healthApp({ healthz: new HealthChecks(), livez: new HealthChecks(), readyz });
}

const PATHS = ["/readyz", "/readyz?verbose", "/readyz/told", "/readyz/long", "/readyz/throws"];
const LOCAL = { host: "localhost:8081" };

async function body(path: string, headers: Record<string, string>, peer: string | undefined): Promise<string> {
  return (await app().request(path, { headers }, { peer })).text();
}

test.each([
  ["another machine", LOCAL, "10.0.0.7"],
  ["nobody known", LOCAL, undefined],
  ["a name of the network", { host: "desk:8081" }, "127.0.0.1"],
  ["a name of the cluster that begins like an address", { host: "127.0.0.1.shop.svc" }, "127.0.0.1"],
  ["no host", {}, "127.0.0.1"],
  ["a proxy, Forwarded", { ...LOCAL, forwarded: "for=192.0.2.1" }, "127.0.0.1"],
  ["a proxy, X-Forwarded-For", { ...LOCAL, "x-forwarded-for": "192.0.2.1" }, "127.0.0.1"],
  ["a proxy, X-Forwarded-Host", { ...LOCAL, "x-forwarded-host": "a" }, "127.0.0.1"],
  ["a proxy, X-Real-IP", { ...LOCAL, "x-real-ip": "127.0.0.1" }, "127.0.0.1"],
  ["a proxy, Via", { ...LOCAL, via: "1.1 a" }, "::1"],
] as const)("healthApp tells causes and no texts to %s", async (_who, headers, peer) => {
  for (const path of PATHS) {
    const text = await body(path, headers, peer);
    expect(text).not.toContain("hunter2");
    expect(text.length).toBeLessThan(500);
  }
  expect(await body("/readyz?verbose", headers, peer)).toBe(
    "[-]long failed: reason withheld\n[-]throws failed: reason withheld\n[-]told failed: reason withheld\n" +
      "[ ]module/a.ts broken\n[ ]module/b.ts reason withheld\n[ ]module/c.ts reason withheld\nreadyz check failed\n",
  );
  expect(await body("/readyz/told", headers, peer)).toBe("internal server error: the cache has not synced\n");
  expect(await body("/readyz/long", headers, peer)).toBe("internal server error: reason withheld\n");
});

test.each([
  ["127.0.0.1", "localhost:8081"],
  ["::ffff:127.0.0.1", "127.0.0.1:8081"],
  ["::1", "[::1]:8081"],
  ["127.3.4.5", "LOCALHOST"],
])("healthApp tells %s that asks %s everything, on one line each", async (peer, host) => {
  const verbose = await body("/readyz?verbose", { host }, peer);
  expect(verbose).toContain(String.raw`[ ]module/a.ts broken: ${SECRET}\u001b]52;c;AAAA\u0007 next`);
  expect(verbose).toContain(`[ ]module/b.ts ${SECRET}\n[ ]module/c.ts ${SECRET}\n`);
  expect(await body("/readyz/told", { host }, peer)).toContain(SECRET);
  expect(await body("/readyz/throws", { host }, peer)).toBe(
    `internal server error: ${String.raw`\u001b[2J`}${SECRET} readyz check passed\n`,
  );
});

async function ask(host: string, port: string, lines: readonly string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let answer = "";
  const socket = connect(Number(port), host, () => socket.write([...lines, "Connection: close", "", ""].join("\r\n")));
  socket.on("data", (data) => (answer += data.toString()));
  socket.on("end", () => resolve(answer));
  socket.on("error", reject);
  return promise;
}

test("a listener knows where a request comes from, whatever the request says", async () => {
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => lines.push(line) });
  const listen = [
    { name: "health-probe", address: ":0", app: app() },
    { name: "metrics", address: "0.0.0.0:0", app: app() },
  ];
  await using listeners = await startListeners(listen, { log });
  const port = listeners.address("health-probe")!.split(":").at(-1)!;
  const local = await ask("127.0.0.1", port, ["GET /readyz/told HTTP/1.1", `Host: 127.0.0.1:${port}`]);
  expect(local).toContain(SECRET);
  const absolute = ["GET http://localhost/readyz/told HTTP/1.1", "Host: evil.example"];
  expect(await ask("127.0.0.1", port, absolute)).not.toContain(SECRET);
  const mine = Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && !one.internal && one.family === "IPv4");
  if (mine !== undefined) {
    const foreign = await ask(mine.address, port, ["GET /readyz/told HTTP/1.1", `Host: 127.0.0.1:${port}`]);
    expect(foreign).toContain("the cache has not synced");
    expect(foreign).not.toContain(SECRET);
  }
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: "info", flags: ["--health-probe-bind-address", "--metrics-bind-address"] },
  ]);
});

test("a listener on the loopback says nothing of all interfaces", async () => {
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => lines.push(line) });
  await using _listeners = await startListeners([{ name: "health", address: "127.0.0.1:0", app: app() }], { log });
  expect(lines).toEqual([]);
});
