/** The kinds that situations are made of, and where they are in the API. */

export interface Kind {
  readonly kind: string;
  /** Of the group and version, such as `/apis/apps/v1`. */
  readonly api: string;
  readonly plural: string;
}

/** All kinds whose objects are watched and compared. */
export const kinds: readonly Kind[] = [
  ["Pod", "/api/v1", "pods"],
  ["Service", "/api/v1", "services"],
  ["Endpoints", "/api/v1", "endpoints"],
  ["ConfigMap", "/api/v1", "configmaps"],
  ["Secret", "/api/v1", "secrets"],
  ["ServiceAccount", "/api/v1", "serviceaccounts"],
  ["PersistentVolumeClaim", "/api/v1", "persistentvolumeclaims"],
  ["ReplicationController", "/api/v1", "replicationcontrollers"],
  ["ResourceQuota", "/api/v1", "resourcequotas"],
  ["Deployment", "/apis/apps/v1", "deployments"],
  ["ReplicaSet", "/apis/apps/v1", "replicasets"],
  ["StatefulSet", "/apis/apps/v1", "statefulsets"],
  ["DaemonSet", "/apis/apps/v1", "daemonsets"],
  ["ControllerRevision", "/apis/apps/v1", "controllerrevisions"],
  ["Job", "/apis/batch/v1", "jobs"],
  ["CronJob", "/apis/batch/v1", "cronjobs"],
  ["EndpointSlice", "/apis/discovery.k8s.io/v1", "endpointslices"],
  ["PodDisruptionBudget", "/apis/policy/v1", "poddisruptionbudgets"],
  ["Event", "/apis/events.k8s.io/v1", "events"],
].map(([kind = "", api = "", plural = ""]) => ({ kind, api, plural }));

/** Cluster-scoped, for situations that need some of their own. */
const clusterKinds: readonly Kind[] = [
  { kind: "Node", api: "/api/v1", plural: "nodes" },
  { kind: "Namespace", api: "/api/v1", plural: "namespaces" },
  { kind: "PersistentVolume", api: "/api/v1", plural: "persistentvolumes" },
  { kind: "StorageClass", api: "/apis/storage.k8s.io/v1", plural: "storageclasses" },
];

/** The path of a kind's objects, or of one of them. */
export function pathOf(kind: string, namespace: string, name = ""): string {
  const end = name === "" ? "" : `/${name}`;
  const clusterKind = clusterKinds.find((one) => one.kind === kind);
  if (clusterKind !== undefined) return `${clusterKind.api}/${clusterKind.plural}${end}`;
  const known = kinds.find((one) => one.kind === kind);
  if (known === undefined) throw new Error(`Situations know no ${kind}: add it to kinds.ts`);
  return `${known.api}/namespaces/${namespace}/${known.plural}${end}`;
}
