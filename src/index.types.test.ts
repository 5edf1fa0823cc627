/**
 * The types of the SDK, as an author meets them. The type check is the test: `@ts-expect-error` marks the lines that
 * must be errors, and a marked line that is none is an error itself.
 */
import { expect, expectTypeOf, test } from "bun:test";
import {
  all,
  allow,
  changed,
  type Cause,
  type Condition,
  conditions,
  defineController,
  defineIndex,
  defineKeyController,
  defineResource,
  defineWebhook,
  type Definition,
  Denied,
  edit,
  foreignResource,
  type Client,
  type Key,
  type ObjectOf,
  of,
  type OneOf,
  resource,
  source,
  watch,
  z,
} from "binnacle";
import {
  ClusterRole,
  ConfigMap,
  Deployment,
  Namespace,
  type PodSpec,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
} from "binnacle/resources";

const Guestbook = defineResource({
  group: "demo.binnacle.dev",
  version: "v1",
  kind: "Guestbook",
  spec: z.object({
    message: z.string().min(1),
    replicas: z.int().default(1),
    pages: z.array(z.string()).default([]),
    expose: z.boolean().optional(),
  }),
  status: z.object({ readyReplicas: z.int().optional(), conditions: conditions("Ready", "Degraded") }),
});
type Guestbook = ObjectOf<typeof Guestbook>;

const Certificate = foreignResource({
  group: "cert-manager.io",
  version: "v1",
  kind: "Certificate",
  schema: z.object({
    spec: z.object({ secretName: z.string() }),
    status: z.object({ notAfter: z.string().optional(), conditions: conditions("Ready") }).optional(),
  }),
});
const Issuer = foreignResource<{ kind: "Issuer"; spec: { url: string }; status?: { state?: string } }>({
  group: "cert-manager.io",
  version: "v1",
  kind: "Issuer",
});

const template = { spec: { containers: [{ name: "web", image: "web:1" }] } };

// Helpers take the read type; readonly arrays flow into the write type without a cast.
const deploymentFor = (guestbook: Guestbook) =>
  of(Deployment, {
    metadata: { name: guestbook.metadata.name },
    spec: {
      replicas: guestbook.spec.replicas,
      selector: {},
      template: { spec: { containers: guestbook.spec.pages.map((name) => ({ name, image: "page:1" })) } },
    },
  });
const serviceFor = (guestbook: Guestbook) =>
  of(Service, { metadata: { name: guestbook.metadata.name }, spec: { ports: [{ port: 80 }] } });

test("right: what an author may write", () => {
  const plain = defineController({
    for: Guestbook,
    owns: [Deployment, watch(Service, { labels: "app=x" })],
    async reconcile(guestbook, { children, status, client }) {
      const replicas: number = guestbook.spec.replicas; // default() makes it required on read
      const { deployment, service, workers } = await children.sync(
        {
          deployment: deploymentFor(guestbook),
          service: guestbook.spec.expose ? serviceFor(guestbook) : undefined,
          workers: guestbook.spec.pages.map(() => deploymentFor(guestbook)),
          literal: { apiVersion: "v1", kind: "Service", metadata: { name: "x" }, spec: {} }, // YAML-like literals too
        },
        { after: { deployment: ["service"] }, keep: ["service"] },
      );
      const ready: number | undefined = deployment.status?.readyReplicas;
      const address: string | undefined = service?.spec.clusterIP;
      const counts: (number | undefined)[] = workers.map((worker) => worker.status?.readyReplicas);
      status.set({ readyReplicas: ready });
      status.condition({ type: "Ready", status: ready === replicas, reason: address ?? String(counts.length) });
      const found: readonly Condition<"Ready" | "Degraded">[] | undefined = guestbook.status?.conditions;
      void found;
      await client.create(Guestbook, { metadata: { name: "a" }, spec: { message: "m" } }); // optional on write
      await client.edit(Guestbook, { namespace: "n", name: "x" }, (draft) => {
        draft.spec.pages.push("p");
      });
      await client.deleteAll(ConfigMap, { namespace: "a" });
      await client.deleteAll(Namespace, { all: true });
      await client.get(Namespace, { name: "a" });
      const byImage = defineIndex(Deployment, "image", ({ spec }) => spec.template.spec?.containers[0]?.image);
      const found2: readonly ObjectOf<typeof Deployment>[] = await client.list(Deployment, {
        labels: { app: "web", tier: { in: ["a", "b"] } },
        index: byImage.is("web:1"),
        sort: (a, b) => (a.spec.replicas ?? 0) - (b.spec.replicas ?? 0),
        limit: 3,
      });
      void found2;
      const replicas2: number | undefined = (
        await client.subresource("scale").set(Deployment, { namespace: "a", name: "b" }, 3)
      ).spec?.replicas;
      void replicas2;
      await client.with({ namespace: "shop" }).get(ConfigMap, { name: "a" }); // the client has a namespace
      for await (const page of client.live.pages(ConfigMap)) void page[0]?.data;
      const bigger: Guestbook = edit(guestbook, (draft) => {
        draft.spec.replicas = 2;
      });
      void bigger;
      return { requeueAfter: "1m30s" };
    },
    async finalize(guestbook, { events }) {
      events.normal("Gone", guestbook.spec.message);
    },
  });
  const narrowed = defineController({
    name: "secret-mirror",
    for: watch(Secret, {
      labels: "x",
      match: (secret) => secret.metadata.annotations?.["mirror/to"] !== undefined,
      on: all(changed.annotations, ({ type }) => type !== "delete"),
    }),
    reads: [Namespace],
    uses: [
      allow(Secret, "create", "patch"),
      allow(ClusterRole, "bind", "escalate", { names: ["edit"] }),
      allow(ServiceAccount, "impersonate", "token/create"),
      allow(resource("v1", "User"), "impersonate", "impersonate-on:user-info:list"),
    ],
    retry: { first: "10ms", limit: 5 },
    formerly: ["mirror"],
    watches: [
      watch(Secret, { select: "metadata", enqueue: (secret) => [{ name: secret.metadata.labels?.["a"] ?? "" }] }),
      // @ts-expect-error metadata is all there is
      watch(Secret, { select: "metadata", enqueue: (secret) => [{ name: secret.data?.["a"] ?? "" }] }),
      watch(ConfigMap, { namespaces: { labels: { team: ["a", "b"] } }, enqueue: (map) => [map] }),
      watch(Namespace, {
        enqueue: async (namespace, { client }) => client.list(Secret, { namespace: namespace.metadata.name }),
      }),
      source.every("30s"),
      source.cron("0 * * * *"),
    ],
    async reconcile(secret) {
      void secret.data?.["a"]?.length;
    },
  });
  const Widget = resource("acme.io/v1", "Widget");
  const untyped = defineController({
    for: Widget,
    async reconcile(widget, { client, status }) {
      void widget["spec"];
      await client.find(Widget, { name: "x" });
      status.set({ anything: 1 }); // nothing is known of it
      status.condition({ type: "Ready", status: true, reason: "Done" });
    },
  });
  const foreign = defineController({
    name: "certificates",
    for: Certificate,
    owns: [Issuer, ConfigMap],
    async reconcile({ metadata, spec }, { children, status }) {
      const { issuer, map } = await children.sync({
        issuer: of(Issuer, { metadata: { name: metadata.name }, spec: { url: spec.secretName } }),
        map: of(ConfigMap, { metadata: { name: metadata.name } }),
      });
      const ready: string | undefined = issuer.status?.state;
      void map.data;
      for (const { name, kind, reason, message } of children.skipped) void [name, kind, reason, message];
      status.set({ notAfter: ready });
      status.condition({ type: "Ready", status: true, reason: "Issued" });
    },
  });
  const keyed = defineKeyController({
    name: "dns",
    watches: [source.from((async function* (): AsyncGenerator<Key> {})())],
    async reconcile(key: Key) {
      void key.name;
    },
  });
  expect([plain, narrowed, untyped, foreign, keyed].every((definition) => Object.isFrozen(definition))).toBe(true);
});

// One function over several kinds, and types of built-in kinds in a schema of one's own.
const Nested = defineResource({
  group: "demo.binnacle.dev",
  version: "v1",
  kind: "Nested",
  spec: z.object({ pod: z.looseObject({}) as unknown as z.ZodType<PodSpec> }),
});

async function replicasOf(kind: OneOf<typeof Deployment | typeof StatefulSet>, client: Client): Promise<number> {
  const objects = await client.list(kind, { namespace: "a" });
  return objects.reduce((sum, { spec }) => sum + (spec.replicas ?? 1), 0);
}

/** Compiled, never run. */
async function overKinds(client: Client, nested: ObjectOf<typeof Nested>): Promise<PodSpec> {
  await replicasOf(Deployment, client);
  await replicasOf(StatefulSet, client);
  // @ts-expect-error a kind that is not one of them
  await replicasOf(ConfigMap, client);
  return nested.spec.pod; // fits where it came from
}

/** Compiled, never run. */
function divided(): void {
  defineController({ for: Guestbook, shardBy: "namespace", async reconcile() {} });
  defineController({ for: Guestbook, shardBy: { label: "cell", values: ["blue"] }, async reconcile() {} });
  defineKeyController({ name: "keys", shardBy: "namespace", async reconcile() {} });
}

/** Compiled, never run. */
function wrong(): void {
  // @ts-expect-error not a way to divide
  defineController({ for: Guestbook, shardBy: "name", async reconcile() {} });
  // @ts-expect-error a label has values
  defineController({ for: Guestbook, shardBy: { label: "cell" }, async reconcile() {} });
  // @ts-expect-error a key has no UID
  defineKeyController({ name: "keys", shardBy: "uid", async reconcile() {} });
  defineController({
    for: Guestbook,
    owns: [Deployment],
    async reconcile(guestbook, { children, status, client }) {
      // @ts-expect-error unknown field
      void guestbook.spec.replica;
      // @ts-expect-error cached arrays are readonly
      guestbook.spec.pages.push("x");
      // @ts-expect-error cached fields are readonly
      guestbook.spec.message = "x";
      // @ts-expect-error kind not in owns
      await children.sync({ d: of(Service, { metadata: { name: "a" }, spec: {} }) });
      const synced = await children.sync({
        d: of(Deployment, { metadata: { name: "a" }, spec: { selector: {}, template } }),
      });
      // @ts-expect-error no such child
      void synced.e;
      // @ts-expect-error the result is typed
      void synced.d.spec.replicaz;
      // @ts-expect-error waits for a name that is not in the set
      await children.sync({ a: undefined }, { after: { a: ["b"] } });
      const skipping = await children.sync({ d: deploymentFor(guestbook) }, { onForeign: "skip" });
      // @ts-expect-error a child may have been left out
      void skipping.d.spec;
      // @ts-expect-error no such word
      await children.sync({ d: deploymentFor(guestbook) }, { onForeign: "ignore" });
      // @ts-expect-error positional array
      await children.sync([]);
      // @ts-expect-error unknown status field
      status.set({ readyReplica: 1 });
      // @ts-expect-error conditions only by condition()
      status.set({ conditions: [] });
      // @ts-expect-error unknown condition
      status.condition({ type: "Raedy", status: true, reason: "X" });
      // @ts-expect-error the API requires a reason
      status.condition({ type: "Ready", status: true });
      // @ts-expect-error a namespaced kind needs a namespace
      await client.get(Guestbook, { name: "x" });
      // @ts-expect-error a cluster-scoped kind refuses one
      await client.get(Namespace, { namespace: "a", name: "x" });
      // @ts-expect-error a cluster-scoped kind refuses one
      await client.list(Namespace, { namespace: "a" });
      // @ts-expect-error deleteAll says where
      await client.deleteAll(ConfigMap, {});
      // @ts-expect-error an index of another kind
      await client.list(ConfigMap, { index: defineIndex(Deployment, "x", () => "x").is("x") });
      // @ts-expect-error the order is typed
      await client.list(ConfigMap, { sort: (a, b) => a.spec - b.spec });
      // @ts-expect-error a cluster-scoped kind refuses a namespace, whatever the client
      await client.with({ namespace: "shop" }).get(Namespace, { namespace: "a", name: "x" });
      // @ts-expect-error no namespace without the option
      await client.with({ dryRun: true }).get(ConfigMap, { name: "x" });
      // @ts-expect-error message is missing
      await client.create(Guestbook, { metadata: { name: "a" }, spec: {} });
      // @ts-expect-error status is not written by edit
      await client.edit(Guestbook, { namespace: "a", name: "b" }, (draft) => void draft.status);
      // @ts-expect-error an unknown field of a built-in kind
      of(Deployment, { metadata: { name: "a" }, spec: { selector: {}, template, replicaz: 1 } });
      // @ts-expect-error copies by edit are typed
      edit(guestbook, (draft) => void (draft.spec.replicas = "2"));
    },
  });
  defineController({
    for: Certificate,
    async reconcile(certificate, { status }) {
      // @ts-expect-error unknown field of a kind that others define
      void certificate.spec.secret;
      // @ts-expect-error unknown status field of a kind that others define
      status.set({ notBefore: "now" });
      // @ts-expect-error unknown condition of a kind that others define
      status.condition({ type: "Raedy", status: true, reason: "X" });
    },
  });
  // @ts-expect-error the status has no conditions
  defineController({ for: Issuer, reconcile: async (_, { status }) => status.condition({ type: "Ready" }) });
  // @ts-expect-error a kind has a version
  foreignResource({ group: "cert-manager.io", kind: "Certificate" });
  // @ts-expect-error not a duration
  defineController({ for: Guestbook, reconcile: async () => ({ requeueAfter: "10 minutes" }) });
  defineController({
    for: Guestbook,
    // @ts-expect-error there is no requeue
    async reconcile() {
      return { requeue: true };
    },
  });
  defineController({
    for: Guestbook,
    async reconcile(_, { children }) {
      // @ts-expect-error children without owns
      await children.sync({ d: of(Deployment, { metadata: { name: "a" }, spec: { selector: {}, template } }) });
    },
  });
  // @ts-expect-error a Secret has no spec
  defineController({ for: watch(Secret, { match: (secret) => secret.spec }), async reconcile() {} });
  // @ts-expect-error a mapped watch is not a `for`
  defineController({ for: watch(ConfigMap, { enqueue: () => [] }), async reconcile() {} });
  // @ts-expect-error watches need enqueue
  defineController({ for: Guestbook, watches: [ConfigMap], async reconcile() {} });
  defineController({
    for: Guestbook,
    owns: [Deployment],
    async reconcile() {},
    // @ts-expect-error no sync of children while finalizing
    async finalize(_, { children }) {
      void children;
    },
  });
  // @ts-expect-error no status without an object
  defineKeyController({ name: "x", reconcile: async (_, { status }) => void status });
  // @ts-expect-error for is missing
  defineController({ async reconcile() {} });
  // @ts-expect-error not a duration
  defineController({ for: Guestbook, timeout: "2 minutes", async reconcile() {} });
  defineController({
    for: Guestbook,
    owns: [Deployment],
    async reconcile(_, { children }) {
      // @ts-expect-error the empty set
      await children.sync({});
    },
  });
  // @ts-expect-error unknown option
  defineController({ for: Guestbook, retries: 5, async reconcile() {} });
  // @ts-expect-error unknown verb
  allow(Secret, "read");
  // @ts-expect-error unknown option
  allow(Secret, "get", { name: ["a"] });
  // @ts-expect-error a definition is opaque
  void defineKeyController({ name: "x", async reconcile() {} }).reconcile;
}

test("wrong: each marked line is refused by the type check", () => {
  expect([wrong, overKinds, divided].every((compiled) => typeof compiled === "function")).toBe(true);
});

test("webhooks: the objects of default and validate have the type of the kind", () => {
  const policy = defineWebhook({
    for: Guestbook,
    default(draft, { old }) {
      draft.spec.message = `${draft.spec.message}!`;
      draft.spec.pages.push("x");
      // @ts-expect-error -- the stored object is read-only
      if (old !== undefined) old.spec.message = "x";
      // @ts-expect-error -- there is no such field
      draft.spec.nothing = 1;
    },
    validate(object, { operation, warn }) {
      // @ts-expect-error -- validate changes nothing
      object.spec.message = "x";
      if (operation === "DELETE") warn(object.spec.message);
      // @ts-expect-error -- no such operation
      if (operation === "REMOVE") warn("x");
      throw new Denied("no", { code: 422, fields: { "spec.message": "no" } });
    },
  });
  expectTypeOf(policy).toExtend<Definition>();
  defineWebhook({
    for: Guestbook,
    subresource: "scale",
    validate(object) {
      expectTypeOf(object["spec"]).toEqualTypeOf<unknown>();
    },
  });
  defineWebhook({
    for: Guestbook,
    subresource: "status",
    validate(object) {
      expectTypeOf(object.status?.readyReplicas).toEqualTypeOf<number | undefined>();
    },
  });
  defineWebhook({
    name: "raw",
    rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] }],
    validate(object) {
      expectTypeOf(object.kind).toEqualTypeOf<string>();
    },
  });
  const told: object[] = [];
  const log = (object: object): void => {
    told.push(object);
  };
  defineWebhook({ for: Guestbook, validate: (object) => log(object) });
  defineWebhook({ for: Guestbook, validate: async (object) => log(object) });
  defineWebhook({
    for: Guestbook,
    validate({ spec }) {
      if (spec.message === "") return;
      throw new Denied("no");
    },
  });
  // @ts-expect-error -- validate decides by what it throws
  defineWebhook({ for: Guestbook, validate: () => false });
  // @ts-expect-error -- nor does a promise decide
  defineWebhook({ for: Guestbook, validate: async ({ spec }) => spec.message !== "" });
  // @ts-expect-error -- nor an answer as in other frameworks
  defineWebhook({ for: Guestbook, validate: () => ({ allowed: false }) });
  // @ts-expect-error -- nor is an error that is not thrown one
  defineWebhook({ for: Guestbook, validate: () => new Denied("no") });
  // @ts-expect-error -- no such policy
  expect(() => defineWebhook({ for: Guestbook, failurePolicy: "Maybe", validate() {} })).toThrow(TypeError);
  // @ts-expect-error -- no such option
  expect(() => defineWebhook({ for: Guestbook, mutate() {}, validate() {} })).toThrow(TypeError);
});

test("what a daemon hands over has the type of its schema in the causes of runs", () => {
  defineController({
    for: Guestbook,
    daemons: {
      follow: {
        value: z.object({ leader: z.string() }),
        async run({ spec }, { enqueue, latest }) {
          expectTypeOf(spec.message).toEqualTypeOf<string>();
          expectTypeOf(latest().spec.message).toEqualTypeOf<string>();
          enqueue("failed over", { leader: "a" });
          enqueue("something else");
          // @ts-expect-error -- the leader is a text
          enqueue("failed over", { leader: 1 });
          // @ts-expect-error -- there is no such field
          enqueue("failed over", { lead: "a" });
        },
      },
      count: async ({ spec }, { enqueue }) => enqueue(spec.message, 5),
    },
    async reconcile(_, { causes }) {
      for (const cause of causes) {
        if (cause.daemon === "follow") expectTypeOf(cause.value?.leader).toEqualTypeOf<string | undefined>();
        if (cause.daemon === "count") expectTypeOf(cause.value).toEqualTypeOf<unknown>();
        // @ts-expect-error -- no such daemon
        if (cause.daemon === "folow") break;
      }
    },
  });
  defineController({
    for: Guestbook,
    async reconcile(_, { causes }) {
      expectTypeOf(causes).toEqualTypeOf<readonly Cause[]>();
      expectTypeOf(causes[0]!.paths).toEqualTypeOf<readonly string[] | undefined>();
    },
  });
});

test("the metrics of a controller are written with their own labels", () => {
  defineController({
    for: Guestbook,
    metrics: {
      shipped: { type: "counter", name: "shop_shipped_total", help: "Orders", labels: ["carrier"] },
      open: { type: "gauge", name: "shop_open", help: "Orders" },
      size: { type: "histogram", name: "shop_size", help: "Parts", labels: ["carrier", "day"] },
    },
    daemons: { follow: async (_, { metrics }) => metrics.open.dec() },
    async reconcile(_, { metrics }) {
      metrics.shipped.inc({ carrier: "post" });
      metrics.open.set(5);
      metrics.size.observe({ carrier: "post", day: "monday" }, 5);
      // @ts-expect-error -- a counter only goes up
      metrics.shipped.dec({ carrier: "post" });
      // @ts-expect-error -- it has a label
      metrics.shipped.inc();
      // @ts-expect-error -- it has no such label
      metrics.shipped.inc({ carier: "post" });
      // @ts-expect-error -- there is no such metric
      void metrics.shiped;
    },
  });
  const wrong = { type: "timer", name: "a", help: "b" } as const;
  // @ts-expect-error -- there is no such type
  expect(() => defineController({ for: Guestbook, metrics: { wrong }, async reconcile() {} })).toThrow(TypeError);
  defineController({
    for: Guestbook,
    async reconcile(_, { metrics }) {
      // @ts-expect-error -- it declares none
      void metrics.open;
    },
  });
});
