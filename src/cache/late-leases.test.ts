/** Leases and handlers that come and go, of several namespaces, over a network that breaks. */
import { createApiServer } from "binnacle-apiserver";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { ApiObjects } from "../../tests/support/cluster.ts";
import { HandlerWitness } from "../../tests/support/handler-witness.ts";
import { FaultyProxy } from "../../tests/support/integration/faulty-proxy.ts";
import { until } from "../../tests/support/until.ts";
import { RestMapper } from "../kube/api/mapper.ts";
import { createTransport } from "../kube/transport/transport.ts";
import { type AnyObject, handle } from "../resource/handle.ts";
import { keyString } from "../resource/meta.ts";
import type { HandlerRegistration } from "./informer-handler.ts";
import { type InformerLease, InformerRegistry } from "./informer-registry.ts";
import { isStub, type Needs } from "./object-transformer.ts";
import type { ListMode } from "./streaming-list.ts";

const ConfigMap = handle({ apiVersion: "v1", kind: "ConfigMap", scope: "Namespaced", plural: "configmaps" });
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const NAMESPACES = ["one", "two"] as const;
const OWNERS = ["none", "x", "y"] as const;
const ownedBy = (owner: string) => (one: AnyObject) => one.metadata.labels?.["owner"] === owner;
const NEEDS: Readonly<Record<string, Needs>> = {
  x: { bodies: ownedBy("x"), managers: ["x"] },
  y: { bodies: ownedBy("y"), managers: ["y"] },
  all: { bodies: "all", managers: [] },
  allOfTests: { bodies: "all", managers: ["tests"] },
};

const namespace = fc.constantFrom(...NAMESPACES);
const name = fc.constantFrom("a", "b", "c");
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("put" as const), namespace, name, owner: fc.constantFrom(...OWNERS) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), namespace, name }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("come" as const),
      needs: fc.constantFrom(...Object.keys(NEEDS)),
      namespaces: fc.constantFrom([], ["one"], ["one", "two"]),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave" as const), at: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cut" as const), expire: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("slow" as const), delay: fc.constantFrom(0, 5) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(0, 1, 10) }) },
);

interface User {
  readonly lease: InformerLease;
  readonly needs: Needs;
  readonly witness: HandlerWitness;
  readonly registration: HandlerRegistration;
  readonly listener: Disposable;
  /** What was wrong when it was synced first; `undefined` before. */
  atSync: string[] | undefined;
}

describe.each(["pages", "stream"] as const)("registrations with different needs, listed by %s", (list: ListMode) => {
  const cleanup = new AsyncDisposableStack();
  let cluster: ApiObjects;
  let proxy: FaultyProxy;

  beforeAll(async () => {
    const server = await createApiServer();
    cluster = cleanup.use(
      new ApiObjects({
        request: (path, init) => server.fetch(new Request(`http://embedded${path}`, init)),
        stop: () => server.stop(),
      }),
    );
    proxy = cleanup.use(await FaultyProxy.start(cluster.plane));
    for (const one of NAMESPACES)
      await cluster.send("POST", "/api/v1/namespaces", { body: { metadata: { name: one } } });
  });
  afterAll(() => cleanup.disposeAsync());

  async function put(namespace: string, name: string, owner: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const body = { metadata: { labels: { owner } }, data: { turn: String(Math.random()) } };
    if ((await cluster.get(`${path}/${name}`)) !== undefined) await cluster.patch(`${path}/${name}`, body);
    else await cluster.send("POST", path, { body: { ...body, metadata: { ...body.metadata, name } } });
  }

  async function remove(namespace: string, name: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`;
    if ((await cluster.get(path)) !== undefined) await cluster.send("DELETE", path);
  }

  function come(registry: InformerRegistry, needs: Needs, namespaces: readonly string[]): User {
    const lease = registry.acquire(ConfigMap, { needs, namespaces, user: "test" });
    const { informer } = lease;
    const witness = new HandlerWitness();
    const registration = informer.addHandler(witness, { name: "test" });
    const user: User = {
      lease,
      needs,
      witness,
      registration,
      listener: informer.onChange(() => look(user)),
      atSync: undefined,
    };
    look(user);
    return user;
  }

  /** Once its registration is synced, nothing that the user needs is hidden any more. */
  function look(user: User): void {
    const { lease, needs, witness, registration } = user;
    if (!registration.hasSynced || user.atSync !== undefined) return;
    user.atSync = [];
    for (const [key, object] of lease.informer.store.entries()) {
      if (isStub(object) && needs.bodies === "all") user.atSync.push(`${key} is a stub`);
      if (!isStub(object) && !witness.known.has(key)) user.atSync.push(`${key} has not been told`);
    }
  }

  test("each sees each object as new, once, before anything else, and no stub; it is synced only after that", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        await using run = new AsyncDisposableStack();
        proxy.delay = 0;
        proxy.cut();
        const transport = createTransport(proxy.cluster);
        run.defer(() => transport.close());
        const mapper = new RestMapper(transport);
        const registry = new InformerRegistry({ transport, mapper, log: silent, list, grace: 5, random: () => 0 });
        run.defer(() => registry.stop());
        const users: User[] = [];
        const check = (): void => {
          for (const { witness, lease, registration, atSync } of users) {
            expect([witness.problems, atSync ?? []]).toEqual([[], []]);
            expect(registration.hasSynced).toBe(lease.hasSynced);
            const whole = [...lease.informer.store.entries()].filter(([, object]) => !isStub(object));
            expect([...witness.known.keys()].sort()).toEqual(whole.map(([key]) => key).sort());
          }
        };
        for (const one of steps) {
          if (one.do === "put") await put(one.namespace, one.name, one.owner);
          else if (one.do === "delete") await remove(one.namespace, one.name);
          else if (one.do === "come") users.push(come(registry, NEEDS[one.needs]!, one.namespaces));
          else if (one.do === "leave") {
            const [user] = users.splice(one.at, 1);
            user?.registration[Symbol.dispose]();
            user?.listener[Symbol.dispose]();
            user?.lease.release();
          } else if (one.do === "cut") {
            proxy.cut({ expire: one.expire });
            if (one.expire) setTimeout(() => proxy.cut(), 5);
          } else if (one.do === "slow") proxy.delay = one.delay;
          else await Bun.sleep(one.ms);
          check();
        }
        proxy.delay = 0;
        proxy.cut();
        const { items = [] } = (await cluster.get("/api/v1/configmaps"))!;
        for (const { lease, needs, witness, registration } of users) {
          const { store, namespaces } = lease.informer;
          const wanted = items.filter(
            ({ metadata }) => namespaces.length === 0 || namespaces.includes(metadata.namespace!),
          ) as unknown as AnyObject[];
          const text = (all: Iterable<AnyObject>) =>
            [...all].map(({ metadata }) => `${keyString(metadata)}@${metadata.resourceVersion}`).sort();
          await until(() => registration.hasSynced && Bun.deepEquals(text(store.values()), text(wanted)), {
            within: 90_000,
            what: () => `${lease.informer.id}: ${String(text(store.values()))} is not ${String(text(wanted))}`,
          });
          for (const object of wanted) {
            if (needs.bodies !== "all" && !needs.bodies(object)) continue;
            expect(witness.known.get(keyString(object.metadata))?.metadata.uid).toBe(object.metadata.uid);
          }
        }
        check();
      }),
      { numRuns: 25, interruptAfterTimeLimit: 40_000, endOnFailure: true },
    );
  }, 180_000);
});
