import { afterEach, expect, test } from "bun:test";
import { createAuthority, issue } from "../certificates/certificate.ts";
import type { Reader } from "../hooks.ts";
import { post } from "./webhook-client.ts";

const authority = createAuthority("webhooks");
const tls = issue(authority, { subject: { name: "webhook" }, hosts: ["127.0.0.1", "localhost"] });
const caBundle = Buffer.from(authority.cert).toString("base64");
const servers: Bun.Server<undefined>[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop(true))));

function start(answer: (request: Request) => Response): string {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch: answer });
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
