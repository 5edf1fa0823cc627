/** Ports on loopback for servers that are stopped and started again on the same one. */

import { createServer } from "node:net";

/**
 * Below the range that the kernel gives to outgoing connections: a client that dials a server which is down for a
 * while would otherwise take its port one day, or be connected to itself.
 */
const first = 20_000;
const last = 32_000;

/** `count` different ports on which nobody listens now. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = first + Math.floor(Math.random() * (last - first));
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
