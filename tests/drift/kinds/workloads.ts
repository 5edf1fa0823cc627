/** Kinds that run pods. */
import { fixedAt, type Kind, kindOf, partAt } from "./kind.ts";
import { podBase, podParts, templateBase, templateParts } from "./pods.ts";

const selector = { matchLabels: { app: "child" } };
const template = templateParts("spec.template");
const count = partAt("spec.replicas", 0, 1, 3);
const jobTemplate = { ...templateBase, spec: { ...podBase, restartPolicy: "Never" } };
const apps = { apiVersion: "apps/v1", base: { spec: { selector, template: templateBase } } };

export const workloads: readonly Kind[] = [
  kindOf({
    ...apps,
    kind: "Deployment",
    scales: true,
    plural: "deployments",
    parts: [
      count,
      partAt(
        "spec.strategy",
        { type: "Recreate" },
        { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        { rollingUpdate: { maxSurge: "25%", maxUnavailable: "10%" } },
        {},
      ),
      partAt("spec.minReadySeconds", 0, 5),
      partAt("spec.revisionHistoryLimit", 0, 2),
      partAt("spec.paused", false, true),
      partAt("spec.progressDeadlineSeconds", 60),
      ...template,
    ],
  }),
  kindOf({
    ...apps,
    kind: "StatefulSet",
    scales: true,
    plural: "statefulsets",
    parts: [
      count,
      fixedAt("spec.serviceName", "s", ""),
      fixedAt("spec.podManagementPolicy", "Parallel"),
      partAt(
        "spec.updateStrategy",
        { type: "OnDelete" },
        { rollingUpdate: { partition: 0 } },
        { type: "RollingUpdate", rollingUpdate: { partition: 2 } },
      ),
      partAt("spec.persistentVolumeClaimRetentionPolicy", { whenDeleted: "Delete" }, { whenScaled: "Delete" }),
      partAt("spec.minReadySeconds", 0, 5),
      partAt("spec.ordinals", { start: 0 }, { start: 2 }, {}),
      fixedAt("spec.volumeClaimTemplates", [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1024Mi" } } },
        },
      ]),
      ...template,
    ],
  }),
  kindOf({
    ...apps,
    kind: "DaemonSet",
    plural: "daemonsets",
    parts: [
      partAt("spec.updateStrategy", { type: "OnDelete" }, { rollingUpdate: { maxUnavailable: 2 } }, {}),
      partAt("spec.minReadySeconds", 0, 5),
      partAt("spec.revisionHistoryLimit", 0, 2),
      ...template,
    ],
  }),
  kindOf({
    ...apps,
    kind: "ReplicaSet",
    scales: true,
    plural: "replicasets",
    parts: [count, partAt("spec.minReadySeconds", 0, 5), ...template],
  }),
  kindOf({
    apiVersion: "v1",
    kind: "ReplicationController",
    scales: true,
    plural: "replicationcontrollers",
    base: { spec: { selector: { app: "child" }, template: templateBase } },
    parts: [count, partAt("spec.minReadySeconds", 0, 5), ...template],
  }),
  kindOf({
    apiVersion: "batch/v1",
    kind: "Job",
    plural: "jobs",
    base: { spec: { template: jobTemplate } },
    parts: [
      partAt("spec.suspend", true, false),
      partAt("spec.parallelism", 0, 1, 2),
      fixedAt("spec.completions", 1, 3),
      partAt("spec.backoffLimit", 0, 3),
      partAt("spec.activeDeadlineSeconds", 60, 600),
      partAt("spec.ttlSecondsAfterFinished", 0, 60),
      ...templateParts("spec.template", { isFixed: true }),
    ],
  }),
  kindOf({
    apiVersion: "batch/v1",
    kind: "CronJob",
    plural: "cronjobs",
    base: { spec: { schedule: "0 3 * * *", jobTemplate: { spec: { template: jobTemplate } } } },
    parts: [
      partAt("spec.schedule", "* * * * *", "@daily"),
      partAt("spec.suspend", true, false),
      partAt("spec.timeZone", "Etc/UTC"),
      partAt("spec.concurrencyPolicy", "Forbid", "Allow"),
      partAt("spec.successfulJobsHistoryLimit", 0, 1),
      partAt("spec.startingDeadlineSeconds", 0, 60),
      partAt("spec.jobTemplate.spec.backoffLimit", 0, 2),
      partAt("spec.jobTemplate.metadata.labels", { j: "1" }, {}),
      ...templateParts("spec.jobTemplate.spec.template"),
    ],
  }),
  kindOf({
    apiVersion: "v1",
    kind: "PodTemplate",
    plural: "podtemplates",
    base: { template: templateBase },
    parts: templateParts("template"),
  }),
  kindOf({
    apiVersion: "v1",
    kind: "Pod",
    plural: "pods",
    base: { spec: podBase },
    parts: [fixedAt("spec.activeDeadlineSeconds", 60), ...podParts],
  }),
];
