/** All tables of rules as one. */
import { accessKinds } from "./access-kinds.ts";
import { admissionKinds } from "./admission-kinds.ts";
import { batchKinds } from "./batch-kinds.ts";
import { clusterKinds } from "./cluster-kinds.ts";
import { coreKinds } from "./core-kinds.ts";
import { networkKinds } from "./network-kinds.ts";
import { podKinds } from "./pod-kind.ts";
import type { RuleTable } from "./rules.ts";
import { storageKinds } from "./storage-kinds.ts";
import { volumeKinds } from "./volume-kinds.ts";
import { workloadKinds } from "./workload-kinds.ts";

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
