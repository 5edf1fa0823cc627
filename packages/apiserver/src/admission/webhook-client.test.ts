import { afterEach, describe, expect, test } from "bun:test";
import { type Certificate, createAuthority, issue } from "../certificates/certificate.ts";
import type { Reader } from "../hooks.ts";
import { post } from "./webhook-client.ts";

const authority = createAuthority("webhooks");
const tls = issue(authority, { subject: { name: "webhook" }, hosts: ["127.0.0.1", "localhost"] });
const caBundle = Buffer.from(authority.cert).toString("base64");
const servers: Bun.Server<undefined>[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop(true))));

function start(answer: (request: Request) => Response, certificate: Certificate = tls): string {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", tls: certificate, fetch: answer });
  servers.push(server);
  return `https://127.0.0.1:${server.port}`;
}

const send = (url: string): Promise<unknown> =>
  post({ url, caBundle }, { review: true }, { reader: {} as Reader, timeout: 10 }).catch(
    (error: Error) => error.message,
  );

test.each([301, 302, 303, 307, 308])(
  "a webhook that redirects with %d is refused, and nobody else is asked",
  async (status) => {
    let asked = 0;
    const other = start(() => (asked++, Response.json({ stolen: true })));
    const url = start(() => new Response(null, { status, headers: { location: `${other}/elsewhere` } }));
    expect(await send(`${url}/validate`)).toBe(
      `the server responded with the status code ${status} but did not return more information`,
    );
    expect(asked).toBe(0);
  },
);

test("a webhook whose answer does not end is given up", async () => {
  const piece = new Uint8Array(1024 * 1024).fill(0x20);
  let sent = 0;
  const url = start(
    () => new Response(new ReadableStream({ pull: (controller) => (sent++, controller.enqueue(piece)) })),
  );
  expect(await send(`${url}/validate`)).toMatch(/^Post ".*": http: response body too large$/);
  expect(sent).toBeLessThan(64);
});

describe("a caBundle", () => {
  const between = createAuthority("between", { issuer: authority });
  const hosts = ["127.0.0.1"];
  const own = issue(between, { subject: { name: "webhook" }, hosts });
  const shown = { cert: own.cert + between.cert, key: own.key };
  const send = (certificate: Certificate, anchors: readonly Certificate[]): Promise<unknown> => {
    const url = start(() => Response.json({ admitted: true }), certificate);
    const bundle = Buffer.from(anchors.map(({ cert }) => cert).join("")).toString("base64");
    return post({ url, caBundle: bundle }, {}, { reader: {} as Reader, timeout: 10 }).catch((error: Error) =>
      error.message.replace(/^.*: x509: /, ""),
    );
  };

  test.each([
    ["the root", [authority]],
    ["an intermediate", [between]],
    ["the webhook's own certificate", [own]],
    ["the webhook's own certificate among others", [createAuthority("other"), own]],
  ])("may hold %s", async (_, anchors) => {
    expect(await send(shown, anchors)).toEqual({ admitted: true });
  });

  const unknown = "certificate signed by unknown authority";
  const year = 365 * 24 * 60 * 60 * 1000;
  const expired = issue(between, { subject: { name: "webhook" }, hosts, until: Date.now() - year });
  const elsewhere = issue(between, { subject: { name: "webhook" }, hosts: ["127.0.0.2"] });
  const client = issue(between, { subject: { name: "webhook" } });
  const below = issue(own, { subject: { name: "webhook" }, hosts });
  test.each([
    ["another authority of the same name", shown, [createAuthority("webhooks")], unknown],
    ["another certificate of the same authority", shown, [elsewhere], unknown],
    ["one that has expired", expired, [expired], "certificate has expired or is not yet valid"],
    ["one for another host", elsewhere, [elsewhere], "certificate is not valid for 127.0.0.1"],
    ["a client's", client, [client], "certificate specifies an incompatible key usage"],
    ["what has issued the certificate and is no authority", { ...below, cert: below.cert + own.cert }, [own], unknown],
  ])("trusts nobody by %s", async (_, certificate, anchors, why) => {
    expect(await send(certificate, anchors)).toBe(why);
  });
});
