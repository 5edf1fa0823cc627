/** The attributes that name an object of the cluster. */
import type { Attributes } from "@opentelemetry/api";
import type { ObjectRef } from "../history/run-answer.ts";

/**
 * The kinds that the semantic conventions have attributes for.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/registry/attributes/k8s/
 */
const CONVENTIONAL: Readonly<Record<string, string>> = {
  "/Namespace": "namespace",
  "/Node": "node",
  "/PersistentVolume": "persistentvolume",
  "/PersistentVolumeClaim": "persistentvolumeclaim",
  "/Pod": "pod",
  "/ReplicationController": "replicationcontroller",
  "/ResourceQuota": "resourcequota",
  "/Service": "service",
  "apps/DaemonSet": "daemonset",
  "apps/Deployment": "deployment",
  "apps/ReplicaSet": "replicaset",
  "apps/StatefulSet": "statefulset",
  "autoscaling/HorizontalPodAutoscaler": "hpa",
  "batch/CronJob": "cronjob",
  "batch/Job": "job",
  "storage.k8s.io/StorageClass": "storageclass",
};

export function objectAttributes({ group, version, kind, namespace, name }: ObjectRef): Attributes {
  const conventional = CONVENTIONAL[`${group}/${kind}`];
  return {
    "binnacle.object.api_version": group === "" ? version : `${group}/${version}`,
    "binnacle.object.kind": kind,
    ...(name !== "" && { "binnacle.object.name": name }),
    ...(namespace !== undefined && { "k8s.namespace.name": namespace }),
    ...(conventional !== undefined && name !== "" && { [`k8s.${conventional}.name`]: name }),
  };
}
