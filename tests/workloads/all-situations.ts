/** Every situation; a new file of `situations/` is added here. */
import type { Situation } from "./situation.ts";
import { budgets } from "./situations/budgets.ts";
import { cronJobs } from "./situations/cron-jobs.ts";
import { daemonSets } from "./situations/daemon-sets.ts";
import { deployments } from "./situations/deployments.ts";
import { garbage } from "./situations/garbage.ts";
import { jobs } from "./situations/jobs.ts";
import { namespaces } from "./situations/namespaces.ts";
import { quotas } from "./situations/quotas.ts";
import { replicaSets } from "./situations/replica-sets.ts";
import { services } from "./situations/services.ts";
import { statefulSets } from "./situations/stateful-sets.ts";
import { volumes } from "./situations/volumes.ts";

export const allSituations: readonly Situation[] = [
  ...cronJobs, // they wait for the next minute, and others can play meanwhile
  ...volumes, // some wait for kube-controller-manager's next look
  ...deployments,
  ...replicaSets,
  ...statefulSets,
  ...daemonSets,
  ...jobs,
  ...garbage,
  ...namespaces,
  ...services,
  ...budgets,
  ...quotas,
];
