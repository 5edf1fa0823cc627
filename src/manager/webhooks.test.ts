/** Tests webhooks that register themselves, on the embedded API server, which calls them over TLS like any other. */
import { expect, test } from "bun:test";
import { type EmbeddedCluster, startEmbeddedCluster } from "../cluster/index.ts";
import { createTransport, type Transport } from "../kube/transport/transport.ts";
import type { Definition } from "../module/definition.ts";
import { defineWebhook } from "../module/define-webhook.ts";
import { collectDefinitions } from "../module/module-definitions.ts";
import { createLog } from "../observe/log.ts";
import { ConfigMap } from "../resource/builtin/index.ts";
import { eventually } from "../testing/eventually.ts";
import { Denied } from "../webhook/denied.ts";
import { Manager } from "./manager.ts";
import type { WebhooksOptions } from "./webhooks.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

const refusing = (what: string) =>
  defineWebhook({
    for: ConfigMap,
    validate: ({ metadata }) => {
      if (metadata.name.startsWith(what)) throw new Denied(`no ${what}`);
    },
  });

interface Configuration {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
}

class World implements AsyncDisposable {
  readonly lines: string[] = [];
  readonly cluster: EmbeddedCluster;
  readonly transport: Transport;
  readonly #managers: Manager[] = [];

  private constructor(cluster: EmbeddedCluster) {
    this.cluster = cluster;
    this.transport = createTransport(cluster.config);
  }

  static async start(): Promise<World> {
    return new World(await startEmbeddedCluster());
  }

  async manager(webhooks: WebhooksOptions): Promise<Manager> {
    const manager = new Manager({
      cluster: this.cluster.as(),
      log: createLog({ level: "info", format: "json", write: (line) => void this.lines.push(line) }),
      settings: {
        "health-probe-bind-address": "127.0.0.1:0",
        "metrics-bind-address": "127.0.0.1:0",
        "grace-period": 2_000,
      },
      webhooks,
      isolate: false,
    });
    this.#managers.push(manager);
    await manager.start();
    return manager;
  }

  /** Returns what the API server says about a new ConfigMap. */
  async create(name: string): Promise<string> {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `${name}-${crypto.randomUUID()}` } };
    return this.transport.request({ method: "POST", path: MAPS, body }).then(
      () => "created",
      (error: unknown) => String(error),
    );
  }

  async registered(): Promise<readonly Configuration[]> {
    const list = await this.transport.request<{ items: Configuration[] }>({
      method: "GET",
      path: VALIDATING,
    });
    return list.items;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const manager of this.#managers) await manager.stop();
    await this.cluster.stop();
  }
}

function module(name: string, ...definitions: readonly Definition[]) {
  return {
    name,
    file: `controllers/${name}`,
    definitions: collectDefinitions(definitions),
    invoke: <T>(call: () => T) => call(),
    dispose: () => {},
  };
}

const byUrl: WebhooksOptions = {
  address: "127.0.0.1:0",
  certificates: { kind: "memory", hosts: ["127.0.0.1"] },
  registration: { reach: { host: "127.0.0.1" }, mode: "apply", ownNamespaces: [], learning: 0 },
};

test("a webhook is in force with its module, changes with it, and goes with it", async () => {
  await using world = await World.start();
  const manager = await world.manager(byUrl);
  await manager.add(module("policy.ts", refusing("bad")));
  manager.loaded();
  await eventually(async () => expect(await world.create("bad")).toContain("no bad"));
  expect(await world.create("good")).toBe("created");

  const before = performance.now();
  await manager.replace(module("policy.ts", refusing("worse")));
  expect(await world.create("worse")).toContain("no worse");
  expect(await world.create("bad")).toBe("created");
  console.log(`replaced and in force after ${(performance.now() - before).toFixed(1)} ms`);

  await manager.remove("policy.ts");
  expect(await world.registered()).toEqual([]);
  expect(await world.create("worse")).toBe("created");
});

test("a registration by URL is removed when its process ends, and a crash is tidied up by the next one", async () => {
  await using world = await World.start();
  const manager = await world.manager(byUrl);
  await manager.add(module("policy.ts", refusing("bad")));
  manager.loaded();
  await eventually(async () => expect(await world.registered()).toHaveLength(1));
  const [left] = await world.registered();
  await manager.stop();
  expect(await world.registered()).toEqual([]);

  const { metadata } = left!;
  const [host] = metadata.annotations["binnacle.dev/owner"]!.split("/");
  const annotations = { ...metadata.annotations, "binnacle.dev/owner": `${host}/${process.pid}/1` };
  const mark = { ...metadata, annotations, name: "of-a-crash", resourceVersion: undefined, uid: undefined };
  const crashed = { ...left, metadata: mark };
  await world.transport.request({ method: "POST", path: VALIDATING, body: crashed });
  expect(await world.create("bad")).toContain("failed calling webhook");
  await world.manager(byUrl);
  expect(await world.registered()).toEqual([]);
  expect(await world.create("bad")).toBe("created");
});

test("processes that are registered by URL do not get into each other's way, also when one of them follows another", async () => {
  await using world = await World.start();
  const [one, two] = [await world.manager(byUrl), await world.manager({ ...byUrl })];
  await one.add(module("one.ts", refusing("bad")));
  one.loaded();
  await eventually(async () => expect(await world.create("bad")).toContain("no bad"));
  await two.add(module("two.ts", refusing("worse")));
  two.loaded();
  await eventually(async () => expect(await world.create("worse")).toContain("no worse"));
  await world.manager(byUrl);
  expect(await world.registered()).toHaveLength(2);
  expect(await world.create("bad")).toContain("no bad");
  await one.stop();
  expect(await world.registered()).toHaveLength(1);
});

test("health and metrics tell of the certificate and of the registration", async () => {
  await using world = await World.start();
  const manager = await world.manager(byUrl);
  await manager.add(module("policy.ts", refusing("bad")));
  manager.loaded();
  await eventually(async () => expect(await world.registered()).toHaveLength(1));
  const ready = await (await fetch(`http://${manager.address("health-probe")}/readyz?verbose`)).text();
  expect(ready).toMatch(/\[ \]webhook-certificate serving expires 20.*Z, authority expires 20.*Z/);
  expect(ready).toContain("[ ]webhook-registration 1 registered");
  const metrics = await (await fetch(`http://${manager.address("metrics")}/metrics`)).text();
  expect(metrics).toContain("certwatcher_read_certificate_total 0");
  expect(metrics).toContain("certwatcher_read_certificate_errors_total 0");
  expect(metrics).toMatch(/binnacle_webhook_certificate_expiry_timestamp_seconds\{certificate="serving"\} \d+/);
  expect(metrics).toMatch(/binnacle_webhook_certificate_expiry_timestamp_seconds\{certificate="authority"\} \d+/);
});

test("a process without webhooks makes no certificate and listens nowhere", async () => {
  await using world = await World.start();
  const secret = { namespace: "default", name: "hook-webhook-tls" };
  const manager = await world.manager({
    ...byUrl,
    certificates: { kind: "secret", secret, hosts: ["hook.default.svc"] },
    registration: {
      reach: { service: { namespace: "default", name: "hook", port: 443 } },
      mode: "apply",
      ownNamespaces: ["default"],
    },
  });
  manager.loaded();
  await Bun.sleep(50);
  expect(manager.address("webhook")).toBeUndefined();
  const secrets = await world.transport.request<{ items: unknown[] }>({
    method: "GET",
    path: "/api/v1/namespaces/default/secrets",
  });
  expect(secrets.items).toEqual([]);
});
