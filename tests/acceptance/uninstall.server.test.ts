/** Every example is taken off a real cluster while others write to it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { everyKind } from "../../src/cli/every-kind.ts";
import { loadKubeconfig } from "../../src/kube/config/kubeconfig.ts";
import { listMetadata } from "../../src/kube/api/list.ts";
import { collectionPath } from "../../src/kube/api/mapper.ts";
import { createTransport } from "../../src/kube/transport/transport.ts";
import { keyString } from "../../src/resource/meta.ts";
import { Bench, type Operator } from "../support/binary.ts";
import { available, Cluster, type Json } from "../support/cluster.ts";
import { until } from "../support/until.ts";

const EXAMPLES = ["guestbook", "database", "secret-mirror", "pod-logger", "image-policy", "report"] as const;
const CORE = "/api/v1/namespaces/default";
const DEMO = "/apis/demo.binnacle.dev/v1/namespaces/default";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GUESTBOOKS = 20;

/** Writes of people who know nothing of what is being uninstalled: twenty a second, as far as the server keeps up. */
class Load implements AsyncDisposable {
  readonly refused: string[] = [];
  readonly #cluster: Cluster;
  readonly #done: Promise<void>;
  #stopped = false;
  writes = 0;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#done = this.#run();
  }

  async #run(): Promise<void> {
    for (let turn = 0; !this.#stopped; turn++) {
      await this.#write(turn).catch((error: Error) => {
        // Whoever writes to an object of a kind that goes is told so.
        if (!/: 404 |being deleted|: 405 /.test(error.message)) this.refused.push(error.message);
      });
      this.writes++;
      await Bun.sleep(50);
    }
  }

  async #write(turn: number): Promise<unknown> {
    const cluster = this.#cluster;
    switch (turn % 4) {
      case 0:
        return cluster.patch(`${DEMO}/guestbooks/g${turn % GUESTBOOKS}`, { spec: { message: `turn ${turn}` } });
      case 1:
        return cluster.patch(`${CORE}/secrets/login`, { stringData: { turn: String(turn) } });
      case 2:
        return cluster.patch(`${CORE}/configmaps/busy`, { data: { turn: String(turn) } });
      default: {
        const containers = [{ name: "x", image: "registry.k8s.io/pause:3.10" }];
        const metadata = { name: `load-${turn}` };
        await cluster.send("POST", `${CORE}/pods`, {
          body: { apiVersion: "v1", kind: "Pod", metadata, spec: { containers } },
        });
        return cluster.send("DELETE", `${CORE}/pods/load-${turn}?gracePeriodSeconds=0`);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    await this.#done;
  }
}

describe.skipIf(!available)("uninstall", () => {
  let cluster: Cluster;
  let bench: Bench;
  let operator: Operator;

  beforeAll(async () => {
    [cluster, bench] = await Promise.all([Cluster.start(), Bench.create()]);
    for (const name of EXAMPLES) await bench.example(name);
    const namespace = (name: string) =>
      cluster.send("POST", "/api/v1/namespaces", { body: { apiVersion: "v1", kind: "Namespace", metadata: { name } } });
    await Promise.all(["binnacle-system", "team-a", "team-b"].map(namespace));
    const election = [
      "--leader-elect",
      "--leader-election-id",
      "binnacle",
      "--leader-election-namespace",
      "binnacle-system",
    ];
    const webhooks = ["--register-webhooks", "--webhook-bind-address", "127.0.0.1:0", "--webhook-host", "127.0.0.1"];
    operator = await bench.run({ kubeconfig: cluster.kubeconfig, args: ["--install-crds", ...election, ...webhooks] });
    await operator.ready();
  }, 180_000);

  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    await bench?.[Symbol.asyncDispose]();
    await cluster?.[Symbol.asyncDispose]();
  });

  const uninstall = (...args: string[]) =>
    bench.exec("uninstall", ...args, "--name", "binnacle", "--yes", "--kubeconfig", cluster.kubeconfig);
  const make = (path: string, apiVersion: string, kind: string, body: object) =>
    cluster.send("POST", path, { body: { apiVersion, kind, ...body } });

  /** What is of others: everything with its UID, and with its version where nobody writes to it. */
  async function makeForeign(): Promise<readonly string[]> {
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await make(CRDS, "apiextensions.k8s.io/v1", "CustomResourceDefinition", {
      metadata: { name: "things.other.dev" },
      spec: {
        group: "other.dev",
        scope: "Namespaced",
        names: { kind: "Thing", plural: "things" },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    });
    const things = "/apis/other.dev/v1/namespaces/default/things";
    await until(() => cluster.serves(things), { what: "things are served", within: 90_000 });
    await make(things, "other.dev/v1", "Thing", { metadata: { name: "theirs", finalizers: ["other.dev/thing"] } });
    await make(things, "other.dev/v1", "Thing", { metadata: { name: "held", finalizers: ["other.dev/thing"] } });
    await cluster.send("DELETE", `${things}/held`);
    const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    await make(`${roles}/roles`, "rbac.authorization.k8s.io/v1", "Role", { metadata: { name: "binnacle" }, rules: [] });
    await make(`${CORE}/configmaps`, "v1", "ConfigMap", { metadata: { name: "theirs" } });
    // Of the name that copies of the secret have.
    await make("/api/v1/namespaces/team-b/secrets", "v1", "Secret", { metadata: { name: "unrelated" } });
    return [
      `${CRDS}/things.other.dev`,
      `${things}/theirs`,
      `${things}/held`,
      `${roles}/roles/binnacle`,
      `${CORE}/configmaps/theirs`,
      "/api/v1/namespaces/team-b/secrets/unrelated",
    ];
  }

  const versions = (paths: readonly string[]): Promise<readonly (readonly (string | undefined)[])[]> =>
    Promise.all(
      paths.map(async (path) => {
        const metadata = (await cluster.get(path))?.metadata;
        return [path, metadata?.uid, path.startsWith(CRDS) ? "" : metadata?.resourceVersion];
      }),
    );

  /** Objects of any kind that are being deleted, and those that carry a finalizer of the examples. */
  async function hanging(): Promise<readonly string[]> {
    const transport = createTransport(await loadKubeconfig({ kubeconfig: cluster.kubeconfig, env: {} }));
    const leftovers: string[] = [];
    try {
      for (const { resource, namespaced, isStored } of await everyKind(transport)) {
        if (!isStored) continue;
        const { apiVersion, kind, group, version, plural = "" } = resource;
        const mapping = { apiVersion, kind, group, version, plural, namespaced, subresources: [] };
        await listMetadata(transport, {
          path: collectionPath(mapping, ""),
          type: resource,
          onPage(page) {
            for (const { metadata } of page) {
              const { finalizers = [], deletionTimestamp } = metadata;
              if (deletionTimestamp === undefined && !finalizers.some((name) => name.includes("binnacle.dev")))
                continue;
              leftovers.push(`${kind} ${keyString(metadata)} ${finalizers.join()}`);
            }
          },
        });
      }
    } finally {
      await transport.close();
    }
    return leftovers;
  }

  /** There is no kubelet: the pods of a Job end as the test says. */
  async function endBackup(database: string): Promise<void> {
    const pods = `${CORE}/pods?labelSelector=job-name=${database}-last-backup`;
    const { items = [] } = await cluster.exists(pods, ({ items }) => items!.length > 0, 60_000);
    const type = "application/merge-patch+json";
    for (const { metadata } of items)
      await cluster.send("PATCH", `${CORE}/pods/${metadata.name}/status`, {
        body: { status: { phase: "Succeeded" } },
        type,
      });
  }

  test("every example goes under load: nothing hangs, and nothing of others is gone", async () => {
    const foreign = await makeForeign();
    await make(`${CORE}/configmaps`, "v1", "ConfigMap", { metadata: { name: "busy" } });
    const annotations = { "mirror.binnacle.dev/to": "team-a,team-b" };
    await make(`${CORE}/secrets`, "v1", "Secret", {
      metadata: { name: "login", annotations },
      stringData: { turn: "0" },
    });
    const own = "demo.binnacle.dev/v1";
    for (let index = 0; index < GUESTBOOKS; index++)
      await make(`${DEMO}/guestbooks`, own, "Guestbook", {
        metadata: { name: `g${index}` },
        spec: { message: "x", replicas: 1 },
      });
    for (const name of ["main", "leaving"])
      await make(`${DEMO}/databases`, own, "Database", { metadata: { name }, spec: {} });
    await make(`${DEMO}/reports`, own, "Report", {
      metadata: { name: "weekly" },
      spec: { title: "x", schedule: { cron: "0 3 * * 1" } },
    });
    const carries = ({ metadata }: Json): boolean => metadata.finalizers !== undefined;
    const all = (list: Json): boolean => list.items!.every(carries);
    await cluster.exists(`${DEMO}/guestbooks`, (list) => list.items!.length === GUESTBOOKS && all(list), 60_000);
    await cluster.exists(`${DEMO}/databases`, all, 60_000);
    await cluster.exists(`${CORE}/secrets/login`, carries, 60_000);
    await cluster.exists("/api/v1/namespaces/team-a/secrets/login", undefined, 60_000);
    const before = await versions(foreign);
    await using load = new Load(cluster);

    // A copy that works would set finalizers anew.
    const refused = await uninstall("guestbook", "--timeout", "2s");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("while another copy works")]);
    expect((await cluster.exists(`${DEMO}/guestbooks`)).items!.every(carries)).toBe(true);
    await operator.stop();

    // Nobody finalizes these any more, until they are uninstalled.
    for (const path of ["guestbooks/g1", "guestbooks/g2", "databases/leaving"])
      await cluster.send("DELETE", `${DEMO}/${path}`);
    const first = await uninstall("guestbook");
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining(`${GUESTBOOKS} objects finalized`)]);
    const guestbooks = (await cluster.exists(`${DEMO}/guestbooks`)).items!;
    expect([guestbooks.length, guestbooks.some(carries)]).toEqual([GUESTBOOKS - 2, false]);

    const second = await uninstall("secret-mirror.ts");
    expect([second.code, second.stdout]).toEqual([0, expect.stringContaining("1 object finalized")]);
    expect((await cluster.exists(`${CORE}/secrets/login`)).metadata.finalizers).toBeUndefined();
    for (const team of ["team-a", "team-b"]) await cluster.gone(`/api/v1/namespaces/${team}/secrets/login`);

    const [third] = await Promise.all([uninstall("database.ts"), endBackup("main"), endBackup("leaving")]);
    expect([third.code, third.stdout]).toEqual([0, expect.stringContaining("2 objects finalized")]);
    expect((await cluster.get(`${DEMO}/databases`))!.items!.map(({ metadata }) => metadata.name)).toEqual(["main"]);

    const rest = await uninstall("pod-logger.ts", "image-policy.ts", "report.ts");
    expect([rest.code, rest.stdout]).toEqual([
      0,
      expect.stringContaining("Nothing of pod-logger.ts, image-policy.ts, report.ts is"),
    ]);

    const last = await uninstall("--all", "--crds");
    expect([last.code, last.stderr]).toEqual([0, ""]);
    for (const kind of ["guestbooks", "databases", "reports"])
      expect(await cluster.get(`${CRDS}/${kind}.demo.binnacle.dev`)).toBeUndefined();

    const checked = await bench.exec(
      "check",
      "--no-types",
      "--webhook-host",
      "x",
      "--cluster",
      "--kubeconfig",
      cluster.kubeconfig,
    );
    expect([checked.code, checked.stderr]).toEqual([0, ""]);

    await load[Symbol.asyncDispose]();
    expect(load.refused).toEqual([]);
    expect(load.writes).toBeGreaterThan(20);
    expect(await versions(foreign)).toEqual(before);
    let left: readonly string[] = [];
    await until(async () => (left = await hanging()).length === 1, {
      within: 60_000,
      every: 500,
      what: () => left.join("; "),
    });
    expect(left).toEqual(["Thing default/held other.dev/thing"]);
  }, 240_000);
});
