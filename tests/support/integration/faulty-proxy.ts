/** A proxy in front of a real API server that sees every request and can delay, cut and expire watches. */
import { once } from "node:events";
import type { ControlPlane } from "../../../scripts/controlplane/controlplane.ts";
import type { ClusterConfig } from "../../../src/kube/config/cluster-config.ts";
import {
  type LoopbackRequest,
  type LoopbackServer,
  type Reply,
  sendJson,
  sendStatus,
  startLoopback,
} from "../loopback-server.ts";

/** A request that was answered, watches not included. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly code: number;
}

export type Fault =
  | { readonly kind: "refuse"; readonly code: number; readonly retryAfter?: number }
  /** Carried out, and the answer lost on its way. */
  | { readonly kind: "lose" }
  /** A watch that is ended in order as soon as it is open. */
  | { readonly kind: "close" };

export class FaultyProxy implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  /** Milliseconds by which watches are behind. */
  delay = 0;
  /** The watches that are behind. */
  delayed = /./;
  /** Paths that may not be read. */
  forbidden: RegExp | undefined;
  /** What becomes of a request instead of what should; `undefined` lets it through. */
  fault: (request: LoopbackRequest) => Fault | undefined = () => undefined;
  /** What happens before a request reaches the server. */
  before: (request: LoopbackRequest) => Promise<void> = async () => {};
  /** Requests that were refused or lost, as `METHOD path` with `watch ` before that of a watch. */
  readonly faults: string[] = [];
  readonly #plane: Pick<ControlPlane, "request">;
  readonly #watches = new Set<AbortController>();
  #server!: LoopbackServer;
  #expire = false;

  private constructor(plane: Pick<ControlPlane, "request">) {
    this.#plane = plane;
  }

  static async start(plane: Pick<ControlPlane, "request">): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(plane);
    proxy.#server = await startLoopback((request, reply) => proxy.#forward(request, reply));
    return proxy;
  }

  /** Clients of this cluster go through the proxy, as its administrator. */
  get cluster(): ClusterConfig {
    return this.#server.config;
  }

  /** Writes of objects other than Events, as `METHOD path`. */
  get writes(): readonly string[] {
    return this.seen
      .filter(({ method, path }) => method !== "GET" && !path.includes("/events"))
      .map(({ method, path }) => `${method} ${path}`);
  }

  count(method: string, code?: number): number {
    return this.seen.filter((one) => one.method === method && (code === undefined || one.code === code)).length;
  }

  /** Cuts every connection; with `expire` the versions of watches are too old afterwards, until the next cut. */
  cut(options: { readonly expire?: boolean } = {}): void {
    this.#expire = options.expire === true;
    for (const watch of this.#watches) watch.abort();
    this.#server.cut();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await this.#server[Symbol.asyncDispose]();
  }

  async #forward(request: LoopbackRequest, reply: Reply): Promise<void> {
    try {
      const isWatch = request.query.get("watch") === "true" || request.query.get("follow") === "true";
      const fault = this.fault(request);
      if (fault !== undefined) {
        await this.#break(fault, { request, reply, isWatch });
      } else if (request.method === "GET" && this.forbidden?.test(request.path)) {
        const message = `${request.path} is forbidden by the test`;
        const status = { kind: "Status", apiVersion: "v1", status: "Failure", code: 403, reason: "Forbidden", message };
        sendJson(reply, status, { code: 403 });
      } else if (isWatch) {
        await this.#watch(request, reply);
      } else {
        await this.before(request);
        await this.#short(request, reply);
      }
    } catch {
      reply.destroy(); // what broke on the way to the server breaks on the way back
    }
  }

  async #break(fault: Fault, on: { request: LoopbackRequest; reply: Reply; isWatch: boolean }): Promise<void> {
    const { request, reply, isWatch } = on;
    this.faults.push(`${isWatch ? "watch " : ""}${request.method} ${request.path}`);
    switch (fault.kind) {
      case "refuse": {
        const { code, retryAfter } = fault;
        const headers: Record<string, string> = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
        sendStatus(reply, code, { reason: "Fault", message: `refused with ${code} by the proxy`, headers });
        return;
      }
      case "lose":
        if (!isWatch) await (await this.#send(request)).text();
        reply.destroy();
        return;
      case "close":
        reply.writeHead(200, { "content-type": "application/json" });
        reply.end();
    }
  }

  #send(request: LoopbackRequest, signal?: AbortSignal): Promise<Response> {
    const { method, path, query, body } = request;
    const headers = new Headers();
    for (let index = 0; index < request.raw.length; index += 2) {
      const name = request.raw[index]!.toLowerCase();
      if (/^(content-type|accept|impersonate-.*)$/.test(name)) headers.append(name, request.raw[index + 1]!);
    }
    const init: RequestInit = { method, headers };
    if (body !== "") init.body = body;
    if (signal !== undefined) init.signal = signal;
    return this.#plane.request(query.size === 0 ? path : `${path}?${query}`, init);
  }

  async #short(request: LoopbackRequest, reply: Reply): Promise<void> {
    const response = await this.#send(request);
    const answer = await response.bytes();
    const { method, path, query, body } = request;
    this.seen.push({ method, path, query, body, code: response.status });
    reply.writeHead(response.status, { "content-type": response.headers.get("content-type") ?? "application/json" });
    reply.end(answer);
  }

  async #watch(request: LoopbackRequest, reply: Reply): Promise<void> {
    if (this.#expire) {
      const status = { kind: "Status", apiVersion: "v1", status: "Failure", code: 410, reason: "Expired" };
      return sendJson(reply, status, { code: 410 });
    }
    const stop = new AbortController();
    this.#watches.add(stop);
    reply.on("close", () => stop.abort());
    try {
      const response = await this.#send(request, stop.signal);
      reply.writeHead(response.status, { "content-type": "application/json" });
      reply.flushHeaders(); // over HTTP/1.1 they would wait for the first event
      // Read at once and sent at their time, in their order.
      let sent = Promise.resolve();
      for await (const chunk of response.body!) {
        const due = performance.now() + (this.delayed.test(request.path) ? this.delay : 0);
        sent = sent.then(async () => {
          const wait = due - performance.now();
          if (wait > 0) await Bun.sleep(wait);
          if (!stop.signal.aborted && !reply.write(chunk)) await once(reply, "drain", { signal: stop.signal });
        });
        sent.catch(() => {}); // ends below
      }
      await sent;
      reply.end();
    } finally {
      this.#watches.delete(stop);
      if (stop.signal.aborted) reply.destroy();
    }
  }
}
