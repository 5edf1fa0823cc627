/** Tests that each fault breaks a controller as one would first write it, and none of the examples. */
import { describe, expect, test } from "bun:test";
import { database, Database } from "../../controllers/database.ts";
import { guestbook, Guestbook } from "../../controllers/guestbook.ts";
import { podLogger } from "../../controllers/pod-logger.ts";
import { secretMirror } from "../../controllers/secret-mirror.ts";
import type { Client } from "../client/client.ts";
import { createLog } from "../observe/log.ts";
import { ConfigMap, Deployment, Namespace, Pod, Secret, Service, StatefulSet } from "../resource/builtin/index.ts";
import type { ObjectOf } from "../resource/handle.ts";
import { apiClient } from "./api-client.ts";
import type { ActiveFault, Faults } from "./faults.ts";
import { eventually, matchers, runModule, startCluster, type TestCluster } from "./index.ts";

expect.extend(matchers);

const namespace = "default";
const quiet = createLog({ level: "error", format: "json", write: () => {} });

/** Creates one Secret for each ConfigMap with `wants=child`, and believes that each response is true and in time. */
class Naive implements AsyncDisposable {
  readonly #api: ReturnType<typeof apiClient>;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor({ config }: TestCluster) {
    this.#api = apiClient(config, { manager: "naive", log: quiet });
    this.#running = this.#run(this.#api.client).catch(() => {});
  }

  async #run(client: Client): Promise<void> {
    const labels = { wants: "child" };
    for await (const event of client.watch(ConfigMap, { namespace, labels, signal: this.#stop.signal })) {
      if (event.type === "ADDED" || event.type === "MODIFIED") await this.#reconcile(client, event.object);
    }
  }

  async #reconcile(client: Client, wish: ObjectOf<typeof ConfigMap>): Promise<void> {
    const { name } = wish.metadata;
    const children = await client.list(Secret, { namespace, labels: { of: name } }).catch(() => []);
    if (children.length === 0) {
      const child = { metadata: { namespace, generateName: `${name}-`, labels: { of: name } } };
      const create = () => Promise.race([client.create(Secret, child), late(60)]);
      await create()
        .catch(create)
        .catch(() => {});
    }
    if (wish.data?.["state"] === "done") return;
    await client.update(ConfigMap, { ...wish, data: { ...wish.data, state: "done" } }).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#api.close();
  }
}

async function late(ms: number): Promise<never> {
  await Bun.sleep(ms);
  throw new Error("no answer in time");
}

const wish = (name: string) => ({ metadata: { namespace, name, labels: { wants: "child" } } });

/**
 * Runs the naive controller.
 *
 * @returns what is wrong at the end: one object is from before the fault, one from during it, one from after it.
 */
async function naiveUnder(fault: Strike): Promise<string[]> {
  await using cluster = await startCluster({ pods: false });
  await using _ = new Naive(cluster);
  const { client, faults } = cluster;
  const isDone = async (name: string): Promise<boolean> => {
    const { data } = await client.get(ConfigMap, { namespace, name });
    return data?.["state"] === "done";
  };
  await client.create(ConfigMap, wish("before"));
  await eventually(() => isDone("before"));
  const times = await struck(faults, fault, async () => {
    await client.create(ConfigMap, wish("under"));
    await client.patch(ConfigMap, { namespace, name: "before" }, touch(1));
  });
  expect(times).toBeGreaterThan(0);
  await client.create(ConfigMap, wish("after"));
  await client.patch(ConfigMap, { namespace, name: "after" }, touch(2));
  await Bun.sleep(150);
  const wrong: string[] = [];
  for (const name of ["before", "under", "after"]) {
    const children = await client.list(Secret, { namespace, labels: { of: name } });
    if (children.length !== 1) wrong.push(`${name} has ${children.length} children`);
    if (!(await isDone(name))) wrong.push(`${name} is not done`);
  }
  return wrong;
}

function touch(value: number): { type: "merge"; body: object } {
  return { type: "merge", body: { metadata: { annotations: { touched: String(value) } } } };
}

/** A fault and its duration. */
interface Strike {
  readonly fault: (faults: Faults) => ActiveFault | undefined;
  /** Milliseconds until it ends. @default 200 */
  readonly lasts?: number;
}

/** Injects the fault during the work. @returns how many requests it struck. */
async function struck(faults: Faults, { fault, lasts = 200 }: Strike, work: () => Promise<void>): Promise<number> {
  using active = fault(faults);
  await work();
  await Bun.sleep(lasts);
  return active?.struck ?? 1;
}

/** Each of the examples is right in the end, whatever happened meanwhile. */
const examples: Readonly<Record<string, (strike: Strike) => Promise<void>>> = {
  async guestbook(strike) {
    await using cluster = await startCluster();
    await using _ = await runModule(guestbook, cluster, { show: "none" });
    const { client, faults } = cluster;
    const created = await client.create(Guestbook, { metadata: { namespace, name: "a" }, spec: { message: "hi" } });
    await struck(faults, strike, async () => {
      await client.patch(Guestbook, { namespace, name: "a" }, { type: "merge", body: { spec: { replicas: 2 } } });
      await client.create(Guestbook, { metadata: { namespace, name: "b" }, spec: { message: "ho", expose: false } });
    });
    await eventually(
      async () => {
        const objects = [...(await client.list(Deployment)), ...(await client.list(Service))];
        expect(created).toHaveChildren(objects, ["Deployment a", "Service a"]);
        expect(await client.get(Guestbook, { namespace, name: "a" })).toHaveCondition("Ready", { message: "2 of 2" });
        expect(await client.get(Guestbook, { namespace, name: "b" })).toHaveCondition("Ready", { message: "1 of 1" });
        expect(objects).toHaveLength(4); // includes the Service of the API server
      },
      { within: "90s" },
    );
  },
  async database(strike) {
    await using cluster = await startCluster();
    await using _ = await runModule(database, cluster, { show: "none" });
    const { client, faults } = cluster;
    await struck(faults, strike, async () => {
      await client.create(Database, { metadata: { namespace, name: "a" }, spec: { replicas: 2 } });
    });
    const ready = async () =>
      expect(await client.get(Database, { namespace, name: "a" })).toHaveCondition("Ready", { reason: "AllReady" });
    await eventually(ready, { within: "90s" });
    expect(await client.list(StatefulSet)).toHaveLength(1);
    expect(await client.list(Secret, { namespace })).toHaveLength(1);
  },
  async "secret-mirror"(strike) {
    await using cluster = await startCluster({ pods: false });
    await using _ = await runModule(secretMirror, cluster, { show: "none" });
    const { client, faults } = cluster;
    await client.create(Namespace, { metadata: { name: "team-a" } });
    const metadata = { namespace, name: "login", annotations: { "mirror.binnacle.dev/to": "team-a" } };
    await struck(faults, strike, async () => {
      await client.create(Secret, { metadata, stringData: { token: "one" } });
      await client.patch(Secret, metadata, { type: "merge", body: { stringData: { token: "two" } } });
    });
    const copied = async () =>
      expect((await client.get(Secret, { namespace: "team-a", name: "login" })).data).toEqual({ token: btoa("two") });
    await eventually(copied, { within: "90s" });
    expect(await client.list(Secret)).toHaveLength(2);
  },
  async "pod-logger"(strike) {
    await using cluster = await startCluster({ pods: false });
    await using module = await runModule(podLogger, cluster, { show: "none" });
    const { client, faults } = cluster;
    const spec = { containers: [{ name: "web", image: "nginx" }] };
    await struck(faults, strike, async () => {
      await client.create(Pod, { metadata: { namespace, name: "a" }, spec });
    });
    await client.create(Pod, { metadata: { namespace, name: "b" }, spec });
    const logged = () => ["a", "b"].every((name) => module.log.some(({ msg }) => msg === `Sync of pod ${name}`));
    await eventually(logged, { within: "90s" });
  },
};

const strikes: Readonly<Record<string, Strike>> = {
  "dropped connections": { fault: (faults) => faults.drop() },
  "no connection": { fault: (faults) => faults.disconnect() },
  "stalled connections": { fault: (faults) => faults.stall({ verbs: ["create", "update", "patch"] }) },
  latency: { fault: (faults) => faults.latency(300, { verbs: ["create"] }), lasts: 800 },
  410: { fault: (faults) => (faults.expireWatches(), undefined) },
  429: { fault: (faults) => faults.refuse(429, { verbs: ["update", "patch"], times: 2 }) },
  500: { fault: (faults) => faults.refuse(500, { verbs: ["update", "patch"], times: 2 }) },
  "stale reads": { fault: (faults) => faults.staleReads(), lasts: 300 },
  "cut watches": { fault: (faults) => (faults.cutWatches(), undefined) },
  "a conflict on the second write": { fault: (faults) => faults.conflict(2) },
};

describe("faults", () => {
  test("none: the naive controller is right", async () => {
    expect(await naiveUnder({ fault: () => undefined })).toEqual([]);
  });

  for (const [name, strike] of Object.entries(strikes)) {
    test(`${name}: break the naive controller and no example`, async () => {
      const [naive] = await Promise.all([
        naiveUnder(strike),
        ...Object.values(examples).map((example) => example(strike)),
      ]);
      expect(naive).not.toEqual([]);
    });
  }
});
