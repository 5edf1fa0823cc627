/** What kube-apiserver's own plugins, those that are on by default, do to objects. */
import type { AdmissionAttributes, KubeObject, Reader } from "../hooks.ts";
import { admitPod } from "../validation/pod-kind.ts";

const inUse: Readonly<Record<string, string>> = {
  PersistentVolumeClaim: "kubernetes.io/pvc-protection",
  PersistentVolume: "kubernetes.io/pv-protection",
  VolumeAttributesClass: "kubernetes.io/vac-protection",
};

/** Changes the object in place. */
export function builtInPlugins({ context, object }: AdmissionAttributes): void {
  const { row, operation, subresource, reader } = context;
  if (object === undefined || subresource !== "" || (row.group !== "" && row.group !== "storage.k8s.io")) return;
  if (row.kind === "Pod" && (operation === "CREATE" || operation === "UPDATE")) admitPod(object);
  if (operation !== "CREATE") return;
  const finalizer = inUse[row.kind];
  if (finalizer !== undefined) protect(object, finalizer);
  if (row.kind === "PersistentVolumeClaim") chooseClass(object, reader);
  if (row.kind === "Node") taint(object);
}

/** StorageObjectInUseProtection. */
function protect({ metadata }: KubeObject, finalizer: string): void {
  if (!metadata.finalizers?.includes(finalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
}

const isDefault = "storageclass.kubernetes.io/is-default-class";

/** DefaultStorageClass: the youngest of the default classes. */
function chooseClass(claim: KubeObject, reader: Reader): void {
  const spec = claim["spec"] as Record<string, unknown>;
  if (spec["storageClassName"] !== undefined || claim.metadata.annotations?.["volume.beta.kubernetes.io/storage-class"])
    return;
  const [first] = reader
    .list({ group: "storage.k8s.io", plural: "storageclasses" })
    .filter(({ metadata }) => metadata.annotations?.[isDefault] === "true")
    .toSorted((one, other) =>
      (one.metadata.creationTimestamp ?? "") < (other.metadata.creationTimestamp ?? "") ? 1 : -1,
    );
  if (first !== undefined) spec["storageClassName"] = first.metadata.name;
}

/** TaintNodesByCondition. */
function taint(node: KubeObject): void {
  node["spec"] ??= {};
  const spec = node["spec"] as { taints?: { key: string; effect: string }[] };
  const added = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
  if (!spec.taints?.some(({ key, effect }) => key === added.key && effect === added.effect)) {
    spec.taints = [...(spec.taints ?? []), added];
  }
}
