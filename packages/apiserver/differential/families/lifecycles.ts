/** Creation, change and deletion with their options, preconditions and what is kept from one to the next. */
import { collectionOf, configMap, deployment, gadget, objectOf, pod, prepareKinds } from "./kinds.ts";
import { type Family, pairs, type Probe } from "./family.ts";

const deletions: Readonly<Record<string, unknown>> = {
  nothing: {},
  background: { propagationPolicy: "Background" },
  foreground: { propagationPolicy: "Foreground" },
  orphan: { propagationPolicy: "Orphan" },
  "an unknown policy": { propagationPolicy: "Later" },
  "an empty policy": { propagationPolicy: "" },
  orphans: { orphanDependents: true },
  "no orphans": { orphanDependents: false },
  "orphans and a policy": { orphanDependents: true, propagationPolicy: "Orphan" },
  "no grace": { gracePeriodSeconds: 0 },
  "some grace": { gracePeriodSeconds: 5 },
  "negative grace": { gracePeriodSeconds: -1 },
  "very negative grace": { gracePeriodSeconds: -10 },
  "another uid": { preconditions: { uid: "x" } },
  "an empty uid": { preconditions: { uid: "" } },
  "another version": { preconditions: { resourceVersion: "1" } },
  "an empty version": { preconditions: { resourceVersion: "" } },
  "a version of letters": { preconditions: { resourceVersion: "x" } },
  "no preconditions": { preconditions: {} },
  both: { preconditions: { uid: "x", resourceVersion: "1" } },
  "a dry run": { dryRun: ["All"] },
  "a dry run of something": { dryRun: ["Some"] },
  "two dry runs": { dryRun: ["All", "All"] },
  "no dry run": { dryRun: [] },
  "another kind": { kind: "Pod", apiVersion: "v1" },
  "its kind": { kind: "DeleteOptions", apiVersion: "v1" },
  "its kind of its group": { kind: "DeleteOptions", apiVersion: "apps/v1" },
  "its kind of meta": { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1" },
  "an unknown field": { nope: 1 },
  "a wrong type": { gracePeriodSeconds: "5" },
  "a wrong type of preconditions": { preconditions: "x" },
  "ignored errors": { ignoreStoreReadErrorWithClusterBreakingPotential: true },
};

const queries = [
  "propagationPolicy=Background",
  "propagationPolicy=Foreground",
  "propagationPolicy=Orphan",
  "propagationPolicy=x",
  "propagationPolicy=",
  "orphanDependents=true",
  "orphanDependents=x",
  "gracePeriodSeconds=0",
  "gracePeriodSeconds=-1",
  "gracePeriodSeconds=x",
  "dryRun=All",
  "dryRun=Some",
  "dryRun=",
  "dryRun=All&dryRun=All",
  "preconditions=x",
  "nope=1",
];

async function deletionOptions(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  for (const [kind, [finalized, finalizers]] of pairs([configMap, deployment, pod, gadget], [
    ["plain", undefined],
    ["with a finalizer", ["a.b/c"]],
    ["orphaned", ["orphan"]],
    ["in the foreground", ["foregroundDeletion"]],
  ] as const)) {
    const collection = collectionOf(kind, probe.namespace);
    for (const [index, [label, body]] of Object.entries(deletions).entries()) {
      if (finalizers !== undefined && index % 3 === kind.name.length % 3) continue;
      const name = `d${index}-${finalized.replaceAll(/[^a-z]+/g, "-")}`;
      const what = `${kind.name} ${finalized} by ${label}`;
      if (!probe.isChosen(`delete ${what}`)) continue;
      await probe.quietly("POST", collection, objectOf(kind, { name, finalizers }));
      await probe.send(`delete ${what}`, "DELETE", `${collection}/${name}`, { body });
      await probe.session.send(`read ${what}`, "GET", `${collection}/${name}`);
      if (finalizers === undefined) continue;
      await probe.session.send(`delete again ${what}`, "DELETE", `${collection}/${name}`, {
        body: { propagationPolicy: "Background" },
      });
      await probe.session.send(`label ${what}`, "PATCH", `${collection}/${name}`, {
        body: { metadata: { labels: { a: "1" } } },
        headers: { "content-type": "application/merge-patch+json" },
      });
      await probe.session.send(`add a finalizer ${what}`, "PATCH", `${collection}/${name}`, {
        body: { metadata: { finalizers: ["a.b/c", "x.y/z"] } },
        headers: { "content-type": "application/merge-patch+json" },
      });
      await probe.session.send(`release ${what}`, "PATCH", `${collection}/${name}`, {
        body: { metadata: { finalizers: null } },
        headers: { "content-type": "application/merge-patch+json" },
      });
      await probe.session.send(`read released ${what}`, "GET", `${collection}/${name}`);
    }
    if (finalizers !== undefined) continue;
    for (const [index, query] of queries.entries()) {
      const name = `q${index}`;
      await probe.quietly("POST", collection, objectOf(kind, { name }));
      await probe.send(`delete ${kind.name} ${query}`, "DELETE", `${collection}/${name}?${query}`);
      await probe.quietly("POST", collection, objectOf(kind, { name }));
      await probe.send(`delete ${kind.name} ${query} and a body`, "DELETE", `${collection}/${name}?${query}`, {
        body: { propagationPolicy: "Foreground", gracePeriodSeconds: 3 },
      });
      await probe.send(
        `delete ${kind.name}s ${query}`,
        "DELETE",
        `${collection}?fieldSelector=metadata.name%3Dnone&${query}`,
      );
    }
    for (const [label, body] of Object.entries(deletions))
      await probe.send(`delete ${kind.name}s by ${label}`, "DELETE", `${collection}?labelSelector=none`, { body });
    await probe.quietly("DELETE", collection);
  }
}

const metadatas: Readonly<Record<string, object>> = {
  "no name": { name: undefined },
  "an empty name": { name: "" },
  "capital letters": { name: "Abc" },
  "an underscore": { name: "a_b" },
  "a dot": { name: "a.b" },
  "two dots": { name: "a..b" },
  "a leading dash": { name: "-a" },
  "a slash": { name: "a/b" },
  "a percent sign": { name: "a%b" },
  "only a dot": { name: "." },
  "only dots": { name: ".." },
  "a digit": { name: "1" },
  "63 letters": { name: "a".repeat(63) },
  "64 letters": { name: "a".repeat(64) },
  "253 letters": { name: "a".repeat(253) },
  "254 letters": { name: "a".repeat(254) },
  "another script": { name: "ünï" },
  "a bad prefix": { name: undefined, generateName: "A_" },
  "a prefix and a name": { name: "n", generateName: "p-" },
  "an empty prefix": { name: undefined, generateName: "" },
  "another namespace": { namespace: "other" },
  "an odd namespace": { namespace: "O_o" },
  "a uid": { uid: "x" },
  "a version": { resourceVersion: "5" },
  "a version of nothing": { resourceVersion: "0" },
  "a version of letters": { resourceVersion: "x" },
  "a generation": { generation: 7 },
  "a negative generation": { generation: -7 },
  "a link": { selfLink: "/x" },
  "a creation": { creationTimestamp: "2001-01-01T00:00:00Z" },
  "a deletion": { deletionTimestamp: "2001-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 },
  "negative grace": { deletionGracePeriodSeconds: -5 },
  "a label without name": { labels: { "": "" } },
  "a label with a space": { labels: { "a b": "c" } },
  "a label without prefix": { labels: { "/x": "1" } },
  "a label of a prefix": { labels: { "x/": "1" } },
  "a label with capital letters": { labels: { "X.Y/z": "1" } },
  "a label of a dash": { labels: { ok: "-" } },
  "a long label": { labels: { ["a".repeat(64)]: "b".repeat(64) } },
  "an annotation without name": { annotations: { "": "" } },
  "an annotation with a space": { annotations: { "a b": "c" } },
  "an annotation with capital letters": { annotations: { "UPPER.case/x": "1" } },
  "huge annotations": { annotations: { a: "x".repeat(262_145) } },
  "bad finalizers": { finalizers: ["x", "a/b/c", "", "A.B/c", "kubernetes", "orphan", "foregroundDeletion"] },
  "both finalizers": { finalizers: ["orphan", "foregroundDeletion"] },
  "the same finalizer twice": { finalizers: ["a.b/c", "a.b/c"] },
  "an owner without fields": { ownerReferences: [{}] },
  "an owner with an odd version": { ownerReferences: [{ apiVersion: "a/b/c", kind: "K", name: "n", uid: "u" }] },
  "two controllers": {
    ownerReferences: [
      { apiVersion: "v1", kind: "K", name: "n", uid: "u", controller: true },
      { apiVersion: "v1", kind: "K", name: "m", uid: "w", controller: true },
    ],
  },
  "the same owner twice": {
    ownerReferences: [
      { apiVersion: "v1", kind: "K", name: "n", uid: "u" },
      { apiVersion: "v1", kind: "K", name: "n", uid: "u" },
    ],
  },
  "an owner of a wrong type": { ownerReferences: [{ apiVersion: "v1", kind: "K", name: 1, uid: "u" }] },
  "owners of a wrong type": { ownerReferences: {} },
  "an event as owner": {
    ownerReferences: [
      { apiVersion: "v1", kind: "Event", name: "n", uid: "u" },
      { apiVersion: "events.k8s.io/v1", kind: "Event", name: "n", uid: "u" },
    ],
  },
  managers: {
    managedFields: [
      { manager: "x", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { "f:data": {} } },
    ],
  },
  "a bad manager": { managedFields: [{ manager: "x", operation: "Nope" }] },
  "a bad set of fields": {
    managedFields: [
      { manager: "x", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { "q:data": 1 } },
    ],
  },
};

async function metadataOfAll(probe: Probe): Promise<void> {
  await prepareKinds(probe);
  const others = [
    "Secret",
    "Service",
    "ServiceAccount",
    "Endpoints",
    "LimitRange",
    "Event",
    "ReplicationController",
  ].map((kind) => ({
    ...configMap,
    name: kind,
    kind,
    plural: kind === "Endpoints" ? "endpoints" : `${kind.toLowerCase()}s`,
    rest: kind === "Service" ? { spec: { ports: [{ port: 80 }] } } : {},
  }));
  const role = {
    ...configMap,
    name: "role",
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    plural: "roles",
    rest: {},
  };
  const lease = {
    ...configMap,
    name: "lease",
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    plural: "leases",
    rest: { spec: { holderIdentity: "x" } },
  };
  const namespaces = {
    ...configMap,
    name: "namespace",
    kind: "Namespace",
    plural: "namespaces",
    namespaced: false,
    rest: {},
  };
  const node = { ...namespaces, name: "node", kind: "Node", plural: "nodes" };
  const volume = {
    ...namespaces,
    name: "volume",
    kind: "PersistentVolume",
    plural: "persistentvolumes",
    rest: { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } } },
  };
  for (const kind of [configMap, deployment, pod, gadget, role, lease, namespaces, node, volume, ...others]) {
    const collection = collectionOf(kind, probe.namespace);
    await probe.quietly("POST", collection, objectOf(kind, { name: "base-of-all" }));
    for (const [label, metadata] of Object.entries(metadatas)) {
      await probe.send(`create ${kind.name} with ${label}`, "POST", `${collection}?dryRun=All`, {
        body: objectOf(kind, { name: "fresh", ...metadata }),
      });
      if (kind === configMap || kind === gadget || kind === deployment) {
        await probe.send(`put ${kind.name} with ${label}`, "PUT", `${collection}/base-of-all?dryRun=All`, {
          body: objectOf(kind, { name: "base-of-all", ...metadata }),
        });
        await probe.send(`put new ${kind.name} with ${label}`, "PUT", `${collection}/fresh?dryRun=All`, {
          body: objectOf(kind, { name: "fresh", ...metadata }),
        });
        await probe.send(`merge ${kind.name} with ${label}`, "PATCH", `${collection}/base-of-all?dryRun=All`, {
          body: { metadata },
          headers: { "content-type": "application/merge-patch+json" },
        });
        await probe.send(
          `apply ${kind.name} with ${label}`,
          "PATCH",
          `${collection}/base-of-all?dryRun=All&fieldManager=m`,
          {
            body: { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name: "base-of-all", ...metadata } },
            headers: { "content-type": "application/apply-patch+yaml" },
          },
        );
      }
    }
  }
}

export const lifecycles: readonly Family[] = [
  { name: "options of deletions", run: deletionOptions },
  { name: "metadata", run: metadataOfAll },
];
