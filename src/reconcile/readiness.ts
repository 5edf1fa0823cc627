/** Decides whether a child is ready, for the children that come after it. */
import type { AnyObject } from "../resource/handle.ts";

interface Workload {
  readonly spec?: { readonly replicas?: number; readonly completions?: number };
  readonly status?: Readonly<Record<string, unknown>> & {
    readonly conditions?: readonly { type: string; status: string }[];
  };
}

/**
 * Whether an object is ready: workloads by their replicas, other kinds by a condition, the rest by their existence.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#deployment-status
 */
export function isReady(object: AnyObject): boolean {
  if (object.metadata.deletionTimestamp !== undefined) return false;
  const { spec, status = {} } = object as AnyObject & Workload;
  const number = (field: string): number => (typeof status[field] === "number" ? status[field] : 0);
  const observed = number("observedGeneration") >= (object.metadata.generation ?? 0);
  switch (`${object.kind}.${object.apiVersion}`) {
    case "Deployment.apps/v1":
      return (
        observed &&
        number("updatedReplicas") >= (spec?.replicas ?? 1) &&
        number("availableReplicas") >= (spec?.replicas ?? 1)
      );
    case "StatefulSet.apps/v1":
    case "ReplicaSet.apps/v1":
      return observed && number("readyReplicas") >= (spec?.replicas ?? 1);
    case "DaemonSet.apps/v1":
      return observed && number("numberReady") >= number("desiredNumberScheduled");
    case "Job.batch/v1":
      return isTrue(status, "Complete");
    case "PersistentVolumeClaim.v1":
      return status["phase"] === "Bound";
    case "Namespace.v1":
      return status["phase"] === "Active";
    case "CustomResourceDefinition.apiextensions.k8s.io/v1":
      return isTrue(status, "Established");
    default:
      return !status.conditions?.some((condition) => condition.type === "Ready") || isTrue(status, "Ready");
  }
}

function isTrue(status: NonNullable<Workload["status"]>, type: string): boolean {
  return status.conditions?.some((condition) => condition.type === type && condition.status === "True") === true;
}
