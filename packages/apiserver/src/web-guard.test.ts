import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issue } from "./certificates/certificate.ts";
import { listenApiServer } from "./listen.ts";

/** Asks with the administrator's token: whoever has it is still no web page. */
async function asker(options: Parameters<typeof listenApiServer>[0] = {}) {
  const listening = await listenApiServer(options);
  const token = /token: (.*)/.exec(listening.kubeconfig)?.[1] ?? "";
  const tls = { ca: listening.authority };
  const ask = (
    headers: Record<string, string>,
    { query = "", ...init }: RequestInit & { readonly query?: string } = {},
  ): Promise<Response> =>
    fetch(`${listening.url}/api/v1/namespaces/default/secrets${query}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...headers },
      tls,
      keepalive: false,
    });
  return { listening, ask };
}

test("a request for another name is refused, whatever its credentials", async () => {
  const { listening, ask } = await asker();
  await using _ = listening;
  const port = new URL(listening.url).port;
  for (const host of [
    `localhost:${port}`,
    `127.0.0.1:${port}`,
    "kubernetes.default.svc",
    `[::1]:${port}`,
    "LOCALHOST.",
  ]) {
    expect((await ask({ host })).status).toBe(200);
  }
  for (const host of [`rebound.example:${port}`, "localhost.example", "127.0.0.1.example", "", "a b"]) {
    expect([421, 400]).toContain((await ask({ host })).status);
  }
  const answer = await ask({ host: "rebound.example" });
  expect(await answer.json()).toMatchObject({
    kind: "Status",
    code: 421,
    message: expect.stringContaining("rebound.example"),
  });
});

test("requests of web pages are refused, whatever they ask for", async () => {
  const { listening, ask } = await asker();
  await using _ = listening;
  for (const headers of [
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "same-origin" },
  ]) {
    expect((await ask(headers)).status).toBe(403);
    const upgrade = { ...headers, connection: "Upgrade", upgrade: "websocket" };
    expect((await ask(upgrade)).status).toBe(403);
  }
  expect((await ask({ "sec-fetch-site": "none" })).status).toBe(200);
});

test("a watch over a WebSocket, whose handshake names the server itself, is answered without one, so that the client comes by plain HTTP", async () => {
  const { listening, ask } = await asker();
  await using _ = listening;
  const origin = { origin: listening.url };
  expect((await ask(origin)).status).toBe(200);
  const upgrade = { ...origin, connection: "Upgrade", upgrade: "websocket" };
  const response = await ask(upgrade, { query: "?watch=true" });
  // fabric8's client tries again for half a minute after a status of 5xx, and waits for the end of the body.
  expect([response.status, await response.text()]).toEqual([200, ""]);
});

test("what forms and simple requests of pages send is no body of the API", async () => {
  const { listening, ask } = await asker();
  await using _ = listening;
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
    const body = JSON.stringify({ metadata: { name: "a" } });
    expect((await ask({ "content-type": type }, { method: "POST", body })).status).toBe(415);
  }
});

test("an address that other machines reach needs clients with certificates", async () => {
  for (const host of ["0.0.0.0", "::", "192.0.2.1"]) {
    await expect(listenApiServer({ host })).rejects.toThrow("clients must authenticate by certificates there");
  }
  const people = createAuthority("people");
  const { cert, key } = issue(people, { subject: { name: "ann", groups: ["system:masters"] } });
  await using listening = await listenApiServer({ host: "0.0.0.0", clientAuthority: people.cert });
  const { port } = new URL(listening.url);
  const ask = (tls: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`https://127.0.0.1:${port}/api/v1/namespaces`, { headers, tls: { ca: listening.authority, ...tls } });
  expect((await ask({ cert, key })).status).toBe(200);
  expect((await ask({})).status).toBe(401);
  expect((await ask({ cert, key }, { host: "rebound.example" })).status).toBe(421);
});

test("an address that other machines reach may let them in with tokens, by its own names alone", async () => {
  await using listening = await listenApiServer({ host: "0.0.0.0", remote: true, names: ["API.test"] });
  const { port } = new URL(listening.url);
  const ask = (headers: Record<string, string>, serverName = "localhost"): Promise<Response> =>
    fetch(`https://127.0.0.1:${port}/api/v1/namespaces`, { headers, tls: { ca: listening.authority, serverName } });
  const authorization = `Bearer ${listening.token}`;
  expect((await ask({ authorization })).status).toBe(200);
  expect((await ask({ authorization, host: "api.test" }, "api.test")).status).toBe(200);
  expect((await ask({})).status).toBe(401);
  expect((await ask({ authorization: "Bearer guess" })).status).toBe(401);
  expect((await ask({ authorization, host: "rebound.example" })).status).toBe(421);
});

test("bodies are cut off while they come", async () => {
  const { listening, ask } = await asker();
  await using _ = listening;
  const headers = { "content-type": "application/json" };
  const small = await ask(headers, { method: "POST", body: " ".repeat(3 * 1024 * 1024 + 1) });
  expect(small.status).toBe(413);
  expect(await small.json()).toMatchObject({ kind: "Status", reason: "RequestEntityTooLarge" });
  let sent = 0;
  const body = new ReadableStream({
    async pull(controller) {
      if ((sent += 1) > 100) return controller.close();
      controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
      await Bun.sleep(1);
    },
  });
  const status = await ask(headers, { method: "POST", body }).then(
    (answer) => answer.status,
    () => "cut",
  );
  expect([413, "cut"]).toContain(status);
  expect(sent).toBeLessThan(60);
});

test("a folder with data is its owner's alone, one that was not included", async () => {
  const folder = mkdtempSync(join(tmpdir(), "binnacle-data-"));
  try {
    const data = join(folder, "data");
    const modes = (): string[] =>
      ["", "objects.sqlite", "objects.sqlite-wal", "credentials.json"].map((name) =>
        (statSync(join(data, name)).mode & 0o777).toString(8),
      );
    await using listening = await listenApiServer({ data });
    const body = JSON.stringify({ metadata: { name: "a" } });
    const headers = { "content-type": "application/json" };
    const path = "http://server/api/v1/namespaces/default/secrets";
    await listening.server.fetch(new Request(path, { method: "POST", headers, body }));
    expect(modes()).toEqual(["700", "600", "600", "600"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
