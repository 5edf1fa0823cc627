import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { allow, isConflict, isNotFound, type ObjectContext, of } from "binnacle";
import { ConfigMap, Deployment, Namespace, Secret } from "binnacle/resources";
import {
  Behaviours,
  Box,
  BOXES,
  boxController,
  type BoxShape,
  Lab,
  servers,
} from "../../tests/support/integration/lab.ts";
import type { ShapeOf } from "../controller/definition.ts";
import { defineIndex } from "./field-index.ts";

type Context = ObjectContext<BoxShape, ShapeOf<typeof ConfigMap>>;

const MAPS = "/api/v1/namespaces/default/configmaps";
const at = (name: string) => ({ namespace: "default", name });

describe.each(servers)("client on the %s server", (server) => {
  const behaviours = new Behaviours();
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start(
      behaviours,
      [
        boxController(behaviours, {
          reads: [ConfigMap, Namespace],
          retry: { first: "1h", max: "1h" },
          uses: [
            allow(ConfigMap, "create", "update", "patch", "delete", "deletecollection"),
            allow(Deployment, "get", "create", "scale/get", "scale/patch"),
          ],
        }),
      ],
      { server },
    );
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  /** Runs code as a reconcile, with watches that are far behind. */
  async function run(
    name: string,
    code: (context: Context) => Promise<void>,
    delay = server === "real" ? 400 : 150,
  ): Promise<void> {
    lab.proxy.delay = delay;
    try {
      await lab.box(name, async (_, context) => code(context));
    } finally {
      lab.proxy.delay = 0;
    }
    const failure = behaviours.failures.get(name);
    if (failure !== undefined) throw failure;
  }

  test("CACHE-10 reads see own writes at once, lists and indexes too", async () => {
    const byA = defineIndex(ConfigMap, "a", (map) => map.data?.["a"]);
    const names = async (client: Context["client"], value: string): Promise<string[]> =>
      (await client.list(ConfigMap, { namespace: "default", index: byA.is(value) })).map(
        ({ metadata }) => metadata.name,
      );
    await run("own", async ({ client }) => {
      expect(await names(client, "1")).toEqual([]);
      const made = await client.create(ConfigMap, {
        metadata: { ...at("own"), labels: { own: "1" } },
        data: { a: "1" },
      });
      expect((await client.get(ConfigMap, at("own"))).metadata.uid).toBe(made.metadata.uid);
      expect(await client.list(ConfigMap, { labels: "own=1" })).toHaveLength(1);
      expect(await names(client, "1")).toEqual(["own"]);
      await client.patch(ConfigMap, at("own"), {
        type: "merge",
        body: { data: { a: "2" }, metadata: { labels: { own: "2" } } },
      });
      expect((await client.get(ConfigMap, at("own"))).data).toEqual({ a: "2" });
      expect(await client.list(ConfigMap, { labels: { own: "1" } })).toEqual([]);
      expect([await names(client, "1"), await names(client, "2")]).toEqual([[], ["own"]]);
      await client.edit(ConfigMap, at("own"), (draft) => void (draft.data = { a: "3" }));
      expect((await client.get(ConfigMap, at("own"))).data).toEqual({ a: "3" });
      await client.delete(ConfigMap, at("own"));
      expect(await client.find(ConfigMap, at("own"))).toBeUndefined();
      expect(await client.list(ConfigMap, { labels: "own" })).toEqual([]);
      expect(await names(client, "3")).toEqual([]);
      const again = await client.create(ConfigMap, { metadata: at("own"), data: { a: "4" } });
      expect((await client.get(ConfigMap, at("own"))).metadata.uid).toBe(again.metadata.uid);
      await client.delete(ConfigMap, at("own"));
    });
    await lab.operator.idle();
  });

  test("deleteAll marks what it deletes", async () => {
    await run("all", async ({ client }) => {
      for (const name of ["all-1", "all-2"]) {
        await client.create(ConfigMap, { metadata: { ...at(name), labels: { all: "yes" } } });
      }
      const held = { ...at("all-held"), labels: { all: "yes" }, finalizers: ["example.com/hold"] };
      await client.create(ConfigMap, { metadata: held });
      await client.create(ConfigMap, { metadata: at("all-other") });
      await client.deleteAll(ConfigMap, { namespace: "default", labels: { all: "yes" } });
      const left = await client.list(ConfigMap, { labels: "all" });
      expect(left.map(({ metadata }) => metadata.name)).toEqual(["all-held"]);
      expect(left[0]!.metadata.deletionTimestamp).toBeString();
      expect(await client.find(ConfigMap, at("all-other"))).toBeDefined();
      await client.edit(ConfigMap, at("all-held"), (draft) => void (draft.metadata.finalizers = []));
      expect(await client.find(ConfigMap, at("all-held"))).toBeUndefined();
    });
  });

  test("deleteAll is refused when what says where holds nothing", async () => {
    await run("nowhere", async ({ client }) => {
      await client.create(ConfigMap, { metadata: at("nowhere") });
      // What a `!` or a module in JavaScript lets through.
      const all = (resource: unknown, what: object) =>
        client.deleteAll(resource as typeof ConfigMap, what as { readonly namespace: string }).catch(String);
      for (const what of [{}, { namespace: undefined }, { namespace: "" }, { labels: "a" }]) {
        expect(await all(ConfigMap, what)).toContain("give a `namespace`, or `allNamespaces: true`");
      }
      expect(await all(ConfigMap, { namespace: "default", labels: {} })).toContain("selects everything");
      expect(await all(Namespace, { labels: "" })).toContain("selects everything");
      expect(await all(Namespace, {})).toContain("give `labels`, or `all: true`");
      expect(await all(Namespace, { namespace: "default" })).toContain("leave `namespace` out");
      expect(await client.find(ConfigMap, at("nowhere"))).toBeDefined();
    });
  });

  test("a key or an object without its namespace is said to be that, whether or not there is a cache", async () => {
    await run("keyless", async ({ client }) => {
      const key = { name: "keyless" } as { name: string; namespace: string };
      for (const resource of [ConfigMap, Deployment as unknown as typeof ConfigMap]) {
        expect(await client.find(resource, key).catch(String)).toContain("the key has no namespace");
        expect(await client.get(resource, key).catch(String)).toContain("the key has no namespace");
      }
      expect(await client.find(ConfigMap, at("")).catch(String)).toContain("the key has no name");
      // Of a cluster-scoped kind the server leaves it out too.
      const space = { name: "default", namespace: "x" as never };
      expect((await client.get(Namespace, space)).metadata.uid).toBe(
        (await client.live.get(Namespace, space)).metadata.uid,
      );
      const created = await client.create(ConfigMap, { metadata: key }).catch(String);
      expect(created).toContain(
        "Cannot create ConfigMap 'keyless': it is namespaced, and its metadata has no namespace",
      );
    });
  });

  test("a name that leads elsewhere reaches nothing", async () => {
    await run("elsewhere", async ({ client }) => {
      const refused = "a name is not '.' or '..'";
      expect(await client.live.get(ConfigMap, at("..")).catch(String)).toContain(refused);
      expect(await client.delete(ConfigMap, at("..")).catch(String)).toContain(refused);
      const other = { namespace: "default", name: "../../kube-system/configmaps/x" };
      expect(await client.patch(ConfigMap, other, { type: "merge", body: {} }).catch(String)).toContain(refused);
      expect(await client.get(Namespace, { name: "default" })).not.toHaveProperty("metadata.deletionTimestamp");
    });
  });

  test("a deletion that finds nothing is a deletion too", async () => {
    await lab.cluster.send("POST", MAPS, { body: { metadata: { name: "late" } } });
    await run("late", async ({ client }) => {
      while ((await client.find(ConfigMap, at("late"))) === undefined) await Bun.sleep(20);
      await lab.cluster.send("DELETE", `${MAPS}/late`);
      expect(await client.find(ConfigMap, at("late"))).toBeDefined(); // nobody has told us yet
      await client.delete(ConfigMap, at("late"));
      expect(await client.find(ConfigMap, at("late"))).toBeUndefined();
    });
  });

  test("a write that was refused or only tried leaves no trace", async () => {
    await run("trace", async ({ client }) => {
      const made = await client.create(ConfigMap, { metadata: at("trace"), data: { a: "1" } });
      await client.create(ConfigMap, { metadata: at("tried") }, { dryRun: true });
      expect(await client.find(ConfigMap, at("tried"))).toBeUndefined();
      await client.patch(ConfigMap, at("trace"), { type: "merge", body: { data: { a: "2" } } }, { dryRun: true });
      await client.delete(ConfigMap, at("trace"), { dryRun: true });
      await client.deleteAll(ConfigMap, { namespace: "default", labels: "!none" }, { dryRun: true });
      const stale = { ...made, data: { a: "3" }, metadata: { ...made.metadata, resourceVersion: "1" } };
      expect(isConflict(await client.update(ConfigMap, stale).catch((error: unknown) => error))).toBe(true);
      const preconditions = { uid: "another" };
      expect(
        isConflict(await client.delete(ConfigMap, at("trace"), { preconditions }).catch((error: unknown) => error)),
      ).toBe(true);
      expect((await client.get(ConfigMap, at("trace"))).data).toEqual({ a: "1" });
    });
  });

  test("a foreign write in between is never hidden", async () => {
    await run("between", async ({ client }) => {
      await client.create(ConfigMap, { metadata: at("between"), data: { a: "1" } });
      await lab.cluster.patch(`${MAPS}/between`, { data: { b: "theirs" } });
      expect((await client.get(ConfigMap, at("between"))).data).toEqual({ a: "1" });
      const answer = await client.patch(ConfigMap, at("between"), { type: "merge", body: { data: { c: "3" } } });
      expect(answer.data).toEqual({ a: "1", b: "theirs", c: "3" });
      expect((await client.get(ConfigMap, at("between"))).data).toEqual({ a: "1", b: "theirs", c: "3" });
    });
  });

  test("edit and createOrUpdate go on when others were faster", async () => {
    await run("race", async ({ client }) => {
      await client.create(ConfigMap, { metadata: at("race"), data: { a: "1" } });
      await lab.cluster.patch(`${MAPS}/race`, { data: { b: "theirs" } });
      await client.edit(ConfigMap, at("race"), (draft) => void (draft.data!["c"] = "3"));
      expect((await client.get(ConfigMap, at("race"))).data).toEqual({ a: "1", b: "theirs", c: "3" });
      await lab.cluster.patch(`${MAPS}/race`, { data: { d: "theirs" } });
      expect(await client.createOrUpdate(ConfigMap, at("race"), (draft) => void (draft.data!["e"] = "5"))).toBe(
        "updated",
      );
      expect((await client.get(ConfigMap, at("race"))).data).toEqual({
        a: "1",
        b: "theirs",
        c: "3",
        d: "theirs",
        e: "5",
      });
      await lab.cluster.send("POST", MAPS, { body: { metadata: { name: "race-2" }, data: { a: "theirs" } } });
      const both = (draft: { data?: Record<string, string> | undefined }): void => {
        draft.data = { ...draft.data, b: "ours" };
      };
      expect(await client.createOrUpdate(ConfigMap, at("race-2"), both)).toBe("updated");
      expect((await client.get(ConfigMap, at("race-2"))).data).toEqual({ a: "theirs", b: "ours" });
    });
  });

  test("UTIL-02 createOrUpdate creates, updates, and sends nothing when nothing changes", async () => {
    await run("upsert", async ({ client }) => {
      const set = (value: string) => (draft: { data?: Record<string, string> | undefined }) =>
        void (draft.data = { a: value });
      expect(await client.createOrUpdate(ConfigMap, at("upsert"), set("1"))).toBe("created");
      expect(await client.createOrUpdate(ConfigMap, at("upsert"), set("2"))).toBe("updated");
      const before = lab.proxy.seen.length;
      expect(await client.createOrUpdate(ConfigMap, at("upsert"), set("2"))).toBe("unchanged");
      expect(lab.proxy.seen).toHaveLength(before);
      const rename = client.createOrUpdate(ConfigMap, at("upsert"), (draft) => void (draft.metadata.name = "other"));
      expect(rename).rejects.toThrow("must not change its name or namespace");
      await rename.catch(() => {});
    });
  });

  test("patches: merge, JSON, strategic, with an optimistic lock", async () => {
    await run("patch", async ({ client }) => {
      const made = await client.create(ConfigMap, {
        metadata: { ...at("patch"), finalizers: [] },
        data: { a: "1", b: "2" },
      });
      const merged = await client.patch(ConfigMap, at("patch"), { type: "merge", body: { data: { a: null } } });
      expect(merged.data).toEqual({ b: "2" });
      const json = await client.patch(ConfigMap, at("patch"), {
        type: "json",
        body: [
          { op: "test", path: "/data/b", value: "2" },
          { op: "replace", path: "/data/b", value: "3" },
        ],
      });
      expect(json.data).toEqual({ b: "3" });
      const strategic = { type: "strategic", body: { metadata: { finalizers: ["example.com/x"] } } } as const;
      expect((await client.patch(ConfigMap, at("patch"), strategic)).metadata.finalizers).toEqual(["example.com/x"]);
      const { resourceVersion } = made.metadata;
      const late = await client
        .patch(ConfigMap, at("patch"), { type: "merge", body: { data: { c: "4" } }, resourceVersion })
        .catch((error: unknown) => error);
      expect(isConflict(late)).toBe(true);
      await client.patch(ConfigMap, at("patch"), { type: "merge", body: { metadata: { finalizers: null } } });
    });
  });

  test("apply names field and manager in a conflict, takes over with force, and strips undefined", async () => {
    await lab.cluster.send("PATCH", `${MAPS}/applied?fieldManager=theirs`, {
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied" }, data: { a: "theirs" } },
      type: "application/apply-patch+yaml",
    });
    await run("apply", async ({ client }) => {
      const wanted = { metadata: at("applied"), data: { a: "ours", b: undefined as unknown as string } };
      const refused = await client.apply(ConfigMap, wanted).catch((error: unknown) => error as Error);
      expect(isConflict(refused)).toBe(true);
      expect((refused as Error).message).toContain('conflict with "theirs"');
      expect((refused as Error).message).toContain(".data.a");
      expect((refused as Error).message).toContain("force: true");
      expect((await client.apply(ConfigMap, wanted, { force: true })).data).toEqual({ a: "ours" });
    });
  });

  test("an unchanged apply costs no request", async () => {
    await run("unchanged", async ({ client }) => {
      const wanted = { metadata: { ...at("unchanged"), labels: { x: "y" } }, data: { a: "1" } };
      await client.apply(ConfigMap, wanted);
      const before = lab.proxy.seen.length;
      expect((await client.apply(ConfigMap, wanted)).data).toEqual({ a: "1" });
      expect(lab.proxy.seen).toHaveLength(before);
      expect((await client.apply(ConfigMap, { ...wanted, data: { a: "2" } })).data).toEqual({ a: "2" });
      expect((await client.apply(ConfigMap, { ...wanted, data: {} })).data).toBeUndefined();
    });
  });

  test("CACHE-01 what is not declared is read from the server, and told once", async () => {
    await run("undeclared", async ({ client }) => {
      await lab.cluster.send("POST", "/api/v1/namespaces/default/secrets", { body: { metadata: { name: "u" } } });
      expect((await client.get(Secret, at("u"))).metadata.name).toBe("u");
      expect((await client.list(Secret, { namespace: "default", fields: "metadata.name=u" })).length).toBe(1);
      await client.get(Secret, at("u"));
      const missing = await client.get(Secret, at("none")).catch((error: unknown) => error);
      expect(isNotFound(missing)).toBe(true);
    });
    const warnings = lab.operator.lines("warn").filter(({ msg }) => msg.includes('allow(Secret, "get")'));
    expect(warnings).toHaveLength(1);
  });

  test("CACHE-02 lists: limit, order, pages, selectors", async () => {
    await run("lists", async ({ client }) => {
      for (const [name, tier] of [
        ["c", "x"],
        ["a", "y"],
        ["b", "z"],
      ] as const) {
        await client.create(ConfigMap, { metadata: { ...at(`lists-${name}`), labels: { lists: "yes", tier } } });
      }
      const names = (maps: readonly { metadata: { name: string } }[]): string[] =>
        maps.map(({ metadata }) => metadata.name);
      const labels = { lists: "yes" };
      const sort = (a: { metadata: { name: string } }, b: { metadata: { name: string } }): number =>
        a.metadata.name < b.metadata.name ? -1 : 1;
      expect(await client.list(ConfigMap, { labels, limit: 2 })).toHaveLength(2);
      expect(await client.live.list(ConfigMap, { labels, limit: 2 })).toHaveLength(2);
      for (const reader of [client, client.live]) {
        expect(names(await reader.list(ConfigMap, { labels, sort, limit: 2 }))).toEqual(["lists-a", "lists-b"]);
        const some = { lists: "yes", tier: { notIn: ["x"] } };
        expect(names(await reader.list(ConfigMap, { labels: some, sort }))).toEqual(["lists-a", "lists-b"]);
        const byTier = defineIndex(ConfigMap, "tier", ({ metadata }) => metadata.labels?.["tier"]);
        expect(names(await reader.list(ConfigMap, { index: byTier.is("z") }))).toEqual(["lists-b"]);
      }
      const pages: number[] = [];
      for await (const page of client.live.pages(ConfigMap, { labels, limit: 2 })) pages.push(page.length);
      expect(pages).toEqual([2, 1]);
      const broken = defineIndex(ConfigMap, "broken", ({ metadata }) => {
        if (metadata.name === "lists-a") throw new Error("no value for lists-a");
        return "x";
      });
      expect(await client.list(ConfigMap, { index: broken.is("x") }).catch(String)).toContain("no value for lists-a");
      expect(await client.list(ConfigMap, { labels })).toHaveLength(3); // the cache goes on
    });
  });

  test("scale, of any kind that has it", async () => {
    const labels = { app: "scaled" };
    await run("scale", async ({ client }) => {
      const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
      await client.create(
        Deployment,
        of(Deployment, { metadata: at("scaled"), spec: { replicas: 1, selector: { matchLabels: labels }, template } }),
      );
      const scale = client.subresource("scale");
      expect((await scale.get(Deployment, at("scaled"))).spec?.replicas).toBe(1);
      expect((await scale.set(Deployment, at("scaled"), 3)).spec?.replicas).toBe(3);
      expect((await client.get(Deployment, at("scaled"))).spec?.replicas).toBe(3);
    });
  });

  test("watch tells events until its end", async () => {
    await run(
      "watch",
      async ({ client }) => {
        const stop = new AbortController();
        const seen: string[] = [];
        const events = client.watch(ConfigMap, { namespace: "default", labels: "watched", signal: stop.signal });
        setTimeout(
          () =>
            void client
              .create(ConfigMap, { metadata: { ...at("watched"), labels: { watched: "1" } } })
              .then(() => client.delete(ConfigMap, at("watched"))),
          100,
        );
        for await (const { type, object } of events) {
          seen.push(`${type} ${object.metadata.name}`);
          if (type === "DELETED") stop.abort();
        }
        expect(seen).toEqual(["ADDED watched", "DELETED watched"]);
      },
      0,
    );
  });

  test("generateName gives a name, and the list shows it at once", async () => {
    await run("generated", async ({ client }) => {
      const { metadata } = await client.create(ConfigMap, {
        metadata: { namespace: "default", generateName: "gen-", labels: { gen: "1" } },
      });
      expect(metadata.name).toStartWith("gen-");
      expect(await client.list(ConfigMap, { labels: "gen=1" })).toHaveLength(1);
    });
  });

  test("CLI-01 a namespaced client fills the namespace in and refuses another", async () => {
    await run("namespaced", async ({ client }) => {
      const ours = client.with({ namespace: "default" });
      await ours.create(ConfigMap, { metadata: { name: "namespaced" }, data: { a: "1" } });
      expect((await ours.get(ConfigMap, { name: "namespaced" })).metadata.namespace).toBe("default");
      expect((await ours.live.get(ConfigMap, { name: "namespaced" })).data).toEqual({ a: "1" });
      expect((await ours.list(ConfigMap)).every(({ metadata }) => metadata.namespace === "default")).toBe(true);
      await ours.edit(ConfigMap, { name: "namespaced" }, (draft) => void (draft.data = { a: "2" }));
      expect((await ours.get(Namespace, { name: "kube-system" })).metadata.name).toBe("kube-system");
      const key = { namespace: "kube-system", name: "x" };
      expect(await ours.get(ConfigMap, key).catch(String)).toContain("this client is for namespace 'default'");
      expect(await ours.create(ConfigMap, { metadata: key }).catch(String)).toContain("namespace 'kube-system'");
      expect(await ours.deleteAll(ConfigMap, { allNamespaces: true }).catch(String)).toContain("all namespaces");
      await ours.delete(ConfigMap, { name: "namespaced" });
      expect(await client.find(ConfigMap, at("namespaced"))).toBeUndefined();
    });
  });

  test("a timeout bounds the whole call, of several requests too", async () => {
    const made = await lab.cluster.send("POST", MAPS, { body: { metadata: { name: "bounded" } } });
    const asked: string[] = [];
    lab.proxy.fault = ({ method, path }) => {
      if (!path.endsWith("/bounded")) return undefined;
      asked.push(method);
      const isFirst = asked.filter((one) => one === method).length === 1;
      return method === "PUT" || isFirst ? { kind: "refuse", code: 429, retryAfter: 1 } : undefined;
    };
    try {
      await run("bounded", async ({ client }) => {
        const tool = client.with({ as: { user: "admin", groups: ["system:masters"] } }); // nothing is read from a cache
        const error = await tool
          .edit(ConfigMap, at("bounded"), (draft) => void (draft.data = { a: "1" }), { timeout: 1_500 })
          .catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ name: "ApiError", code: 429 });
      });
    } finally {
      lab.proxy.fault = () => undefined;
    }
    expect(asked).toEqual(["GET", "GET", "PUT"]);
    expect((await lab.cluster.exists(`${MAPS}/bounded`)).metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });

  test("CLI-03 a patch that is to be guarded by an empty version is refused before it is sent", async () => {
    await lab.cluster.send("POST", MAPS, { body: { metadata: { name: "guarded" } } });
    await run("guarded", async ({ client }) => {
      const patch = { type: "merge", body: { data: { a: "1" } } } as const;
      for (const resourceVersion of ["", undefined as unknown as string]) {
        const error = await client.patch(ConfigMap, at("guarded"), { ...patch, resourceVersion }).catch(String);
        expect(error).toContain("TypeError: Cannot patch ConfigMap 'guarded': its `resourceVersion` is empty");
      }
    });
    expect(lab.writes("guarded").filter((write) => write.startsWith("PATCH"))).toEqual([]);
  });

  test("CLI-02 a dry-run client changes nothing", async () => {
    await run("dry", async ({ client }) => {
      const dry = client.with({ dryRun: true });
      await client.create(ConfigMap, { metadata: at("dry"), data: { a: "1" } });
      const before = lab.proxy.seen.length;
      await dry.create(ConfigMap, { metadata: at("dry-2") });
      await dry.apply(ConfigMap, { metadata: at("dry"), data: { b: "2" } });
      await dry.patch(ConfigMap, at("dry"), { type: "merge", body: { data: { a: "2" } } });
      await dry.edit(ConfigMap, at("dry"), (draft) => void (draft.data = { a: "3" }));
      await dry.subresource("scale").set(Deployment, at("scaled"), 9);
      await dry.delete(ConfigMap, at("dry"));
      await dry.deleteAll(ConfigMap, { namespace: "default" });
      const sent = lab.proxy.seen.slice(before);
      expect(sent).toHaveLength(7);
      expect(sent.every(({ query }) => query.get("dryRun") === "All")).toBe(true);
      expect((await client.live.get(ConfigMap, at("dry"))).data).toEqual({ a: "1" });
      expect((await client.subresource("scale").get(Deployment, at("scaled"))).spec?.replicas).toBe(3);
    });
  });

  test("acts in another's name, as another manager, with a timeout and a signal", async () => {
    await run("others", async ({ client }) => {
      const jane = client.with({ as: { user: "jane", groups: ["readers", "writers"] } });
      // The embedded server lets everybody do everything.
      const refused = await jane.get(ConfigMap, at("dry")).catch(String);
      if (server === "real") expect(refused).toContain('User "jane" cannot get resource "configmaps"');
      const tool = client.with({ manager: "tool" });
      const made = await tool.apply(ConfigMap, { metadata: at("tooled"), data: { a: "1" } });
      expect(made.metadata.managedFields?.map(({ manager }) => manager)).toEqual(["tool"]);
      const gone = AbortSignal.abort(new Error("no longer wanted"));
      expect(await client.with({ signal: gone }).live.get(ConfigMap, at("dry")).catch(String)).toContain(
        "no longer wanted",
      );
      const hurried = client.with({ timeout: 1 });
      const lists = Array.from({ length: 50 }, () => hurried.live.list(ConfigMap).catch(String)); // one alone may be in time
      expect((await Promise.all(lists)).join()).toContain("within 0.001 s");
    });
  });
  void Box;
  void BOXES;
});
