/** Warns of questionable objects that are stored anyway, in `Warning` headers. */
import { deepEquals } from "#platform/equality";
import type { Fields, KindRow, KubeObject } from "../hooks.ts";
import { each, has, inner } from "../validation/fill.ts";
import { dnsLabel, qualifiedName } from "../validation/formats.ts";
import { addressWarnings, rangeWarnings } from "./addresses.ts";
import {
  nodeWarnings,
  runtimeClassWarnings,
  selectorWarnings,
  storageClassWarnings,
  volumeWarnings,
} from "./cluster-warnings.ts";
import { claimWarnings, podWarnings } from "./core/pod-warnings.ts";
import { serviceWarnings } from "./core/service-warnings.ts";
import { pairWarnings } from "./tls-pair.ts";
import { quantityOrder } from "../validation/quantities.ts";

/** Returns the warnings of an object. @param old the object before; `undefined` for a new one */
type Warnings = (object: KubeObject, old: KubeObject | undefined) => readonly string[];

/** The warnings of new and changed objects, for writes of the object itself. */
const ofObjects: Readonly<Record<string, Warnings>> = {
  "/Pod": (pod, old) =>
    old === undefined ? [...hostname(pod, "the Pod's hostname"), ...podWarnings({ ...partsOf(pod), path: "" })] : [],
  "/PodTemplate": template("template"),
  "/ReplicationController": named(template("spec.template")),
  "apps/DaemonSet": template("spec.template"),
  "apps/Deployment": named(template("spec.template")),
  "apps/ReplicaSet": named(template("spec.template")),
  "apps/StatefulSet": statefulSet,
  "batch/Job": named(job("spec")),
  "batch/CronJob": cronJob,
  "/Service": (service) => serviceWarnings(service),
  "/Endpoints": endpoints,
  "/Secret": (secret) => (secret["type"] === "kubernetes.io/tls" ? pairWarnings(inner(secret, "data")) : []),
  "/ServiceAccount": serviceAccount,
  "/ResourceQuota": (quota, old) => (old === undefined ? quotaWarnings(quota) : []),
  "/Node": (node) => nodeWarnings(node),
  "/PersistentVolume": (volume) => volumeWarnings(volume),
  "/PersistentVolumeClaim": claim,
  "networking.k8s.io/NetworkPolicy": networkPolicy,
  "networking.k8s.io/Ingress": ingress,
  "discovery.k8s.io/EndpointSlice": endpointSlice,
  "node.k8s.io/RuntimeClass": (runtimeClass) => runtimeClassWarnings(runtimeClass),
  "resource.k8s.io/ResourceSlice": resourceSlice,
  "storage.k8s.io/CSIDriver": csiDriver,
  "storage.k8s.io/CSIStorageCapacity": (capacity) => selectorWarnings(inner(capacity, "nodeTopology"), "nodeTopology"),
  "storage.k8s.io/StorageClass": (storageClass) => storageClassWarnings(storageClass),
};

/** The warnings of writes through `status`. */
const ofStatus: Readonly<Record<string, Warnings>> = {
  "/Pod": (pod) => [...statusAddresses(pod, "podIPs"), ...statusAddresses(pod, "hostIPs")],
  "/Service": balancer,
  "networking.k8s.io/Ingress": balancer,
};

/** Returns the warnings of an object as it is about to be stored. */
export function warningsOf(
  row: Pick<KindRow, "group" | "kind" | "custom">,
  object: KubeObject,
  { old, subresource }: { readonly old: KubeObject | undefined; readonly subresource: string },
): readonly string[] {
  if (row.custom) return finalizerWarnings(object, old);
  if (row.group === "admissionregistration.k8s.io") return reservedName(object);
  const table = subresource === "status" ? ofStatus : ["", "scale"].includes(subresource) ? ofObjects : undefined;
  const name = `${row.group}/${row.kind}`;
  return table !== undefined && Object.hasOwn(table, name) ? (table[name]?.(object, old) ?? []) : [];
}

function reservedName({ metadata: { name = "" } }: KubeObject): string[] {
  if (!name.endsWith(".static.k8s.io")) return [];
  const why = "are reserved for static manifest-based configurations and cannot be managed via the API";
  return [`metadata.name: names ending with ".static.k8s.io" ${why}`];
}

/** Custom objects may have finalizers with any name. */
function finalizerWarnings({ metadata }: KubeObject, old: KubeObject | undefined): string[] {
  const before = new Set(old?.metadata.finalizers);
  const added = [...new Set(metadata.finalizers)].filter((name) => !before.has(name)).toSorted();
  return added.flatMap((name) => {
    const at = `metadata.finalizers: ${JSON.stringify(name)}:`;
    const wrong = qualifiedName(name).map((why) => `${at} ${why}`);
    if (name.includes("/") || ["orphan", "foregroundDeletion", "kubernetes"].includes(name)) return wrong;
    const what = `a domain-qualified finalizer name${name.includes(".") ? " including a path (/)" : ""}`;
    return [...wrong, `${at} prefer ${what} to avoid accidental conflicts with other finalizer writers`];
  });
}

function partsOf(pod: Fields): { metadata: Fields; spec: Fields } {
  return { metadata: inner(pod, "metadata"), spec: inner(pod, "spec") };
}

/** Whether the spec is unchanged, so that it is not checked. */
function isSameGeneration(object: KubeObject, old: KubeObject | undefined): boolean {
  return old !== undefined && object.metadata.generation === old.metadata.generation;
}

function template(path: string): Warnings {
  return (object, old) => {
    if (isSameGeneration(object, old)) return [];
    // A replication controller is checked as it was before.
    const looked = old !== undefined && object.kind === "ReplicationController" ? old : object;
    return podWarnings({ ...partsOf(path.split(".").reduce<Fields>(inner, looked)), path });
  };
}

function hostname({ metadata }: KubeObject, use: string): string[] {
  const wrong = dnsLabel(metadata.name ?? "");
  if (wrong.length === 0) return [];
  const why = "which can result in surprising behavior; a DNS label is recommended";
  return [`metadata.name: this is used in ${use}, ${why}: [${wrong.join(" ")}]`];
}

function named(warnings: Warnings): Warnings {
  return (object, old) => [
    ...(old === undefined ? hostname(object, "Pod names and hostnames") : []),
    ...warnings(object, old),
  ];
}

function statefulSet(object: KubeObject, old: KubeObject | undefined): string[] {
  const spec = inner(object, "spec");
  const claims = each(spec, "volumeClaimTemplates").flatMap((claim, index) => {
    const at = `spec.volumeClaimTemplates[${index}]`;
    return claimWarnings(inner(claim, "spec"), old === undefined ? at : `${at}.Spec`);
  });
  const kept = Number(spec["revisionHistoryLimit"]) < 0;
  const advice = "a negative value retains all historical revisions; a value >= 0 is recommended";
  return [
    ...template("spec.template")(object, old),
    ...claims,
    ...(kept ? [`spec.revisionHistoryLimit: ${advice}`] : []),
  ];
}

const largeJob =
  "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";

function job(path: string): Warnings {
  return (object, old) => {
    if (isSameGeneration(object, old)) return [];
    const spec = path.split(".").reduce<Fields>(inner, object);
    const isLarge = Number(spec["completions"] ?? 0) > 100_000 && Number(spec["parallelism"] ?? 0) > 10_000;
    const said = isLarge && spec["completionMode"] === "Indexed" ? [`${path}: ${largeJob}`] : [];
    return [...said, ...template(`${path}.template`)(object, old)];
  };
}

function cronJob(object: KubeObject, old: KubeObject | undefined): string[] {
  const zoned = old !== undefined && String(inner(object, "spec")["schedule"]).includes("TZ");
  const advice =
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";
  return [...named(job("spec.jobTemplate.spec"))(object, old), ...(zoned ? [advice] : [])];
}

function endpoints(object: KubeObject): string[] {
  if (object.metadata.labels?.["endpoints.kubernetes.io/managed-by"] === "endpoint-controller") return [];
  return each(object, "subsets").flatMap((subset, index) =>
    ["addresses", "notReadyAddresses"].flatMap((list) =>
      each(subset, list).flatMap(({ ip }, place) =>
        addressWarnings(`subsets[${index}].${list}[${place}].ip`, String(ip)),
      ),
    ),
  );
}

function endpointSlice(object: KubeObject, old: KubeObject | undefined): string[] {
  const isName = old === undefined && object["addressType"] === "FQDN";
  const said = isName ? ["spec.addressType: FQDN endpoints are deprecated"] : [];
  const manager = object.metadata.labels?.["endpointslice.kubernetes.io/managed-by"] ?? "";
  if (["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"].includes(manager)) return said;
  const addresses = each(object, "endpoints").flatMap((endpoint, index) =>
    ((endpoint["addresses"] ?? []) as string[]).flatMap((address, place) =>
      addressWarnings(`endpoints[${index}].addresses[${place}]`, address),
    ),
  );
  return [...said, ...addresses];
}

function serviceAccount({ metadata }: KubeObject, old: KubeObject | undefined): string[] {
  const name = "kubernetes.io/enforce-mountable-secrets";
  if (metadata.annotations?.[name] === undefined || old?.metadata.annotations?.[name] !== undefined) return [];
  const advice = "prefer separate namespaces to isolate access to mounted secrets";
  return [`metadata.annotations[${name}]: deprecated in v1.32+; ${advice}`];
}

function claim(object: KubeObject): string[] {
  const name = "volume.beta.kubernetes.io/storage-class";
  const isOld = object.metadata.annotations?.[name] !== undefined;
  const advice = 'deprecated since v1.8; use "storageClassName" attribute instead';
  return [
    ...(isOld ? [`metadata.annotations[${name}]: ${advice}`] : []),
    ...claimWarnings(inner(object, "spec"), "spec"),
  ];
}

function networkPolicy(object: KubeObject): string[] {
  const directions = [
    ["ingress", "from"],
    ["egress", "to"],
  ] as const;
  return directions.flatMap(([direction, peers]) =>
    each(inner(object, "spec"), direction).flatMap((rule, index) =>
      each(rule, peers).flatMap((peer, place) => {
        if (!has(peer, "ipBlock")) return [];
        const { cidr, except } = inner(peer, "ipBlock");
        const at = `spec.${direction}[${index}].${peers}[${place}].ipBlock`;
        const excepted = ((except ?? []) as string[]).flatMap((range, number) =>
          rangeWarnings(`${at}.except[${number}]`, range),
        );
        return [...rangeWarnings(`${at}.cidr`, String(cidr)), ...excepted];
      }),
    ),
  );
}

function ingress(object: KubeObject, old: KubeObject | undefined): string[] {
  const name = "kubernetes.io/ingress.class";
  const isOld = object.metadata.annotations?.[name] !== undefined && !has(inner(object, "spec"), "ingressClassName");
  if (old !== undefined || !isOld) return [];
  return [`annotation ${JSON.stringify(name)} is deprecated, please use 'spec.ingressClassName' instead`];
}

function resourceSlice(object: KubeObject): string[] {
  const driver = String(inner(object, "spec")["driver"] ?? "");
  if (driver === driver.toLowerCase()) return [];
  return [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`];
}

function csiDriver(object: KubeObject, old: KubeObject | undefined): string[] {
  const spec = inner(object, "spec");
  const isSame = old !== undefined && deepEquals(inner(old, "spec")["tokenRequests"], spec["tokenRequests"]);
  if (each(spec, "tokenRequests").length === 0 || has(spec, "serviceAccountTokenInSecrets") || isSame) return [];
  return [
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes",
  ];
}

function statusAddresses(pod: KubeObject, list: string): string[] {
  return each(inner(pod, "status"), list).flatMap(({ ip }, index) =>
    addressWarnings(`status.${list}[${index}].ip`, String(ip ?? "")),
  );
}

function balancer(object: KubeObject): string[] {
  return each(inner(inner(object, "status"), "loadBalancer"), "ingress").flatMap(({ ip }, index) =>
    addressWarnings(`status.loadBalancer.ingress[${index}]`, String(ip ?? "")),
  );
}

function quotaWarnings(quota: KubeObject): string[] {
  const hard = inner(inner(quota, "spec"), "hard");
  return ["cpu", "memory", "storage", "ephemeral-storage"].flatMap((name) => {
    const bare = (name === "cpu" || name === "memory") && hard[`requests.${name}`] === undefined;
    const request = bare ? name : `requests.${name}`;
    const limit = `limits.${name}`;
    if (hard[request] === undefined || hard[limit] === undefined) return [];
    if (quantityOrder(hard[request], hard[limit]) <= 0) return [];
    const [most, least] = [String(hard[request]), String(hard[limit])];
    return [`ResourceQuota ${request} (${most}) should be less than ${limit} (${least})`];
  });
}
