/** The defaults of workloads. */
import type { Fields } from "../../hooks.ts";
import { type DefaultTable, each, fill, fillAbsent, filled, has, inner } from "../fill.ts";

export const workloadDefaults: DefaultTable = {
  ReplicationController: (controller) => {
    const spec = inner(controller, "spec");
    const labels = inner(inner(inner(spec, "template"), "metadata"), "labels");
    if (Object.keys(labels).length > 0) {
      if (Object.keys(inner(spec, "selector")).length === 0) spec["selector"] = { ...labels };
      labelFrom(controller, labels);
    }
    fill(spec, { replicas: 1 });
  },
  ReplicaSet: (set) => {
    fill(inner(set, "spec"), { replicas: 1 });
  },
  Deployment: (deployment) => {
    const spec = inner(deployment, "spec");
    fill(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600, strategy: {} });
    const strategy = inner(spec, "strategy");
    fill(strategy, { type: "RollingUpdate" });
    if (strategy["type"] !== "RollingUpdate") return;
    fill(strategy, { rollingUpdate: {} });
    fillAbsent(inner(strategy, "rollingUpdate"), { maxUnavailable: "25%", maxSurge: "25%" });
  },
  DaemonSet: (set) => {
    const spec = inner(set, "spec");
    const { metadata } = set as { metadata: { annotations?: Fields } };
    const generation = Number(metadata.annotations?.[templateGeneration] ?? 0);
    metadata.annotations = { ...metadata.annotations, [templateGeneration]: String(generation) };
    fill(spec, { revisionHistoryLimit: 10, updateStrategy: {} });
    const strategy = inner(spec, "updateStrategy");
    fill(strategy, { type: "RollingUpdate" });
    if (strategy["type"] !== "RollingUpdate") return;
    fill(strategy, { rollingUpdate: {} });
    fillAbsent(inner(strategy, "rollingUpdate"), { maxUnavailable: 1, maxSurge: 0 });
  },
  StatefulSet: (set) => {
    const spec = inner(set, "spec");
    fill(spec, {
      podManagementPolicy: "OrderedReady",
      updateStrategy: {},
      persistentVolumeClaimRetentionPolicy: {},
      replicas: 1,
      revisionHistoryLimit: 10,
    });
    const strategy = inner(spec, "updateStrategy");
    if (!has(strategy, "type")) fill(strategy, { type: "RollingUpdate", rollingUpdate: {} });
    if (strategy["type"] === "RollingUpdate" && has(strategy, "rollingUpdate"))
      fillAbsent(inner(strategy, "rollingUpdate"), { partition: 0 });
    fill(inner(spec, "persistentVolumeClaimRetentionPolicy"), { whenDeleted: "Retain", whenScaled: "Retain" });
    for (const claim of each(spec, "volumeClaimTemplates"))
      Object.assign(claim, { apiVersion: "v1", kind: "PersistentVolumeClaim" });
  },
  Job: (job) => {
    const spec = inner(job, "spec");
    if (!has(spec, "completions") && !has(spec, "parallelism")) fill(spec, { completions: 1 });
    fillAbsent(spec, {
      parallelism: 1,
      backoffLimit: has(spec, "backoffLimitPerIndex") ? 2147483647 : 6,
      completionMode: "NonIndexed",
      suspend: false,
      podReplacementPolicy: has(spec, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed",
      manualSelector: has(spec, "manualSelector") ? spec["manualSelector"] : false,
    });
    const labels = inner(inner(inner(spec, "template"), "metadata"), "labels");
    const metadata = inner(job, "metadata");
    // Object and template then share one map, as in Go: a later change of one changes the other.
    if (Object.keys(labels).length > 0 && Object.keys(inner(metadata, "labels")).length === 0)
      metadata["labels"] = labels;
  },
  PodFailurePolicyOnPodConditionsPattern: filled({ status: "True" }),
  CronJob: (job) => {
    fill(inner(job, "spec"), {
      concurrencyPolicy: "Allow",
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
  },
  "autoscaling/v1/HorizontalPodAutoscaler": (scaler) => {
    fill(inner(scaler, "spec"), { minReplicas: 1 });
  },
  "autoscaling/v2/HorizontalPodAutoscaler": (scaler) => {
    const spec = inner(scaler, "spec");
    fill(spec, { minReplicas: 1 });
    if (each(spec, "metrics").length === 0) {
      spec["metrics"] = [
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } },
      ];
    }
    const behavior = inner(spec, "behavior");
    if (has(spec, "behavior")) {
      behavior["scaleUp"] = scaling(inner(behavior, "scaleUp"), scaleUp);
      behavior["scaleDown"] = scaling(inner(behavior, "scaleDown"), scaleDown);
    }
  },
};

const templateGeneration = "deprecated.daemonset.template.generation";

const scaleUp = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [
    { type: "Pods", value: 4, periodSeconds: 15 },
    { type: "Percent", value: 100, periodSeconds: 15 },
  ],
};
const scaleDown = { selectPolicy: "Max", policies: [{ type: "Percent", value: 100, periodSeconds: 15 }] };

function scaling(fields: Fields, defaults: Fields): Fields {
  fillAbsent(fields, defaults);
  return fields;
}

function labelFrom(object: Fields, labels: Fields): void {
  const metadata = inner(object, "metadata");
  if (Object.keys(inner(metadata, "labels")).length === 0) metadata["labels"] = { ...labels };
}
