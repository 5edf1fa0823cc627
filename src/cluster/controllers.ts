/**
 * The controllers that turn an API server into a cluster: those of pods, workloads, services, namespaces and garbage.
 */
import type { Definition } from "../index.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { cronJobController } from "./cron-job/cron-job.ts";
import { daemonSetController } from "./daemon-set/daemon-set.ts";
import { jobControllers } from "./job/job.ts";
import { ttlAfterFinishedController } from "./job/ttl.ts";
import { deploymentController } from "./deployment/deployment.ts";
import { disruptionController } from "./disruption/pod-disruption-budget.ts";
import { endpointSliceController } from "./endpoint-slices/endpoint-slices.ts";
import { endpointSliceMirroring } from "./endpoint-slices/mirrored-slices.ts";
import { endpointsController } from "./endpoints/endpoints.ts";
import { kubelet } from "./pods/kubelet.ts";
import { nodeController } from "./pods/node.ts";
import { garbageCollector } from "./garbage-collector/garbage-collector.ts";
import type { ObjectFeed } from "./garbage-collector/object-feed.ts";
import { namespaceDeletion } from "./namespaces/namespace-deletion.ts";
import type { PodBehaviour } from "./pods/pod-behaviour.ts";
import { policyStatusController } from "./policy-status/policy-status.ts";
import { attributesProtection, claimProtection, volumeProtection } from "./protection/protection.ts";
import { scheduler } from "./pods/scheduler.ts";
import { serviceAccountControllers } from "./service-accounts/service-accounts.ts";
import { resourceQuotaController } from "./resource-quota/resource-quota.ts";
import { replicaSetController, replicationController } from "./replica-set/replica-set.ts";
import { statefulSetController } from "./stateful-set/stateful-set.ts";
import { claimController } from "./volumes/claim-controller.ts";
import { volumeController } from "./volumes/volume-controller.ts";

/** The options of a cluster's controllers. */
export interface ClusterOptions {
  /** The clock for deadlines, ages and schedules, which the manager needs too. @default systemClock */
  readonly clock?: Clock | undefined;
  /** How pods behave; with `false` they stay pending. @default every container runs and is ready at once */
  readonly pods?: PodBehaviour | false | undefined;
  /** Reports all objects of the server. @default none: the garbage collector watches the built-in kinds */
  readonly objects?: ObjectFeed | undefined;
  /** The server's certificates (PEM), for root certificates and tokens. @default none: nobody creates these */
  readonly rootCertificates?: string | undefined;
}

/** Returns the controllers of a cluster, which one manager runs. */
export function clusterControllers(options: ClusterOptions): readonly Definition[] {
  const { clock = systemClock, objects } = options;
  return [
    ...podControllers(options),
    deploymentController(clock),
    replicaSetController(clock),
    replicationController(clock),
    statefulSetController(clock),
    claimProtection(),
    volumeProtection(),
    attributesProtection(),
    claimController(),
    volumeController(),
    daemonSetController(clock),
    ...jobControllers(clock),
    ttlAfterFinishedController(clock),
    cronJobController(clock),
    endpointsController(),
    endpointSliceController(),
    endpointSliceMirroring(),
    garbageCollector(objects),
    namespaceDeletion(clock, objects),
    disruptionController(clock),
    resourceQuotaController(clock, objects),
    policyStatusController(),
    ...serviceAccountControllers(options.rootCertificates),
  ];
}

/** Returns the controllers of pods: a node, a scheduler and a kubelet. */
export function podControllers({ clock = systemClock, pods }: ClusterOptions): readonly Definition[] {
  if (pods === false) return [];
  return [nodeController(clock), scheduler(clock), kubelet(clock, pods)];
}
