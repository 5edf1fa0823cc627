import { expect, test } from "bun:test";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { TcpProxy } from "./tcp-proxy.ts";

test("TcpProxy keeps the order of what is late when nothing is late any more", async () => {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer((socket) => accepted.resolve(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await using proxy = await TcpProxy.start(`https://127.0.0.1:${port}`);
  const client = connect(Number(new URL(proxy.url).port), "127.0.0.1");
  let received = "";
  client.on("data", (bytes: Buffer) => (received += bytes.toString()));
  const answering = await accepted.promise;
  proxy.inject({ delay: 100 });
  answering.write("first ");
  await Bun.sleep(20);
  proxy.inject();
  answering.write("second");
  const deadline = performance.now() + 5_000;
  while (received.length < 12 && performance.now() < deadline) await Bun.sleep(5);
  expect(received).toBe("first second");
  client.destroy();
  server.close();
});
