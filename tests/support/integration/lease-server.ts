/** A server on loopback with one Lease, for tests of an election's requests. */
import type { Lease, LeaseSpec } from "../../../src/election/lease.ts";
import {
  type Handler,
  type LoopbackServer,
  type Reply,
  sendJson,
  sendStatus,
  startLoopback,
} from "../loopback-server.ts";

export const LEASES_PATH = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
export const LEASE_PATH: string = `${LEASES_PATH}/lock`;

/** Refuses stale writes; `conflicts` makes it refuse that many more. */
export class LeaseServer implements AsyncDisposable {
  readonly server: LoopbackServer;
  lease: Lease | undefined;
  conflicts = 0;
  /** Requests wait while it is set. */
  hold: Promise<void> | undefined;
  /** So many requests are answered with 500, and not carried out. */
  broken = 0;
  #version = 0;
  readonly #watches = new Set<Reply>();

  private constructor(server: LoopbackServer) {
    this.server = server;
  }

  /** @param other answers what is not about Leases. @default nothing does */
  static async start(spec?: LeaseSpec, other: Handler = () => {}): Promise<LeaseServer> {
    const server = await startLoopback(() => {});
    const leases = new LeaseServer(server);
    if (spec !== undefined) leases.put(spec);
    server.handler = async (request, reply) => {
      if (!request.path.startsWith(LEASES_PATH)) return other(request, reply);
      const isWatch = request.query.get("watch") === "true";
      if (!isWatch) await leases.hold;
      if (!isWatch && leases.broken > 0) {
        leases.broken--;
        return sendStatus(reply, 500, { reason: "InternalError" });
      }
      if (request.method === "GET" && isWatch) {
        leases.#watches.add(reply);
        reply.writeHead(200, { "content-type": "application/json" });
        reply.flushHeaders?.();
      } else if (request.method === "GET") {
        if (leases.lease === undefined) sendStatus(reply, 404, { reason: "NotFound" });
        else sendJson(reply, leases.lease);
      } else {
        const body = JSON.parse(request.body) as Lease;
        const isStale = body.metadata.resourceVersion !== leases.lease?.metadata.resourceVersion;
        if (isStale || leases.conflicts-- > 0) sendStatus(reply, 409, { reason: "Conflict" });
        else sendJson(reply, leases.put(body.spec!));
      }
    };
    return leases;
  }

  put(spec: LeaseSpec): Lease {
    const resourceVersion = String(++this.#version);
    const uid = this.lease?.metadata.uid ?? resourceVersion;
    const metadata = { name: "lock", namespace: "default", uid, resourceVersion };
    this.lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
    for (const watch of this.#watches) watch.write(`${JSON.stringify({ type: "MODIFIED", object: this.lease })}\n`);
    return this.lease;
  }

  /** Deletes the Lease, as `kubectl delete lease` does. */
  remove(): void {
    const { lease } = this;
    this.lease = undefined;
    for (const watch of this.#watches) watch.write(`${JSON.stringify({ type: "DELETED", object: lease })}\n`);
  }

  get watches(): number {
    return this.#watches.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }

  /** What was asked since the last call, watches aside. */
  asked(): string[] {
    return this.server.requests
      .splice(0)
      .filter(({ query }) => query.get("watch") === null)
      .map(({ method, path }) => `${method} ${path}`);
  }
}
