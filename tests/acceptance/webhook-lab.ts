/** What tests of webhooks need around a real API server: a Service's address, and a load of admissions. */
import { createConnection, createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import type { Cluster } from "../support/cluster.ts";
import { type Operator } from "../support/binary.ts";
import { until } from "../support/until.ts";

/** A replica behind the address. */
export interface Backend {
  readonly port: number;
  readonly operator: Operator;
}

/** Milliseconds between two readiness checks of replicas; kubelet's take seconds, for which the delay at the end is made. */
const LOOK_EVERY = 100;

/** Forwards connections to ready replicas in turn, like the address of a Service: an established connection stays where it is. */
export class ServiceAddress implements AsyncDisposable {
  readonly port: number;
  readonly backends: Backend[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #looking: ReturnType<typeof setInterval>;
  #ready: readonly Backend[] = [];
  #next = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.#looking = setInterval(() => void this.look(), LOOK_EVERY);
    server.on("connection", (client: Socket) => this.#pass(client));
  }

  static async open(): Promise<ServiceAddress> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new ServiceAddress(server);
  }

  async look(): Promise<number> {
    const states = await Promise.all(this.backends.map(async (one) => (await one.operator.health("/readyz")).status));
    this.#ready = this.backends.filter((_, index) => states[index] === 200);
    return this.#ready.length;
  }

  #pass(client: Socket): void {
    const backend = this.#ready[this.#next++ % this.#ready.length];
    client.on("error", () => {});
    if (backend === undefined) return void client.destroy();
    const server = createConnection(backend.port, "127.0.0.1");
    for (const [end, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(end);
      end.setNoDelay(true);
      end.on("error", () => other.destroy());
      end.on("close", () => {
        this.#sockets.delete(end);
        other.destroy();
      });
      end.pipe(other);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#looking);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }
}

const MAPS = "/api/v1/namespaces/default/configmaps?dryRun=All";

/** The number of parallel requests: kube-apiserver keeps 25 connections to a webhook, and closes additional ones after use. */
const MOST_AT_ONCE = 20;

/** Creates objects at a steady rate, each of which a webhook must change; nothing is stored. */
export class AdmissionLoad {
  readonly failures: string[] = [];
  answered = 0;
  #due = 0;
  #sent = 0;
  readonly #cluster: Cluster;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #running = new Set<Promise<void>>();
  readonly #began = performance.now();

  constructor(cluster: Cluster, perSecond: number) {
    this.#cluster = cluster;
    this.#timer = setInterval(() => {
      // A busy machine sends fewer requests, but never a queue of them.
      const due = Math.floor(((performance.now() - this.#began) / 1_000) * perSecond);
      for (; this.#due < due; this.#due++) {
        if (this.#running.size >= MOST_AT_ONCE) continue;
        this.#sent++;
        const one = this.#send().finally(() => this.#running.delete(one));
        this.#running.add(one);
      }
    }, 5);
  }

  /** Resolves when every request has its response. */
  async stop(): Promise<{ readonly sent: number; readonly failed: number; readonly perSecond: number }> {
    clearInterval(this.#timer);
    const seconds = (performance.now() - this.#began) / 1_000;
    await Promise.all(this.#running);
    return { sent: this.#sent, failed: this.failures.length, perSecond: Math.round(this.#sent / seconds) };
  }

  async #send(): Promise<void> {
    const wrong = await admit(this.#cluster);
    if (wrong === undefined) this.answered++;
    else this.failures.push(`${((performance.now() - this.#began) / 1_000).toFixed(2)} s: ${wrong}`);
  }
}

/** Has one object admitted. @returns what was wrong; `undefined` when the webhook was called and allowed it. */
export async function admit(cluster: Cluster, name = "load-"): Promise<string | undefined> {
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: name, labels: { app: "load" } } };
  try {
    const response = await cluster.plane.request(MAPS, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) return `${response.status} ${text}`;
    return text.includes('"seen":"yes"') ? undefined : "the webhook was not asked";
  } catch (error) {
    return String(error);
  }
}

/** The module with the webhooks. */
export const POLICY = `
import { defineWebhook, Denied } from "binnacle";
import { ConfigMap } from "binnacle/resources";
export const policy = defineWebhook({
  for: ConfigMap,
  objectSelector: { matchLabels: { app: "load" } },
  default(draft) { draft.metadata.labels = { ...draft.metadata.labels, seen: "yes" }; },
  validate({ metadata }) {
    if (metadata.generateName === "bad-") throw new Denied("bad maps are refused", { code: 422, fields: { "metadata.generateName": "is bad" } });
  },
});`;

/** Waits until the webhook is called. @returns the milliseconds. */
export async function untilAsked(cluster: Cluster, within = 20_000): Promise<number> {
  const began = performance.now();
  let last: string | undefined;
  await until(async () => (last = await admit(cluster)) === undefined, {
    within,
    what: () => `asked: ${last}`,
    every: 10,
  });
  return performance.now() - began;
}
