/** Warns of questionable pods, templates of pods and custom objects, which are stored anyway, in `Warning` headers. */
import type { Fields, KindRow, KubeObject } from "../hooks.ts";
import { each, inner } from "../validation/fill.ts";
import { dnsLabel, qualifiedName } from "../validation/formats.ts";
import { claimWarnings, podWarnings } from "./core/pod-warnings.ts";

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
};

/** Returns the warnings of an object as it is about to be stored. */
export function warningsOf(
  row: Pick<KindRow, "group" | "kind" | "custom">,
  object: KubeObject,
  { old, subresource }: { readonly old: KubeObject | undefined; readonly subresource: string },
): readonly string[] {
  if (row.custom) return finalizerWarnings(object, old);
  if (row.group === "admissionregistration.k8s.io") return reservedName(object);
  const name = `${row.group}/${row.kind}`;
  const isStatus = !["", "scale"].includes(subresource);
  return isStatus || !Object.hasOwn(ofObjects, name) ? [] : (ofObjects[name]?.(object, old) ?? []);
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
    // The warnings for a replication controller are about its old object.
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
  const isUnlimited = Number(spec["revisionHistoryLimit"]) < 0;
  const advice = "a negative value retains all historical revisions; a value >= 0 is recommended";
  return [
    ...template("spec.template")(object, old),
    ...claims,
    ...(isUnlimited ? [`spec.revisionHistoryLimit: ${advice}`] : []),
  ];
}

const largeJob =
  "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";

function job(path: string): Warnings {
  return (object, old) => {
    if (isSameGeneration(object, old)) return [];
    const spec = path.split(".").reduce<Fields>(inner, object);
    const isLarge = Number(spec["completions"] ?? 0) > 100_000 && Number(spec["parallelism"] ?? 0) > 10_000;
    const warnings = isLarge && spec["completionMode"] === "Indexed" ? [`${path}: ${largeJob}`] : [];
    return [...warnings, ...template(`${path}.template`)(object, old)];
  };
}

function cronJob(object: KubeObject, old: KubeObject | undefined): string[] {
  const zoned = old !== undefined && String(inner(object, "spec")["schedule"]).includes("TZ");
  const advice =
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";
  return [...named(job("spec.jobTemplate.spec"))(object, old), ...(zoned ? [advice] : [])];
}
