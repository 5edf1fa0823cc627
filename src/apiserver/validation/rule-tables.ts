/** All tables of rules as one. */
import type { RuleTable } from "./rules.ts";

export const ruleTables: RuleTable = {};
