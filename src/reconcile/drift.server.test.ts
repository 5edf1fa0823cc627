/**
 * What others do to children, and what `children.sync` makes of it: what is declared is there again, and then there is
 * silence.
 */
import { defineResource, of, type Resource, z } from "binnacle";
import { ConfigMap, Deployment, ResourceQuota, Secret, Service, ServiceAccount } from "binnacle/resources";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Json } from "../../tests/support/cluster.ts";
import { Behaviours, boxController, Lab, servers } from "../../tests/support/integration/lab.ts";
import { isSubset } from "../../tests/support/subset.ts";
import type { Shape } from "../resource/handle.ts";

const Free = defineResource({
  group: "drift.binnacle.dev",
  version: "v1",
  kind: "Free",
  names: { plural: "frees" },
  spec: z.object({ open: z.looseObject({}).optional(), count: z.int().optional(), on: z.boolean().optional() }),
});

type Fields = Readonly<Record<string, unknown>>;
type Desired = Fields & { readonly apiVersion: string; readonly kind: string; readonly metadata: Fields };

/** One thing that others do; `restore` puts an earlier state of the object back, without what the server sets. */
type Edit =
  | { readonly merge: Fields }
  | { readonly strategic: Fields }
  | { readonly json: readonly Fields[] }
  | { readonly apply: Fields }
  | { readonly put: (object: Fields) => Fields };

interface Case {
  readonly resource: Resource;
  /** The content of the child at first, and, if it changes, what is desired after the edits. */
  readonly desired: Fields;
  readonly later?: Fields;
  readonly edits: readonly Edit[];
  /** What others added, and what is to stay of it. */
  readonly stays?: Fields;
  /** Paths of what is to be gone. */
  readonly gone?: readonly string[];
  /** What is there before the controller adopts it. */
  readonly before?: Fields;
}

const PATHS: Readonly<Record<string, string>> = {
  ConfigMap: "/api/v1/namespaces/default/configmaps",
  Secret: "/api/v1/namespaces/default/secrets",
  ResourceQuota: "/api/v1/namespaces/default/resourcequotas",
  ServiceAccount: "/api/v1/namespaces/default/serviceaccounts",
  Service: "/api/v1/namespaces/default/services",
  Deployment: "/apis/apps/v1/namespaces/default/deployments",
  Free: "/apis/drift.binnacle.dev/v1/namespaces/default/frees",
};

const app = { app: "x" };
const podsOf = (container: Fields, spec: Fields = {}, more: Fields = {}): Fields => ({
  spec: {
    ...spec,
    selector: { matchLabels: app },
    template: {
      metadata: { labels: app },
      spec: { containers: [{ name: "web", image: "i:1", ...container }], ...more },
    },
  },
});
const containersOf = (...containers: readonly Fields[]): Fields => ({ spec: { template: { spec: { containers } } } });
const emptied = (object: Fields): Fields => {
  const metadata = object["metadata"] as Fields;
  return { ...object, metadata: { ...metadata, managedFields: [{}] } };
};
const withMetadata =
  (change: (metadata: Fields) => Fields) =>
  (object: Fields): Fields => {
    const metadata = object["metadata"] as Fields;
    return { ...object, metadata: { ...metadata, ...change(metadata) } };
  };
const ownersOf =
  (change: (reference: Fields) => Fields) =>
  (metadata: Fields): Fields => ({
    ownerReferences: (metadata["ownerReferences"] as Fields[]).map((one) => ({ ...one, ...change(one) })),
  });
const hard = (limit: string): Fields => ({ spec: { hard: { "limits.cpu": limit } } });
const port = (more: Fields): Fields => ({ spec: { selector: app, ports: [{ port: 80, ...more }] } });

const cases: Readonly<Record<string, Case>> = {
  "only-entry": { resource: ResourceQuota, desired: hard("10"), edits: [{ merge: hard("99") }] },
  "only-entry-removed": {
    resource: ResourceQuota,
    desired: hard("10"),
    edits: [{ merge: { spec: { hard: { "limits.cpu": null, pods: "3" } } } }],
    stays: { spec: { hard: { pods: "3" } } },
  },
  "only-label": {
    resource: ConfigMap,
    desired: { metadata: { labels: app } },
    edits: [{ apply: { metadata: { labels: { app: "y", theirs: "1" } } } }],
    stays: { metadata: { labels: { theirs: "1" } } },
  },
  data: {
    resource: ConfigMap,
    desired: { data: { a: "1", empty: "" } },
    edits: [{ merge: { data: { a: null, empty: "x", theirs: "1" } } }],
    stays: { data: { theirs: "1" } },
  },
  "data-emptied": { resource: ConfigMap, desired: { data: { a: "1000m" } }, edits: [{ merge: { data: { a: "1" } } }] },
  secret: {
    resource: Secret,
    desired: { stringData: { a: "1" } },
    edits: [{ apply: { data: { a: "Mg==", b: "Mg==" } } }],
    stays: { data: { b: "Mg==" } },
  },
  selector: {
    resource: Service,
    desired: port({}),
    edits: [{ merge: { spec: { selector: { app: "y" } } } }],
  },
  "selector-added": {
    resource: Service,
    desired: port({}),
    edits: [{ merge: { spec: { selector: { theirs: "y" } } } }],
    gone: ["spec.selector.theirs"],
  },
  "port-changed": {
    resource: Service,
    desired: port({}),
    edits: [{ json: [{ op: "replace", path: "/spec/ports/0/port", value: 81 }] }],
  },
  "named-port-changed": {
    resource: Service,
    desired: port({ name: "http" }),
    edits: [{ merge: port({ name: "http", port: 81 }) }],
  },
  "type-taken": {
    resource: Service,
    desired: { spec: { type: "ClusterIP", selector: app, ports: [{ port: 80 }] } },
    edits: [
      { apply: { spec: { type: "NodePort", externalTrafficPolicy: "Local", selector: app, ports: [{ port: 80 }] } } },
    ],
  },
  "zero-replicas": {
    resource: Deployment,
    desired: podsOf({}, { replicas: 0 }),
    edits: [{ merge: { spec: { replicas: 3 } } }],
  },
  "zero-replicas-removed": {
    resource: Deployment,
    desired: podsOf({}, { replicas: 0 }),
    edits: [{ merge: { spec: { replicas: null } } }],
  },
  "zero-flag": {
    resource: ServiceAccount,
    desired: { automountServiceAccountToken: false },
    edits: [{ merge: { automountServiceAccountToken: null } }],
  },
  "zero-flag-changed": {
    resource: ServiceAccount,
    desired: { automountServiceAccountToken: false },
    edits: [{ merge: { automountServiceAccountToken: true } }],
  },
  "env-value": {
    resource: Deployment,
    desired: podsOf({
      env: [
        { name: "A", value: "1000m" },
        { name: "B", value: "" },
      ],
    }),
    edits: [
      {
        strategic: containersOf({
          name: "web",
          env: [
            { name: "A", value: "1" },
            { name: "B", value: "x" },
            { name: "C", value: "c" },
          ],
        }),
      },
    ],
    stays: containersOf({ name: "web", env: [{ name: "C", value: "c" }] }),
  },
  "env-source": {
    resource: Deployment,
    desired: podsOf({ env: [{ name: "A", value: "1" }] }),
    edits: [
      {
        strategic: containersOf({
          name: "web",
          env: [{ name: "A", value: null, valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
        }),
      },
      { strategic: containersOf({ name: "sidecar", image: "s" }) },
    ],
    stays: containersOf({ name: "sidecar", image: "s" }),
  },
  "env-order": {
    resource: Deployment,
    desired: podsOf({
      env: [
        { name: "A", value: "1" },
        { name: "B", value: "$(A)" },
      ],
    }),
    edits: [
      {
        merge: containersOf({
          name: "web",
          image: "i:1",
          env: [
            { name: "B", value: "$(A)" },
            { name: "A", value: "1" },
          ],
        }),
      },
    ],
  },
  "container-renamed": {
    resource: Deployment,
    desired: podsOf({}),
    edits: [{ merge: containersOf({ name: "other", image: "i:1" }) }],
  },
  args: {
    resource: Deployment,
    desired: podsOf({ args: ["a", "b"] }),
    edits: [{ json: [{ op: "add", path: "/spec/template/spec/containers/0/args/-", value: "c" }] }],
  },
  "node-selector": {
    resource: Deployment,
    desired: podsOf({}, {}, { nodeSelector: { disk: "ssd" } }),
    edits: [{ merge: { spec: { template: { spec: { nodeSelector: { disk: null, theirs: "x" } } } } } }],
  },
  quantity: {
    resource: Deployment,
    desired: podsOf({ resources: { limits: { cpu: "1000m" } } }),
    edits: [{ strategic: containersOf({ name: "web", resources: { limits: { cpu: "2", memory: "1Gi" } } }) }],
    stays: containersOf({ name: "web", resources: { limits: { memory: "1Gi" } } }),
  },
  open: {
    resource: Free,
    desired: { spec: { open: { a: { b: 1, c: [1, 2] }, z: 0, t: "" }, count: 0, on: false } },
    edits: [{ merge: { spec: { open: { a: { b: 2, c: [3], theirs: 1 }, z: 1, t: null }, count: null, on: true } } }],
    stays: { spec: { open: { a: { theirs: 1 } } } },
  },
  "open-removed": {
    resource: Free,
    desired: { spec: { open: { a: { b: 1 }, empty: {}, list: [] } } },
    edits: [{ merge: { spec: { open: { a: null, empty: null, list: [1] } } } }],
  },
  "open-emptied": {
    resource: Free,
    desired: { spec: { open: { a: 1 } } },
    edits: [{ merge: { spec: { open: null } } }],
  },
  "managed-fields-emptied": {
    resource: Deployment,
    desired: podsOf(
      {
        env: [
          { name: "A", value: "1" },
          { name: "B", value: "2" },
        ],
      },
      { minReadySeconds: 3 },
    ),
    later: podsOf({ env: [{ name: "A", value: "1" }] }),
    edits: [{ strategic: containersOf({ name: "web", env: [{ name: "C", value: "c" }] }) }, { put: emptied }],
    stays: containersOf({ name: "web", env: [{ name: "C", value: "c" }] }),
    gone: ["spec.template.spec.containers.0.env.B", "spec.minReadySeconds"],
  },
  "map-emptied-managed-fields": {
    resource: ConfigMap,
    desired: { data: { a: "1", b: "1" } },
    later: { data: { a: "1" } },
    edits: [{ merge: { data: { theirs: "1" } } }, { put: emptied }],
    stays: { data: { theirs: "1" } },
    gone: ["data.b"],
  },
  "owner-removed": {
    resource: ConfigMap,
    desired: { data: { a: "1" } },
    edits: [{ put: withMetadata(() => ({ ownerReferences: [] })) }, { merge: { data: { a: "2" } } }],
  },
  "owner-let-go": {
    resource: Deployment,
    desired: podsOf({}),
    edits: [{ put: withMetadata(ownersOf(() => ({ controller: false }))) }],
  },
  "owner-renamed": {
    resource: ConfigMap,
    desired: { data: { a: "1" } },
    edits: [{ put: withMetadata(ownersOf(() => ({ apiVersion: "other.binnacle.dev/v1" }))) }],
  },
  "owner-removed-undesired": {
    resource: ConfigMap,
    desired: { data: { a: "1" } },
    later: { metadata: { labels: { and: "gone" } } },
    edits: [{ put: withMetadata(() => ({ ownerReferences: [] })) }],
    gone: ["data.a"],
  },
  "annotations-removed": {
    resource: Deployment,
    desired: podsOf({}, { minReadySeconds: 3 }),
    later: podsOf({}),
    edits: [{ put: withMetadata(() => ({ annotations: {} })) }],
    gone: ["spec.minReadySeconds"],
  },
  adopted: {
    resource: ResourceQuota,
    before: hard("1"),
    desired: { spec: { hard: { "limits.cpu": "10", pods: "5" } } },
    later: hard("10"),
    edits: [{ merge: { spec: { hard: { pods: "7", "limits.cpu": "3" } } } }],
  },
};

describe.each(servers)("what others do to children (%s server)", (server) => {
  const behaviours = new Behaviours<Shape>();
  const owns = [ConfigMap, Secret, Deployment, Service, ResourceQuota, ServiceAccount, Free];
  let lab: Lab<Shape>;

  const desiredOf = (name: string, phase: "desired" | "later"): Desired => {
    const { resource } = cases[name]!;
    const { metadata, ...content } = cases[name]![phase] ?? cases[name]!.desired;
    const { apiVersion, kind } = resource;
    return { apiVersion, kind, ...content, metadata: { ...(metadata as Fields | undefined), name } };
  };
  const pathOf = (name: string): string => `${PATHS[cases[name]!.resource.kind]}/${name}`;
  const live = async (name: string): Promise<Json & Fields> =>
    (await lab.cluster.exists(pathOf(name))) as Json & Fields;
  const want = (name: string, phase: "desired" | "later"): void =>
    behaviours.set(name, async (_, { children }) => {
      const child = of(cases[name]!.resource, desiredOf(name, phase) as never);
      await children.sync({ child: child as never }, { adopt: cases[name]!.before !== undefined });
    });
  const edit = async (name: string): Promise<void> => {
    const path = pathOf(name);
    const { apiVersion, kind } = cases[name]!.resource;
    for (const one of cases[name]!.edits) {
      const by = `${path}?fieldManager=theirs`;
      if ("put" in one) await lab.cluster.send("PUT", by, { body: one.put(await live(name)) });
      else if ("apply" in one) {
        const { metadata, ...rest } = one.apply as { readonly metadata?: Fields };
        const body = { apiVersion, kind, ...rest, metadata: { ...metadata, name } };
        await lab.cluster.send("PATCH", `${by}&force=true`, { body, type: "application/apply-patch+yaml" });
      } else {
        const [[form, body]] = Object.entries(one) as [[string, unknown]];
        const type = `application/${{ merge: "merge-patch", strategic: "strategic-merge-patch", json: "json-patch" }[form]}+json`;
        // A custom kind knows no strategic patch.
        await lab.cluster.send("PATCH", by, { body, type });
      }
    }
  };
  /** What is wrong with the child; nothing when all is as it has to be. */
  const check = async (name: string, phase: "desired" | "later", isEdited: boolean): Promise<readonly string[]> => {
    const object = await live(name);
    const { stringData, ...desired } = desiredOf(name, phase) as Fields & { readonly stringData?: Fields };
    const { stays = {}, gone = [], later } = cases[name]!;
    const data = stringData && {
      data: Object.fromEntries(Object.entries(stringData).map(([key, value]) => [key, btoa(String(value))])),
    };
    const wrong: string[] = [];
    if (!isSubset({ ...desired, ...data }, object) || !isOwned(object)) wrong.push("is not as desired");
    if (isEdited && !isSubset(stays, object)) wrong.push("lacks what others added");
    if (phase === "later" || (isEdited && later === undefined)) {
      for (const path of gone) if (has(object, path)) wrong.push(`still has ${path}`);
    }
    if (wrong.length === 0) return [];
    return [`${name} ${wrong.join(" and ")}: ${behaviours.failure(name)} ${JSON.stringify(object)}`];
  };
  const isOwned = ({ metadata }: Fields): boolean => {
    const { ownerReferences, annotations } = metadata as { ownerReferences?: Fields[]; annotations?: Fields };
    const [owner] = ownerReferences ?? [];
    return owner?.["controller"] === true && owner["apiVersion"] === "lab.binnacle.dev/v1" && annotations !== undefined;
  };
  const has = (object: unknown, path: string): boolean => {
    let value = object;
    for (const step of path.split(".")) {
      const list = Array.isArray(value) ? (value as Fields[]) : undefined;
      value =
        list === undefined
          ? (value as Fields | undefined)?.[step]
          : (list.find(({ name }) => name === step) ?? list[Number(step)]);
    }
    return value !== undefined;
  };
  const names = Object.keys(cases);
  const expectAll = async (phase: "desired" | "later", isEdited = true): Promise<void> => {
    await lab.operator.idle(300);
    const wrong: string[] = [];
    for (const name of names) {
      if (isEdited || cases[name]!.before === undefined) wrong.push(...(await check(name, phase, isEdited)));
    }
    expect(wrong).toEqual([]);
  };
  const silent = async (): Promise<void> => {
    const from = lab.proxy.writes.length;
    await Promise.all(names.map((name) => lab.turn(name)));
    expect(lab.proxy.writes.slice(from).filter((write) => !write.includes("boxes"))).toEqual([]);
  };

  beforeAll(async () => {
    lab = await Lab.start(behaviours, [Free, boxController<Shape>(behaviours, { owns })], { server });
    for (const name of names) {
      const { before, resource } = cases[name]!;
      if (before === undefined) continue;
      const { apiVersion, kind } = resource;
      const body = { apiVersion, kind, metadata: { name }, ...before };
      await lab.cluster.send("POST", PATHS[kind]!, { body });
    }
    await Promise.all(
      names.map(async (name) => {
        want(name, "desired");
        await lab.box(name, behaviours.of(name)!);
      }),
    );
  }, 240_000);
  afterAll(async () => await lab?.[Symbol.asyncDispose]());

  test("is set back while the process runs, and then there is silence", async () => {
    await expectAll("desired", false);
    await Promise.all(names.map(edit));
    await expectAll("desired");
    await silent();
  }, 60_000);

  test("is set back after the process was down, and then there is silence", async () => {
    await lab.stop();
    await Promise.all(names.map(edit));
    await lab.restart();
    await expectAll("desired");
    await silent();
  }, 60_000);

  test("goes when it is no longer desired, also where both happened while the process was down", async () => {
    await lab.stop();
    await Promise.all(names.map(edit));
    for (const name of names) want(name, "later");
    await lab.restart();
    await expectAll("later");
    await silent();
  }, 60_000);
});
