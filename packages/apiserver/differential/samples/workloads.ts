import { podSpec, podTemplate, type Samples, selector } from "./sample.ts";

const job = { template: { spec: { ...podSpec, restartPolicy: "Never" } } };
const withSelector = { selector, template: podTemplate };

export const workloads: Samples = {
  "apps/ControllerRevision": {
    minimal: { revision: 1, data: { a: 1 } },
    changes: [{ revision: 2 }, { data: { a: 2 } }, { revision: -1 }],
  },
  "apps/DaemonSet": {
    minimal: { spec: withSelector },
    full: {
      spec: {
        ...withSelector,
        minReadySeconds: 1,
        revisionHistoryLimit: 2,
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "20%" } },
      },
    },
    changes: [
      { spec: { template: { spec: { containers: [{ name: "main", image: "b" }] } } } },
      { spec: { selector: { matchLabels: { app: "b" } } } },
      { spec: { updateStrategy: { type: "OnDelete", rollingUpdate: null } } },
      { spec: { updateStrategy: { type: "Nope" } } },
    ],
    status: { currentNumberScheduled: 1, desiredNumberScheduled: 1, numberMisscheduled: 0, numberReady: 1 },
  },
  "apps/Deployment": {
    minimal: { spec: withSelector },
    full: {
      spec: {
        ...withSelector,
        replicas: 3,
        paused: true,
        minReadySeconds: 2,
        progressDeadlineSeconds: 20,
        strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: "0%" } },
      },
    },
    changes: [
      { spec: { replicas: 3 } },
      { spec: { replicas: -1 } },
      { spec: { selector: { matchLabels: { app: "b" } } } },
      { spec: { strategy: { type: "Recreate" } } },
      { spec: { strategy: { type: "Recreate", rollingUpdate: null } } },
      { spec: { template: { metadata: { labels: { app: "b" } } } } },
      { spec: { minReadySeconds: 700 } },
      { spec: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
      { spec: { template: { spec: { restartPolicy: "Never" } } } },
    ],
    status: {
      replicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      observedGeneration: 1,
      conditions: [{ type: "Available", status: "True" }],
    },
  },
  "apps/ReplicaSet": {
    minimal: { spec: withSelector },
    full: { spec: { ...withSelector, replicas: 2, minReadySeconds: 1 } },
    changes: [
      { spec: { replicas: 3 } },
      { spec: { selector: { matchLabels: { app: "b" } } } },
      { spec: { replicas: -1 } },
    ],
    status: { replicas: 1, readyReplicas: 2 },
  },
  "apps/StatefulSet": {
    minimal: { spec: { ...withSelector, serviceName: "s" } },
    full: {
      spec: {
        ...withSelector,
        serviceName: "s",
        replicas: 2,
        podManagementPolicy: "Parallel",
        updateStrategy: { rollingUpdate: { partition: 1 } },
        volumeClaimTemplates: [
          {
            metadata: { name: "data" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
        ordinals: { start: 1 },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" },
      },
    },
    changes: [
      { spec: { replicas: 3 } },
      { spec: { serviceName: "t" } },
      { spec: { podManagementPolicy: "Parallel" } },
      { spec: { replicas: -1 } },
      { spec: { updateStrategy: { type: "OnDelete", rollingUpdate: null } } },
    ],
    status: { replicas: 1, observedGeneration: 1 },
  },
  "batch/CronJob": {
    minimal: { spec: { schedule: "*/5 * * * *", jobTemplate: { spec: job } } },
    full: {
      spec: {
        schedule: "@daily",
        timeZone: "Etc/UTC",
        suspend: true,
        concurrencyPolicy: "Forbid",
        startingDeadlineSeconds: 10,
        successfulJobsHistoryLimit: 0,
        failedJobsHistoryLimit: 5,
        jobTemplate: { spec: job },
      },
    },
    changes: [
      { spec: { schedule: "nope" } },
      { spec: { suspend: true } },
      { spec: { concurrencyPolicy: "Nope" } },
      { spec: { timeZone: "Nope/Nope" } },
      { spec: { schedule: "TZ=UTC * * * * *" } },
      { spec: { jobTemplate: { spec: { template: { spec: { restartPolicy: "Always" } } } } } },
    ],
    status: { lastScheduleTime: "2020-01-02T03:04:05Z" },
  },
  "batch/Job": {
    minimal: { spec: job },
    full: {
      spec: {
        ...job,
        completions: 3,
        parallelism: 2,
        completionMode: "Indexed",
        backoffLimitPerIndex: 1,
        maxFailedIndexes: 2,
        ttlSecondsAfterFinished: 10,
        activeDeadlineSeconds: 100,
        podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [1] } }] },
      },
    },
    changes: [
      { spec: { suspend: true } },
      { spec: { completions: 3 } },
      { spec: { parallelism: 2 } },
      { spec: { template: { spec: { containers: [{ name: "main", image: "b" }] } } } },
      { spec: { parallelism: -1 } },
      { spec: { backoffLimit: -1 } },
      { spec: { manualSelector: true } },
    ],
    status: { active: 1, startTime: "2020-01-02T03:04:05Z" },
  },
  "autoscaling/v1/HorizontalPodAutoscaler": {
    minimal: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } } },
    full: {
      spec: {
        minReplicas: 2,
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 50,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
      },
    },
    changes: [
      { spec: { minReplicas: 5 } },
      { spec: { minReplicas: 0 } },
      { spec: { maxReplicas: 5 } },
      { spec: { targetCPUUtilizationPercentage: -1 } },
    ],
    status: { currentReplicas: 1, desiredReplicas: 2 },
  },
  "autoscaling/v2/HorizontalPodAutoscaler": {
    minimal: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } } },
    full: {
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
        metrics: [
          { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "100Mi" } } },
          { type: "Pods", pods: { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "5" } } },
        ],
        behavior: {
          scaleDown: { stabilizationWindowSeconds: 5, policies: [{ type: "Pods", value: 1, periodSeconds: 10 }] },
        },
      },
    },
    changes: [
      { spec: { minReplicas: 5 } },
      { spec: { metrics: [{ type: "Nope" }] } },
      { spec: { maxReplicas: 5 } },
      { spec: { behavior: { scaleUp: { selectPolicy: "Nope" } } } },
    ],
    status: { currentReplicas: 1, desiredReplicas: 2 },
  },
  "policy/PodDisruptionBudget": {
    minimal: { spec: { minAvailable: 1, selector } },
    full: { spec: { maxUnavailable: "50%", selector, unhealthyPodEvictionPolicy: "AlwaysAllow" } },
    changes: [
      { spec: { maxUnavailable: 1 } },
      { spec: { minAvailable: "150%" } },
      { spec: { minAvailable: -1 } },
      { spec: { minAvailable: null, maxUnavailable: 1 } },
    ],
    status: { currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 1, expectedPods: 1 },
  },
  "scheduling.k8s.io/PriorityClass": {
    minimal: { value: 5 },
    full: { value: -5, description: "d", preemptionPolicy: "Never", globalDefault: false },
    changes: [{ value: 6 }, { description: "x" }, { preemptionPolicy: "Never" }, { value: 2000000000 }],
  },
  "node.k8s.io/RuntimeClass": {
    minimal: { handler: "h" },
    full: {
      handler: "h",
      overhead: { podFixed: { cpu: "1" } },
      scheduling: { nodeSelector: { a: "b" }, tolerations: [{ key: "a", operator: "Exists" }] },
    },
    changes: [{ handler: "i" }, { handler: "Not Valid" }, { overhead: { podFixed: { cpu: "2" } } }],
  },
  "coordination.k8s.io/Lease": {
    minimal: { spec: { holderIdentity: "me" } },
    full: {
      spec: {
        holderIdentity: "me",
        leaseDurationSeconds: 15,
        acquireTime: "2020-01-02T03:04:05.123456Z",
        renewTime: "2020-01-02T03:04:05.000000Z",
        leaseTransitions: 1,
      },
    },
    changes: [
      { spec: { leaseDurationSeconds: 0 } },
      { spec: { leaseTransitions: -1 } },
      { spec: { holderIdentity: "" } },
      { spec: { renewTime: "nope" } },
    ],
  },
};
