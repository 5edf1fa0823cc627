import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listenApiServer } from "binnacle-apiserver";
import { type EmbeddedCluster, startEmbeddedCluster } from "../embedded-cluster.ts";
import { startClusterControllers } from "../start-controllers.ts";
import type { Owned } from "./object-feed.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

class Caller {
  readonly #cluster: Pick<EmbeddedCluster, "apiServer">;

  constructor(cluster: Pick<EmbeddedCluster, "apiServer">) {
    this.#cluster = cluster;
  }

  async call(method: string, path: string, body?: object): Promise<Owned> {
    return (await (await this.#send(method, path, body)).json()) as Owned;
  }

  #send(method: string, path: string, body?: object): Promise<Response> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const request = new Request(`http://embedded${path}`, {
      method,
      headers: { "content-type": type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return this.#cluster.apiServer.fetch(request);
  }

  make(name: string, metadata: object = {}): Promise<Owned> {
    return this.call("POST", configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata } });
  }

  async has(path: string): Promise<boolean> {
    return (await this.#send("GET", path)).status !== 404;
  }

  async until(what: string, holds: () => Promise<boolean>, every = 2): Promise<void> {
    for (const deadline = performance.now() + 5_000; !(await holds()); await Bun.sleep(every)) {
      if (performance.now() > deadline) throw new Error(`not within 5 s: ${what}`);
    }
  }
}

function by({ apiVersion, kind, metadata: { name, uid } }: Owned): object {
  return { apiVersion, kind, name, uid, blockOwnerDeletion: true };
}

let cluster: EmbeddedCluster;
let caller: Caller;

beforeAll(async () => {
  cluster = await startEmbeddedCluster({ pods: false });
  caller = new Caller(cluster);
});

afterAll(() => cluster?.stop());

describe("garbageCollector", () => {
  test("collects two hundred dependents of one owner", async () => {
    const owner = await caller.make("many");
    await Promise.all(
      Array.from({ length: 200 }, (_, index) => caller.make(`many-${index}`, { ownerReferences: [by(owner)] })),
    );
    await caller.call("DELETE", `${configMaps}/many`);
    const isEmpty = async (): Promise<boolean> => {
      const { items } = (await caller.call("GET", configMaps)) as unknown as { readonly items: readonly Owned[] };
      return items.every(({ metadata }) => !metadata.name.startsWith("many-"));
    };
    await caller.until("all collected", isEmpty, 20);
  });

  test("lets an owner go that is to orphan its dependents at first, and then to wait for them", async () => {
    await caller.make("undecided"); // no dependent exists whose change would get it checked again
    // Both happen before the collector checks the object.
    const policies = ["Orphan", "Foreground"];
    await Promise.all(
      policies.map((propagationPolicy) => caller.call("DELETE", `${configMaps}/undecided`, { propagationPolicy })),
    );
    await caller.until("the owner gone", async () => !(await caller.has(`${configMaps}/undecided`)));
  });

  test("leaves what is owned by a kind that is not served, and collects it when the kind came without the owner", async () => {
    const apiVersion = "things.example.com/v1";
    const owner = { apiVersion, kind: "Thing", name: "never", uid: "00000000-0000-4000-8000-000000000000" };
    await caller.make("of-a-thing", { ownerReferences: [owner] });
    await Bun.sleep(100);
    expect(await caller.has(`${configMaps}/of-a-thing`)).toBe(true);
    await caller.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition("Namespaced"));
    await caller.until("collected", async () => !(await caller.has(`${configMaps}/of-a-thing`)));
  });

  test("custom objects own and are owned, and their definition may go", async () => {
    const things = "/apis/things.example.com/v1/namespaces/default/things";
    await caller.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition("Namespaced"));
    await caller.until("served", () => caller.has(things));
    const thing = (metadata: object) =>
      caller.call("POST", things, { apiVersion: "things.example.com/v1", kind: "Thing", metadata });
    const [one, other] = [await thing({ name: "one" }), await thing({ name: "other" })];
    const both = [by(one), by(other)];
    await thing({ name: "child", ownerReferences: both });
    await caller.make("config", { ownerReferences: both });
    await caller.call("DELETE", `${things}/one`);
    const owners = async (path: string) => (await caller.call("GET", path)).metadata.ownerReferences ?? [];
    await caller.until("one owner left", async () => {
      return (await owners(`${things}/child`)).length === 1 && (await owners(`${configMaps}/config`)).length === 1;
    });
    await caller.call("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.things.example.com");
    await caller.until("the definition is gone", async () => !(await caller.has(things)));
  });

  test("without a feed it watches the built-in kinds", async () => {
    await using server = await listenApiServer();
    const { config } = cluster;
    const elsewhere = { ...config, server: server.url, answer: (request: Request) => server.server.fetch(request) };
    const controllers = await startClusterControllers(elsewhere, { pods: false });
    try {
      const other = new Caller({ apiServer: server.server });
      const owner = await other.make("owner");
      await other.make("child", { ownerReferences: [by(owner)] });
      await other.call("DELETE", `${configMaps}/owner`);
      await other.until("collected", async () => !(await other.has(`${configMaps}/child`)));
    } finally {
      await controllers.stop();
    }
  });

  test("goes on after a restart with what waited before it", async () => {
    const data = mkdtempSync(join(tmpdir(), "binnacle-gc-"));
    try {
      const first = await startEmbeddedCluster({ data, pods: false });
      const before = new Caller(first);
      const owner = await before.make("owner");
      await before.make("child", { ownerReferences: [by(owner)], finalizers: ["example.com/hold"] });
      await before.call("DELETE", `${configMaps}/owner`, {
        apiVersion: "v1",
        kind: "DeleteOptions",
        propagationPolicy: "Foreground",
      });
      await first.stop();
      await using second = await startEmbeddedCluster({ data, pods: false });
      const after = new Caller(second);
      expect(await after.has(`${configMaps}/owner`)).toBe(true);
      await after.call("PATCH", `${configMaps}/child`, { metadata: { finalizers: null } });
      await after.until("both gone", async () => {
        return !(await after.has(`${configMaps}/owner`)) && !(await after.has(`${configMaps}/child`));
      });
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  });
});

function definition(scope: string): object {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.things.example.com" },
    spec: {
      group: "things.example.com",
      scope,
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}
