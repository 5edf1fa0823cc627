/** All tables of rules as one. */
import { coreKinds } from "./core-kinds.ts";
import { podKinds } from "./pod-kind.ts";
import type { RuleTable } from "./rules.ts";
import { workloadKinds } from "./workload-kinds.ts";

export const ruleTables: RuleTable = { ...coreKinds, ...podKinds, ...workloadKinds };
