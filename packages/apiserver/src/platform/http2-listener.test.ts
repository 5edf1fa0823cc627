import { expect, test } from "bun:test";
import { connect } from "node:http2";
import { request } from "node:https";
import { createAuthority, issue } from "../certificates/certificate.ts";
import { listenHttp2 } from "./http2-listener.ts";

const authority = createAuthority("listener");
const tls = issue(authority, { subject: { name: "server" }, hosts: ["127.0.0.1"] });
const SIZE = 8 * 2 ** 20;

/** A body that comes in small parts, as the events of a watch do. */
function parts(): ReadableStream<Uint8Array> {
  let left = SIZE / 2 ** 14;
  return new ReadableStream({
    pull(controller) {
      if (left-- === 0) controller.close();
      else controller.enqueue(new Uint8Array(2 ** 14));
    },
  });
}

test("listenHttp2 sends an answer whole to a client that reads it late, over either protocol", async () => {
  const listener = await listenHttp2({
    host: "127.0.0.1",
    port: 0,
    tls,
    largestBody: 1,
    answer: () => new Response(parts()),
  });
  const url = `https://127.0.0.1:${listener.port}`;
  try {
    const first = await new Promise<number>((resolve, reject) => {
      const sent = request(`${url}/`, { ca: authority.cert }, (response) => {
        let size = 0;
        response.pause();
        setImmediate(() => response.resume());
        response.on("data", (chunk: Buffer) => (size += chunk.length)).on("end", () => resolve(size));
      });
      sent.on("error", reject).end();
    });
    expect(first).toBe(SIZE);
    const session = connect(url, { ca: authority.cert });
    const second = await new Promise<number>((resolve, reject) => {
      let size = 0;
      const stream = session.request({ ":path": "/" });
      stream.on("response", () => setImmediate(() => stream.resume()));
      stream.on("data", (chunk: Buffer) => (size += chunk.length)).on("end", () => resolve(size));
      stream.on("error", reject).end();
    });
    session.close();
    expect(second).toBe(SIZE);
  } finally {
    await listener.stop();
  }
});
