import { expect, test } from "bun:test";
import { fetchOnce } from "#runtime/fetch-session";
import { createAuthority, issue } from "./certificates/certificate.ts";
import { listenWithCertificates } from "./certificate-listener.ts";

test("listenWithCertificates sends headers before a body that has nothing to say yet", async () => {
  const authority = { ...createAuthority("listener"), name: "listener" };
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
    const over = new AbortController();
    const { status, body } = await fetchOnce(
      `https://127.0.0.1:${listener.port}/watch`,
      { signal: over.signal },
      { ca: authority.cert, ...client },
    );
    expect(status).toBe(200);
    over.abort();
    await body?.cancel().catch(() => {});
  } finally {
    await listener.stop();
  }
});
