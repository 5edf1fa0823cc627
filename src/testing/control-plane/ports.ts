/** Finds ports on the loopback for servers that are stopped and started again on the same port. */

import { createServer } from "node:net";

/**
 * These ports are below the kernel's range for outgoing connections: a client that dials a stopped server could
 * otherwise get that server's port, or be connected to itself.
 */
const first = 20_000;
const last = 32_000;

/** Returns `count` different ports on which nobody listens now. */
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
