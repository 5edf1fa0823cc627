import { expect, test } from "bun:test";
import { connect } from "node:tls";
import { END_HEADERS, END_STREAM, frame } from "../../../tests/support/http2-frames.ts";
import { request } from "node:https";
import type { Connection } from "./authentication/identify.ts";
import { createAuthority, issue } from "./certificates/certificate.ts";
import { listenWithCertificates } from "./certificate-listener.ts";

test("listenWithCertificates sends headers before a body that has nothing to say yet", async () => {
  const authority = createAuthority("listener");
  const tls = issue(authority, { subject: { name: "server" }, hosts: ["127.0.0.1"] });
  const listener = await listenWithCertificates({
    host: "127.0.0.1",
    port: 0,
    tls,
    clientAuthority: authority.cert,
    answer: () => Promise.resolve(new Response(new ReadableStream<Uint8Array>())),
  });
  try {
    const client = issue(authority, { subject: { name: "jane" } });
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    const url = `https://127.0.0.1:${listener.port}/watch`;
    const sent = request(url, { ca: authority.cert, ...client }, ({ statusCode }) => resolve(statusCode));
    sent.on("error", reject).end();
    expect(await promise).toBe(200);
    sent.destroy();
  } finally {
    await listener.stop();
  }
});

test("a connection that opens streams without end, and takes no answers, has 1,000 of them and is closed", async () => {
  const authority = createAuthority("listener");
  const tls = issue(authority, { subject: { name: "server" }, hosts: ["127.0.0.1"] });
  let answered = 0;
  const first = Promise.withResolvers<void>();
  const listener = await listenWithCertificates({
    host: "127.0.0.1",
    port: 0,
    tls,
    clientAuthority: authority.cert,
    answer: () => {
      answered++;
      first.resolve();
      return Promise.resolve(new Response("x".repeat(1_000)));
    },
  });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const socket = connect({ port: listener.port, host: "127.0.0.1", ca: authority.cert, ALPNProtocols: ["h2"] });
  try {
    // SETTINGS_INITIAL_WINDOW_SIZE is 0; the block says GET https / of the authority `x`.
    const settings = frame("settings", Uint8Array.of(0, 4, 0, 0, 0, 0));
    const block = Uint8Array.of(0x82, 0x87, 0x84, 0x41, 1, 0x78);
    const streams = Array.from({ length: 20_000 }, (_, index) =>
      frame("headers", block, { flags: END_STREAM | END_HEADERS, stream: 2 * index + 1 }),
    );
    socket.on("error", () => {});
    socket.on("data", () => {});
    socket.on("close", () => resolve());
    socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), settings, streams[0]!]));
    await first.promise;
    socket.write(Buffer.concat(streams.slice(1)));
    await closed;
    expect(answered).toBeLessThanOrEqual(1_000);
  } finally {
    socket.destroy();
    await listener.stop();
  }
});

test("a client is the user of its certificate, or one whose certificate is of another authority", async () => {
  const [authority, other] = [createAuthority("listener"), createAuthority("other")];
  const seen: Connection[] = [];
  const listener = await listenWithCertificates({
    host: "127.0.0.1",
    port: 0,
    tls: issue(authority, { subject: { name: "server" }, hosts: ["127.0.0.1"] }),
    clientAuthority: authority.cert,
    answer: (_, connection) => {
      seen.push(connection);
      return Promise.resolve(new Response());
    },
  });
  try {
    const subject = { name: "jane", groups: ["a", "b"] };
    for (const client of [issue(authority, { subject }), issue(other, { subject }), {}]) {
      const url = `https://127.0.0.1:${listener.port}/`;
      await new Promise((resolve, reject) => {
        request(url, { agent: false, ca: authority.cert, ...client }, resolve)
          .on("error", reject)
          .end();
      });
    }
    expect(seen[0]?.certificate).toMatchObject({ username: "jane", groups: ["a", "b", "system:authenticated"] });
    expect(seen.slice(1)).toEqual([{ isForeign: true }, { isForeign: false }]);
  } finally {
    await listener.stop();
  }
});
