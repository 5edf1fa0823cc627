/** Combines all tables of rules. */
import { accessKinds } from "./rbac/access-kinds.ts";
import { admissionKinds } from "./admissionregistration/admission-kinds.ts";
import { batchKinds } from "./batch/batch-kinds.ts";
import { clusterKinds } from "./cluster-kinds.ts";
import { coreKinds } from "./core/core-kinds.ts";
import { networkKinds } from "./networking/network-kinds.ts";
import { podKinds } from "./core/pod-kind.ts";
import type { RuleTable } from "./rules.ts";
import { storageKinds } from "./storage/storage-kinds.ts";
import { volumeKinds } from "./core/volume-kinds.ts";
import { workloadKinds } from "./apps/workload-kinds.ts";

export const ruleTables: RuleTable = {
  ...coreKinds,
  ...volumeKinds,
  ...podKinds,
  ...workloadKinds,
  ...batchKinds,
  ...networkKinds,
  ...accessKinds,
  ...storageKinds,
  ...admissionKinds,
  ...clusterKinds,
};
