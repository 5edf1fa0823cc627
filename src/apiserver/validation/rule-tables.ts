/** All tables of rules as one. */
import { podKinds } from "./pod-kind.ts";
import type { RuleTable } from "./rules.ts";

export const ruleTables: RuleTable = { ...podKinds };
